"""Liang and Samavi's pairwise MILP beside set partitioning, on the 20-row example and its first rows.

Run: OPTMODELS_DATA=<folder> python benchmarks/liang_samavi.py [--limit SECONDS] [--rows 8 20] [--solvers milp columns]
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pandas as pd

from formulations import LiangSamavi
from optmodels import OptmodelsError, Problem, Table
from solvers import solve


def example(rows: int) -> Problem:
    frame = pd.read_csv(Path(os.environ["OPTMODELS_DATA"]) / "liang" / "person20.csv").head(rows)
    return LiangSamavi(k=3).build(Table(frame, quasi=dict.fromkeys(frame.columns, "numeric")))


def outcome(rows: int, solver: str, limit: float) -> str:
    try:
        found = solve(example(rows), solver=solver, time_limit=limit)
    except OptmodelsError as error:
        return f"| {rows} | {solver} | - | - | - | {error} |"
    value, bound, gap = (
        "-" if figure is None else form.format(figure)
        for figure, form in ((found.value, "{:.6f}"), (found.bound, "{:.6f}"), (found.gap, "{:.1%}"))
    )
    return f"| {rows} | {solver} | {value} | {bound} | {gap} | {found.status}, {found.seconds:.2f} s |"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--limit", type=float, default=120.0, help="seconds for each run")
    arguments.add_argument("--rows", type=int, nargs="+", default=[8, 10, 12, 14, 20])
    arguments.add_argument("--solvers", nargs="+", default=["milp", "columns"])
    chosen = arguments.parse_args()
    print("| rows | solver | loss | bound | gap | outcome |\n|---|---|---|---|---|---|")
    for rows in chosen.rows:
        for solver in chosen.solvers:
            print(outcome(rows, solver, chosen.limit), flush=True)


if __name__ == "__main__":
    main()
