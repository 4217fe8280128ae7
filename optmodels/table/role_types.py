"""What may be said of columns, as types: kinds, choices, and the roles as keyword arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from optmodels.table.cleaning import Cleaning
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.hierarchy_spec import HierarchySpec

Kind = Literal["numeric", "categorical", "ordinal", "date"]  # a date is a number that is written otherwise
Others = Literal["error", "keep", "drop"]
Missing = Literal["error", "category", "drop", "impute"]
Scaling = Literal["none", "standard", "range", "alike"]
Weighting = Literal["importance"]
Bins = int | Sequence[float]
AnyHierarchy = Hierarchy | HierarchySpec


class MoreRoles(TypedDict, total=False):
    """The fields of `Roles` but `quasi` as keyword arguments; None is the same as not given."""

    sensitive: str | Sequence[str] | None
    identifiers: str | Sequence[str] | None
    person: str | None
    target: str | None
    others: Others | Mapping[str, Literal["keep", "drop"]] | None
    missing: Missing | None
    scaling: Scaling | None
    weights: Mapping[str, float] | Weighting | None
    gamma: float | None
    bins: Mapping[str, Bins] | None
    orders: Mapping[str, Sequence[object]] | None
    hierarchies: Mapping[str, AnyHierarchy | Mapping[str, Any] | str] | None
    ordered: str | Sequence[str] | None
    nominal: str | Sequence[str] | None
    separator: str | None
    decimal: str | None
    encoding: str | None
    dates: Mapping[str, str] | None
    clean: Cleaning | Mapping[str, Any] | None


class SomeRoles(MoreRoles, total=False):
    """Any of the fields of `Roles` as keyword arguments."""

    quasi: Mapping[str, Kind] | None
