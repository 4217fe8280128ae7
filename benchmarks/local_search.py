"""Local search against the figures to beat, and its time per pass against n.

python benchmarks/local_search.py                    all bars, 60 s each, then the scaling table
python benchmarks/local_search.py --seconds 10       a quick look
python benchmarks/local_search.py --only census german scaling --seeds 0 1 2
python benchmarks/local_search.py --iterations 1000000 --only tarragona    rounds instead of seconds

`cpu s` is processor time of both threads: 60 s on two idle cores have about 120 of them, a busy machine far fewer.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from time import perf_counter, process_time

import numpy as np
import pandas as pd

import optmodels as om
from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels.conditions import Conditions
from optmodels.price import spread
from optmodels.problem import Problem
from solvers.local_search import LocalSearch
from solvers.local_search.construct import first_partition
from solvers.local_search.descent import Descent


@dataclass(frozen=True)
class Goal:
    """A figure to reach; `factor` turns the problem's value into its units."""

    group: str
    label: str
    build: Callable[[], Problem]
    target: float
    factor: float = 1.0


def bars() -> Iterator[Goal]:
    figures = {"census": (4.722, 7.297, 11.476), "tarragona": (14.494, 20.154, 30.123)}
    for name, targets in figures.items():
        for k, target in zip((3, 5, 10), targets, strict=True):

            def build(name: str = name, k: int = k) -> Problem:
                return Microaggregation(k=k).build(standardised(name))

            yield Goal(name, f"{name} k={k}, % of SST", build, target, 100.0)
    german = MoObam(k=5, n_clusters=30)
    yield Goal("german", "german k=5, 30 classes, loss", lambda: german.build(om.dataset("german")), 0.0070)
    liang = LiangSamavi(k=3)
    yield Goal("liang", "person20 k=3, loss metric", lambda: liang.build(om.dataset("person20")), 19.266129)
    first = np.arange(200)
    census = "census_20k, first 200, k=3, loss metric"
    yield Goal("liang", census, lambda: liang.build(om.dataset("census_20k").take(first)), 21.628)
    yield Goal("liang", "ipums_1k_8attr k=3, loss metric", lambda: liang.build(om.dataset("ipums_1k_8attr")), 482.33)


def standardised(name: str) -> om.Table:
    frame = om.dataset(name).frame
    return om.Table(frame, quasi=dict.fromkeys(frame.columns, "numeric"), scaling="standard")


def race(seconds: float, iterations: int | None, seeds: list[int], chosen: list[str]) -> None:
    if chosen == ["scaling"]:
        return
    print(f"{'instance':<42}{'seed':>5}{'target':>12}{'measured':>12}{'reached':>9}{'at s':>7}{'cpu s':>7}{'load':>7}")
    wanted = [bar for bar in bars() if not chosen or any(bar.label.startswith(c) or bar.group == c for c in chosen)]
    for bar, seed in product(wanted, seeds):
        problem = bar.build()
        LocalSearch(iterations=1).solve(problem)  # compilation is not what is timed
        cpu = process_time()
        limit = seconds if iterations is None else None
        solution = LocalSearch(iterations=iterations).solve(problem, time_limit=limit, seed=seed)
        cpu = process_time() - cpu
        assert solution.value is not None
        measured = solution.value * bar.factor
        # targets are printed figures: half a unit of their last digit is rounding
        slack = 0.5 * 10.0 ** -len(f"{bar.target:.6f}".rstrip("0").split(".")[1])
        at = next((m.seconds for m in solution.history if (m.value or 0) * bar.factor <= bar.target + slack), None)
        reached = "yes" if measured <= bar.target + slack else "NO"
        print(
            f"{bar.label:<42}{seed:>5}{bar.target:>12.6g}{measured:>12.6f}{reached:>9}"
            f"{'-' if at is None else f'{at:.1f}':>7}{cpu:>7.0f}{os.getloadavg()[0]:>7.1f}",
            flush=True,
        )


def scaling(sizes: list[int], k: int = 5, attributes: int = 6) -> None:
    print(f"\n{'n':>9}{'start s':>10}{'set-up s':>10}{'sweep s':>10}{'ruin s':>10}{'loss %':>9}{'load':>7}")
    sweeps = []
    for n in [sizes[0], *sizes]:  # the first time is for compilation
        values = np.random.default_rng(n).normal(size=(n, attributes))
        frame = pd.DataFrame(values, columns=[f"x{j}" for j in range(attributes)])
        table = om.Table(frame, quasi=dict.fromkeys(frame.columns, "numeric"), scaling="standard")
        price, test = spread(table), Conditions(k=k).compile(table)
        marks = [perf_counter()]
        start = first_partition(price, test)
        assert start is not None
        marks.append(perf_counter())
        descent = Descent(price, test, start, fixed=False, seed=0)
        marks.append(perf_counter())
        for _ in descent.sweep():
            pass
        marks.append(perf_counter())
        descent.anneal(n // k, 0.0)  # as many rounds as classes: one pass of ruin and recreate
        marks.append(perf_counter())
        took = np.diff(marks)
        sweeps.append(took[2:])
        if len(sweeps) == 1:
            continue
        share = 100 * descent.total / (attributes * (n - 1))
        print(f"{n:>9}" + "".join(f"{t:>10.3f}" for t in took) + f"{share:>9.3f}{os.getloadavg()[0]:>7.1f}", flush=True)
    slopes = np.polyfit(np.log(sizes), np.log(np.array(sweeps[1:])), 1)[0]
    print(f"growth exponent: sweep {slopes[0]:.2f}, ruin {slopes[1]:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--iterations", type=int, help="rounds instead of seconds: the same answers on any machine")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--only", nargs="*", default=[], help="census tarragona german liang scaling, or a label")
    parser.add_argument("--sizes", nargs="*", type=int, default=[1_000, 3_000, 10_000, 30_000, 100_000, 300_000])
    arguments = parser.parse_args()
    race(arguments.seconds, arguments.iterations, arguments.seeds, arguments.only)
    if not arguments.only or "scaling" in arguments.only:
        scaling(arguments.sizes)


if __name__ == "__main__":
    main()
