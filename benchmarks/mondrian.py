"""Mondrian on millions of rows, and beside anonypy's Mondrian on Adult.

    OPTMODELS_DATA=... python -m benchmarks.mondrian [--rows 100000 1000000 3000000 10000000] [--k 5] [--relaxed]

First n rows x 6 numbers, each size in a fresh process, kernels compiled before. `labels` is from a Table to the classes
and their value: build the problem, cut, judge. `release` comes on top: recode, sort, audit, loss. Memory is the peak
beyond what the process held with the table loaded (Linux), without and with the release.

Then Adult (45,222 complete rows, QI age, race, sex, marital_status), k = 5, ours and anonypy's in turns in one process:
seconds from a frame to the classes, the information loss of MO-OBAM and GCP of both, computed alike from the classes.
anonypy is not needed by the package: python -m pip install anonypy
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter

import numpy as np
import pandas as pd

import optmodels as om
from benchmarks.audit_scaling import growth, memory
from formulations import Microaggregation
from optmodels.metrics.loss import gcp, information_loss
from solvers.mondrian import Mondrian

ROWS = (100_000, 1_000_000, 3_000_000, 10_000_000)
ATTRIBUTES = 6
SECONDS, TIMES = 30.0, 50.0  # what ten million rows may take, and how many times faster than anonypy is wanted


def numbers(rows: int) -> om.Table:
    """Correlated normal numbers, no two of them equal."""
    draw = np.random.default_rng(7)
    columns = {f"x{j}": draw.normal(size=rows) for j in range(ATTRIBUTES)}
    for j in range(1, ATTRIBUTES):
        columns[f"x{j}"] += 0.5 * columns[f"x{j - 1}"]
    return om.Table(pd.DataFrame(columns), quasi=dict.fromkeys(columns, "numeric"), scaling="standard")


def measure(rows: int, k: int, relaxed: bool) -> dict[str, float]:
    solver = Mondrian(relaxed=relaxed)
    solver.solve(Microaggregation(k=k).build(numbers(1000))).release()
    table = numbers(rows)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forget the peak reached while the table was made
    before = memory("VmRSS")
    start = perf_counter()
    solution = solver.solve(Microaggregation(k=k).build(table))
    labelled = perf_counter() - start
    extra = memory("VmHWM") - before
    start = perf_counter()
    audit = solution.release().audit
    assert audit.k >= k
    return {
        "rows": rows,
        "classes": audit.classes,
        "loss": solution.values["loss"],
        "seconds": labelled,
        "release": perf_counter() - start,
        "extra": extra,
        "extra_release": memory("VmHWM") - before,
    }


def scaling(rows: list[int], k: int, relaxed: bool) -> bool:
    """Print a line for each size; returns whether the largest took no longer than it may."""
    print(f"{'rows':>12} {'classes':>10} {'loss':>9} {'labels':>9} {'release':>9} {'GB':>6} {'GB with release':>16}")
    found = []
    for n in sorted(rows):
        command = [sys.executable, "-m", "benchmarks.mondrian", "--one", str(n), "--k", str(k)]
        command += ["--relaxed"] if relaxed else []
        one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found.append(one)
        times = f"{one['loss']:>9.6f} {one['seconds']:>8.2f}s {one['release']:>8.2f}s"
        sizes = f"{one['extra'] / 1e9:>6.2f} {one['extra_release'] / 1e9:>16.2f}"
        print(f"{n:>12,} {one['classes']:>10,} {times} {sizes}", flush=True)
    if len(found) > 1:
        print(f"time to labels grows as rows to the power {growth(found, 'seconds'):.2f}")
    kept = bool(found[-1]["seconds"] <= SECONDS)
    print(f"at most {SECONDS:g} s to labels at {found[-1]['rows']:,} rows: {'yes' if kept else 'NO'}")
    return kept


def beside_anonypy(k: int, repeats: int) -> bool:
    """Print both on Adult; returns whether ours is as much faster as wanted and loses no more."""
    if find_spec("anonypy") is None:
        print("anonypy is not installed: python -m pip install anonypy")
        return False
    Anonypy = import_module("anonypy.mondrian").Mondrian  # noqa: N806

    frame = om.dataset("adult").frame
    table = om.dataset("adult")
    categories = frame[list(table.quasi)].astype(dict.fromkeys(table.categorical, "category"))
    Mondrian().solve(Microaggregation(k=k).build(table))  # compilation
    ours, theirs = [], []
    labels = np.empty(table.n, np.int64)
    for _ in range(repeats):
        start = perf_counter()
        parts = Anonypy(categories, list(table.quasi)).partition(k=k)
        for label, part in enumerate(parts):
            labels[part] = label
        theirs.append(perf_counter() - start)
        start = perf_counter()
        fresh = om.Table(frame, quasi=table.kinds, sensitive=table.sensitive, target=table.target)
        solution = Mondrian().solve(Microaggregation(k=k).build(fresh))
        ours.append(perf_counter() - start)
    assert solution.labels is not None
    print(f"\nAdult, {table.n:,} rows, QI {', '.join(table.quasi)}, k = {k}, median of {repeats} turns")
    print(f"{'':>22} {'seconds':>9} {'classes':>8} {'IL':>9} {'GCP':>9}")
    for name, seconds, classes in (("anonypy", theirs, labels), ("optmodels, strict", ours, solution.labels)):
        losses = f"{information_loss(table, classes):>9.6f} {gcp(table, classes):>9.6f}"
        print(f"{name:>22} {statistics.median(seconds):>9.3f} {classes.max() + 1:>8,} {losses}")
    times = statistics.median(theirs) / statistics.median(ours)
    less = information_loss(table, solution.labels) <= information_loss(table, labels)
    print(f"{times:.0f} times faster (wanted: {TIMES:g}), information loss {'no higher' if less else 'HIGHER'}")
    return times >= TIMES and less


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--relaxed", action="store_true")
    parser.add_argument("--repeats", type=int, default=3, help="turns of ours and anonypy's")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.k, options.relaxed)))
        return 0
    kept = scaling(options.rows, options.k, options.relaxed) if options.rows else True
    return 0 if beside_anonypy(options.k, options.repeats) and kept else 1


if __name__ == "__main__":
    sys.exit(main())
