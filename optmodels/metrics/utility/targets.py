"""The column to be predicted: which levels it has, which of them counts as found, and which rows have which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from optmodels.errors import InputError, unknown
from optmodels.metrics.utility.cells import ANYTHING
from optmodels.metrics.utility.protocol import Protocol
from optmodels.metrics.utility.scoring import Codes
from optmodels.table.encoding import level_text

if TYPE_CHECKING:
    from optmodels.table import Table


@dataclass(frozen=True)
class Target:
    """The levels of the target, as text, and the one that counts as found where there are two."""

    name: str
    levels: tuple[str, ...]
    positive: int


def target_of(table: Table, target: str | None) -> str:
    """The column to be predicted: the one named, or the table's own."""
    name = target or table.target
    if name is None:
        raise InputError("Utility needs a column to be predicted: name it as the table's target.")
    if name not in table.frame.columns:
        raise unknown("column of the table (target)", name, map(str, table.frame.columns))
    if name in table.quasi:
        raise InputError(f"The target '{name}' is a quasi-identifier, which a release recodes: choose another column.")
    return name


def encoded_target(frame: pd.DataFrame, name: str, protocol: Protocol) -> tuple[Target, Codes]:
    """The levels of the column to be predicted, and which of them each row has."""
    column = frame[name]
    if column.isna().any():
        raise InputError(f"The target '{name}' has missing values; leave these rows out.")
    texts = column.astype(object).map(level_text)
    counts = texts.value_counts()
    levels = tuple(sorted(counts.index, key=_numbers_first))
    if len(levels) < 2:
        raise InputError(f"The target '{name}' has one value only, so there is nothing to predict.")
    if len(levels) > max(20, len(column) // 10):
        raise InputError(f"The target '{name}' has {len(levels)} values: classifiers need a target with few levels.")
    if protocol.positive is None:
        positive = levels.index(min(reversed(levels), key=lambda level: counts[level]))
    elif level_text(protocol.positive) in levels:
        positive = levels.index(level_text(protocol.positive))
    else:
        raise unknown(f"level of the target '{name}'", str(protocol.positive), levels)
    found = Target(name, levels, positive)
    return found, codes_of(column, found)


def _numbers_first(text: str) -> tuple[int, float, str]:
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def codes_of(column: pd.Series, target: Target) -> Codes:
    """Which of the target's levels each row has."""
    places = {level: place for place, level in enumerate(target.levels)}
    found = column.astype(object).map(level_text).map(places)
    if found.isna().any():
        stranger = column[found.isna()].iloc[0]
        raise unknown(f"level of the target '{target.name}' in the original", str(stranger), target.levels)
    return found.to_numpy().astype(np.int64)


def with_target(frame: pd.DataFrame, target: Target) -> pd.DataFrame:
    """The rows of a release whose target was released."""
    column = frame[target.name]
    hidden = column.isna() | ((column.astype(object) == ANYTHING) & (ANYTHING not in target.levels))
    if hidden.all():
        raise InputError(f"The target '{target.name}' is suppressed or missing in every row of a release.")
    return frame[~hidden] if hidden.any() else frame
