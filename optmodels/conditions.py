"""What every class of a release must satisfy: size, diversity and closeness.

The same `Conditions` are the constraint of a problem, the test inside compiled solvers (`ClassTest`,
`meets`) and the promise a release is audited against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, log
from typing import Literal, NamedTuple, get_args

import numpy as np
from numba import njit
from numpy.typing import NDArray

from optmodels.errors import InputError, unknown
from optmodels.metrics.privacy import Transport
from optmodels.partition import Labels, class_sizes, members
from optmodels.table import Table

TDistance = Literal["emd", "variational"]

# Two entropies or distances closer than this are equal: sums of logarithms differ in their last bits.
TOLERANCE = 1e-9


class ClassTest(NamedTuple):
    """Conditions as arrays: every sensitive value of every attribute has one place in a counts vector."""

    k: int
    codes: NDArray[np.int32]  # (n, s): place of each record's values in the counts vector
    starts: NDArray[np.int64]  # (s + 1): the slice of each attribute in the counts vector
    distinct_l: int  # 0: not asked for
    entropy: NDArray[np.float64]  # (s): least entropy in nats; 0: not asked for
    t: float  # infinity: not asked for
    shares: NDArray[np.float64]  # the whole table's distribution, attribute by attribute
    order: NDArray[np.int64]  # see Transport: values in the order in which prefix sums are taken
    edge_starts: NDArray[np.int64]  # (s + 1): the slice of each attribute in the three edge arrays
    edge_low: NDArray[np.int64]
    edge_high: NDArray[np.int64]
    edge_weight: NDArray[np.float64]

    @property
    def only_size(self) -> bool:
        """Whether nothing but the size of a class matters."""
        return self.distinct_l <= 1 and not self.entropy.any() and not np.isfinite(self.t)

    def take(self, rows: NDArray[np.integer]) -> ClassTest:
        """The test of classes of some of the records, against the distribution of all of them."""
        return self._replace(codes=self.codes[rows])


@dataclass(frozen=True)
class Conditions:
    """Least size k, and optionally distinct l, entropy l and t, for each class and each sensitive attribute.

    >>> Conditions(k=5, entropy_l=1.5).describe()
    'k >= 5, entropy l >= 1.5'
    """

    k: int = 2
    distinct_l: int | None = None
    entropy_l: float | None = None
    t: float | None = None
    t_distance: TDistance = "emd"

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, (int, np.integer)) or self.k < 2:
            raise InputError(f"k must be a whole number of at least 2, not {self.k!r}: a class of one is a person.")
        if self.distinct_l is not None and (self.distinct_l != int(self.distinct_l) or self.distinct_l < 1):
            raise InputError(f"distinct_l must be a whole number of at least 1, not {self.distinct_l!r}.")
        if self.entropy_l is not None and not self.entropy_l >= 1:
            raise InputError(f"entropy_l must be at least 1, not {self.entropy_l!r}: 1 is a class with one value.")
        if self.t is not None and not 0 <= self.t < inf:
            raise InputError(f"t must be a distance between distributions, 0 or more and finite, not {self.t!r}.")
        if self.t_distance not in get_args(TDistance):
            raise unknown("t_distance", self.t_distance, get_args(TDistance))

    @property
    def needs_sensitive(self) -> bool:
        """Whether any condition looks at sensitive attributes."""
        return not (self.distinct_l is None and self.entropy_l is None and self.t is None)

    def describe(self) -> str:
        """The conditions in one line."""
        parts = [f"k >= {self.k}"]
        if self.distinct_l is not None:
            parts.append(f"distinct l >= {self.distinct_l}")
        if self.entropy_l is not None:
            parts.append(f"entropy l >= {self.entropy_l:g}")
        if self.t is not None:
            parts.append(f"t <= {self.t:g} ({self.t_distance})")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, object]:
        """The conditions that were asked for, by name."""
        asked = {name: value for name, value in asdict(self).items() if value is not None}
        if self.t is None:
            del asked["t_distance"]
        return asked

    def compile(self, table: Table) -> ClassTest:
        """The conditions as arrays for this table.

        Raises:
            InputError: k exceeds the number of records, or a condition needs a sensitive attribute and
                the table has none.
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
        sizes = [len(levels) for levels in table.sensitive_levels]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        codes = (table.sensitive_codes + starts[:-1]).astype(np.int32)
        transports = [self.transport(table, j) for j in range(len(sizes))]
        edges = np.cumsum([0] + [len(transport.weight) for transport in transports]).astype(np.int64)
        return ClassTest(
            k=int(self.k),
            codes=np.ascontiguousarray(codes),
            starts=starts,
            distinct_l=int(self.distinct_l or 0),
            entropy=np.full(len(sizes), log(self.entropy_l or 1.0)),
            t=float("inf") if self.t is None else float(self.t),
            shares=table.sensitive_shares,
            order=_joined([transport.order for transport in transports]),
            edge_starts=edges,
            edge_low=_joined([transport.low for transport in transports]),
            edge_high=_joined([transport.high for transport in transports]),
            edge_weight=np.concatenate([[]] + [transport.weight for transport in transports]).astype(np.float64),
        )

    def transport(self, table: Table, attribute: int) -> Transport:
        """The distance behind t for one sensitive attribute: hierarchical, ordered, or equal."""
        size = len(table.sensitive_levels[attribute])
        if self.t_distance == "variational":
            return Transport.variational(size)
        hierarchy = table.hierarchies.get(table.sensitive[attribute])
        if hierarchy is not None:
            return Transport.hierarchical(hierarchy, table.sensitive_levels[attribute])
        return Transport.ordered(size) if table.sensitive_ordered[attribute] else Transport.equal(size)

    def impossible(self, table: Table) -> str | None:
        """Why no partition of this table can satisfy the conditions, or None.

        The whole table as one class is the most mixed release there is: distinct l and entropy l that it
        does not reach are out of reach, since the entropy of a mixture is at least the least of its parts.
        """
        test = self.compile(table)
        everyone = np.bincount(test.codes.ravel(), minlength=int(test.starts[-1])).astype(np.int64)
        for j, name in enumerate(table.sensitive):
            counts = everyone[test.starts[j] : test.starts[j + 1]]
            distinct = int((counts > 0).sum())
            if distinct < test.distinct_l:
                return f"distinct l={test.distinct_l} cannot hold: '{name}' has only {distinct} distinct values."
            present = counts[counts > 0] / table.n
            reached = float(np.exp(-(present * np.log(present)).sum()))
            if self.entropy_l is not None and reached < self.entropy_l - TOLERANCE:
                return (
                    f"entropy l={self.entropy_l:g} cannot hold: '{name}' reaches {reached:.4g} in the whole table, "
                    "and some class is always at or below that."
                )
        return None

    def violations(self, test: ClassTest, labels: Labels) -> dict[str, int]:
        """How many classes break each condition that was asked for; labels run from 0 to C-1."""
        # Where size is all that matters nothing is counted: a sensitive number may have as many values as records.
        sizes = class_sizes(labels)
        small = (int((sizes < test.k).sum()), 0, 0, 0)
        broken = small if test.only_size else broken_classes(test, *members(labels))
        asked = {"k": self.k, "distinct_l": self.distinct_l, "entropy_l": self.entropy_l, "t": self.t}
        return {name: int(count) for name, count in zip(asked, broken, strict=True) if asked[name] is not None}


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


