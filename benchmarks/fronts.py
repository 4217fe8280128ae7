"""MO-OBAM with certificates: German credit with 30 classes, and fronts of 24, 60 and 300 records.

python benchmarks/fronts.py [--seconds 600]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np

import optmodels as om
from formulations import MoObam
from solvers import pareto, solve

RESULTS = Path("benchmarks/results")  # benchmarks/distance_to_exact.py reads the fronts there


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="limit for each of the larger fronts")
    seconds = parser.parse_args().seconds
    german = om.dataset("german")

    problem = MoObam(k=5, n_clusters=30).build(german)
    best = solve(problem, solver="columns", time_limit=120)
    certificate = f"bound {best.bound:.6f}, gap {best.gap:.2%}, {best.seconds:.0f} s"
    print(f"German, k=5, 30 classes: IL {best.value:.6f}, {certificate}")
    print("  wanted: IL at or below 0.0070 with a gap of at most 10%", flush=True)

    front, elapsed = timed(24, None)
    print(f"\n24 records: {len(front)} points, complete: {front.details['complete']}, {elapsed:.0f} s (wanted: 120 s)")
    print(front.frame().to_string(float_format=lambda value: f"{value:.6f}"), flush=True)

    for n, levels in ((60, 8), (300, 8)):
        front, elapsed = timed(n, levels, seconds)
        print(f"\n{n} records: {len(front)} points with their proven gaps, {elapsed:.0f} s (wanted: 600 s)")
        print(front.frame().to_string(float_format=lambda value: f"{value:.6f}"), flush=True)


def timed(n: int, levels: int | None, seconds: float | None = None) -> tuple[om.ParetoFront, float]:
    problem = MoObam(k=5).build(om.dataset("german").take(np.arange(n)))
    began = perf_counter()
    front = pareto(problem, solver="epsilon", options={"levels": levels}, time_limit=seconds)
    took = perf_counter() - began
    front.save(RESULTS / f"front_{n}")
    return front, took


if __name__ == "__main__":
    main()
