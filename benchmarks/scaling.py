"""Seconds against records for every solver, on one plot, and where `auto` should switch.

    python benchmarks/scaling.py [--limit 30] [--out benchmarks/results]

Exact solvers run until they have proven a gap of at most 1% (`milp`: the optimum), heuristics until they stop by
themselves. A solver that does not get there within the limit is left out from that size on; its last row says so.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from formulations import Aminifar, Microaggregation
from optmodels import Problem, Solver, Table, registry
from optmodels.plot import scaling_figure
from optmodels.solution import Moment, Solution

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


CONTENDERS: dict[str, tuple[Callable[[int], Problem], float]] = {
    "milp": (microaggregation, 0.0),
    "columns": (microaggregation, GAP),
    "local_search": (microaggregation, np.inf),
    "mdav": (microaggregation, np.inf),
    "network": (aminifar, 0.0),
}


def reached(solution: Solution, gap: float) -> float | None:
    """The moment at which the wanted gap was proven, or None."""
    if gap == np.inf:
        return solution.seconds if solution.stop == "converged" else None

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
        solver: Solver = registry.solver(name)()
        solver.solve(build(8), time_limit=arguments.limit)  # compilation is cached, and not what is measured
        for n in SIZES:
            problem = build(n)
            if solver.refuses(problem):
                break
            solution = solver.solve(problem, time_limit=arguments.limit)
            seconds = reached(solution, gap)
            rows.append({"solver": name, "n": n, "seconds": seconds, "value": solution.value, "gap": solution.gap})
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
