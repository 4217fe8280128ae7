"""Conditions of a class as one object: constraint, compiled test and audited promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions.asked import Asked
from optmodels.conditions.class_test import ClassTest, broken_classes
from optmodels.conditions.sensitive import CONDITIONS, HOW, SensitiveConditions
from optmodels.errors import InputError, finite, unknown
from optmodels.metrics.privacy import TOLERANCE, Transport
from optmodels.partition import Labels, class_sizes, members
from optmodels.table import Table

# Conditions that bound the share of every value, each a row of bounds in a ClassTest.
SHARE_CONDITIONS = ("most_share", "beta", "delta")
# As `broken_classes` counts them; the rows of bounds come after these.
_COUNTED = ("k", "distinct_l", "entropy_l", "recursive", "t")
# Up to so many records left out it is worked out whether that makes conditions possible.
_MOST_TRIMMED = 10_000


@dataclass(frozen=True)
class Conditions(SensitiveConditions):
    """Least size k, and optionally conditions on the sensitive attributes, for each class.

    >>> Conditions(k=5, entropy_l=1.5).describe()
    'k >= 5, entropy l >= 1.5'
    >>> Conditions(k=5, most_share=0.5, recursive={"illness": (3, 2)}).describe()
    "k >= 5, largest share <= 0.5, recursive (3, 2) of 'illness'"

    `suppress` is the largest share of the records that may be left out of all classes. What classes are compared with
    is the whole table all the same: leaving out records does not move the mark that t, beta and delta are measured by.
    """

    k: int = 2
    suppress: float = 0.0

    def __post_init__(self) -> None:
        finite("suppress", self.suppress, "it is the largest share of records that may be left out")
        if self.suppress >= 1:
            raise InputError(f"suppress={self.suppress!r} is no share of the records: it must be below 1.")
        if isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 2:
            raise InputError(f"k must be a whole number of at least 2, not {self.k!r}: a class of one is a person.")
        for name, by in self._named().items():
            if not by:
                raise InputError(f"{name} names no attribute: give it a value for one at least, or leave it out.")
        alike, named = self._alike(), self._named()
        if "t_distance" in named:  # how far t may go is then a matter of the attribute
            alike.pop("t", None)
        Asked(**alike).check("")
        for attribute in self.attributes:
            self.of(attribute).check(f" of '{attribute}'")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The sensitive attributes that are named."""
        return tuple(dict.fromkeys(attribute for by in self._named().values() for attribute in by))

    @property
    def needs_sensitive(self) -> bool:
        """Whether any condition looks at sensitive attributes."""
        return any(getattr(self, name) is not None for name in CONDITIONS)

    def of(self, attribute: str) -> Asked:
        """What is asked of one attribute.

        >>> asked = Conditions(distinct_l=2, t={"illness": 0.2, "pay": 0.3}, t_distance={"pay": "ordered"})
        >>> asked.of("pay").t, asked.of("pay").t_distance, asked.of("illness").t_distance, asked.of("sex").t
        (0.3, 'ordered', 'emd', None)
        """
        return Asked(**self._alike(), **{name: by[attribute] for name, by in self._named().items() if attribute in by})

    def describe(self) -> str:
        """The conditions in one line, those of single attributes after those of all.

        >>> Conditions(k=5, distinct_l=2, t={"illness": 0.2, "pay": 0.3}, t_distance="equal").describe()
        "k >= 5, distinct l >= 2, t <= 0.2 (equal) of 'illness', t <= 0.3 (equal) of 'pay'"
        """
        alike, named = self._alike(), self._named()
        parts = [f"k >= {self.k}", *(Asked(**alike).said(name) for name in CONDITIONS)]
        for attribute in self.attributes:
            own = self.of(attribute)
            # a condition of all attributes may be meant otherwise for one of them
            names = [
                name for name in CONDITIONS if attribute in {**named.get(name, {}), **named.get(HOW.get(name, ""), {})}
            ]
            parts += [f"{said} of '{attribute}'" for said in map(own.said, names) if said]
        parts += [f"suppressed <= {self.suppress:.4g}"] if self.suppress else []
        return ", ".join(part for part in parts if part)

    def to_dict(self) -> dict[str, object]:
        """The conditions that were asked for, by name."""
        given = {"k": self.k, **asdict(self)}
        pointless = {how for condition, how in HOW.items() if given[condition] is None}
        pointless |= set() if self.suppress else {"suppress"}
        return {name: value for name, value in given.items() if value is not None and name not in pointless}

    def compile(self, table: Table) -> ClassTest:
        """The conditions as arrays for this table; k counts people where the table says whose its records are.

        Raises:
            InputError: k exceeds the number of records, a condition needs a sensitive attribute and the table has
                none, or it names one that the table does not have or that has no order or hierarchy to measure t by.
        """
        if self.k > table.records_in_all:
            raise InputError(
                f"k={self.k} is more than the table's {table.records_in_all} records: lower k or give more records."
            )
        if self.needs_sensitive and not table.sensitive:
            raise InputError(
                f"The conditions ({self.describe()}) are about sensitive attributes and the table has none: "
                "name at least one column as sensitive."
            )
        for name in self.attributes if self.needs_sensitive else ():
            if name not in table.sensitive:
                raise unknown("sensitive attribute", name, table.sensitive)
        asked = [self.of(name) for name in table.sensitive]
        sizes = [len(levels) for levels in table.sensitive_levels]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        codes = (table.sensitive_codes + starts[:-1]).astype(np.int32)
        transports = [self.transport(table, j) for j in range(len(sizes))]
        edges = np.cumsum([0] + [len(transport.weight) for transport in transports]).astype(np.int64)
        least_shares, most_shares = self._share_bounds(table)
        test = ClassTest(
            k=int(self.k),
            codes=np.ascontiguousarray(codes),
            starts=starts,
            distinct_l=np.array([one.distinct_l or 0 for one in asked], np.int64),
            entropy=np.log(np.array([one.entropy_l or 1.0 for one in asked], np.float64)),
            recursive_c=np.array([one.recursive[0] if one.recursive else 0.0 for one in asked], np.float64),
            recursive_l=np.array([one.recursive[1] if one.recursive else 0 for one in asked], np.int64),
            t=np.array([np.inf if one.t is None else one.t for one in asked], np.float64),
            least_shares=least_shares,
            most_shares=most_shares,
            least_values=_implied_values(least_shares, most_shares, starts),
            shares=table.sensitive_shares,
            order=_joined([transport.order for transport in transports]),
            edge_starts=edges,
            edge_low=_joined([transport.low for transport in transports]),
            edge_high=_joined([transport.high for transport in transports]),
            edge_weight=np.concatenate([[]] + [transport.weight for transport in transports]).astype(np.float64),
        )
        people = table.people
        # where every record is another person's, sizes count people already, and are less work to count
        return (
            test
            if people is None or table.n_people == table.n
            else test.counting(np.unique(people, return_inverse=True)[1])
        )

    def _share_bounds(self, table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(conditions on shares that are asked for, values): what the share of each value must not leave."""
        rows = [name for name in SHARE_CONDITIONS if getattr(self, name) is not None]
        shares = table.sensitive_shares
        least, most = np.zeros((len(rows), len(shares))), np.zeros((len(rows), len(shares)))
        ends = np.cumsum([0, *(len(levels) for levels in table.sensitive_levels)])
        for row, name in enumerate(rows):
            for j, attribute in enumerate(table.sensitive):
                own, places = self.of(attribute), slice(ends[j], ends[j + 1])
                least[row, places], most[row, places] = _bounds(own, name, shares[places])
        return least, most

    def transport(self, table: Table, attribute: int) -> Transport:
        """The distance behind t for one sensitive attribute."""
        name, levels = table.sensitive[attribute], table.sensitive_levels[attribute]
        own = self.of(name)
        hierarchy, ordered = table.hierarchies.get(name), table.sensitive_ordered[attribute]
        ground = own.t_distance if own.t is not None else "emd"
        if ground == "emd":
            ground = "hierarchical" if hierarchy is not None else "ordered" if ordered else "equal"
        if ground == "hierarchical":
            if hierarchy is None:
                raise InputError(
                    f"t_distance='hierarchical' needs a hierarchy of '{name}' and the table has none: give one, or "
                    "measure t by another distance ('equal', 'variational')."
                )
            return Transport.hierarchical(hierarchy, levels)
        if ground == "ordered":
            if not ordered:
                raise InputError(
                    f"t_distance='ordered' needs an order of the values of '{name}', and nobody said that they have "
                    f"one: say so with ordered='{name}', where it is that of numbers or of the alphabet, or give their "
                    "order; or measure t by another distance ('equal', 'variational')."
                )
            return Transport.ordered(len(levels))
        return Transport.variational(len(levels)) if ground == "variational" else Transport.equal(len(levels))

    @property
    def usual_distance(self) -> bool:
        """Whether t, where it is asked for, is the distance that the objective 'closeness' is about."""
        grounds = self.t_distance.values() if isinstance(self.t_distance, Mapping) else (self.t_distance,)
        return self.t is None or all(ground == "emd" for ground in grounds)

    def impossible(self, table: Table, most_left_out: int = 0) -> str | None:
        """Why no partition of this table can satisfy the conditions, or None.

        The whole table as one class is the most mixed release there is: since the union of two classes that satisfy
        the conditions satisfies them, what everyone together does not reach is out of reach. So many records left out
        are at their best those of the most frequent value.
        """
        if table.n_people < self.k and table.people is not None:
            return (
                f"k={self.k} cannot hold: the {table.n:,} records are of only {table.n_people:,} people "
                f"('{table.roles.person}'). Lower k or give records of more people."
            )
        if not self.needs_sensitive:
            return None
        test = self.compile(table)
        everyone = np.bincount(test.codes.ravel(), minlength=int(test.starts[-1])).astype(np.int64)
        for j, name in enumerate(table.sensitive):
            counts = everyone[test.starts[j] : test.starts[j + 1]].copy()
            levels = table.sensitive_levels[j].tolist()
            reason = _out_of_reach(self.of(name), counts, name, levels)
            if reason is None or most_left_out > _MOST_TRIMMED:
                continue
            for _ in range(most_left_out):
                counts[counts.argmax()] -= 1
                if _out_of_reach(self.of(name), counts, name, levels) is None:
                    break
            else:
                return reason if not most_left_out else f"{reason} Nor do {most_left_out} records left out help."
        return None

    def violations(self, test: ClassTest, labels: Labels) -> dict[str, int]:
        """How many classes break each condition that was asked for; labels run from 0 to C-1."""
        rows = [name for name in SHARE_CONDITIONS if getattr(self, name) is not None]
        names = (*_COUNTED, *rows)
        # Where size is all that matters nothing is counted: a sensitive number may have as many values as records.
        if test.only_size:
            broken = np.array([(class_sizes(labels) < test.k).sum(), *[0] * (len(names) - 1)])
        else:
            broken = broken_classes(test, *members(labels))
        counted = zip(names, broken.tolist(), strict=True)
        return {name: count for name, count in counted if getattr(self, name) is not None}

    def _alike(self) -> dict[str, Any]:
        """What is asked of all attributes alike, by the names of the parameters."""
        return {name: given for name, given in self._given() if not isinstance(given, Mapping)}

    def _named(self) -> dict[str, Mapping[str, Any]]:
        """What is asked of single attributes."""
        return {name: given for name, given in self._given() if isinstance(given, Mapping)}

    def _given(self) -> list[tuple[str, Any]]:
        return [(field.name, getattr(self, field.name)) for field in fields(SensitiveConditions)]


def _bounds(asked: Asked, name: str, shares: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the most share of each value of an attribute by one condition, rounding allowed for.

    A bound that must not be reached (delta) lies a hair inside, any other a hair outside.
    """
    nothing = np.zeros_like(shares)
    if name == "most_share" and asked.most_share is not None:
        return nothing, np.full_like(shares, asked.most_share + TOLERANCE)
    if name == "beta" and asked.beta is not None:
        gain = np.full_like(shares, asked.beta)
        if asked.beta_kind == "enhanced":
            gain = np.minimum(gain, -np.log(np.where(shares > 0, shares, 1.0)))
        return nothing, shares * (1.0 + gain + TOLERANCE)
    if name == "delta" and asked.delta is not None:
        ratio = exp(asked.delta - TOLERANCE)
        return shares / ratio, shares * ratio
    return nothing, np.full_like(shares, np.inf)


def _implied_values(
    least: NDArray[np.float64], most: NDArray[np.float64], starts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many values of each attribute a class has at least within bounds on shares.

    Those that it must have, and so many that their largest shares make a whole.
    """
    implied = np.zeros(len(starts) - 1, np.int64)
    for j in range(len(implied)):
        for low, high in zip(least[:, starts[j] : starts[j + 1]], most[:, starts[j] : starts[j + 1]], strict=True):
            room = np.cumsum(np.sort(np.minimum(high, 1.0))[::-1])
            enough = int(np.searchsorted(room, 1.0 - 1e-6)) + 1
            implied[j] = max(implied[j], int((low > 0).sum()), min(enough, len(high)))
    return implied


def _out_of_reach(asked: Asked, counts: NDArray[np.int64], name: str, values: Sequence[object]) -> str | None:
    """Which condition an attribute does not satisfy in the whole table, and what it reaches there."""
    n, present = int(counts.sum()), np.sort(counts[counts > 0])[::-1]
    if asked.distinct_l is not None and len(present) < asked.distinct_l:
        return (
            f"distinct_l={asked.distinct_l} cannot hold: '{name}' has only {len(present)} distinct values. Ask for "
            f"{len(present)} at most."
        )
    entropy_l = float(np.exp(-(present / n * np.log(present / n)).sum()))
    if asked.entropy_l is not None and log(entropy_l) < log(asked.entropy_l) - TOLERANCE:
        return (
            f"entropy_l={asked.entropy_l:g} cannot hold: '{name}' reaches {entropy_l:.4g} in the whole table, "
            "and some class is always at or below that. Ask for less."
        )
    if asked.recursive is not None:
        c, least = asked.recursive
        tail = int(present[least - 1 :].sum())
        if not present[0] < c * tail * (1.0 - TOLERANCE):
            remedy = f"a c above {present[0] / tail:.4g}" if tail else f"an l of {len(present)} at most"
            return (
                f"recursive={c:g},{least} cannot hold: it does not hold for '{name}' in the whole table, and some "
                f"class is always no more even than that. Ask for {remedy}."
            )
    if asked.most_share is not None and present[0] > (asked.most_share + TOLERANCE) * n:
        return (
            f"most_share={asked.most_share:g} cannot hold: {values[int(counts.argmax())]!r} is {present[0] / n:.4g} "
            f"of '{name}' in the whole table, and some class always has at least that. Ask for more."
        )
    return None


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)
