"""Caps and floors on how many records of a sensitive value a class holds; caps may be soft, against a penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from formulations.aminifar.value_bounds import Between, ValueBounds
from formulations.aminifar.whole_records import Sizes, whole_caps, whole_floors
from optmodels.conditions import ClassTest
from optmodels.errors import InputError, unknown
from optmodels.partition import Labels
from optmodels.table import Table

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShareBounds:
    """What is asked of each class as a share of the average class: at most alpha, at least floor, of some values."""

    alpha: float | None
    floor: float | None
    soft: bool
    penalty: float
    sensitive_value: Any

    @property
    def asked(self) -> bool:
        """Whether there is any cap or floor."""
        return self.alpha is not None or self.floor is not None or self.soft


@dataclass(frozen=True, eq=False)
class Cap:
    """One attribute's bounds: its bounded values are groups 0, 1, ...; all other values together are the last group.

    What alpha and floor say is in `least` and `most`, what the conditions say in `conditions`.
    """

    attribute: str
    values: tuple[Any, ...]  # the bounded ones, those of alpha and floor first
    n_chosen: int  # how many of them are alpha's and floor's
    places: tuple[int, ...]  # of these values among all of the attribute
    groups: NDArray[np.int32]  # (n)
    counts: Ints  # (groups) records in the table
    least: Ints  # (groups) records of a class
    most: Ints  # (groups)
    threshold: NDArray[np.float64]  # (groups) count from which a class pays
    slope: NDArray[np.float64]  # (groups) what it pays for each record more
    conditions: ValueBounds

    def restricted(self, rows: Ints) -> Cap:
        """The same bounds for some of the records."""
        groups = self.groups[rows]
        return replace(self, groups=groups, counts=np.bincount(groups, minlength=len(self.counts)))

    def held(self, labels: Labels) -> Ints:
        """(classes, groups) how many records of each group each class holds."""
        n_groups = len(self.most)
        n_classes = int(labels.max(initial=-1)) + 1
        return np.bincount(labels * n_groups + self.groups, minlength=n_classes * n_groups).reshape(-1, n_groups)

    def exceeded(self, labels: Labels) -> NDArray[np.bool_]:
        """Which classes hold more of a group than alpha allows."""
        return np.asarray((self.held(labels) > self.most).any(axis=1))

    def lacking(self, labels: Labels) -> NDArray[np.bool_]:
        """Which classes hold less of a group than the floor asks for."""
        return np.asarray((self.held(labels) < self.least).any(axis=1))

    def penalties(self, labels: Labels) -> float:
        """What all classes pay together."""
        paying = self.slope > 0
        over = np.maximum(0.0, self.held(labels)[:, paying] - self.threshold[paying])
        return float((over * self.slope[paying]).sum())

    def over(self, least: int, most: int, *, capped: bool = True) -> Between:
        """The fewest and the most records of each group in any class of these sizes, with alpha's cap or without."""
        by_conditions = self.conditions.over(least, most)
        low, high = self.least.copy(), np.full(len(self.most), most)
        if capped:
            high = np.minimum(self.most, high)
        own = slice(len(self.places))
        low[own] = np.maximum(low[own], by_conditions.low[list(self.places)])
        high[own] = np.minimum(high[own], by_conditions.high[list(self.places)])
        return Between(low, high)


def bounded_attributes(table: Table, tests: Sequence[ClassTest], sizes: Sizes, shares: ShareBounds) -> tuple[Cap, ...]:
    """The bounds of a table's sensitive attributes, of those that have any.

    An attribute whose conditions are no bounds on its values is only here for what alpha and floor ask of it.
    """
    if shares.asked and not table.sensitive:
        raise InputError(
            "alpha and floor bound sensitive values and the table has no sensitive attribute: name one, or drop them."
        )
    found = (_bounded(table, j, ValueBounds(*tests, attribute=j), sizes, shares) for j in range(len(table.sensitive)))
    return tuple(cap for cap in found if cap is not None)


def _bounded(table: Table, attribute: int, conditions: ValueBounds, sizes: Sizes, shares: ShareBounds) -> Cap | None:
    name, levels = table.sensitive[attribute], table.sensitive_levels[attribute]
    codes = table.sensitive_codes[:, attribute]
    occurring = np.bincount(codes, minlength=len(levels))
    chosen: list[int] = []
    if shares.asked:
        wanted = _capped_levels(name, levels, shares.sensitive_value, table.sensitive)
        chosen = [level for level in wanted if occurring[level]]
    by_conditions = conditions.binding(int(sizes.least.min()), min(int(sizes.most.max()), table.n), occurring)
    places = chosen + [level for level in by_conditions if level not in chosen]
    if not places:
        return None
    group_of = np.full(len(levels), len(places), np.int32)
    group_of[places] = np.arange(len(places))
    groups = group_of[codes]
    n_groups = len(places) + (len(places) < len(levels))
    counts = np.bincount(groups, minlength=n_groups)
    average = counts / len(sizes.least)
    is_chosen = np.arange(n_groups) < len(chosen)
    alpha = 1.0 if shares.alpha is None and shares.soft else shares.alpha
    hard = np.full(n_groups, table.n) if alpha is None or shares.soft else whole_caps(alpha, average)
    with np.errstate(divide="ignore"):
        slope = np.where(is_chosen & shares.soft, shares.penalty / average, 0.0)
    return Cap(
        name,
        tuple(levels[level] for level in places),
        len(chosen),
        tuple(places),
        groups,
        counts,
        np.where(is_chosen, whole_floors(shares.floor or 0.0, average), 0),
        np.where(is_chosen, hard, table.n),
        np.where(is_chosen & shares.soft, (alpha or 0.0) * average, np.inf),
        slope,
        conditions,
    )


def _capped_levels(name: str, levels: pd.Index, wanted: Any, attributes: Sequence[str]) -> list[int]:
    """Which levels of an attribute alpha and floor are about."""
    if isinstance(wanted, Mapping):
        for given in wanted:
            if given not in attributes:
                raise unknown("sensitive attribute", str(given), attributes)
        wanted = wanted.get(name)
    if wanted is None:
        flag = all(isinstance(level, (bool, int, float, np.number, np.bool_)) and level in (0, 1) for level in levels)
        return [place for place, level in enumerate(levels) if level == 1] if flag else list(range(len(levels)))
    values = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
    known = list(levels)
    for value in values:
        if value not in known:
            raise InputError(
                f"sensitive_value {value!r} does not occur in '{name}', whose values are "
                f"{', '.join(map(repr, known[:10]))}{', ...' if len(known) > 10 else ''}."
            )
    return sorted({known.index(value) for value in values})
