"""Few large classes: column generation whose pricing is a search for the best centre.

With a prescribed number of classes p and classes much larger than k, listing members is hopeless, but a class of
least reduced cost is settled by where its centre lies: it takes every record that is nearer than its dual pays for.
So pricing is a branch and bound over boxes of centres (`cheapest_centre`), and any duals give the bound
sum(duals) + p * (least reduced cost). Conditions beyond size are left out of the bound, which keeps it valid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import kernel, part
from optmodels.partition import Labels, class_sizes, group_rows
from optmodels.price import Codes, Floats, Price
from optmodels.solver import Run
from optmodels.structures import Priced, compiled_price
from solvers.columns.boxed_master import BoxedMaster

# Pricing may miss the least reduced cost by this share of an average class's price; the bound accounts for it.
_SLACK = 1e-6
_COLUMNS_A_ROUND = 60
_MOST_ROUNDS = 2_000
_NODES_A_CALL = 20_000
_CONVERGED = 1e-5  # relative distance of the linear master's value from the bound
_INTEGER_SHARE = 0.5  # of the remaining time, for the integer master over the classes found


@dataclass(frozen=True, eq=False)
class Groups:
    """Records with equal quasi-identifiers once, with how many there are: they are interchangeable here."""

    numeric: Floats
    codes: Codes
    code_weights: Floats
    counts: NDArray[np.int64]
    of_record: Labels
    n_codes: NDArray[np.int64]

    @classmethod
    def of(cls, price: Price) -> Groups:
        """The groups of a price's records."""
        columns = [*price.numeric.T, *price.codes.T]
        of_record = group_rows(columns) if columns else np.zeros(price.n, np.int64)
        first = np.unique(of_record, return_index=True)[1]
        n_codes = price.codes.max(axis=0, initial=-1).astype(np.int64) + 1
        counts = class_sizes(of_record)
        return cls(price.numeric[first], price.codes[first], price.code_weights, counts, of_record, n_codes)

    @property
    def arrays(self) -> tuple[Floats, Codes, Floats, NDArray[np.int64]]:
        """What every kernel needs."""
        return self.numeric, self.codes, self.code_weights, self.counts


def applies(priced: Priced) -> bool:
    """Whether classes are few and large enough for this and centres have few enough coordinates to search."""
    price = priced.compiled
    if price is None or priced.n_classes is None or price.name != "spread" or price.numeric.shape[1] > 3:
        return False
    return price.n >= 4 * priced.test.k * priced.n_classes or price.n >= 12 * priced.n_classes


def search(priced: Priced, run: Run) -> None:
    """Raise the bound until the linear master is solved, then look for the best integer combination of classes.

    The duals move by box steps: the master may not leave a box around the duals of the best bound so far, which
    grows when a step succeeds and shrinks when several fail. The run must have an incumbent to begin with.
    """
    assert priced.n_classes is not None
    assert run.labels is not None
    price, labels = compiled_price(priced), run.labels  # a heuristic beside this may find others meanwhile
    groups = Groups.of(price)
    k, p = priced.test.k, priced.n_classes
    master = BoxedMaster(groups.counts, p, p)
    for c in range(p):
        master.add(*_column(groups, np.bincount(groups.of_record[labels == c], minlength=len(groups.counts))))
    total = price.total(labels)
    slack = _SLACK * total / p
    centre, width = _first_duals(groups, price, labels), total / price.n
    best, failures, rounds = -np.inf, 0, 0
    duals, value, class_dual = centre, np.inf, np.inf
    while rounds < _MOST_ROUNDS and not run.expired:
        floor, classes = _price(groups, duals, k, slack, class_dual)
        bound = float(duals @ groups.counts + p * floor)
        for members in classes:
            master.add(*_column(groups, members))
        if bound > best:
            best, centre, width, failures = bound, duals, 1.2 * width, 0
            run.prove(bound / priced.scale)
        else:
            failures += 1
            if failures > 3:
                width, failures = 0.6 * width, 0
        rounds += 1
        run.details.update(rounds=rounds, columns=master.n_columns, linear_value=value / priced.scale)
        run.report(f"centres: round {rounds}, {master.n_columns} classes")
        if value - best <= _CONVERGED * abs(best):
            if not master.box_binds():
                break
            width *= 5.0  # the best of this box, not yet of all duals
        master.box(centre, width)
        value, duals, class_dual = master.solve()
    if priced.test.only_size and not run.expired:
        _integer_master(groups, master, run)


