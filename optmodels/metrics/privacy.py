"""Privacy levels of classes, from their histograms of one sensitive attribute.

Functions named after what a class has (`distinct_values`, `entropies`, `transport_distance`) return one
number per class; those named after a model (`distinct_l`, `entropy_l`, `recursive_c`, `alpha`, ...) return the
level the whole table reaches, that of its worst class. Classes must not be empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from optmodels.errors import InputError
from optmodels.kernels import copy_into, kernel
from optmodels.partition import Histograms, sort_small

if TYPE_CHECKING:
    from optmodels.table.hierarchy import Hierarchy

# Two entropies, shares or distances closer than this are equal: sums of logarithms differ in their last bits.
TOLERANCE = 1e-9
_SHORT_GAP = 16  # edges that are summed one by one sooner than searched


@dataclass(frozen=True)
class Transport:
    """A distance between distributions as a sum over edges of a tree.

    With F the prefix sums of p - q over the values taken in `order` (F[0] = 0), the distance is
    sum_e weight[e] * |F[high[e]] - F[low[e]]|: an edge is charged for the mass that has to cross it. Edges
    are either nested ranges (a hierarchy) or all start at 0 and follow the codes (a line of values).
    """

    order: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    weight: NDArray[np.float64]

    @classmethod
    def variational(cls, size: int) -> Transport:
        """D = sum |p - q|, without a half."""
        places = np.arange(size, dtype=np.int64)
        return cls(places, places, places + 1, np.ones(size))

    @classmethod
    def equal(cls, size: int) -> Transport:
        """Earth mover's distance when all values are equally far apart: half the variational distance."""
        places = np.arange(size, dtype=np.int64)
        return cls(places, places, places + 1, np.full(size, 0.5))

    @classmethod
    def ordered(cls, size: int) -> Transport:
        """Earth mover's distance when value i and value j are |i - j| / (m - 1) apart."""
        places = np.arange(size, dtype=np.int64)
        steps = max(size - 1, 0)
        return cls(places, np.zeros(steps, np.int64), places[1:], np.full(steps, 1.0 / max(steps, 1)))

    @classmethod
    def hierarchical(cls, hierarchy: Hierarchy, values: Sequence[object] | pd.Index) -> Transport:
        """Earth mover's distance when two values are (level of their lowest common ancestor) / height apart.

        The path between two values climbs to the ancestor and down again, so each of its edges is half a
        level long (Li, Li and Venkatasubramanian 2007).
        """
        nodes = hierarchy.nodes[hierarchy.codes(pd.Index(values))]
        height = hierarchy.n_levels - 1
        order = np.lexsort(nodes.T).astype(np.int64)  # by root, then level by level: every node is one range
        edges: dict[tuple[int, int], float] = {}
        for level in range(height):
            cuts = (np.flatnonzero(np.diff(nodes[order, level])) + 1).tolist()
            for edge in zip([0, *cuts], [*cuts, len(order)], strict=True):
                edges[edge] = edges.get(edge, 0.0) + 0.5 / height
        ends = np.array(list(edges), np.int64).reshape(-1, 2)
        return cls(order, ends[:, 0].copy(), ends[:, 1].copy(), np.array(list(edges.values()), np.float64))

    def between(self, one: NDArray[np.integer], other: NDArray[np.integer]) -> NDArray[np.float64]:
        """How far apart values are, pair by pair: what it costs to move all of one value's mass to the other.

        >>> Transport.ordered(5).between(np.array([0, 3]), np.array([4, 2]))
        array([1.  , 0.25])
        >>> Transport.equal(3).between(np.array([0, 1]), np.array([0, 2]))
        array([0., 1.])
        """
        places = np.empty_like(self.order)
        places[self.order] = np.arange(len(places))
        one, other = places[one], places[other]
        if not self.low.any():  # a line: the edges between two places
            passed = np.concatenate([[0.0], np.cumsum(self.weight)])
            before = np.searchsorted(self.high, np.arange(len(places)), side="right")
            return np.asarray(np.abs(passed[before[other]] - passed[before[one]]))
        owners, edges = _edges_over_places(self)
        over = sparse.csr_array(
            (np.sqrt(self.weight[edges]), edges, owners), shape=(len(places), max(len(self.weight), 1))
        )
        climbed = np.asarray(over.power(2).sum(axis=1)).ravel()  # from a place to the root
        shared = np.asarray(over[one].multiply(over[other]).sum(axis=1)).ravel()  # edges over both are not climbed
        return np.asarray(np.maximum(climbed[one] + climbed[other] - 2.0 * shared, 0.0))


