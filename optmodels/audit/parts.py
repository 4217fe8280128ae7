"""The audit of a table that lies in parts: every part is read twice, and no two are in memory at once.

Records with equal quasi-identifiers must be in one part; then classes are met whole, and what the worst class
of the table protects is what the worst of the parts' worst classes does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.audit._audit import Audit, SensitiveLevels, judged, sensitive_levels
from optmodels.metrics import privacy
from optmodels.partition import class_sizes, group_frame, histograms

if TYPE_CHECKING:
    from optmodels.table.hierarchy import Hierarchy

# The one level of which less is worse; of all others more is.
_WORSE_IF_LESS = ("distinct_l", "entropy_l")


@dataclass(frozen=True)
class Tally:
    """What has to be known of all parts before any can be judged: counts of sensitive values, and the least l."""

    records: int
    counts: Mapping[str, Mapping[object, int]]
    distinct_l: Mapping[str, int]

    @classmethod
    def of(cls, frame: pd.DataFrame, quasi: Sequence[str], sensitive: Sequence[str]) -> Tally:
        """The tally of one part."""
        labels = group_frame(frame, quasi)
        counts: dict[str, dict[object, int]] = {}
        least: dict[str, int] = {}
        for name in sensitive:
            codes, values = pd.factorize(frame[name])
            counts[name] = dict(zip(values.tolist(), np.bincount(codes).tolist(), strict=True))
            least[name] = privacy.distinct_l(histograms(labels, codes))
        return cls(len(frame), counts, least)

    def merged(self, other: Tally) -> Tally:
        """The tally of both."""
        counts = {
            name: {value: mine.get(value, 0) + theirs.get(value, 0) for value in {**mine, **theirs}}
            for name, mine, theirs in ((name, found, other.counts[name]) for name, found in self.counts.items())
        }
        least = {name: min(l_, other.distinct_l[name]) for name, l_ in self.distinct_l.items()}
        return Tally(self.records + other.records, counts, least)


@dataclass(frozen=True)
class Ground:
    """How the values of the sensitive attributes are compared: in these orders, or with these hierarchies."""

    levels: Mapping[str, pd.Index]
    ordered: Mapping[str, bool]
    hierarchies: Mapping[str, Hierarchy]


def part_audit(frame: pd.DataFrame, quasi: Sequence[str], ground: Ground, tally: Tally) -> Audit:
    """The audit of one part, against the distribution of all of them."""
    labels = group_frame(frame, quasi)
    found = {name: histograms(labels, ground.levels[name].get_indexer(pd.Index(frame[name]))) for name in ground.levels}
    levels: dict[str, SensitiveLevels] = {}
    for name, values in ground.levels.items():
        shares: NDArray[np.float64] = np.array([tally.counts[name].get(value, 0) for value in values.tolist()])
        levels[name] = sensitive_levels(
            found[name],
            values,
            ground.ordered[name],
            ground.hierarchies.get(name),
            shares=shares / tally.records,
            least=tally.distinct_l[name],
        )
    return judged(class_sizes(labels), found, levels, quasi)


def merged_audit(parts: Iterable[Audit]) -> Audit:
    """The audit of all parts, from those of each."""
    return reduce(_merged, parts)


def _merged(one: Audit, other: Audit) -> Audit:
    records, classes = one.records + other.records, one.classes + other.classes
    return Audit(
        records=records,
        classes=classes,
        k=min(one.k, other.k),
        average_class_size=records / classes,
        linkage=_added(one.linkage, other.linkage),
        homogeneity=_added(one.homogeneity, other.homogeneity),
        prosecutor=max(one.prosecutor, other.prosecutor),
        journalist=max(one.journalist, other.journalist),
        marketer=classes / records,
        discernibility=one.discernibility + other.discernibility,
        quasi=one.quasi,
        sensitive={name: _worse(levels, other.sensitive[name]) for name, levels in one.sensitive.items()},
    )


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: count + other[name] for name, count in one.items()}


def _worse(one: SensitiveLevels, other: SensitiveLevels) -> SensitiveLevels:
    def worst(name: str) -> float:
        pick: Callable[[float, float], float] = min if name in _WORSE_IF_LESS else max
        return pick(getattr(one, name), getattr(other, name))

    worse = {field.name: worst(field.name) for field in fields(SensitiveLevels) if field.name != "t_ground"}
    return SensitiveLevels(t_ground=one.t_ground, **worse)  # type: ignore[arg-type]
