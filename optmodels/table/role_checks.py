"""What may be said about columns: names, choices, numbers, bins and orders, checked and in one form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np

from optmodels.errors import InputError, is_finite, unknown


def check_column_names(columns: Sequence[str]) -> None:
    """Nothing if the columns have names of their own, as text."""
    for name in columns:
        if not isinstance(name, str):
            raise InputError(
                f"Column names are text, but one is {name!r}; rename it first, e.g. frame.rename(columns=str)."
            )
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise InputError(f"The column '{twice[0]}' appears more than once; rename or remove its copies.")


def listed(names: str | Iterable[str] | None) -> tuple[str, ...]:
    """One name or several as a tuple.

    >>> listed("illness")
    ('illness',)
    """
    if names is None:
        return ()
    if not isinstance(names, Iterable):
        raise InputError(f"Give column names as text or a list of texts, not {names!r}.")
    return (names,) if isinstance(names, str) else tuple(names)


def check_word(what: str, word: object, choices: Sequence[str]) -> None:
    """Nothing if the word is one of the choices."""
    if word not in choices:
        raise unknown(what, str(word), choices)


def checked_number(what: str, value: object) -> float:
    """A weight or a cost as a plain number."""
    if not is_number(value) or not is_finite(value) or value < 0:
        raise InputError(f"The {what} must be a finite number of at least 0, not {value!r}.")
    return float(value)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number, and not true or false."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def checked_bins(name: str, bins: int | Sequence[float]) -> int | Sequence[float]:
    """The bins of a column: a number of quantiles, or edges.

    >>> checked_bins("pay", [0, 10, 20])
    (0.0, 10.0, 20.0)
    """
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if bins >= 2:
            return int(bins)
    elif isinstance(bins, Iterable) and not isinstance(bins, str):
        edges = tuple(bins)
        finite = all(is_number(edge) and is_finite(edge) for edge in edges)
        if len(edges) >= 2 and finite and all(low < high for low, high in pairwise(edges)):
            return tuple(float(edge) for edge in edges)
    raise InputError(
        f"The bins of '{name}' must be a number of quantiles (2 or more) or rising edges such as [0, 10, 20], "
        f"not {bins!r}."
    )


def checked_order(name: str, order: Sequence[object]) -> tuple[object, ...]:
    """The values of a column from lowest to highest, in Python's own types."""
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise InputError(f"The order of '{name}' must list its values from lowest to highest, not {order!r}.")
    values = tuple(value.item() if isinstance(value, np.generic) else value for value in order)
    for value in values:
        if not isinstance(value, str | int | float):
            raise InputError(f"The order of '{name}' contains {value!r}; only text and numbers can be ordered here.")
    if not values or len(set(values)) < len(values):
        raise InputError(f"The order of '{name}' must list each of its values once, not {list(values)}.")
    return values


def without(value: Any, columns: set[str]) -> Any:
    """What a field says, without some of the columns."""
    if isinstance(value, Mapping):
        return {name: said for name, said in value.items() if name not in columns}
    if isinstance(value, tuple):
        return tuple(name for name in value if name not in columns)
    return None if value in columns else value


def describable(setting: str, quasi: Mapping[str, str], sensitive: Sequence[str]) -> tuple[list[str], str]:
    """The columns that a field may say more about, and what they are."""
    match setting:
        case "weights":
            return list(quasi), "quasi-identifiers"
        case "bins" | "ordered" | "nominal":
            return list(sensitive), "sensitive attributes"
        case "dates":
            return [name for name, kind in quasi.items() if kind in ("numeric", "date")], "numeric quasi-identifiers"
        case "orders":
            ordinal = [name for name, kind in quasi.items() if kind == "ordinal"]
            return [*ordinal, *sensitive], "ordinal quasi-identifiers and sensitive attributes"
    return [*quasi, *sensitive], "quasi-identifiers and sensitive attributes"
