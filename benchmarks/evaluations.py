"""Evaluations of MO-OBAM per second, and the memory they take.

    OPTMODELS_DATA=... python -m benchmarks.evaluations

Matrices of centroids are drawn from the records, as a swarm's first particles are, and evaluated as a population:
nearest centroid, mending to k, loss and entropy. "plain" are those, "polished" the same after one move to the means,
"one core" the plain ones with a single thread.
"""

from __future__ import annotations

import tracemalloc
from time import perf_counter

import numpy as np

import optmodels as om
from formulations import MoObam
from optmodels.centroids.pymoo_problem import CentroidProblem
from optmodels.parallel import limited_to
from optmodels.price import Floats

CASES = (("german", 30, 10_000.0), ("adult", 100, 600.0))


def per_second(native: CentroidProblem, decisions: Floats, seconds: float = 3.0) -> float:
    """How many decisions a second are decoded and measured."""
    done, began = 0, perf_counter()
    while perf_counter() - began < seconds:
        native.measures.costs(native.space.decode(decisions, native.measures.asked))
        done += len(decisions)
    return done / (perf_counter() - began)


def drawn(native: CentroidProblem, many: int, seed: int = 0) -> Floats:
    """Random records as centroids."""
    price = native.space.price
    rows = np.random.default_rng(seed).integers(price.n, size=(many, native.space.n_centroids))
    return np.concatenate([price.numeric[rows], price.codes[rows]], axis=2).reshape(many, -1)


def main() -> None:
    print(f"{'data':8} {'classes':>8} {'plain/s':>10} {'polished/s':>11} {'one core/s':>11} {'wanted/s':>9}")
    for name, classes, wanted in CASES:
        for fixed in (False, True):
            problem = MoObam(k=5, n_clusters=classes if fixed else None).build(om.dataset(name))
            native = problem.to_pymoo(classes).native
            decisions = drawn(native, 400)
            decoded = native.space.decode(decisions)
            polished = native.space.polished(decisions, decoded)
            shown = f"={classes}" if fixed else f"<={classes}"
            rates = f"{per_second(native, decisions):>10.0f} {per_second(native, polished):>11.0f}"
            with limited_to(1):
                rates += f" {per_second(native, decisions):>11.0f}"
            print(f"{name:8} {shown:>8} {rates} {wanted:>9.0f}", flush=True)
    print("\nmemory beyond the table: population 50 of Adult, doubling classes and population")
    problem = MoObam(k=5).build(om.dataset("adult"))
    for many, classes in ((50, 100), (50, 200), (50, 400), (100, 100), (200, 100)):
        native = problem.to_pymoo(classes).native
        decisions = drawn(native, many)
        native.space.decode(decisions[:2])
        tracemalloc.start()
        native.space.decode(decisions)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        dense = 8 * problem.n * classes * many
        shown = f"  population {many:4}, {classes:4} classes: {peak / 2**20:7.1f} MB"
        print(f"{shown} (records x classes x population would be {dense / 2**20:,.0f} MB)")


if __name__ == "__main__":
    main()