def shares(histograms: Histograms, size: int) -> NDArray[np.float64]:
    """The distribution of all records over the `size` possible values."""
    totals = np.bincount(histograms.values, weights=histograms.counts, minlength=size)
    return totals / max(int(histograms.sizes.sum()), 1)


def transport_distance(
    histograms: Histograms, table_shares: NDArray[np.float64], transport: Transport
) -> NDArray[np.float64]:
    """Distance of every class's distribution from the table's, in time linear in the histograms' entries.

    >>> from optmodels.partition import histograms
    >>> found = histograms([0] * 10, [0] * 6 + [1] * 4)
    >>> transport_distance(found, np.array([0.41, 0.59]), Transport.variational(2)).round(9)
    array([0.38])
    """
    if len(transport.order) != len(table_shares):
        raise InputError(f"A distance over {len(transport.order)} values cannot compare {len(table_shares)} shares.")
    places = np.empty_like(transport.order)
    places[transport.order] = np.arange(len(places))
    before = np.concatenate([[0.0], np.cumsum(table_shares[transport.order])])
    if not transport.low.any():
        edges_before = np.searchsorted(transport.high, places, side="right")
        return np.asarray(_line_distance(histograms, edges_before, before[transport.high], transport.weight))
    owners, edges = _edges_over_places(transport)
    expected = before[transport.high] - before[transport.low]
    return np.asarray(_nested_distance(histograms, places, owners, edges, expected, transport.weight))


def k_anonymity(sizes: NDArray[np.int64]) -> int:
    """Records in the smallest class; 0 for an empty table."""
    return int(sizes.min(initial=np.iinfo(np.int64).max)) if sizes.size else 0


def distinct_values(histograms: Histograms) -> NDArray[np.int64]:
    """Number of different values in each class."""
    return np.diff(histograms.starts)


def entropies(histograms: Histograms) -> NDArray[np.float64]:
    """Entropy of each class in bits.

    >>> from optmodels.partition import histograms
    >>> entropies(histograms([0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2])).round(4)
    array([0.9183, 0.    ])
    """
    return np.asarray(_entropies(histograms))


def distinct_l(histograms: Histograms) -> int:
    """Fewest different values in a class."""
    return int(distinct_values(histograms).min()) if histograms.sizes.size else 0


def entropy_l(histograms: Histograms) -> float:
    """Effective number of values, 2 to the entropy in bits, in the class where it is least.

    >>> from optmodels.partition import histograms
    >>> round(entropy_l(histograms([0] * 10, [0] * 8 + [1] * 2)), 3)
    1.649
    """
    return float(2.0 ** entropies(histograms).min()) if histograms.sizes.size else 0.0


def recursive_c(histograms: Histograms, l: int | None = None) -> float:  # noqa: E741
    """Least c with r1 <= c * (r_l + ... + r_m) in every class, r1 >= r2 >= ... the counts of its values.

    Without l it is taken at the table's distinct l; in a class with just that many values it is r1 / r_l.
    Infinite if some class has fewer than l values.

    >>> from optmodels.partition import histograms
    >>> recursive_c(histograms([0] * 10, [0] * 8 + [1] * 2))
    4.0
    """
    top, tails = _top_and_tails(histograms, distinct_l(histograms) if l is None else l)
    return float(np.max(np.divide(top, tails, where=tails > 0, out=np.full(len(top), inf))))


def recursive_cs(histograms: Histograms) -> tuple[float, ...]:
    """`recursive_c` for l = 1, 2 and so on up to the table's distinct l, beyond which no c will do.

    >>> from optmodels.partition import histograms
    >>> recursive_cs(histograms([0] * 10, [0] * 6 + [1] * 3 + [2]))
    (0.6, 1.5, 6.0)
    """
    return tuple(_recursive_cs(histograms, distinct_l(histograms)).tolist())


