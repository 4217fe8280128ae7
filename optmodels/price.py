"""What a class costs: the prices behind every class-additive model, compiled, or any function of its records.

A *spread* is the squared distance to the class mean plus weighted mismatches with the class mode
(microaggregation, MO-OBAM); an *extent* is the class size times the sides of its bounding box, a
categorical side being the number of further distinct values (loss metric, NCP, Liang-Samavi). A *hierarchy* price is
an extent whose codes are leaves of trees: the side is what the lowest node above them all costs. With the leaves
numbered depth first every node holds consecutive ones, so that the least and the greatest leaf of a class say which
node that is, as the two ends of an interval do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from optmodels.partition import Labels, members
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
PriceName = Literal["spread", "extent", "hierarchy"]  # in the order of the kinds

SPREAD = 0
EXTENT = 1
HIERARCHY = 2
_FAR = 1e3  # widths of a column from zero to its middle, beyond which it is moved
_REMEMBERED = 200_000  # classes of a plain price


@dataclass(frozen=True, eq=False)
class Price:
    """The price of a class of records, as arrays that compiled kernels can work on.

    >>> price = Price("spread", np.array([[0.0], [2.0], [7.0]]), np.zeros((3, 0), np.int32), np.zeros(0))
    >>> price.of(np.array([0, 1]))
    2.0
    >>> price.total(np.array([0, 0, 1]))
    2.0
    """

    name: PriceName
    numeric: Floats
    codes: Codes
    code_weights: Floats
    climbs: Floats = field(default_factory=lambda: np.zeros((0, 0)))  # of a hierarchy price, see `climbs_of`

    def __post_init__(self) -> None:
        """Lay all arrays out alike: kernels are compiled anew for every layout that they meet."""
        for name in ("numeric", "code_weights", "climbs"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), np.float64))
        object.__setattr__(self, "codes", np.ascontiguousarray(self.codes, np.int32))

    @property
    def kind(self) -> int:
        """The price as the integer that compiled kernels branch on."""
        return get_args(PriceName).index(self.name)

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.numeric)

    def take(self, rows: NDArray[np.integer]) -> Price:
        """The price of classes of some of the records, in the units of all of them."""
        return replace(self, numeric=self.numeric[rows], codes=self.codes[rows])

    def of(self, rows: NDArray[np.integer]) -> float:
        """The price of one class, given its records."""
        rows = np.asarray(rows, np.int64)
        return float(class_price(self.kind, self.numeric, self.codes, self.code_weights, self.climbs, rows))

    def per_class(self, labels: Labels) -> Floats:
        """The price of every class of a partition; labels run from 0 to C-1."""
        arrays = self.numeric, self.codes, self.code_weights, self.climbs
        prices: Floats = class_prices(self.kind, *arrays, *members(labels))
        return prices

    def total(self, labels: Labels) -> float:
        """The price of a whole partition."""
        return float(self.per_class(labels).sum())


@dataclass(frozen=True, eq=False)
class PlainPrice:
    """The price of a class as any Python function of its records' numbers: for what no compiled price says.

    Prices are remembered class by class, as a search comes back to the same ones again and again.

    >>> ages = np.array([20.0, 22.0, 60.0, 61.0])
    >>> price = PlainPrice(lambda rows: float(np.ptp(ages[rows])), n=4)
    >>> price.of(np.array([0, 1])), price.total(np.array([0, 0, 1, 1]))
    (2.0, 3.0)
    """

    function: Callable[[NDArray[np.int64]], float]
    n: int
    rows: NDArray[np.int64] | None = None  # where it is of some of the records only, their numbers among all
    _known: dict[bytes, float] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Functions written on the spot travel to other processes as well; what is remembered does not."""
        from joblib import wrap_non_picklable_objects

        return PlainPrice, (wrap_non_picklable_objects(self.function, keep_wrapper=False), self.n, self.rows)

    def take(self, rows: NDArray[np.integer]) -> PlainPrice:
        """The price of classes of some of the records."""
        numbers = np.asarray(rows, np.int64)
        numbers = numbers if self.rows is None else self.rows[numbers]
        return PlainPrice(self.function, len(numbers), numbers, self._known)

    def of(self, rows: NDArray[np.integer]) -> float:
        """The price of one class, given its records."""
        numbers = np.sort(np.asarray(rows, np.int64) if self.rows is None else self.rows[rows])
        key = numbers.tobytes()
        if key not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[key] = float(self.function(numbers))
        return self._known[key]

    def met(self, most: int) -> list[NDArray[np.int64]]:
        """The classes of these records that were priced last, up to so many."""
        inside = np.arange(self.n) if self.rows is None else self.rows
        place = {number: i for i, number in enumerate(inside.tolist())}
        found = (np.frombuffer(key, np.int64).tolist() for key in islice(reversed(self._known), most))
        return [np.array([place[i] for i in rows], np.int64) for rows in found if all(i in place for i in rows)]

    def per_class(self, labels: Labels) -> Floats:
        """The price of every class of a partition; labels run from 0 to C-1."""
        order, starts = members(labels)
        return np.array([self.of(order[low:high]) for low, high in pairwise(starts)])

    def total(self, labels: Labels) -> float:
        """The price of a whole partition."""
        return float(self.per_class(labels).sum())


