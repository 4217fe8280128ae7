"""Seconds against records for every solver, on one plot, and where `auto` switches.

    python -m benchmarks.scaling [--limit 30] [--only columns milp] [--out benchmarks/results]

Every solver by name runs on the first of the problems below that it takes. Exact solvers run until they have proven a
gap of at most 1% (`milp`, `network`: the optimum; `epsilon`: the whole front), heuristics until they stop by themselves
(`local_search`: one round of ruin and recreate for each record; what counts evaluations: 2,000). A solver that does
not get there within the limit is left out from that size on; its last row says so. Vertical lines are the sizes from
which on `auto` picks another solver for one of the problems.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels import Problem, Solver, Table, registry
from optmodels.parallel import cores
from optmodels.plot.figures import scaling_figure
from optmodels.solution import Moment, Solution
from optmodels.solver import FrontSolver
from solvers.auto import choice, front_choice

SIZES = [8, 12, 16, 24, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 100_000]
GAP = 0.01


def people(n: int) -> Table:
    """Clustered numbers and two categories: what a table of people looks like to a solver."""
    draw = np.random.default_rng(n)
    centres = draw.normal(scale=3, size=(12, 3))
    numbers = centres[draw.integers(0, 12, n)] + draw.normal(size=(n, 3))
    columns = {f"number_{j}": numbers[:, j] for j in range(3)} | {"flag": draw.integers(0, 2, n).astype(str)}
    return Table(
        pd.DataFrame(columns), quasi={f"number_{j}": "numeric" for j in range(3)}, sensitive="flag", scaling="standard"
    )


def microaggregation(n: int) -> Problem:
    return Microaggregation(k=3).build(people(n))


def aminifar(n: int) -> Problem:
    return Aminifar(n_clusters=max(2, n // 10), alpha=1.5, n_init=1).build(people(n))


def mo_obam(n: int) -> Problem:
    return MoObam(k=3).build(people(n))


def liang_samavi(n: int) -> Problem:
    return LiangSamavi(k=3).build(people(n))


def one_number(n: int) -> Problem:
    frame = people(n).frame[["number_0"]]
    return Microaggregation(k=3).build(Table(frame, quasi={"number_0": "numeric"}))


def mass(n: int) -> Problem:
    return Mass(k=3).build(people(n))


def majeed_hwang(n: int) -> Problem:
    return MajeedHwang(k=3, trees=10).build(people(n))


# The first that a solver takes is what it is timed on.
PROBLEMS = {
    "microaggregation": microaggregation,
    "aminifar": aminifar,
    "mo-obam": mo_obam,
    "one number": one_number,
    "liang-samavi": liang_samavi,
    "mass": mass,
    "majeed-hwang": majeed_hwang,
}
OWN = {"liang-split": "liang-samavi", "liang-greedy": "liang-samavi", "usefulness": "majeed-hwang"}
GAPS = {"columns": GAP}  # the other exact solvers: 0
LEFT_OUT = ("auto", "pymoo")  # these run others
EVALUATIONS = 2_000


def made(name: str, n: int) -> Solver:
    """The solver; local search, also within blocks, with as many rounds as there are records."""
    kind = registry.solver(name)
    rounds = {"iterations": n}
    known: dict[str, dict[str, Any]] = {"local_search": rounds, "blocks": {"inner_options": rounds, "compare": False}}
    most = {"evaluations": EVALUATIONS} if "evaluations" in kind.options() else {}
    return registry.configured(kind, known.get(name, {}) | most)


def contest(name: str) -> tuple[str, Callable[[int], Problem], float]:
    """What a solver is timed on, and the gap it has to prove."""
    solver = made(name, 30)
    front = isinstance(solver, FrontSolver)
    taken = [
        label
        for label, build in PROBLEMS.items()
        if solver.refuses(problem := build(30)) is None and (not front or len(problem.objectives) > 1)
    ]
    label = OWN.get(name, taken[0])
    return label, PROBLEMS[label], GAPS.get(name, 0.0) if solver.exact else np.inf


def switches() -> pd.DataFrame:
    """The sizes from which on `auto` picks another solver."""
    rows = []
    for label, build in PROBLEMS.items():
        before = None
        for n in [*SIZES, 300_000, 1_000_000]:
            if label in ("aminifar", "majeed-hwang") and n > 10_000:
                break  # centres and forests take longer than the choice is worth here, which is the same at any size
            problem = build(n)
            front = len(problem.objectives) > 1
            picked = front_choice(problem, None) if front else choice(problem)
            if picked.name != before:
                rows.append({"problem": label, "n": n, "auto": picked.name, "because": picked.because})
            before = picked.name
    return pd.DataFrame(rows)


def timed(solver: Solver, problem: Problem, gap: float, limit: float) -> float | None:
    """The seconds that a solver takes to get where it is to get, or None."""
    if isinstance(solver, FrontSolver):
        began = perf_counter()
        front = solver.pareto(problem, time_limit=None if gap == np.inf else limit)
        took = perf_counter() - began
        done = gap == np.inf or bool(front.details["complete"])
        return took if done and took <= limit else None
    seconds = reached(solver.solve(problem, time_limit=limit), gap)
    return seconds if seconds is not None and seconds <= limit else None


def reached(solution: Solution, gap: float) -> float | None:
    """The moment at which the wanted gap was proven, or None."""
    if gap == np.inf:
        return solution.seconds if solution.stop != "time" else None

    def enough(moment: Moment) -> bool:
        if moment.value is None or moment.bound is None:
            return False
        return abs(moment.value - moment.bound) <= max(gap, 1e-9) * abs(moment.value)

    return next((moment.seconds for moment in solution.history if enough(moment)), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--only", nargs="*", default=[], help="solvers by name")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    print(f"{cores()} cores, load {os.getloadavg()[0]:.1f} at the start")
    rows = []
    for name in arguments.only or [name for name in registry.solver_names() if name not in LEFT_OUT]:
        label, build, gap = contest(name)
        timed(made(name, 8), build(8), gap, arguments.limit)  # compilation is cached, and not what is measured
        for n in SIZES:
            problem, solver = build(n), made(name, n)
            if solver.refuses(problem):
                break
            seconds = timed(solver, problem, gap, arguments.limit)
            rows.append({"solver": name, "problem": label, "n": n, "seconds": seconds})
            print(f"{name:14} {n:7} {'over the limit' if seconds is None else f'{seconds:8.3f} s'}", flush=True)
            if seconds is None:
                break
    runs, picks = pd.DataFrame(rows), switches()
    arguments.out.mkdir(parents=True, exist_ok=True)
    runs.to_csv(arguments.out / "scaling.csv", index=False)
    picks.to_csv(arguments.out / "auto.csv", index=False)
    figure = scaling_figure(runs.dropna(subset=["seconds"]))
    for at, changed in picks[picks["n"] > SIZES[0]].groupby("n"):
        figure.add_vline(
            x=at, line_dash="dot", annotation_text="<br>".join(changed["problem"] + ": " + changed["auto"])
        )
    figure.write_html(arguments.out / "scaling.html")
    print(runs.pivot(index="n", columns="solver", values="seconds").to_string(float_format=lambda s: f"{s:.3f}"))
    for name, done in runs.dropna(subset=["seconds"]).groupby("solver"):
        most, label = done["n"].max(), done["problem"].iloc[0]
        print(f"{name!s} on {label}: finishes within {arguments.limit:.0f} s up to n = {most:,}")
    print(picks.to_string(index=False))


if __name__ == "__main__":
    main()
