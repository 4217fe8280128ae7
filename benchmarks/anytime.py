"""Value and bound after 5, 20 and 60 seconds: `auto` beside every single solver, on ten problems.

    OPTMODELS_DATA=... python -m benchmarks.anytime [--quick] [--limits 5,20,60] [--only german] [--seeds 1]
                                                    [--solvers auto,local_search] [--out benchmarks/results/anytime.csv]

Problems differ in size, in the number and kind of attributes, in k, in conditions and in whether the number of classes
is prescribed. Solvers are those that take the problem and search for as long as they are let. The table has, for each
limit, every value as a ratio to the best of the row: 1.000 is the best, and `auto` should never be far from it. Bounds
are ratios to the best value, too, so that 1 less the largest is the gap that is left.
Every solver has solved the problem for a moment before it is timed, so kernels are there. Rows are appended to a file
and not measured again: a study can be cut short and gone on with. `--quick` has three problems and one limit.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import optmodels as om
from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels import registry
from optmodels.problem import Problem
from optmodels.solver import solvers_for

# Constructions and fronts' solvers that end at once, or that have nothing to say about one answer, are left out.
CONTENDERS = ("auto", "columns", "local_search", "pso", "nsga2", "milp", "mdav", "zheng")
QUICK = ("german", "clouds of 3,000", "german, 30 classes")


def clouds(n: int, dimensions: int, seed: int = 0) -> om.Table:
    """Records around centres of all densities, in so many dimensions."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(max(5, n // 100), dimensions)) * 4
    points = centres[draw.integers(len(centres), size=n)] + draw.normal(size=(n, dimensions)) * draw.random((n, 1))
    frame = pd.DataFrame(points).rename(columns="x{}".format)
    frame["ill"] = draw.choice(list("abcde"), n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    return om.Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="ill", scaling="range")


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "german": lambda: Microaggregation(k=5).build(om.dataset("german")),
    "german, 30 classes": lambda: MoObam(k=5, n_clusters=30).build(om.dataset("german")),
    "census, k = 3": lambda: Microaggregation(k=3).build(om.dataset("census")),
    "census, k = 10": lambda: Microaggregation(k=10).build(om.dataset("census")),
    "tarragona, k = 5": lambda: Microaggregation(k=5).build(om.dataset("tarragona")),
    "clouds of 200": lambda: Microaggregation(k=4).build(clouds(200, 3)),
    "clouds of 3,000": lambda: Microaggregation(k=5).build(clouds(3_000, 4)),
    "clouds of 1,000, l = 3": lambda: Microaggregation(k=5, distinct_l=3).build(clouds(1_000, 2)),
    "clouds of 500, t = 0.2": lambda: Microaggregation(k=5, t=0.2).build(clouds(500, 5)),
    "clouds of 800, boxes": lambda: LiangSamavi(k=5).build(clouds(800, 3)),
}


def measured(
    name: str, solvers: list[str], limits: list[float], seeds: int, known: pd.DataFrame, out: Path
) -> pd.DataFrame:
    problem = PROBLEMS[name]()
    able = set(solvers_for(problem))
    for solver in (one for one in solvers if one in able):
        missing = [
            (limit, seed)
            for limit in limits
            for seed in range(seeds)
            if not ((known["problem"] == name) & (known["solver"] == solver)
                    & (known["limit"] == limit) & (known["seed"] == seed)).any()
        ]  # fmt: skip
        if not missing:
            continue
        registry.solver(solver)().solve(problem, time_limit=0.5)  # kernels are compiled or loaded
        for limit, seed in missing:
            answer = registry.solver(solver)().solve(problem, time_limit=limit, seed=seed)
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
            row: list[Any] = [
                name,
                solver,
                limit,
                seed,
                answer.value,
                answer.bound,
                round(answer.seconds, 2),
                round(load, 1),
            ]
            known.loc[len(known)] = row
            known.to_csv(out, index=False)
            print(*row, flush=True)
    return known


def report(found: pd.DataFrame) -> None:
    middle = found.groupby(["limit", "problem", "solver"])[["value", "bound"]].median().reset_index()
    for limit, part in middle.groupby("limit"):
        values = part.pivot(index="problem", columns="solver", values="value")
        best = values.min(axis=1)
        ratios = values.div(best, axis=0)[[one for one in CONTENDERS if one in values]]
        ratios["least"] = best
        ratios["bound"] = part.groupby("problem")["bound"].max() / best
        print(f"\nafter {limit:g} s: value as a ratio to the best, and the best bound")
        print(ratios.round(4).to_string())
        if "auto" in ratios:
            print(f"auto is at most {ratios['auto'].max():.4f} times the best, {ratios['auto'].mean():.4f} on average")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--limits", default="5,20,60")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", choices=list(PROBLEMS), action="append")
    parser.add_argument("--solvers", default=",".join(CONTENDERS))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/anytime.csv"))
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    columns = ["problem", "solver", "limit", "seed", "value", "bound", "seconds", "load"]
    known = pd.read_csv(arguments.out) if arguments.out.exists() else pd.DataFrame(columns=columns)
    limits = [5.0] if arguments.quick else [float(one) for one in arguments.limits.split(",")]
    names = arguments.only or list(QUICK if arguments.quick else PROBLEMS)
    for name in names:
        known = measured(name, arguments.solvers.split(","), limits, arguments.seeds, known, arguments.out)
    report(known[known["problem"].isin(names) & known["limit"].isin(limits)])


if __name__ == "__main__":
    main()
