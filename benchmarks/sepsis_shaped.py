"""A table of the shape of the sepsis data (119,871 rows, 3 + 3 quasi-identifiers, 30 sensitive attributes), invented.

    python -m benchmarks.sepsis_shaped [--seconds 120]

One front for each number of classes of the paper's large runs; time, peak memory of the process, and k of a release.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter

from formulations import MoObam
from optmodels.datasets.synthetic import sepsis_like
from solvers import pareto


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--classes", type=int, nargs="*", default=[820, 1740, 2310, 3240])
    arguments = parser.parse_args()
    table = sepsis_like()
    kinds = table.frame.drop_duplicates(list(table.quasi)).shape[0]
    print(f"{table.n:,} rows, {kinds:,} different quasi-identifiers (private original: 23,553)")
    pareto(MoObam(k=5).build(sepsis_like(500)), solver="nsga2", options={"evaluations": 300})  # compilation
    for classes in arguments.classes:
        problem = MoObam(k=5, n_clusters=classes, scaling="standard").build(table)
        began = perf_counter()
        front = pareto(problem, solver="nsga2", options={"population": 20}, time_limit=arguments.seconds)
        took = perf_counter() - began
        best = front[0]
        k = best.release().audit.k
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        values = f"least loss {best.value:.6f}, most entropy {front[-1].values['entropy']:.4f}"
        cost = f"{front.details['evaluations']} evaluations, {took:.0f} s, {peak:.2f} GB"
        print(f"n_C = {classes}: {len(front)} points, {values}, k = {k}, {cost}", flush=True)


if __name__ == "__main__":
    main()
