"""Utility of several releases: encodings and baseline shared and splits in parallel, beside a plain loop.

    python benchmarks/utility.py [--rows 1000 2000 ...] [--releases 4] [--splits 10] [--classifiers dt nb lr]

The plain loop is what one would write with scikit-learn alone: for every release, split and classifier a pipeline that
imputes, encodes and scales, fitted to the release and to the original. Both see the same splits and seeds, and the
scores must be equal; seconds are the best of the repeats, measured in turn. The tables are made up (six
quasi-identifiers, a target with two levels), the releases are classes by medians. Released intervals are encoded as
well, beside a function called for every cell.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from formulations import Microaggregation
from optmodels.metrics.utility import CLASSIFIERS, FeatureSpace, Protocol, utility
from optmodels.parallel import cores
from optmodels.recoding import recode
from optmodels.table import Table
from optmodels.table.role_types import Kind
from solvers import solve

NUMERIC, CATEGORICAL = ("age", "income", "height"), ("town", "job", "school")


def people(rows: int) -> Table:
    """Records whose target depends on all of their attributes, and on chance."""
    random = np.random.default_rng(3)
    age, income, height = random.integers(18, 90, rows), random.lognormal(10, 1, rows), random.normal(170, 9, rows)
    town, job, school = (random.integers(0, many, rows) for many in (20, 30, 5))
    odds = 0.05 * (age - 50) + 0.5 * (np.log(income) - 10) + 0.3 * (school - 2) + 0.02 * (town - job)
    frame = pd.DataFrame({"age": age, "income": income.round(2), "height": height.round(1)})
    for name, codes in (("town", town), ("job", job), ("school", school)):
        frame[name] = [f"{name} {code}" for code in codes]
    frame["ill"] = np.where(random.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no")
    kinds: dict[str, Kind] = {**dict.fromkeys(NUMERIC, "numeric"), **dict.fromkeys(CATEGORICAL, "categorical")}
    return Table(frame, quasi=kinds, target="ill", scaling="standard")


def plain_loop(
    table: Table, releases: dict[str, NDArray[np.int64]], protocol: Protocol
) -> dict[tuple[str, str], list[float]]:
    """Accuracies by release and classifier, and of the original, by scikit-learn's own means."""
    original, target = table.frame.drop(columns="ill"), (table.frame["ill"] == "yes").to_numpy(np.int64)
    splits = StratifiedShuffleSplit(protocol.splits, test_size=protocol.test_share, random_state=protocol.seed)
    found: dict[tuple[str, str], list[float]] = {}
    for title, labels in releases.items():
        released = recode(table, labels).drop(columns="ill")
        for trial, (learned, asked) in enumerate(splits.split(original, target)):
            for classifier in protocol.classifiers:
                for name, known in ((title, released), (f"{title}: original", original)):
                    model = one_pipeline(classifier, original, protocol.trial_seed(trial))
                    model.fit(known.iloc[learned], target[learned])
                    scores = found.setdefault((name, classifier), [])
                    scores.append(float(model.score(original.iloc[asked], target[asked])))
                    model.score(known.iloc[learned], target[learned])  # for the screen against learning by heart
    return found


def one_pipeline(classifier: str, original: pd.DataFrame, seed: int) -> Any:
    columns = [
        (name, "passthrough", [name])
        if name in NUMERIC
        else (name, OneHotEncoder(categories=[sorted(original[name].unique())], sparse_output=False), [name])
        for name in original.columns
    ]
    known = CLASSIFIERS[classifier]
    scaled = [("scale", StandardScaler())] if known.scaled else []
    return Pipeline(
        [("encode", ColumnTransformer(columns)), ("impute", SimpleImputer()), *scaled, ("fit", known.make(seed))]
    )