def spread(table: Table) -> Price:
    """Squared distance to the mean plus weighted mismatches with the mode, in the table's scaling."""
    return Price("spread", _centred(table.scaled), table.codes, table.mismatch_weights)


def extent(table: Table) -> Price:
    """Class size times the sum of the attributes' shares of their whole range (loss metric and NCP).

    A numeric side is weight * (max - min)/(U - L); a categorical one is weight * (distinct - 1)/(domain - 1).
    """
    reach = table.ranges
    weights = np.array([table.weights[name] for name in table.measured])
    sides = _centred(table.values) * (weights / np.where(reach > 0, reach, 1.0))
    domains = np.array([len(table.levels[name]) for name in table.categorical], np.float64)
    code_weights = np.array([table.weights[name] for name in table.categorical]) / np.maximum(domains - 1, 1)
    return Price("extent", sides, table.codes, code_weights)


def hierarchy(table: Table) -> Price:
    """Class size times the sum of the attributes' NCP, those with a hierarchy released as the lowest common node.

    Such a side is weight * (leaves below the node - 1)/(leaves - 1). Numbers and ordinals without a hierarchy are
    intervals as in `extent`; categories without one are kept or suppressed: the side is 0 or the weight.
    """
    own = [name for name in table.quasi if name in table.hierarchies or name in table.categorical]
    free = [name for name in table.measured if name not in own]
    columns = [table.measured.index(name) for name in free]
    weights = np.array([table.weights[name] for name in free])
    reach = table.ranges[columns]
    sides = _centred(table.values[:, columns]) * (weights / np.where(reach > 0, reach, 1.0))
    codes = np.empty((table.n, len(own)), np.int32)
    climbs, before = [], 0
    for j, name in enumerate(own):
        if name in table.hierarchies:
            tree, leaves = table.hierarchies[name], table.leaf_codes(name)
        else:
            tree, leaves = Hierarchy(range(len(table.levels[name])), []), table.level_codes(name)
        places = tree.depth_first()
        codes[:, j] = before + places[leaves]
        climbs.append(climbs_of(tree, table.weights[name], before))
        before += len(places)
    code_weights = np.array([table.weights[name] for name in own], np.float64)
    return Price("hierarchy", sides, codes, code_weights, _side_by_side(climbs))