def _first_duals(groups: Groups, price: Price, labels: Labels) -> Floats:
    """What the incumbent's records cost, and the same share each of what one class more would save.

    In one dimension the cost falls with the square of the number of classes, so a class more saves about twice
    an average class's cost; the box steps correct the guess.
    """
    per_class, sizes = price.per_class(labels), class_sizes(labels)
    first = np.unique(groups.of_record, return_index=True)[1]
    duals = np.empty(len(first))
    for g, label in enumerate(labels[first]):
        members = np.bincount(groups.of_record[labels == label], minlength=len(first))
        mean, mode = centre_of(groups.numeric, groups.codes, groups.n_codes, members)
        own = cost_at(groups.numeric, groups.codes, groups.code_weights, g, mean, mode)
        duals[g] = own + 2 * per_class.mean() / sizes[label]
    return duals


def _column(groups: Groups, members: NDArray[np.int64]) -> tuple[float, NDArray[np.int64]]:
    return float(grouped_price(*groups.arrays, groups.n_codes, members)), members


def _price(
    groups: Groups, duals: Floats, k: int, slack: float, class_dual: float
) -> tuple[float, list[NDArray[np.int64]]]:
    """A lower bound on the least reduced cost of any class, and classes of low reduced cost."""
    members, costs = descend(*groups.arrays, groups.n_codes, duals, k)
    order = np.argsort(costs)[:_COLUMNS_A_ROUND]
    floor, found = cheapest_centre(
        *groups.arrays, groups.n_codes, duals, k, float(costs[order[0]]), class_dual - slack, slack, _NODES_A_CALL
    )
    return float(floor), [*members[order], *found]


def _integer_master(groups: Groups, master: BoxedMaster, run: Run) -> None:
    """Offer the best partition made of the classes found."""
    seconds = min(60.0, _INTEGER_SHARE * run.remaining)
    for chosen in master.integer(seconds):
        labels = np.full(len(groups.of_record), -1, np.int64)
        for label, members in enumerate(chosen):
            for group in np.flatnonzero(members):
                free = np.flatnonzero((groups.of_record == group) & (labels < 0))
                labels[free[: members[group]]] = label
        if (labels >= 0).all():
            run.offer(labels)


@kernel
def grouped_price(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: NDArray[np.int64], n_codes: NDArray[np.int64],
    members: NDArray[np.int64] | Floats,
) -> float:  # fmt: skip
    """The spread of a class that takes members[g] records of group g, or fractions of them."""
    mean, mode = centre_of(numeric, codes, n_codes, members)
    total = 0.0
    for g in range(len(members)):
        if members[g] > 0:
            total += members[g] * cost_at(numeric, codes, code_weights, g, mean, mode)
    return total


@kernel
def centre_of(
    numeric: Floats, codes: Codes, n_codes: NDArray[np.int64], members: NDArray[np.int64] | Floats
) -> tuple[Floats, Codes]:
    """The means and modes of a class that takes members[g] records of group g, or fractions of them."""
    mean = np.zeros(numeric.shape[1])
    size = members.sum() if members.sum() > 0 else 1
    for g in range(len(members)):
        if members[g] > 0:
            for j in range(len(mean)):
                mean[j] += members[g] * numeric[g, j] / size
    mode = np.zeros(len(n_codes), np.int32)
    for j in range(len(n_codes)):
        tally = np.zeros(n_codes[j])
        for g in range(len(members)):
            tally[codes[g, j]] += members[g]
        mode[j] = np.argmax(tally)
    return mean, mode


