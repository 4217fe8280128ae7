"""What the solver `columns` reaches, against the targets set for it.

    OPTMODELS_DATA=... python -m benchmarks.columns [--quick] [--long] [--only census] [--k 3] [--limit 100]
    OPTMODELS_DATA=... python -m benchmarks.columns --keep found    # each search in a file, for `optmodels best submit`

Each line is one run from nothing (construction, local search, column generation) with its time limit; numba's
kernels are compiled beforehand on small tables and are not counted. Values of microaggregation are in percent of
SST on standardised data.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import optmodels as om
from formulations.liang_samavi import LiangSamavi
from formulations.microaggregation import Microaggregation
from optmodels.parallel import cores
from optmodels.problem import Problem
from solvers.columns import Columns


@dataclass(frozen=True)
class Aim:
    """One run and what it should reach; a target that is None is only reported."""

    name: str
    k: int
    seconds: float
    gap: float | None = None  # in percent
    value: float | None = None
    rows: int | None = None

    def problem(self) -> Problem:
        """The problem to solve."""
        table = om.dataset(self.name)
        if self.rows is not None:
            table = table.take(np.arange(self.rows))
        if self.name in ("census", "tarragona"):
            return Microaggregation(k=self.k).build(table.rescaled(scaling="standard"))
        return LiangSamavi(k=self.k).build(table)

    @property
    def scale(self) -> float:
        """Losses of microaggregation are shown in percent."""
        return 100.0 if self.name in ("census", "tarragona") else 1.0


TARGETS = (
    Aim("person20", 3, 2, gap=0.0, value=19.266130),
    Aim("census_20k", 3, 60, gap=2.0, value=21.628, rows=200),
    Aim("ipums_1k_8attr", 3, 60, value=482.33),
    Aim("census", 3, 30, gap=0.5),
    Aim("tarragona", 3, 60, gap=3.0),
    Aim("census", 3, 600, gap=0.0),
    Aim("tarragona", 3, 600, gap=0.0),
    Aim("census", 5, 300, gap=0.2),
    Aim("tarragona", 5, 300, gap=0.2),
    Aim("census", 10, 300, gap=0.5, value=11.48),
    Aim("tarragona", 10, 300, gap=1.0, value=30.12),
)
QUICK = 60.0
LONG = 600.0


def main() -> None:
    """Run what was asked for and print one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"only runs of at most {QUICK:.0f} s")
    parser.add_argument("--long", action="store_true", help="only longer runs")
    parser.add_argument("--only", help="only runs on this dataset")
    parser.add_argument("--k", type=int, help="only runs with this k")
    parser.add_argument("--keep", type=Path, help="a folder for a file of each search, which goes on from it")
    parser.add_argument("--limit", type=float, default=600.0, help="the most seconds for any run, whatever its bar has")
    arguments = parser.parse_args()
    _compile()
    print(f"{cores()} cores, load {os.getloadavg()[0]:.1f} at the start")
    print(f"{'data':<20}  k  limit  seconds       value    target    gap % target  status")
    for target in TARGETS:
        if (arguments.quick and target.seconds > QUICK) or arguments.only not in (None, target.name):
            continue
        if arguments.k not in (None, target.k):
            continue
        if arguments.long and not QUICK < target.seconds <= LONG:
            continue
        limit = min(target.seconds, arguments.limit)
        kept = None if arguments.keep is None else arguments.keep / f"{target.name}-k{target.k}-{limit:.0f}s.search"
        solution = Columns().solve(target.problem(), time_limit=limit, resume=kept)
        value = float("nan") if solution.value is None else solution.value * target.scale
        gap = float("nan") if solution.gap is None else 100 * solution.gap
        wanted_value = "" if target.value is None else f"{target.value:.3f}"
        wanted_gap = "" if target.gap is None else f"{target.gap:g}"
        missed = (target.value is not None and not value <= target.value) or (
            target.gap is not None and not gap <= target.gap + 1e-7
        )
        name = target.name if target.rows is None else f"{target.name}[:{target.rows}]"
        run = f"{name:<20} {target.k:>2} {limit:>6.0f} {solution.seconds:>8.1f}"
        reached = f"{value:>11.4f} {wanted_value:>9} {gap:>8.3f} {wanted_gap:>6}"
        print(f"{run} {reached}  {solution.status}{'  MISSED' if missed else ''}", flush=True)


def _compile() -> None:
    """Bring every kernel into numba's cache, with and without cuts, for both prices."""
    for target in (Aim("person20", 3, 20), Aim("census_20k", 3, 20, rows=80), Aim("census", 3, 20, rows=70)):
        Columns().solve(target.problem(), time_limit=600)


if __name__ == "__main__":
    main()