def climbs_of(tree: Hierarchy, weight: float, before: int) -> Floats:
    """What `node_cost` asks of each leaf, in depth-first order: the last leaf of the nodes above it, then their costs.

    Leaves are numbered from `before` on.

    >>> climbs_of(Hierarchy(["nurse", "doctor", "cook"], [["health", "health", "kitchen"]]), 1.0, 0).tolist()
    [[1.0, 2.0, 0.5, 1.0], [1.0, 2.0, 0.5, 1.0], [2.0, 2.0, 0.0, 1.0]]
    """
    places = tree.depth_first()
    above = np.empty_like(tree.nodes[:, 1:])
    above[places] = tree.nodes[:, 1:]
    costs = weight * (tree.leaf_counts - 1) / max(len(above) - 1, 1)
    return np.hstack([_last_leaves(above, before), costs[above]])


def _last_leaves(above: NDArray[np.integer], before: int) -> Floats:
    """The last of the leaves below each node above each leaf, which are in depth-first order from `before` on."""
    last = np.zeros(int(above.max(initial=-1)) + 1, np.int64)
    last[above] = np.arange(before, before + len(above))[:, None]  # the last one written is the greatest
    found: Floats = last[above].astype(np.float64)
    return found


def by_levels(leaves: Codes, nodes: Sequence[NDArray[np.integer]], costs: Sequence[Floats]) -> Price:
    """Class size times what the lowest levels cost on which its records are equal, attribute by attribute.

    `leaves` are (n, attributes), `nodes` the node of each leaf on each level, `costs` what a record pays on each.

    >>> nodes = np.array([[0, 3, 5], [1, 4, 5], [2, 3, 5]])
    >>> price = by_levels(np.array([[0], [1], [2]], np.int32), [nodes], [np.array([0.0, 1.0, 10.0])])
    >>> price.of([0, 2]), price.of([0, 1])
    (2.0, 20.0)
    """
    codes, climbs, before = np.empty(leaves.shape, np.int32), [], 0
    for j, (tree, paid) in enumerate(zip(nodes, costs, strict=True)):
        order = np.lexsort(tree.T)  # by the highest level first: depth first
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        codes[:, j] = before + places[leaves[:, j]]
        above = tree[order][:, 1:] if tree.shape[1] > 1 else tree[order]
        climbs.append(np.hstack([_last_leaves(above, before), np.tile(paid[-above.shape[1] :], (len(above), 1))]))
        before += len(order)
    weights = np.array([float(paid[-1]) for paid in costs])
    return Price("hierarchy", np.zeros((len(leaves), 0)), codes, weights, _side_by_side(climbs))


def leaf_places(price: Price) -> Floats:
    """(n, codes) the leaves of a hierarchy price as places on lines as long as the attributes weigh.

    Neighbouring leaves lie as far apart as the node costs that they meet in, so that a node's leaves lie together.
    """
    if not price.codes.shape[1]:
        return np.empty(price.codes.shape)
    levels = price.climbs.shape[1] // 2
    ends, costs = price.climbs[:, :levels], price.climbs[:, levels:]
    numbers = np.arange(len(ends))
    meeting = (ends > numbers[:, None]).argmax(axis=1)  # the level on which each leaf meets the next
    gaps = np.where(ends[:, -1] > numbers, costs[numbers, meeting], 0.0)
    places = np.concatenate([[0.0], np.cumsum(gaps)])
    found = np.empty(price.codes.shape)
    for j, weight in enumerate(price.code_weights.tolist()):
        end = int(ends[price.codes[0, j], -1])
        start = int(np.searchsorted(ends[:, -1], end))
        long = places[end] - places[start]
        found[:, j] = (places[price.codes[:, j]] - places[start]) * (weight / long if long > 0 else 0.0)
    return found


def on_lines(price: Price) -> Price:
    """The geometry of a hierarchy price: a spread of numbers and of the leaves' places on lines."""
    n = price.n
    return Price("spread", np.hstack([price.numeric, leaf_places(price)]), np.zeros((n, 0), np.int32), np.zeros(0))