@njit(cache=True, nogil=True)
def distinct_enough(test: ClassTest, counts: NDArray[np.int64]) -> bool:
    """Whether every sensitive attribute has `distinct_l` different values in the class."""
    for j in range(len(test.starts) - 1):
        distinct = 0
        for v in range(test.starts[j], test.starts[j + 1]):
            distinct += counts[v] > 0
        if distinct < test.distinct_l:
            return False
    return True


@njit(cache=True, nogil=True)
def entropic_enough(test: ClassTest, counts: NDArray[np.int64], size: int) -> bool:
    """Whether every sensitive attribute's entropy in the class reaches its bound."""
    for j in range(len(test.starts) - 1):
        if test.entropy[j] > 0.0:
            # H = log m - (1/m) sum n log n
            weighted = 0.0
            for v in range(test.starts[j], test.starts[j + 1]):
                if counts[v] > 1:
                    weighted += counts[v] * np.log(counts[v])
            if np.log(size) - weighted / size < test.entropy[j] - TOLERANCE:
                return False
    return True


@njit(cache=True, nogil=True)
def distance_from_table(test: ClassTest, counts: NDArray[np.int64], size: int, j: int) -> float:
    """The transport distance of a class's distribution of attribute j from the whole table's."""
    first, last = test.starts[j], test.starts[j + 1]
    prefix = np.zeros(last - first + 1)
    for place in range(last - first):
        v = first + test.order[first + place]
        prefix[place + 1] = prefix[place] + counts[v] / size - test.shares[v]
    distance = 0.0
    for e in range(test.edge_starts[j], test.edge_starts[j + 1]):
        distance += test.edge_weight[e] * abs(prefix[test.edge_high[e]] - prefix[test.edge_low[e]])
    return distance


@njit(cache=True, nogil=True)
def close_enough(test: ClassTest, counts: NDArray[np.int64], size: int) -> bool:
    """Whether every sensitive attribute's distribution in the class is within t of the table's."""
    close = True
    for j in range(len(test.starts) - 1):
        close &= distance_from_table(test, counts, size, j) <= test.t + TOLERANCE
    return close


@njit(cache=True, nogil=True)
def meets(test: ClassTest, counts: NDArray[np.int64], size: int) -> bool:
    """Whether a class with these sensitive counts and this size satisfies every condition."""
    if size < test.k:
        return False
    if test.distinct_l > 1 and not distinct_enough(test, counts):
        return False
    if not entropic_enough(test, counts, size):
        return False
    return test.t == np.inf or close_enough(test, counts, size)


@njit(cache=True, nogil=True)
def count_values(test: ClassTest, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sensitive counts of the class made of `rows`."""
    counts = np.zeros(test.starts[-1], np.int64)
    for i in rows:
        for j in range(test.codes.shape[1]):
            counts[test.codes[i, j]] += 1
    return counts


@njit(cache=True, nogil=True)
def broken_classes(test: ClassTest, order: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many classes break k, distinct l, entropy l and t, in this order; the arguments are `members(labels)`."""
    broken = np.zeros(4, np.int64)
    for c in range(len(starts) - 1):
        rows = order[starts[c] : starts[c + 1]]
        counts = count_values(test, rows)
        broken[0] += len(rows) < test.k
        broken[1] += test.distinct_l > 1 and not distinct_enough(test, counts)
        broken[2] += not entropic_enough(test, counts, len(rows))
        broken[3] += test.t < np.inf and not close_enough(test, counts, len(rows))
    return broken
