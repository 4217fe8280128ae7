"""The audit of a table that lies in parts: every part is read twice, and no two are in memory at once.

Records with equal quasi-identifiers must be in one part; then classes are met whole, and what the worst class
of the table protects is what the worst of the parts' worst classes does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.audit._audit import Audit, judged
from optmodels.audit.kept import kept_columns, merged_kept
from optmodels.audit.levels import SensitiveLevels, sensitive_levels, worse
from optmodels.partition import class_sizes, group_frame, histograms
from optmodels.table.encoding import level_column

if TYPE_CHECKING:
    from optmodels.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class Tally:
    """What has to be known of all parts before any can be judged: counts of sensitive values."""

    records: int
    counts: Mapping[str, Mapping[object, int]]

    @classmethod
    def of(cls, frame: pd.DataFrame, sensitive: Sequence[str]) -> Tally:
        """The tally of one part."""
        counts: dict[str, dict[object, int]] = {}
        for name in sensitive:
            codes, values = pd.factorize(level_column(frame[name], name))
            counts[name] = dict(zip(values.tolist(), np.bincount(codes).tolist(), strict=True))
        return cls(len(frame), counts)

    def merged(self, other: Tally) -> Tally:
        """The tally of both."""
        counts = {
            name: {value: mine.get(value, 0) + theirs.get(value, 0) for value in {**mine, **theirs}}
            for name, mine, theirs in ((name, found, other.counts[name]) for name, found in self.counts.items())
        }
        return Tally(self.records + other.records, counts)


@dataclass(frozen=True)
class Ground:
    """How the values of the sensitive attributes are compared: in these orders, or with these hierarchies."""

    levels: Mapping[str, pd.Index]
    ordered: Mapping[str, bool]
    hierarchies: Mapping[str, Hierarchy]


def part_audit(frame: pd.DataFrame, quasi: Sequence[str], ground: Ground, tally: Tally) -> Audit:
    """The audit of one part, against the distribution of all of them."""
    labels = group_frame(frame, quasi)
    measured = {name: pd.Index(level_column(frame[name], name)) for name in ground.levels}
    found = {name: histograms(labels, ground.levels[name].get_indexer(measured[name])) for name in ground.levels}
    levels: dict[str, SensitiveLevels] = {}
    for name, values in ground.levels.items():
        shares: NDArray[np.float64] = np.array([tally.counts[name].get(value, 0) for value in values.tolist()])
        levels[name] = sensitive_levels(
            found[name],
            values,
            ground.ordered[name],
            ground.hierarchies.get(name),
            shares=shares / tally.records,
        )
    kept = kept_columns(frame, quasi, list(ground.levels))
    return judged(class_sizes(labels), found, levels, quasi).annotated(kept=kept)


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
        sensitive={name: worse(levels, other.sensitive[name]) for name, levels in one.sensitive.items()},
        kept=merged_kept(one.kept, one.records, other.kept, other.records),
    )


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: count + other[name] for name, count in one.items()}
