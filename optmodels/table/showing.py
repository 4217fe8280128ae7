"""How a table looks: its columns in a notebook, their values in a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from optmodels.errors import unknown
from optmodels.markup import Markup, grid, named, notebook
from optmodels.plot.changes import distribution

if TYPE_CHECKING:
    from optmodels.plot.figures import Backend
    from optmodels.table import Table


def table_figure(table: Table, columns: Sequence[str], backend: Backend) -> Any:
    """Bars of the values of some columns, or of all with a role."""
    from optmodels.plot.figures import bars_figure, in_backend

    known = table.frame.columns
    for column in columns:
        if column not in known:
            raise unknown("column", column, map(str, known))
    panels = {column: distribution(table, column) for column in columns or (*table.quasi, *table.sensitive)}
    return in_backend(bars_figure(panels, title=f"{table.n:,} records", value="records"), backend)


def table_html(table: Table) -> Markup:
    """The columns of a table, their roles and how many values they have."""
    frame = table.frame
    roles = {column: f"quasi-identifier, {kind}" for column, kind in table.kinds.items()}
    roles |= dict.fromkeys(table.sensitive, "sensitive")
    others = {column: "target" if column == table.target else "kept" for column in frame.columns}
    rows = [(named(column), role, f"{_values(frame[column]):,}") for column, role in (others | roles).items()]
    return notebook(f"Table of {table.n:,} records", {}, grid(("column", "role", "values"), rows))


def _values(column: Any) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # lists and the like, in a column that is kept as it is
        return int(column.map(repr).nunique())