def is_recursive_diverse(histograms: Histograms, c: float, l: int) -> bool:  # noqa: E741
    """Recursive (c, l)-diversity of Machanavajjhala et al.: r1 < c * (r_l + ... + r_m), strictly, in every class.

    >>> from optmodels.partition import histograms
    >>> found = histograms([0] * 10, [0] * 8 + [1] * 2)
    >>> is_recursive_diverse(found, c=4, l=2), is_recursive_diverse(found, c=4.1, l=2)
    (False, True)
    """
    top, tails = _top_and_tails(histograms, l)
    return bool((top < c * tails * (1.0 - TOLERANCE)).all())


def alpha(histograms: Histograms, values: Sequence[int] | None = None) -> float:
    """Largest share of one value in a class, the alpha of (alpha, k)-anonymity; of the given values only, if any.

    >>> from optmodels.partition import histograms
    >>> alpha(histograms([0, 0, 0, 1, 1], [0, 0, 1, 1, 2])).__round__(3)
    0.667
    """
    counts = histograms.counts if values is None else histograms.counts * np.isin(histograms.values, values)
    return float((_largest(counts, histograms) / histograms.sizes).max(initial=0.0))


def basic_beta(histograms: Histograms, table_shares: NDArray[np.float64]) -> float:
    """Largest relative gain (p - q) / q in confidence about a value: the beta of basic beta-likeness."""
    return float(_relative_frequencies(histograms, table_shares)[1]) - 1.0


def enhanced_beta(histograms: Histograms, table_shares: NDArray[np.float64]) -> float:
    """Least beta with every gain at most min(beta, -ln q); infinite if some gain exceeds -ln q."""
    _, most, beyond = _relative_frequencies(histograms, table_shares)
    return inf if beyond > TOLERANCE else float(most) - 1.0


def delta_disclosure(histograms: Histograms, table_shares: NDArray[np.float64]) -> float:
    """Largest |ln(p / q)| over classes and values; infinite if a value of the table is absent from a class."""
    if bool((distinct_values(histograms) < np.count_nonzero(table_shares)).any()):
        return inf
    least, most, _ = _relative_frequencies(histograms, table_shares)
    return max(abs(log(least)), abs(log(most)))


def _largest(counts: NDArray[np.int64], histograms: Histograms) -> NDArray[np.int64]:
    """The largest count of every class."""
    return np.maximum.reduceat(counts, histograms.starts[:-1]) if counts.size else np.zeros(0, np.int64)