def seconds_of(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    best, found = float("inf"), None
    for _ in range(repeats):
        began = perf_counter()
        found = work()
        best = min(best, perf_counter() - began)
    return best, found


def race(rows: int, releases: int, protocol: Protocol, jobs: int, repeats: int) -> bool:
    """One line of the table; whether all scores are equal."""
    table = people(rows)
    problems = {f"k={k}": Microaggregation(k=k).build(table) for k in (5, 10, 20, 50, 100, 200)[:releases]}
    classes = {name: solve(problem, solver="mondrian").require() for name, problem in problems.items()}
    alone, together = (
        Protocol(protocol.classifiers, ("accuracy",), splits=protocol.splits, jobs=jobs) for jobs in (1, jobs)
    )
    loop, expected = seconds_of(lambda: plain_loop(table, classes, protocol), repeats)
    one, _ = seconds_of(lambda: utility(table, classes, alone), repeats)
    several, found = seconds_of(lambda: utility(table, classes, together), repeats)
    means = found.scores.groupby(["version", "classifier"])["accuracy"].mean()
    is_equal = all(
        abs(means["original" if name.endswith(": original") else name, classifier] - np.mean(scores)) < 1e-12
        for (name, classifier), scores in expected.items()
    )
    print(f"{rows:>7,} {releases:>9} {loop:>10.2f} {one:>14.2f} {several:>14.2f} {loop / one:>9.1f} "
          f"{loop / several:>9.1f}   {'equal' if is_equal else 'DIFFERENT'}")  # fmt: skip
    return is_equal


def encode_race(rows: int, repeats: int) -> None:
    table = people(rows)
    labels = solve(Microaggregation(k=10).build(table), solver="mondrian").require()
    released = recode(table, labels, "interval").drop(columns="ill")
    space = FeatureSpace.of_table(table)
    levels = {name: sorted(table.frame[name].unique()) for name in CATEGORICAL}

    def number(cell: object) -> float:
        ends = re.fullmatch(r"\[(.+?)-(.+)\]", str(cell))
        return (float(ends[1]) + float(ends[2])) / 2 if ends else float(str(cell))

    def shares(cell: object, known: list[str]) -> list[float]:
        members = str(cell).strip("{}").split(",")
        return [1 / len(members) if level in members else 0.0 for level in known]

    def cell_by_cell() -> NDArray[np.float64]:
        blocks = [released[[name]].map(number).to_numpy() for name in NUMERIC]
        blocks += [np.array([shares(cell, levels[name]) for cell in released[name]]) for name in CATEGORICAL]
        return np.hstack(blocks)

    plain, expected = seconds_of(cell_by_cell, repeats)
    ours, found = seconds_of(lambda: space.encode(released), repeats)
    print(f"{rows:>7,} rows of intervals and sets: {plain:.3f} s cell by cell, {ours:.3f} s by distinct cells, "
          f"ratio {plain / ours:.1f}, {'equal' if np.allclose(found, expected) else 'DIFFERENT'}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 2000, 4000, 8000])
    parser.add_argument("--releases", type=int, default=4, choices=range(1, 7))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--classifiers", nargs="+", default=["dt", "nb", "lr"])
    parser.add_argument("--jobs", type=int, default=cores())
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    how = Protocol(given.classifiers, ("accuracy",), splits=given.splits)
    table = people(200)
    utility(table, np.arange(200) // 5, Protocol(["nb"], ["accuracy"], splits=2, jobs=given.jobs))  # processes started
    print(f"{', '.join(how.classifiers)}; {how.splits} splits; seconds, best of {given.repeats}, measured in turn")
    print(f"{'rows':>7} {'releases':>9} {'plain loop':>10} {'ours, 1 job':>14} {f'ours, {given.jobs} jobs':>14} "
          f"{'ratio':>9} {'ratio':>9}")  # fmt: skip
    equal = [race(rows, given.releases, how, given.jobs, given.repeats) for rows in given.rows]
    equal.append(race(given.rows[0], 1, how, given.jobs, given.repeats))
    for rows in given.rows[-2:]:
        encode_race(rows, given.repeats)
    return int(not all(equal))


if __name__ == "__main__":
    sys.exit(main())
