"""Seconds against records for every solver, on one plot, and where `auto` should switch.

    python benchmarks/scaling.py [--limit 30] [--out benchmarks/results]

Exact solvers run until they have proven a gap of at most 1% (`milp` and `network`: the optimum; `epsilon`: the whole
front), heuristics until they stop by themselves (`local_search`: one round of ruin and recreate for each record;
`nsga2`: 20,000 evaluations). A solver that does not get there within
the limit is left out from that size on; its last row says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from formulations import Aminifar, Microaggregation, MoObam
from optmodels import Problem, Solver, Table, registry
from optmodels.plot import scaling_figure
from optmodels.solution import Moment, Solution
from optmodels.solver import FrontSolver

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


CONTENDERS: dict[str, tuple[Callable[[int], Problem], float]] = {
    "milp": (microaggregation, 0.0),
    "columns": (microaggregation, GAP),
    "local_search": (microaggregation, np.inf),
    "mdav": (microaggregation, np.inf),
    "network": (aminifar, 0.0),
    "epsilon": (mo_obam, 0.0),
    "nsga2": (mo_obam, np.inf),
}


def made(name: str, n: int) -> Solver:
    """The solver; local search with as many rounds as there are records."""
    return registry.configured(registry.solver(name), {"iterations": n} if name == "local_search" else {})


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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    rows = []
    for name, (build, gap) in CONTENDERS.items():
        timed(made(name, 8), build(8), gap, arguments.limit)  # compilation is cached, and not what is measured
        for n in SIZES:
            problem, solver = build(n), made(name, n)
            if solver.refuses(problem):
                break
            seconds = timed(solver, problem, gap, arguments.limit)
            rows.append({"solver": name, "n": n, "seconds": seconds})
            print(f"{name:14} {n:7} {'over the limit' if seconds is None else f'{seconds:8.3f} s'}", flush=True)
            if seconds is None:
                break
    runs = pd.DataFrame(rows)
    arguments.out.mkdir(parents=True, exist_ok=True)
    runs.to_csv(arguments.out / "scaling.csv", index=False)
    scaling_figure(runs.dropna(subset=["seconds"])).write_html(arguments.out / "scaling.html")
    print(runs.pivot(index="n", columns="solver", values="seconds").to_string(float_format=lambda s: f"{s:.3f}"))
    for name, done in runs.dropna(subset=["seconds"]).groupby("solver"):
        print(f"{name}: finishes within {arguments.limit:.0f} s up to n = {done['n'].max():,}")


if __name__ == "__main__":
    main()
