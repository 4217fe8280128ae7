"""MASS at size, beside the figures of the paper: seconds and memory per k, table 5's shape, and the records' generator.

    python -m benchmarks.mass [--only generator scaling table5] [--rows 1000 ... 10000000] [--ks 9] [--recall-rows ...]

- `generator`: seconds and peak memory to write synthetic health records as Parquet.
- `scaling`: each size in a fresh process reads such a file and makes the classes for a k from nothing (strata, order of
  similarity, dealing), privacy loss and information loss included; then the same for the next k, which finds strata and
  order made. Kernels were compiled beforehand. How time grows is told beside n log n.
- `table5`: candidates for every k (or `--ks`) with recall; whether privacy loss falls and information loss rises, where
  the optimum is, and how much of the original's recall is kept, over `--splits` (3: one of 4,000 records moves by
  points). The paper's rows are those of its own data; its other tables and figures are in `optmodels reproduce mass`.

Files are kept in `--folder` for the next run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from formulations import Mass
from optmodels import Table
from optmodels.datasets.synthetic import HealthRecords
from optmodels.datasets.synthetic.health import ROLES
from optmodels.reproduce.report import published
from solvers import pareto

ROWS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
SECONDS, GIGABYTES = 60.0, 12.0  # what ten million rows may take, per k
GENERATOR_SECONDS = 60.0
RETENTION = 0.95  # of the original's recall, from this many rows on
RETENTION_ROWS = 10_000
PAPER_SECONDS = {1_000: 0.3, 10_000: 3.5, 100_000: 450.0, 10_000_000: 3300.0}  # over all k, from table 5


def l_v_of(rows: int) -> int:
    return {1_000: 7, 10_000: 11, 100_000: 16}.get(rows, 19)


def file_of(rows: int, folder: Path) -> Path:
    path = folder / f"health-{rows}.parquet"
    if not path.exists():
        HealthRecords(l_v_of(rows)).write(path, rows)
    return path


def gigabytes() -> float:
    """The most memory that this process ever held."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1e6


def generate(rows: int, folder: Path) -> dict[str, float]:
    HealthRecords().block(0)
    path, start = folder / f"generated-{rows}.parquet", time.perf_counter()
    HealthRecords(l_v_of(rows)).write(path, rows)
    seconds = time.perf_counter() - start
    size = path.stat().st_size / 1e6
    path.unlink()
    return {"rows": rows, "seconds": seconds, "megabytes": size, "gigabytes": gigabytes()}


def measure(rows: int, folder: Path, ks: list[int]) -> dict[str, object]:
    warm = Mass(k=3, classifiers=()).build(HealthRecords(7).table(500))
    warm.evaluate(next(warm.candidates()).labels)
    path = file_of(rows, folder)
    start = time.perf_counter()
    table = Table.from_file(path, roles=ROLES)
    read = time.perf_counter() - start
    start = time.perf_counter()
    problem = Mass(classifiers=()).build(table)
    found = []
    for candidate in problem.candidates(ks):
        dealt = time.perf_counter() - start
        evaluation = problem.evaluate(candidate.labels)
        assert evaluation.feasible
        assert np.bincount(candidate.labels).min() >= candidate.k
        seconds = time.perf_counter() - start
        found.append({"k": candidate.k, "dealt": dealt, "seconds": seconds, **evaluation.values})
        start = time.perf_counter()
    told: Mapping[str, Any] = problem.remarks()
    head = {"rows": rows, "read": read, "strata": told["strata"], "order": told["order"], "gigabytes": gigabytes()}
    return {**head, "found": found}


def aligned(cells: Mapping[Any, object], shown: Mapping[str, str]) -> str:
    """The cells that there are, each as wide and as precise as `shown` says; an empty place for the others."""
    texts = []
    for name, form in shown.items():
        width = form.split(".")[0].strip(">,")
        texts.append(f"{cells[name]:{form}}" if cells.get(name) is not None else " " * int(width))
    return " ".join(texts)


def header(shown: Mapping[str, str]) -> str:
    return " ".join(f"{name:>{form.split('.')[0].strip('>,')}}" for name, form in shown.items())


SCALING = {
    "rows": ">11,",
    "strata": ">7,",
    "order": ">7",
    "read": ">6.1f",
    "k": ">3",
    "seconds": ">8.3f",
    "us/row": ">7.2f",
    "dealt": ">8.3f",
    "privacy_loss": ">12.3f",
    "loss": ">6.3f",
    "gigabytes": ">9.1f",
    "paper's s": ">9.1f",
    "times": ">6.0f",
}


def scaling(rows: list[int], ks: list[int], folder: Path) -> bool:
    print("\n" + header(SCALING))
    first = []
    for n in rows:
        one = in_own_process("--measure", n, folder, ks or [9, 10])
        for row in one["found"]:
            paper = PAPER_SECONDS.get(n)
            beside = {"paper's s": paper, "times": paper / row["seconds"]} if paper else {}
            print(aligned({**one, **row, "us/row": row["seconds"] / n * 1e6, **beside}, SCALING), flush=True)
        first.append((n, one["found"][0]["seconds"], one["gigabytes"]))
    large = [(n, seconds) for n, seconds, _ in first if n >= 10_000]
    if len(large) > 1:
        n, seconds = np.array(large).T
        power = np.polyfit(np.log(n), np.log(seconds), 1)[0]
        allowed = np.polyfit(np.log(n), np.log(n * np.log(n)), 1)[0]
        print(f"time grows as rows to the power {power:.2f} from {int(n[0]):,} on; n log n would be {allowed:.2f}")
    n, seconds, memory = first[-1]
    kept = bool(seconds <= SECONDS and memory <= GIGABYTES)
    print(f"at most {SECONDS:g} s and {GIGABYTES:g} GB for the first k at {n:,} rows: {'yes' if kept else 'NO'}")
    return kept


