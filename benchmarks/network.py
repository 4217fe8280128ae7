"""Proven optima around fixed centres, against the bars: value, seconds and memory.

    python benchmarks/network.py            all rows; the largest takes some minutes
    python benchmarks/network.py --largest 10000    without those of 100,000 records

The published instance needs OPTMODELS_DATA. Every large row runs in a process of its own, whose peak memory is shown;
kernels are compiled before the clock starts. Milliseconds are the median of 200 runs, which the bar is held against,
and `cpu` is then the best of them. Small plain transports go to POT's dense network simplex; the sparse flow that takes
everything else is shown beside it, up to 10,000 records. For large rows `cpu` is processor time of all threads. On a
busy machine seconds are longer than they need be: `load` says how busy it was.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from formulations import Aminifar
from formulations.aminifar import AminifarProblem
from optmodels import Table
from optmodels.flow import Flow, dense_transport
from optmodels.flow.dense import MOST_ARCS
from solvers.network import Network

FIGURES = [(20, None, 11242.3459), (10, None, 15858.3747), (20, 7, 11275.4374), (10, 13, 15884.9731)]
# records, centres, attributes, how centres are drawn, seconds allowed
LARGE = [
    (10_000, 1_000, 8, "records", 10),
    (10_000, 1_000, 8, "k-means", 10),
    (100_000, 10_000, 8, "records", 300),
    (100_000, 10_000, 13, "k-means", 300),
]
FLAGS = ("none", "independent", "correlated")
HEADER = f"{'instance':<58}{'target':>12}{'measured':>14}{'bar':>10}{'seconds':>10}{'cpu':>9}{'GB':>7}{'load':>7}  met"


def row(label: str, target: str, measured: str, bar: str, seconds: str, cpu: str, memory: str, met: bool) -> None:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(
        f"{label:<58}{target:>12}{measured:>14}{bar:>10}{seconds:>10}{cpu:>9}{memory:>7}{load:>7.1f}  "
        f"{'yes' if met else 'NO'}",
        flush=True,
    )


def published() -> None:
    path = Path(os.environ.get("OPTMODELS_DATA", "")) / "aminifar_instance.npz"
    if not path.is_file():
        print("the published instance is left out: OPTMODELS_DATA has no aminifar_instance.npz")
        return
    data = np.load(path)
    frame = pd.DataFrame(data["X"]).rename(columns="x{}".format).assign(flag=data["S"].astype(int))
    table = Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="flag")
    for m, cap, target in FIGURES:
        alpha = None if cap is None else cap * m / data["S"].sum()
        problem = around(Aminifar(n_clusters=m, alpha=alpha, centres=data[f"centres{m}"]), table)
        solution = Network().solve(problem)
        times = [core_seconds(problem) for _ in range(200)]
        seconds = float(np.median(times))
        met = solution.status == "optimal" and abs((solution.value or 0.0) - target) < 1e-4 and seconds <= 0.005
        label = f"heart, 200 records, {m} centres, {'no cap' if cap is None else f'cap {cap}'}"
        milliseconds = f"{1000 * seconds:.2f} ms"
        best = f"{1000 * min(times):.2f} ms"
        row(label, f"{target:.4f}", f"{solution.value:.4f}", "5 ms", milliseconds, best, "", met)
        sparse = [core_seconds(problem, dense=False) for _ in range(200)]
        median, best = f"{1000 * np.median(sparse):.2f} ms", f"{1000 * min(sparse):.2f} ms"
        row("  the same by the sparse flow", "", "", "", median, best, "", True)


def core_seconds(problem: AminifarProblem, *, dense: bool = True) -> float:
    """What a solve takes once the cost matrix is there, with its certificate."""
    costs = problem.assignment().arc_costs(problem.centres)(np.arange(problem.n), np.arange(len(problem.centres)))
    value, bounds = problem.assignment().network()
    began = perf_counter()
    found = dense_transport(costs, value, bounds) if dense else None
    if found is None:
        Flow(lambda rows, _: costs[rows], value, bounds).finish()
    return perf_counter() - began


def crossover() -> None:
    """POT's dense simplex beside the sparse flow on plain transports, in one run: where the solver should switch."""
    for n, repeats in ((200, 50), (500, 20), (1_000, 9), (2_000, 5), (5_000, 1), (10_000, 1)):
        problem = clustered(n, n // 10, 8, "records", "none")
        times = [[core_seconds(problem, dense=way) for _ in range(repeats)] for way in (True, False)]
        dense, sparse = (float(np.median(took)) for took in times)
        picked = "POT" if n * (n // 10) <= MOST_ARCS else "sparse flow"
        figures = f"POT {1000 * dense:9.2f} ms, sparse flow {1000 * sparse:9.2f} ms, ratio {dense / sparse:5.2f}"
        if n <= 1_000:
            figures += f", HiGHS's LP {1000 * highs_seconds(problem):9.2f} ms"
        print(f"{n:>6} records, {n // 10:>5} centres: {figures}; `network` takes {picked}", flush=True)


def highs_seconds(problem: AminifarProblem) -> float:
    """The same transport as a linear program in HiGHS, its matrix built beforehand."""
    n, m = problem.n, len(problem.centres)
    costs = problem.assignment().arc_costs(problem.centres)(np.arange(n), np.arange(m)).ravel()
    arcs = vstack([kron(eye_array(n), np.ones((1, m))), kron(np.ones((1, n)), eye_array(m))]).tocsc()
    amounts = np.concatenate([np.ones(n), np.full(m, n / m)])
    began = perf_counter()
    linprog(costs, A_eq=arcs, b_eq=amounts, method="highs")  # type: ignore[call-overload]
    return perf_counter() - began


def around(model: Aminifar, table: Table) -> AminifarProblem:
    """The problem of a model whose centres are given."""
    problem = model.build(table)
    assert isinstance(problem, AminifarProblem)
    return problem


def clustered(n: int, m: int, attributes: int, drawn: str, flags: str) -> AminifarProblem:
    """Thirty Gaussian clusters; a flag for 30% of the records, even or much more often on one side."""
    draw = np.random.default_rng(0)
    centres = 3 * draw.normal(size=(30, attributes))
    numbers = centres[draw.integers(0, 30, n)] + draw.normal(size=(n, attributes))
    share = 0.3 * (1 + np.tanh(numbers[:, 0])) if flags == "correlated" else 0.3
    columns = {f"x{j}": numbers[:, j] for j in range(attributes)}
    frame = pd.DataFrame(columns).assign(flag=(draw.random(n) < share).astype(int))
    table = Table(frame, quasi=dict.fromkeys(columns, "numeric"), sensitive="flag")
    given = tuple(map(tuple, numbers[draw.choice(n, m, replace=False)].tolist())) if drawn == "records" else None
    alpha = None if flags == "none" else 1.4
    return around(Aminifar(n_clusters=m, alpha=alpha, centres=given, n_init=1), table)


def one(index: int, flags: str) -> None:
    """Solve one large instance and print its record as JSON."""
    n, m, attributes, drawn, _ = LARGE[index]
    Network().solve(clustered(1_000, 100, attributes, "records", flags))  # compilation is not what is timed
    problem = clustered(n, m, attributes, drawn, flags)
    began, cpu = perf_counter(), process_time()
    solution = Network().solve(problem)
    record = {
        "status": solution.status,
        "gap": solution.gap,
        "value": solution.value,
        "seconds": perf_counter() - began,
        "cpu": process_time() - cpu,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20),
        **solution.details,
    }
    print(json.dumps(record))


def large(largest: int) -> None:
    for index, (n, m, attributes, drawn, allowed) in enumerate(LARGE):
        if n > largest:
            continue
        for flags in FLAGS:
            command = [sys.executable, __file__, "--one", str(index), "--flags", flags]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(answer.stdout)
            cap = "no cap" if flags == "none" else f"{flags} flag"
            label = f"{n:,} x {m:,} {drawn}, {attributes} attributes, {cap}"
            met = found["status"] == "optimal" and found["seconds"] <= allowed and found["memory"] <= 6
            row(
                label,
                "optimal",
                found["status"],
                f"{allowed} s",
                f"{found['seconds']:.1f}",
                f"{found['cpu']:.1f}",
                f"{found['memory']:.2f}",
                met,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=100_000, help="leave out instances of more records")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--flags", choices=FLAGS, default="none", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        one(arguments.one, arguments.flags)
    else:
        print(HEADER)
        published()
        crossover()
        large(arguments.largest)