@kernel
def cost_at(numeric: Floats, codes: Codes, code_weights: Floats, g: int, mean: Floats, mode: Codes) -> float:
    """What a record of group g costs at a centre."""
    cost = 0.0
    for j in range(len(mean)):
        cost += (numeric[g, j] - mean[j]) ** 2
    for j in range(len(mode)):
        if codes[g, j] != mode[j]:
            cost += code_weights[j]
    return cost


@part
def taken(counts: NDArray[np.int64], worth: Floats, k: int) -> tuple[NDArray[np.int64], float]:
    """The members of least total worth among at least k records: all that are worth less than 0, and the next."""
    members = np.zeros(len(counts), np.int64)
    size, total = 0, 0.0
    for g in range(len(counts)):
        if worth[g] < 0.0:
            members[g] = counts[g]
            size += counts[g]
            total += counts[g] * worth[g]
    if size < k:
        for g in np.argsort(worth):
            if members[g] == 0:
                members[g] = min(counts[g], k - size)
                size += members[g]
                total += members[g] * worth[g]
                if size == k:
                    break
    return members, total


@kernel
def descend(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: NDArray[np.int64], n_codes: NDArray[np.int64],
    duals: Floats, k: int,
) -> tuple[NDArray[np.int64], Floats]:  # fmt: skip
    """From every group as a first centre: take what pays, move the centre there, until nothing changes."""
    n = len(counts)
    found = np.zeros((n, n), np.int64)
    costs = np.full(n, np.inf)
    worth = np.empty(n)
    for seed in range(n):
        mean, mode = numeric[seed].copy(), codes[seed].copy()
        for _ in range(50):
            for g in range(n):
                worth[g] = cost_at(numeric, codes, code_weights, g, mean, mode) - duals[g]
            members, _total = taken(counts, worth, k)
            mean, mode = centre_of(numeric, codes, n_codes, members)
            cost = 0.0
            for g in range(n):
                if members[g] > 0:
                    cost += members[g] * (cost_at(numeric, codes, code_weights, g, mean, mode) - duals[g])
            if cost >= costs[seed] - 1e-12:
                break
            costs[seed] = cost
            found[seed] = members
    return found, costs


@kernel
def cheapest_centre(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: NDArray[np.int64], n_codes: NDArray[np.int64],
    duals: Floats, k: int, known: float, wanted: float, slack: float, most_nodes: int,
) -> tuple[float, list[NDArray[np.int64]]]:  # fmt: skip
    """A lower bound on the reduced cost of any class, and classes met that cost less than `wanted`.

    A node is a box of numeric coordinates and some fixed categories. Groups that pay at every centre of the box
    are priced together, at the point of the box nearest to their mean; the others each at their own nearest point.
    The bound is exact to within `slack`, or weaker where `most_nodes` were not enough.
    """
    n, d, c = len(counts), numeric.shape[1], codes.shape[1]
    best = known
    met = [np.zeros(n, np.int64)]
    low, high = np.zeros(d), np.zeros(d)
    for j in range(d):
        low[j], high[j] = numeric[:, j].min(), numeric[:, j].max()
    lows, highs, fixed = [low], [high], [np.full(c, -1, np.int32)]
    floors = [-np.inf]
    floor, nodes = np.inf, 0
    worth, scratch = np.empty(n), np.empty(n)
    while len(floors) > 0:
        low, high, mode, parent = lows.pop(), highs.pop(), fixed.pop(), floors.pop()
        if parent >= best - slack:
            continue
        nodes += 1
        if nodes > most_nodes:
            floor = min(floor, parent)
            continue
        bound = box_bound(numeric, codes, code_weights, counts, duals, k, low, high, mode, worth, scratch)
        bound = max(bound, parent)
        if bound >= best - slack:
            continue
        branch = -1
        for j in range(c):
            if mode[j] < 0:
                branch = j
                break
        if branch >= 0:
            for value in range(n_codes[branch]):
                child = mode.copy()
                child[branch] = value
                lows.append(low)
                highs.append(high)
                fixed.append(child)
                floors.append(bound)
            continue
        # A leaf's own class, from the middle of its box, may be the new best.
        for g in range(n):
            worth[g] = cost_at(numeric, codes, code_weights, g, 0.5 * (low + high), mode) - duals[g]
        members, total = taken(counts, worth, k)
        best = min(best, total)
        if total < wanted and len(met) <= 200:
            met.append(members)
        if d == 0:
            continue
        widest = np.argmax(high - low)
        middle = 0.5 * (low[widest] + high[widest])
        if not low[widest] < middle < high[widest]:
            floor = min(floor, bound)  # the box cannot be halved any more in floating point
            continue
        upper_low, lower_high = low.copy(), high.copy()
        upper_low[widest] = middle
        lower_high[widest] = middle
        lows.append(low)
        highs.append(lower_high)
        fixed.append(mode)
        floors.append(bound)
        lows.append(upper_low)
        highs.append(high)
        fixed.append(mode)
        floors.append(bound)
    return min(floor, best - slack), met[1:]


