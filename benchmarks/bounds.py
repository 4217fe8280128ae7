"""How far from optimal answers on tables of any size can be: `bounded` after a heuristic.

    OPTMODELS_DATA=... python -m benchmarks.bounds --adult --numbers --solver columns --search 300
    python -m benchmarks.bounds                            # 20,000 records of 2, 4 and 6 numbers
    python -m benchmarks.bounds --rows 1000000 --numbers 2 4 --search 120 --limit 240

Microaggregation, k = 5. `start` is the gap by shares in the nearest records, where it begins; seconds are of the
wall, of the search and of the bound, kernels compiled before; `cpu` is seconds of the processor for both, `each`
milliseconds of them for each different record and the bound alone; `GB` is the peak of memory so far, data included.
A bound that the search has proven itself stands where it is better.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator
from time import process_time

import numpy as np
import pandas as pd

import optmodels as om
from formulations import Microaggregation
from optmodels.partition import group_rows
from solvers import bounded, solve
from solvers.bound import Bound

K = 5


def clouds(rows: int, numbers: int) -> om.Table:
    """Normal numbers around centres that are themselves drawn."""
    draw = np.random.default_rng(11)
    centres = draw.normal(scale=3.0, size=(max(8, rows // 2_000), numbers))
    values = centres[draw.integers(len(centres), size=rows)] + draw.normal(size=(rows, numbers))
    columns = [f"x{j}" for j in range(numbers)]
    return om.Table(pd.DataFrame(values, columns=columns), quasi=dict.fromkeys(columns, "numeric"), scaling="standard")


def tables(rows: int, numbers: list[int], adult: bool) -> Iterator[tuple[str, om.Table]]:
    if adult:
        yield "adult", om.dataset("adult")
    for count in numbers:
        yield f"{count} numbers", clouds(rows, count)


def measure(name: str, table: om.Table, solver: str, search: float, limit: float) -> None:
    problem = Microaggregation(k=K).build(table)
    began = process_time()
    found = solve(problem, solver=solver, time_limit=search)
    searched = process_time()
    proven = Bound().solve(problem, start=found.require(), time_limit=limit)
    assert proven.bound is not None
    assert proven.value is not None
    first = next((moment.bound for moment in proven.history if moment.bound), 0.0) or 0.0
    different = int(group_rows([*table.scaled.T, *table.codes.T]).max()) + 1
    ended = process_time()
    bound = max(proven.bound, found.bound or 0.0)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(
        f"{name:>12} {table.n:>9,} {different:>9,} {found.seconds:>7.1f} {proven.value:>10.4g} "
        f"{1 - first / proven.value:>7.1%} {bound:>10.4g} {1 - bound / proven.value:>7.1%} {proven.seconds:>8.1f} "
        f"{ended - began:>6.0f} {1e3 * (ended - searched) / different:>6.2f} {memory:>5.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--adult", action="store_true", help="Adult, too")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--numbers", type=int, nargs="*", default=[2, 4, 6])
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--search", type=float, default=30.0)
    parser.add_argument("--limit", type=float, default=120.0)
    given = parser.parse_args()
    bounded(solve(Microaggregation(k=K).build(clouds(200, 2)), solver="mdav"))  # compiles
    print("       table      rows different  search       loss   start      bound     gap  seconds    cpu   each    GB")
    for name, table in tables(given.rows, given.numbers, given.adult):
        measure(name, table, given.solver, given.search, given.limit)


if __name__ == "__main__":
    main()
