"""Every published point of MO-OBAM, k-anonymity and Zheng et al. beside a point of ours that dominates it.

    OPTMODELS_DATA=... python -m benchmarks.published_points [--only german] [--german-seconds 60] [--adult-seconds 300]

One front of loss, linkage and homogeneity for each k in 5, 10, 15, 20. Every point is judged by its problem, which
has it satisfy its k; the first, the middle and the last of each front are also released, and their audits checked. A
published row is dominated if one of our points with the same or a larger k is at most as large in the loss, the records
linkable at 0.05, 0.075 and 0.1, and the homogeneous records. Published losses are rounded to four digits, and half a
unit of the last is theirs: `by_rounding` marks the rows that are dominated only with that.
Rows: tables 5 and 6 of Wei et al. (2025).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import pandas as pd

import optmodels as om
from formulations import MoObam
from optmodels.reproduce.mo_obam_points import KS, beside_ours, front_points
from optmodels.reproduce.report import published
from solvers import pareto


def our_points(table: om.Table, k: int, seconds: float, seed: int) -> pd.DataFrame:
    """The front of one k, timed."""
    began = perf_counter()
    points = front_points(table, k, seed, seconds=seconds)
    print(f"  k={k}: {len(points)} points in {perf_counter() - began:.0f} s", flush=True)
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["german", "adult"])
    parser.add_argument("--german-seconds", type=float, default=60.0)
    parser.add_argument("--adult-seconds", type=float, default=300.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_columns", 30, "display.max_rows", 200)
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = published("mo_obam_tables_5_6")
    pareto(MoObam(k=5).build(om.dataset("german")), solver="nsga2", options={"evaluations": 3000})  # compilation
    for name, seconds in (("german", arguments.german_seconds), ("adult", arguments.adult_seconds)):
        if arguments.only not in (None, name):
            continue
        print(f"{name}: at most {seconds:.0f} s for each k")
        table = om.dataset(name)
        ours = pd.concat([our_points(table, k, seconds, arguments.seed) for k in KS], ignore_index=True)
        table_of_rows = beside_ours(rows[rows["dataset"] == name], ours)
        table_of_rows.to_csv(arguments.out / f"published_points_{name}.csv", index=False)
        print(table_of_rows.to_string(index=False, float_format=lambda x: f"{x:.4g}", na_rep="-"))
        print(
            f"{name}: {table_of_rows['dominated'].sum()} of {len(table_of_rows)} published rows dominated or equalled, "
            f"{table_of_rows['by_rounding'].sum()} of them by rounding\n"
        )


if __name__ == "__main__":
    main()
