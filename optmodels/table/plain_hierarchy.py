"""A hierarchy for a column of which nothing but its values is known."""

from __future__ import annotations

from math import ceil

import numpy as np
import pandas as pd

from optmodels.table import dates
from optmodels.table.encoded import Encoded
from optmodels.table.hierarchy import Hierarchy
from optmodels.values import spelled

_RUN_LEVELS = 4  # steps from the values of a number to the root of the hierarchy that is built for it
_HAIR = 1e-9  # 81 ** (1 / 4) is a hair more than 3


def plain_hierarchy(columns: Encoded, name: str) -> Hierarchy:
    """Ever longer runs of neighbouring numbers, ranks or dates; categories are kept or suppressed.

    >>> from optmodels.table.roles import Roles
    >>> ages = Encoded(pd.DataFrame({"age": range(81)}), Roles(quasi={"age": "numeric"}))
    >>> plain_hierarchy(ages, "age").n_levels
    5
    """
    kind = columns.roles.quasi[name]
    values = pd.Index(np.sort(columns.frame[name].unique())) if kind == "numeric" else columns.levels[name]
    if kind == "categorical":
        return Hierarchy(values, [])
    if name in columns.roles.dates:
        texts = pd.Index(dates.written(values, columns.roles.dates[name]), dtype=object)
        return _runs(texts).with_values(values)
    return _runs(values)


def star_hierarchy(columns: Encoded, name: str) -> Hierarchy:
    """Values that are kept or suppressed, whatever is known of them: leaves below a star.

    >>> from optmodels.table.roles import Roles
    >>> ages = Encoded(pd.DataFrame({"age": [31, 45]}), Roles(quasi={"age": "numeric"}))
    >>> star_hierarchy(ages, "age").labels.tolist()
    ['31', '45', '*']
    """
    kind = columns.roles.quasi[name]
    if kind != "numeric":
        return Hierarchy(columns.levels[name], [])
    values = pd.Index(np.sort(columns.frame[name].unique()))
    form = columns.roles.dates.get(name)
    return Hierarchy(spelled(values.to_numpy()) if form is None else dates.written(values, form), []).with_values(
        values
    )


def _runs(values: pd.Index) -> Hierarchy:
    return Hierarchy.of_neighbours(values, fanout=max(2, ceil(len(values) ** (1 / _RUN_LEVELS) - _HAIR)))
