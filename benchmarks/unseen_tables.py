"""Tables that no part of a search was tuned on, with hierarchies of their own: made up, and from data that is at hand.

- mixed: sixteen attributes of five kinds (flags, skewed words, bands, codes by prefix, words in four parts), half of
  which follow one of forty hidden groups.
- deep: sixteen attributes of 64 values in trees of seven levels, all near to one of three hidden traits.
- flat: sixteen words of three to forty values, skewed, each kept or suppressed.
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
