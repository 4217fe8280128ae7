"""Caps on how many records of a sensitive value a class may hold, hard or against a penalty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from formulations.aminifar.caps_together import HAIR, MOST_SURE, Sizes, fits_together, smallest_alpha, whole_caps
from optmodels.errors import InputError, unknown
from optmodels.partition import Labels
from optmodels.table import Table


@dataclass(frozen=True, eq=False)
class Cap:
    """One attribute's caps: its capped values are groups 0, 1, ...; all other values together are the last group."""

    attribute: str
    values: tuple[Any, ...]  # the capped ones
    groups: NDArray[np.int32]  # (n)
    counts: NDArray[np.int64]  # (groups) records in the table
    most: NDArray[np.int64]  # (groups) records of a class
    threshold: NDArray[np.float64]  # (groups) count from which a class pays
    slope: NDArray[np.float64]  # (groups) what it pays for each record more

    def restricted(self, rows: NDArray[np.int64]) -> Cap:
        """The same caps for some of the records."""
        groups = self.groups[rows]
        return replace(self, groups=groups, counts=np.bincount(groups, minlength=len(self.counts)))

    def held(self, labels: Labels) -> NDArray[np.int64]:
        """(classes, groups) how many records of each group each class holds."""
        n_groups = len(self.most)
        n_classes = int(labels.max(initial=-1)) + 1
        return np.bincount(labels * n_groups + self.groups, minlength=n_classes * n_groups).reshape(-1, n_groups)

    def exceeded(self, labels: Labels) -> NDArray[np.bool_]:
        """Which classes hold more of a group than they may."""
        return np.asarray((self.held(labels) > self.most).any(axis=1))

    def penalties(self, labels: Labels) -> float:
        """What all classes pay together."""
        paying = self.slope > 0
        over = np.maximum(0.0, self.held(labels)[:, paying] - self.threshold[paying])
        return float((over * self.slope[paying]).sum())


def capped_attributes(
    table: Table, m: int, alpha: float | None, soft: bool, penalty: float, sensitive_value: Any
) -> tuple[Cap, ...]:
    """The caps of a table's sensitive attributes in m classes; none without an alpha, unless they are soft."""
    if alpha is None and not soft:
        return ()
    if not table.sensitive:
        raise InputError(
            "alpha caps sensitive values and the table has no sensitive attribute: name one, or drop alpha."
        )
    share = 1.0 if alpha is None else alpha
    caps = []
    for j, name in enumerate(table.sensitive):
        codes, levels = table.sensitive_codes[:, j], table.sensitive_levels[j]
        chosen = _capped_levels(name, levels, sensitive_value, table.sensitive)
        present = [level for level in chosen if (codes == level).any()]
        if not present:
            continue
        group_of = np.full(len(levels), len(present), np.int32)
        group_of[present] = np.arange(len(present))
        groups = group_of[codes]
        counts = np.bincount(groups)
        average = counts / m
        is_capped = np.arange(len(counts)) < len(present)
        hard = whole_caps(share, average)
        caps.append(
            Cap(
                name,
                tuple(levels[level] for level in present),
                groups,
                counts,
                np.where(is_capped & (not soft), hard, table.n),
                np.where(is_capped & soft, share * average, np.inf),
                np.where(is_capped & soft, penalty / average, 0.0),
            )
        )
    return tuple(caps)


def _capped_levels(name: str, levels: pd.Index, wanted: Any, attributes: Sequence[str]) -> list[int]:
    """Which levels of an attribute are capped."""
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


def cannot_hold(caps: Sequence[Cap], sizes: Sizes, alpha: float) -> str | None:
    """Why the classes cannot hold all records of the capped values, and the smallest alpha that works, or None."""
    m = len(sizes.least)
    for cap in caps:
        for group, value in enumerate(cap.values):
            if cap.most[group] * m < cap.counts[group]:
                return (
                    f"alpha={alpha:g} cannot hold: '{cap.attribute}' has {cap.counts[group]} records with {value} and "
                    f"{m} classes may hold {cap.most[group]} each. {_advice(caps, sizes)}"
                )
    if len(caps) > MOST_SURE and fits_together(caps, sizes, [cap.most for cap in caps]) is False:
        names = ", ".join(f"'{cap.attribute}'" for cap in caps)
        return f"alpha={alpha:g} cannot hold for {names} together, only for each alone. {_advice(caps, sizes)}"
    return None


def _advice(caps: Sequence[Cap], sizes: Sizes) -> str:
    least, works = smallest_alpha(caps, sizes)
    rounded_up = f"{ceil(least * 1e4 - HAIR) / 1e4:.4f}".rstrip("0").rstrip(".")
    return f"The smallest alpha that works is {rounded_up}." if works else f"No alpha below {rounded_up} works."