TABLE_5 = {"k": ">3", "loss": ">6.3f", "privacy_loss": ">12.3f", "recall": ">6.3f", "kept": ">6.1%", "score": ">6.3f",
           "l": ">3.0f", "t": ">5.2f"}  # fmt: skip
THEIRS = {"loss": ">6.3f", "privacy_loss": ">12.3f", "recall": ">6.3f", "score": ">6.3f"}


def table5(rows: list[int], ks: list[int], folder: Path, splits: int) -> bool:
    sizes = published("mass_table_4").set_index("scale")["records"]
    paper = published("mass_table_5").assign(rows=lambda table: table["scale"].map(sizes)).set_index(["rows", "k"])
    shapes = [shape(n, ks, folder, splits, paper) for n in rows]
    return all(shapes)


def shape(n: int, ks: list[int], folder: Path, splits: int, paper: pd.DataFrame) -> bool:
    """Every candidate of one table beside the paper's, and whether the shape is the same."""
    model = Mass(predict="high_risk", positive="yes", splits=splits)
    problem = model.build(Table.from_file(file_of(n, folder), roles=ROLES))
    start = time.perf_counter()
    if ks:
        tried = pd.DataFrame([{"k": one.k, **problem.evaluate(one.labels).values} for one in problem.candidates(ks)])
    else:
        tried = pd.DataFrame(pareto(problem).details["candidates"])  # type: ignore[call-overload]
    seconds = time.perf_counter() - start
    told: Mapping[str, Any] = problem.remarks()
    tried["kept"] = tried["recall"] / float(str(told["recall_original"]))
    best = optimum(tried)
    print(f"\n{n:,} rows, l_v {told['l_v']}, {told['strata']:,} strata, {len(tried)} candidates in {seconds:.0f} s")
    print(f"recall of {told['predicted']}: {', '.join(told['classifiers'])}; {told['recall_records']:,} records, "
          f"{splits} splits; original {told['recall_original']:.3f}")  # fmt: skip
    print(f"{header(TABLE_5)}   paper: {header(THEIRS)}")
    for row in tried.to_dict("records"):
        theirs = paper.loc[(n, row["k"])].to_dict() if (n, row["k"]) in paper.index else {}
        if theirs or ks or row["k"] in (best, tried["k"].max()):
            mark = " <- least" if row["k"] == best else ""
            print(f"{aligned(row, TABLE_5)}          {aligned(theirs, THEIRS)}{mark}")
    ranks = tried[["k", "privacy_loss", "loss"]].rank().corr()["k"]
    falls, rises = bool(ranks["privacy_loss"] < -0.95), bool(ranks["loss"] > 0.95)
    interior = bool(tried["k"].min() < best < tried["k"].max())
    print(f"PL falls with k: {falls}; IL rises: {rises}; optimum k={best}, interior: {interior}; "
          f"recall kept: least {tried['kept'].min():.1%}, mean {tried['kept'].mean():.1%}", flush=True)  # fmt: skip
    if n in paper.index.get_level_values("rows"):
        print(f"least score {tried['score'].min():.3f}, the paper's {paper['score'].xs(n, level='rows').min():.3f}")
    return interior and falls and rises and (n < RETENTION_ROWS or bool(tried["kept"].min() > RETENTION))


def optimum(tried: pd.DataFrame) -> int:
    return int(tried["k"].iloc[int(np.argmin(tried["score"]))])


def in_own_process(what: str, rows: int, folder: Path, ks: list[int]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.mass", what, str(rows), "--folder", str(folder)]
    command += ["--ks", *map(str, ks)] if ks else []
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Time, memory and quality of MASS beside the paper's.")
    parser.add_argument("--only", nargs="+", choices=["generator", "scaling", "table5"])
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--recall-rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--ks", type=int, nargs="+", default=[])
    parser.add_argument("--splits", type=int, default=3, help="that recall is a mean over, 3 unless given")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "optmodels-mass")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--generate", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.measure:
        print(json.dumps(measure(options.measure, options.folder, options.ks)))
        return 0
    if options.generate:
        print(json.dumps(generate(options.generate, options.folder)))
        return 0
    only = options.only or ["generator", "scaling", "table5"]
    kept = True
    if "generator" in only:
        one = in_own_process("--generate", max(options.rows), options.folder, [])
        kept &= one["seconds"] <= GENERATOR_SECONDS
        print(f"generator: {one['rows']:,} records in {one['seconds']:.1f} s (wanted: {GENERATOR_SECONDS:g} for 10M), "
              f"{one['megabytes']:,.0f} MB of Parquet, at most {one['gigabytes']:.2f} GB of memory")  # fmt: skip
    if "scaling" in only:
        kept &= scaling(sorted(options.rows), options.ks, options.folder)
    if "table5" in only:
        kept &= table5(sorted(options.recall_rows), options.ks, options.folder, options.splits)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
