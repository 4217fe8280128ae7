"""Random tables that are awkward on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

TEXTS = ["a", "b", "ü", "c d", "x,y", 'q"q', "line\nbreak", "", "*", "-0", "NA", "東京", "=1+1", "\t", "a" * 300]


def numbers(draw: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    """A column of awkward numbers."""
    base = draw.integers(0, 4, n)
    match int(draw.integers(0, 12)):
        case 0:
            return base
        case 1:
            return np.full(n, 7.5)
        case 2:
            return 1e9 + base * 1e-6
        case 3:
            return draw.normal(size=n) * 10.0 ** draw.integers(-300, 300)
        case 4:
            return 2**53 + base.astype(np.int64)
        case 5:
            return np.where(base > 0, 0.0, -0.0) + (base > 2)
        case 6:
            return 1.0 + base * np.finfo(float).eps
        case 7:
            return draw.lognormal(0, 8, n)
        case 8:
            return draw.normal(size=n) * 10.0 ** draw.integers(-130, 130)
        case 9:
            return np.array([-(2**62), 2**62, 1, 0], np.int64)[base]
        case 10:  # all different
            return draw.permutation(n)
        case _:
            return draw.normal(size=n).round(2)


def random_frame(draw: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A random table of a few records, and its roles."""
    n = int(draw.integers(2, 8))
    texts = draw.permutation(TEXTS)[: len(TEXTS) if draw.integers(0, 2) else 3]
    if draw.integers(0, 8) == 0:  # as many categories as records
        texts = np.array([f"town {at}" for at in range(n)])
    frame = pd.DataFrame({"x": numbers(draw, n), "y": numbers(draw, n), "c": draw.choice(texts, n)})
    if draw.integers(0, 12) == 0:  # all equal
        frame = frame.iloc[np.zeros(n, int)].reset_index(drop=True)
    frame["s"] = draw.choice(["flu", "cold", "rare"][: int(draw.integers(1, 4))], n)
    quasi = {"x": "numeric", "y": "numeric", "c": "categorical"}
    for name in draw.permutation(list(quasi))[: int(draw.integers(0, 3))]:
        quasi.pop(str(name))
        frame = frame.drop(columns=str(name))
    roles: dict[str, Any] = {"quasi": quasi, "sensitive": "s", "scaling": str(draw.choice(["alike", "none", "range"]))}
    if draw.integers(0, 6) == 0:
        frame["who"] = draw.integers(0, max(2, n - 1), n)
        roles["person"] = "who"
    if draw.integers(0, 4) == 0:
        gaps = [*quasi, "s"]
        name = gaps[int(draw.integers(0, len(gaps)))]
        frame[name] = frame[name].astype(object if name in ("c", "s") else float)
        frame.loc[int(draw.integers(0, n)), name] = None
        roles["missing"] = str(draw.choice(["drop", "category", "impute"]))
    return frame, roles
