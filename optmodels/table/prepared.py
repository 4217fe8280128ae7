"""From a file or a frame and the roles of its columns to columns that are checked, cleaned and ready to be encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from optmodels.errors import InputError
from optmodels.table import dates
from optmodels.table.cleaning import Report, cleaned, clipped
from optmodels.table.encoded import Encoded
from optmodels.table.encoding import (
    binned,
    filled_alike,
    keeps_words,
    known_order,
    level_column,
    natural_order,
    numeric_column,
    sorted_levels,
)
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.hierarchy_spec import HierarchySpec
from optmodels.table.importance import importance_weights
from optmodels.table.missing import treat_missing
from optmodels.table.reading import column_names, is_text_file, read_frame, without_missing_words
from optmodels.table.roles import Roles
from optmodels.table.spelling import decimals, typed


@dataclass(frozen=True)
class Prepared:
    """The columns of a table, and what was done to them on the way."""

    roles: Roles  # with the orders, hierarchies and formats of dates that the columns themselves tell
    columns: Encoded
    dropped: tuple[str, ...]
    missing_report: dict[str, Any]
    cleaning_report: Report
    repeated_identifiers: dict[str, int]


def read(path: str | Path, roles: Roles) -> Prepared:
    """The columns of a file, only those that are kept."""
    found = column_names(path, **roles.text_format)
    kept = roles.columns_kept(found)
    measured = [name for name, kind in roles.quasi.items() if kind == "numeric" and name not in roles.dates]
    measured += [name for name, kind in roles.quasi.items() if kind == "ordinal" and name not in roles.orders]
    # those that name people tell whether some have several records
    naming = [name for name in dict.fromkeys([*roles.identifiers, roles.person]) if name is not None]
    text = [name for name in (*kept, *naming) if name not in measured and name not in roles.bins]
    verbatim = [name for name in kept if name not in roles.complete]
    frame = read_frame(path, columns=[*kept, *naming], text=text, verbatim=verbatim, **roles.text_format)
    texts = [name for name in kept if name in text and name not in roles.quasi] if is_text_file(path) else []
    dropped = tuple(name for name in found if name not in kept)
    return replace(prepared(frame, roles, kept, texts), dropped=dropped)


def prepared(
    frame: pd.DataFrame, roles: Roles, kept: tuple[str, ...] | None = None, texts: Sequence[str] = ()
) -> Prepared:
    """The columns of a frame; those in `texts` are from a file without types, and may spell numbers."""
    names = roles.columns_kept(frame.columns) if kept is None else kept
    dropped = tuple(str(name) for name in frame.columns if name not in names)
    repeated = {} if roles.person else _repeated(frame, roles.identifiers)
    if not len(frame):
        raise InputError("The table has columns but no records.")
    frame = frame.set_axis(pd.RangeIndex(len(frame)))
    columns = {name: frame[name] for name in dict.fromkeys([*names, *roles.complete])}
    cleaning_report: Report = {}
    columns |= cleaned({name: columns[name] for name in roles.complete}, roles.clean, cleaning_report)
    written: dict[str, pd.Series] = {}
    counted = {
        *roles.dates,
        *(name for name in roles.quasi if roles.is_number(name) and _is_whole(columns[name], frame[name])),
    }
    for name in texts:
        measured = typed(without_missing_words(columns[name]), roles.decimal or ".")
        if types.is_numeric_dtype(measured.dtype):
            written[name], columns[name] = columns[name], measured
    for name in roles.encoded:
        given = columns[name]
        if name in roles.dates:
            given, form = dates.as_numbers(given, name, roles.dates[name])
            roles = roles.revised(dates={**roles.dates, name: form})
        columns[name] = (numeric_column if roles.is_number(name) else level_column)(given, name)
        changed = columns[name] is not given and name not in roles.quasi and name not in roles.bins
        if changed and keeps_words(given):
            written.setdefault(name, given)
    for name, ends in roles.clean.clip.items():
        columns[name] = clipped(columns[name], name, ends, cleaning_report)
        written.pop(name, None)
    roles = _with_known_orders(roles, columns)
    filled = [name for name, kind in roles.quasi.items() if kind == "numeric"] if roles.missing == "impute" else []
    known = {
        name: decimals(columns[name].to_numpy(np.float64, na_value=np.nan))
        for name in filled
        if columns[name].isna().any()
    }
    columns, missing_report = treat_missing(columns, roles)
    for name in roles.quasi:  # whole numbers had to be floating ones to have gaps, of which none are left
        if name in counted and columns[name].dtype == np.float64:
            numbers = columns[name].to_numpy()
            columns[name] = columns[name].astype(np.int64) if (numbers == np.rint(numbers)).all() else columns[name]
    for name, bins in roles.bins.items():
        columns[name] = binned(columns[name], bins, name)
    roles = with_hierarchies(roles, columns)
    if isinstance(roles.weights, str):
        roles = roles.revised(weights=importance_weights(columns, list(roles.quasi), roles.target))
    people = None if roles.person is None else sorted_levels(columns[roles.person], roles.person)[0]
    kept_frame = pd.DataFrame({name: columns[name] for name in names}, copy=False)
    words = pd.DataFrame(
        {name: filled_alike(column, columns[name]) for name, column in written.items()}, index=kept_frame.index
    )
    rows = kept_frame.index.to_numpy(np.int64) if len(kept_frame) < len(frame) else None
    kept_frame.index = words.index = pd.RangeIndex(len(kept_frame))
    encoded = Encoded(kept_frame, roles, words, people, rows)
    if known:  # a mean that fills a gap has more decimals than anything that was measured
        encoded.decimals.update(known)
    encoded.check()
    return Prepared(roles, encoded, dropped, missing_report, cleaning_report, repeated)


def _is_whole(column: pd.Series, read: pd.Series) -> bool:
    """Whether a column holds whole numbers, written as such beside gaps and what was cleaned away.

    >>> _is_whole(pd.Series(["31", None]), pd.Series(["31", "?"])), _is_whole(pd.Series(["2.0"]), pd.Series(["2.0"]))
    (True, False)
    """
    if types.is_integer_dtype(read.dtype):
        return True
    if types.is_numeric_dtype(read.dtype) or types.is_datetime64_any_dtype(read.dtype):
        return False
    try:
        values = column.dropna().unique()
    except TypeError:  # lists and the like, which are no numbers in any way
        return False
    return all(str(value).strip().lstrip("+-").isdecimal() for value in values)


def _repeated(frame: pd.DataFrame, identifiers: Sequence[str]) -> dict[str, int]:
    """How many values of each identifier more than one record has, where any is."""
    found: dict[str, int] = {}
    for name in identifiers:
        if name in frame.columns:
            again = int((frame[name].value_counts() > 1).sum())
            found |= {name: again} if again else {}
    return found


def with_hierarchies(roles: Roles, columns: Mapping[str, pd.Series]) -> Roles:
    """The roles with hierarchies made of the values that there are, where they were said in a line."""
    made: dict[str, Hierarchy] = {}
    for name, tree in roles.hierarchies.items():
        form = roles.dates.get(name)
        if isinstance(tree, HierarchySpec):
            values = columns[name].dropna().unique().tolist()
            tree = tree.build(values if form is None else dates.written(values, form))
            made[name] = tree
        if form is not None and not types.is_numeric_dtype(tree.values.dtype):
            made[name] = tree.with_values(dates.as_numbers(tree.values.to_series(), name, form)[0])
    return roles.revised(hierarchies={**roles.hierarchies, **made}) if made else roles


def _with_known_orders(roles: Roles, columns: Mapping[str, pd.Series]) -> Roles:
    """The roles with the orders that columns bring along, so that a saved role file has them too."""
    orders = dict(roles.orders)
    for name, kind in [*roles.quasi.items(), *((name, "sensitive") for name in roles.sensitive)]:
        if kind not in ("ordinal", "sensitive") or name in (*orders, *roles.bins, *roles.nominal):
            continue
        order = known_order(columns[name])
        if order is None and name in roles.ordered and not types.is_numeric_dtype(columns[name].dtype):
            order = tuple(natural_order(columns[name]))
        if order is not None:
            orders[name] = order
        elif kind == "ordinal" and not types.is_numeric_dtype(columns[name].dtype):
            found = [str(value) for value in columns[name].dropna().unique()[:10]]
            raise InputError(
                f"The ordinal column '{name}' holds text, whose order cannot be guessed; give it from lowest to "
                f"highest, orders={{'{name}': [...]}}. Values found: {', '.join(found)}."
            )
    return roles if orders == roles.orders else roles.revised(orders=orders)