def _side_by_side(climbs: list[Floats]) -> Floats:
    """The climbs of all attributes, one below the other; lower trees get their root again and again."""
    levels = max((one.shape[1] // 2 for one in climbs), default=0)
    filled = []
    for one in climbs:
        own = one.shape[1] // 2
        places = np.minimum(np.arange(levels), own - 1)
        filled.append(np.hstack([one[:, places], one[:, own + places]]))
    return np.vstack(filled) if filled else np.zeros((0, 0))


def _centred(values: Floats) -> Floats:
    """The values, columns that lie far from zero for their width moved there: differences are all that counts.

    Sums of squares of numbers around 1e12 that differ by 1 are rounding and nothing else.
    """
    low, high = values.min(axis=0), values.max(axis=0)
    middle = low + (high - low) / 2
    far = np.abs(middle) > _FAR * (high - low)
    return values - np.where(far, middle, 0.0) if far.any() else values


def geometry(table: Table) -> Price:
    """Where the records of a table lie, for models that do not say so: a spread in which attributes count alike.

    That is the table's own scaling, or shares of attributes' ranges where it has none.
    """
    return spread(table.rescaled(scaling="range") if table.roles.scaling == "none" else table)


@part(forceinline=True)
def node_cost(climbs: Floats, low: int, high: int) -> float:
    """What the lowest node above two leaves of a tree, and all between them, costs."""
    if low == high:
        return 0.0
    levels = climbs.shape[1] // 2
    level = 0
    while climbs[low, level] < high:
        level += 1
    cost: float = climbs[low, levels + level]
    return cost


@kernel(nogil=True)
def class_price(
    kind: int, numeric: Floats, codes: Codes, code_weights: Floats, climbs: Floats, rows: NDArray[np.integer]
) -> float:
    """The price of the class made of `rows`."""
    size = len(rows)
    if size == 0:
        return 0.0
    total = 0.0
    for j in range(numeric.shape[1]):
        if kind == SPREAD:
            # Two passes around the mean: the textbook one-pass form cancels badly on large raw values. The mean is
            # measured from a member, so that the mean of equal numbers is that number and they cost nothing at all.
            member = numeric[rows[0], j]
            mean = 0.0
            for i in rows:
                mean += numeric[i, j] - member
            mean = member + mean / size
            for i in rows:
                total += (numeric[i, j] - mean) ** 2
        else:
            low = high = numeric[rows[0], j]
            for i in rows:
                low = min(low, numeric[i, j])
                high = max(high, numeric[i, j])
            total += size * (high - low)
    for j in range(codes.shape[1]):
        if kind == HIERARCHY:
            first = last = codes[rows[0], j]
            for i in rows:
                first = min(first, codes[i, j])
                last = max(last, codes[i, j])
            total += size * node_cost(climbs, first, last)
        else:
            total += _categorical_price(kind, codes[:, j], code_weights[j], rows)
    return total


@part
def _categorical_price(kind: int, codes: Codes, weight: float, rows: NDArray[np.integer]) -> float:
    size = len(rows)
    sorted_codes = np.sort(codes[rows])
    distinct, mode, run = 1, 1, 1
    for i in range(1, size):
        if sorted_codes[i] == sorted_codes[i - 1]:
            run += 1
        else:
            distinct += 1
            run = 1
        mode = max(mode, run)
    if kind == SPREAD:
        return weight * (size - mode)
    return weight * size * (distinct - 1)


@kernel(nogil=True)
def class_prices(
    kind: int,
    numeric: Floats,
    codes: Codes,
    code_weights: Floats,
    climbs: Floats,
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
) -> Floats:
    """The prices of all classes of a partition given as a counting sort of its labels."""
    prices = np.empty(len(starts) - 1)
    for c in range(len(prices)):
        prices[c] = class_price(kind, numeric, codes, code_weights, climbs, order[starts[c] : starts[c + 1]])
    return prices