@part
def box_bound(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: NDArray[np.int64], duals: Floats, k: int,
    low: Floats, high: Floats, mode: Codes, nearest: Floats, furthest: Floats,
) -> float:  # fmt: skip
    """A lower bound on the reduced cost of a class whose centre lies in a box, with some categories fixed.

    What a group is worth lies between `nearest` and `furthest` over the box. Groups taken at every centre of it are
    priced together; the others, as far as they may pay or are needed to reach k, at their nearest.
    """
    n = len(counts)
    size = 0
    for g in range(n):
        near = far = -duals[g]
        for j in range(len(mode)):
            if mode[j] < 0:
                far += code_weights[j]
            elif codes[g, j] != mode[j]:
                near += code_weights[j]
                far += code_weights[j]
        for j in range(len(low)):
            x = numeric[g, j]
            gap = max(0.0, max(low[j] - x, x - high[j]))
            reach = max(abs(x - low[j]), abs(high[j] - x))
            near += gap * gap
            far += reach * reach
        nearest[g], furthest[g] = near, far
        if near < 0.0:
            size += counts[g]
    total, sure = 0.0, np.zeros(n, np.bool_)
    if size >= k:
        for g in range(n):
            if furthest[g] < 0.0:
                sure[g] = True
            elif nearest[g] < 0.0:
                total += counts[g] * nearest[g]
    else:
        order = np.argsort(nearest)
        taken, last = 0, 0
        while taken + counts[order[last]] <= k and last < n - 1:
            taken += counts[order[last]]
            last += 1
        # order[:last] are wholly needed; those that beat order[last] and all after it at every centre are sure.
        for place in range(last):
            g = order[place]
            if furthest[g] <= nearest[order[last]]:
                sure[g] = True
            else:
                total += counts[g] * nearest[g]
        total += min(counts[order[last]], k - taken) * nearest[order[last]]
    together: float = _together(numeric, codes, code_weights, counts, duals, low, high, mode, sure)
    return total + together


@part
def _together(
    numeric: Floats, codes: Codes, code_weights: Floats, counts: NDArray[np.int64], duals: Floats,
    low: Floats, high: Floats, mode: Codes, sure: NDArray[np.bool_],
) -> float:  # fmt: skip
    """The least that some groups are worth together: at the point of the box nearest to their mean."""
    size, total = 0, 0.0
    sums, squares = np.zeros(len(low)), np.zeros(len(low))
    for g in range(len(counts)):
        if sure[g]:
            size += counts[g]
            total -= counts[g] * duals[g]
            for j in range(len(mode)):
                if mode[j] >= 0 and codes[g, j] != mode[j]:
                    total += counts[g] * code_weights[j]
            for j in range(len(low)):
                offset = numeric[g, j] - low[j]
                sums[j] += counts[g] * offset
                squares[j] += counts[g] * offset * offset
    if size > 0:
        for j in range(len(low)):
            point = min(max(sums[j] / size, 0.0), high[j] - low[j])
            total += max(0.0, squares[j] - 2.0 * point * sums[j] + size * point * point)
    return total
