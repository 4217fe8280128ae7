"""The audit of a table that lies in parts: every part is read twice, and no two are in memory at once.

Records with equal quasi-identifiers must be in one part; then classes are met whole, and what the worst class
of the table protects is what the worst of the parts' worst classes does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.audit._audit import Audit, judged
from optmodels.audit.kept import kept_columns, merged_kept
from optmodels.audit.levels import SensitiveLevels, sensitive_levels, worse
from optmodels.audit.people import People, most_records, once_per_value
from optmodels.partition import class_sizes, group_frame, histograms, people_in
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

    def __post_init__(self) -> None:
        # pandas finds this out when first asked, and two threads that ask at once may be told that it is not so
        assert all(values.is_unique for values in self.levels.values()), "a level is there twice"


def part_audit(
    frame: pd.DataFrame,
    quasi: Sequence[str],
    ground: Ground,
    tally: Tally,
    whose: NDArray[np.int64] | None = None,
) -> Audit:
    """The audit of one part, against the distribution of all of them; `whose` its rows are, where that is known.

    Levels of people, who count once for each value, are compared with the distribution of records.
    """
    labels = group_frame(frame, quasi)
    measured = {name: pd.Index(level_column(frame[name], name)) for name in ground.levels}
    found = {name: histograms(labels, ground.levels[name].get_indexer(measured[name])) for name in ground.levels}
    levels: dict[str, SensitiveLevels] = {}
    by_people: dict[str, SensitiveLevels] = {}
    for name, values in ground.levels.items():
        counts: NDArray[np.float64] = np.array([tally.counts[name].get(value, 0) for value in values.tolist()])
        shares, tree = counts / tally.records, ground.hierarchies.get(name)
        levels[name] = sensitive_levels(found[name], values, ground.ordered[name], tree, shares=shares)
        if whose is not None:
            once = once_per_value(labels, whose, values.get_indexer(measured[name]))
            by_people[name] = sensitive_levels(once, values, ground.ordered[name], tree, shares=shares)
    kept = kept_columns(frame, quasi, list(ground.levels))
    heads = None if whose is None else people_in(labels, whose)
    people = None if whose is None else People(int(whose.max()) + 1, most_records(whose), by_people)
    audit = judged(class_sizes(labels), found, levels, quasi, people=heads)
    return replace(audit, people=people).annotated(kept=kept)


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
        # classes for each of those who are in them, a person once in each class
        marketer=classes / (one.classes / one.marketer + other.classes / other.marketer),
        discernibility=one.discernibility + other.discernibility,
        quasi=one.quasi,
        sensitive={name: worse(levels, other.sensitive[name]) for name, levels in one.sensitive.items()},
        kept=merged_kept(one.kept, one.records, other.kept, other.records),
        people=_merged_people(one.people, other.people),
    )


def _merged_people(one: People | None, other: People | None) -> People | None:
    """The people of both parts; how many they are is known to whoever knows which are the same."""
    if one is None or other is None:
        return None
    levels = {name: worse(found, other.sensitive[name]) for name, found in one.sensitive.items()}
    return People(max(one.people, other.people), max(one.most_records, other.most_records), levels)


def _added(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: count + other[name] for name, count in one.items()}
