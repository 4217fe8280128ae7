"""Tables that no part of a search was tuned on, with hierarchies of their own: made up, and from data that is at hand.

- mixed: sixteen attributes of five kinds (flags, skewed words, bands, codes by prefix, words in four parts), half of
  which follow one of forty hidden groups.
- deep: sixteen attributes of 64 values in trees of seven levels, all near to one of three hidden traits.
- flat: sixteen words of three to forty values, skewed, each kept or suppressed.
- calls: 45,000 people a bank rang up, sixteen attributes, half of which nearly always have one value; numbers of up to
  thousands of values in bands.
- german: the 20 attributes of German credit, 1,000 records; numbers in balanced trees.
- census: the 13 numbers of the Census reference data in balanced trees, nearly all different.
- adult 14: all attributes of Adult but the class, numbers in balanced trees, words kept or suppressed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import optmodels as om
from optmodels.table.hierarchy import Hierarchy


def mixed(folder: Path, n: int = 20_000) -> om.Table:
    draw = np.random.default_rng(1)
    group = draw.zipf(1.3, n) % 40
    columns: dict[str, list[str]] = {}
    trees: dict[str, Hierarchy] = {}
    kinds = [("flag", 2, 0.3), ("skewed", 12, 1.6), ("bands", 80, 0.0), ("code", 200, 0.8), ("flat", 30, 0.0)]
    for j in range(16):
        kind, values, skew = kinds[j % len(kinds)]
        name = f"{kind} {j}"
        codes = draw.choice(values, n, p=_skewed(values, skew))
        if j % 2 == 0:
            codes = np.where(draw.random(n) < 0.7, group * 7 % values, codes)
        width = len(str(values - 1))
        words = [str(code).zfill(width) for code in range(values)]
        levels = {
            "flag": [],
            "bands": [[f"{code // by * by} to {code // by * by + by - 1}" for code in range(values)] for by in (5, 20)],
            "code": [[word[:keep] + "x" * (width - keep) for word in words] for keep in (2, 1)],
        }.get(kind, [[f"part {code % 4}" for code in range(values)]])
        trees[name] = Hierarchy(words, levels)
        columns[name] = [words[code] for code in codes.tolist()]
    return _table(pd.DataFrame(columns), trees)


def deep(folder: Path, n: int = 20_000) -> om.Table:
    draw = np.random.default_rng(2)
    traits = draw.normal(size=(n, 3))
    frame = {}
    for j in range(16):
        near = traits @ draw.normal(size=3) + 0.4 * draw.normal(size=n)
        frame[f"a{j}"] = np.digitize(near, np.quantile(near, np.linspace(0, 1, 65)[1:-1]))
    return _table(pd.DataFrame(frame), {name: Hierarchy.automatic(range(64)) for name in frame})


def flat(folder: Path, n: int = 20_000) -> om.Table:
    draw = np.random.default_rng(3)
    frame = {}
    for j, values in enumerate(draw.integers(3, 41, 16).tolist()):
        frame[f"a{j}"] = draw.choice([f"w{value}" for value in range(values)], n, p=_skewed(values, 1.5))
    return _table(pd.DataFrame(frame), {name: Hierarchy(sorted(set(column)), []) for name, column in frame.items()})


def calls(folder: Path, n: int = 45_000) -> om.Table:
    draw = np.random.default_rng(4)

    def one_of(shares: list[float]) -> np.ndarray:
        return draw.choice(len(shares), n, p=np.array(shares) / sum(shares))

    dear = draw.lognormal(6.2, 1.5, n) - 300
    age = np.clip(draw.gamma(14, 2.9, n), 18, 94).astype(int)
    known = draw.random(n) < 0.18
    frame = {
        "age": age,
        "job": np.where(age > 60, 5, one_of([22, 21, 17, 11, 9, 5, 3.5, 3, 3, 3, 2, 0.5])),
        "marital": one_of([60, 28, 12]),
        "education": one_of([51, 29, 15, 4]),
        "arrears": one_of([98, 2]),
        "balance": np.where(draw.random(n) < 0.08, 0, dear).astype(int).clip(-3_000, 20_000),
        "mortgage": one_of([44, 56]),
        "loan": one_of([84, 16]),
        "contact": one_of([65, 29, 6]),
        "day": draw.integers(1, 32, n),
        "month": one_of([3, 6, 1, 7, 30, 12, 15, 14, 1, 2, 9, 0.5]),
        "seconds": draw.lognormal(5.2, 0.9, n).astype(int).clip(0, 4_000),
        "calls": draw.geometric(0.36, n).clip(1, 40),
        "since": np.where(known, draw.gamma(4, 56, n).astype(int).clip(1, 800), 0),
        "before": np.where(known, draw.geometric(0.35, n).clip(1, 30), 0),
        "outcome": np.where(known, 1 + one_of([60, 22, 18]), 0),
    }
    bands = {"age": (5, 10, 20, 40), "balance": (100, 500, 2_000, 10_000), "day": (5, 15), "month": (3, 6)}
    bands |= {"seconds": (30, 120, 600, 1_800), "calls": (2, 4, 12), "since": (10, 30, 90, 360), "before": (2, 4, 12)}
    trees = {}
    for name, column in frame.items():
        values = np.unique(column).tolist()
        trees[name] = Hierarchy(values, [[f"from {v // by * by}" for v in values] for by in bands.get(name, ())])
    return _table(pd.DataFrame(frame), trees)


def german(folder: Path) -> om.Table:
    return _with_trees(pd.read_csv(folder / "german.data", sep=" ", header=None).iloc[:, :20])


def census(folder: Path) -> om.Table:
    return _with_trees(pd.read_csv(folder / "census.csv"))


def adult_14(folder: Path) -> om.Table:
    frame = pd.read_csv(folder / "adult.data", header=None, skipinitialspace=True).iloc[:, :14]
    return _with_trees(frame[~(frame == "?").any(axis=1)].reset_index(drop=True))


UNSEEN: dict[str, Callable[[Path], om.Table]] = {
    "mixed": mixed,
    "deep": deep,
    "flat": flat,
    "calls": calls,
    "german": german,
    "census": census,
    "adult 14": adult_14,
}


def _skewed(values: int, skew: float) -> np.ndarray:
    shares = 1 / np.arange(1, values + 1) ** skew
    return np.asarray(shares / shares.sum())


def _with_trees(frame: pd.DataFrame) -> om.Table:
    named = frame.set_axis([f"a{name}" for name in frame.columns], axis=1)
    trees = {
        name: Hierarchy.automatic(column, fanout=4)
        if pd.api.types.is_numeric_dtype(column.dtype)
        else Hierarchy(sorted(column.unique()), [])
        for name, column in named.items()
    }
    return _table(named, {str(name): tree for name, tree in trees.items()})


def _table(frame: pd.DataFrame, trees: dict[str, Hierarchy]) -> om.Table:
    return om.Table(frame, quasi=dict.fromkeys(frame.columns, "categorical"), hierarchies=trees)