def _top_and_tails(histograms: Histograms, least: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """r1 and r_l + ... + r_m of every class."""
    if least < 1:
        raise InputError(f"recursive (c, l)-diversity needs l of at least 1, not {least}.")
    tails = histograms.sizes if least == 1 else _tails(histograms.starts, histograms.counts, least)
    return _largest(histograms.counts, histograms), tails


def _edges_over_places(transport: Transport) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every place in the order, the edges whose range covers it: edges[owners[p]:owners[p + 1]]."""
    lengths = transport.high - transport.low
    edge = np.repeat(np.arange(len(lengths)), lengths)
    offset = np.arange(len(edge)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = transport.low[edge] + offset
    owners = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=len(transport.order)))])
    return owners.astype(np.int64), edge[np.argsort(place, kind="stable")].astype(np.int64)


@kernel(nogil=True)
def _nested_distance(
    histograms: Histograms,
    places: NDArray[np.int64],
    owners: NDArray[np.int64],
    edges: NDArray[np.int64],
    expected: NDArray[np.float64],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Start from a class that puts nothing anywhere and correct the edges above the values it has."""
    nothing = 0.0
    for e in range(weight.size):
        nothing += weight[e] * expected[e]
    mass = np.zeros(weight.size)
    result = np.empty(histograms.sizes.size)
    for c in range(histograms.sizes.size):
        low, high = histograms.starts[c], histograms.starts[c + 1]
        for i in range(low, high):
            place = places[histograms.values[i]]
            for o in range(owners[place], owners[place + 1]):
                mass[edges[o]] += histograms.counts[i] / histograms.sizes[c]
        distance = nothing
        for i in range(low, high):
            place = places[histograms.values[i]]
            for o in range(owners[place], owners[place + 1]):
                e = edges[o]
                if mass[e] > 0.0:
                    distance += weight[e] * (abs(mass[e] - expected[e]) - expected[e])
                    mass[e] = 0.0
        result[c] = max(distance, 0.0)
    return result


@kernel(nogil=True)
def _line_distance(
    histograms: Histograms, edges_before: NDArray[np.int64], climbed: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Between two of its values a class's prefix sum P stands still while the table's Q climbs past it once.

    Running sums of w and w * Q over the edges give the sum of w * |P - Q| on each side of the crossing, which makes
    long gaps cheap.
    """
    total_w, total_wq = np.zeros(weight.size + 1), np.zeros(weight.size + 1)
    copy_into(total_w[1:], np.cumsum(weight))
    copy_into(total_wq[1:], np.cumsum(weight * climbed))
    result = np.empty(histograms.sizes.size)
    for c in range(histograms.sizes.size):
        end = histograms.starts[c + 1]
        distance, reached, edge = 0.0, 0, 0
        for i in range(histograms.starts[c], end + 1):
            stop = edges_before[histograms.values[i]] if i < end else weight.size
            standing = reached / histograms.sizes[c]
            if stop - edge <= _SHORT_GAP:
                for e in range(edge, stop):
                    distance += weight[e] * abs(standing - climbed[e])
            else:
                cross = edge + np.searchsorted(climbed[edge:stop], standing)
                distance += standing * (total_w[cross] - total_w[edge]) - (total_wq[cross] - total_wq[edge])
                distance += (total_wq[stop] - total_wq[cross]) - standing * (total_w[stop] - total_w[cross])
            edge = stop
            if i < end:
                reached += histograms.counts[i]
        result[c] = max(distance, 0.0)
    return result


@kernel(nogil=True)
def _entropies(histograms: Histograms) -> NDArray[np.float64]:
    """H = log m - (1/m) sum n log n, where values that occur once add nothing to the sum."""
    result = np.empty(histograms.sizes.size)
    for c in range(result.size):
        weighted = 0.0
        for i in range(histograms.starts[c], histograms.starts[c + 1]):
            if histograms.counts[i] > 1:
                weighted += histograms.counts[i] * np.log2(histograms.counts[i])
        result[c] = max(np.log2(histograms.sizes[c]) - weighted / histograms.sizes[c], 0.0)
    return result


@kernel(nogil=True)
def _tails(starts: NDArray[np.int64], counts: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """All records of every class but those of its l - 1 most frequent values."""
    ascending = counts.copy()
    result = np.zeros(starts.size - 1, np.int64)
    for c in range(result.size):
        sort_small(ascending[starts[c] : starts[c + 1]])
        for i in range(starts[c], starts[c + 1] - least + 1):
            result[c] += ascending[i]
    return result


@kernel(nogil=True)
def _recursive_cs(histograms: Histograms, most: int) -> NDArray[np.float64]:
    """The largest r1 / (r_l + ... + r_m) of a class, for every l up to `most`."""
    ascending = histograms.counts.copy()
    result = np.zeros(most)
    for c in range(histograms.sizes.size):
        low, high = histograms.starts[c], histograms.starts[c + 1]
        sort_small(ascending[low:high])
        tail = histograms.sizes[c]
        for place in range(most):
            result[place] = max(result[place], ascending[high - 1] / tail)
            tail -= ascending[high - 1 - place]
    return result


@kernel(nogil=True)
def _relative_frequencies(histograms: Histograms, table_shares: NDArray[np.float64]) -> tuple[float, float, float]:
    """Least and most p / q of a value in a class, and how far a gain p / q - 1 exceeds -ln q at most."""
    least, most, beyond = 1.0, 1.0, -np.inf
    bounds = 1.0 - np.log(table_shares)
    for c in range(histograms.sizes.size):
        for i in range(histograms.starts[c], histograms.starts[c + 1]):
            value = histograms.values[i]
            ratio = histograms.counts[i] / histograms.sizes[c] / table_shares[value]
            least, most = min(least, ratio), max(most, ratio)
            beyond = max(beyond, ratio - bounds[value])
    return least, most, beyond
