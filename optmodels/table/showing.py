"""How a table looks: its columns in a notebook, their values in a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from optmodels.errors import unknown
from optmodels.markup import Markup, grid, named, notebook
from optmodels.plot.bands import distribution_of

if TYPE_CHECKING:
    from optmodels.plot.figures import Backend


def table_figure(frame: pd.DataFrame, columns: Sequence[str], orders: Mapping[str, pd.Index], backend: Backend) -> Any:
    """Bars of the values of some columns, in their order where they have one."""
    from optmodels.plot.figures import bars_figure, in_backend

    for column in columns:
        if column not in frame.columns:
            raise unknown("column", column, map(str, frame.columns))
    panels = {column: distribution_of(frame[column], orders.get(column)) for column in columns}
    return in_backend(bars_figure(panels, title=f"{len(frame):,} records", value="records"), backend)


def table_html(frame: pd.DataFrame, kinds: Mapping[str, str], sensitive: Sequence[str], target: str | None) -> Markup:
    """The columns of a table, their roles and how many values they have."""
    roles = {column: f"quasi-identifier, {kind}" for column, kind in kinds.items()}
    roles |= dict.fromkeys(sensitive, "sensitive")
    others = {column: "target" if column == target else "kept" for column in frame.columns}
    rows = [(named(column), role, f"{_values(frame[column]):,}") for column, role in (others | roles).items()]
    return notebook(f"Table of {len(frame):,} records", {}, grid(("column", "role", "values"), rows))


def _values(column: Any) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # lists and the like, in a column that is kept as it is
        return int(column.map(repr).nunique())
