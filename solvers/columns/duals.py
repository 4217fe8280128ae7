"""The duals of a master, and the reduced cost of a class under them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from optmodels.conditions import count_values, meets
from optmodels.kernels import kernel, part
from optmodels.price import class_price
from solvers.columns.instance import Floats, Ints, Types


class Duals(NamedTuple):
    """Reduced cost of a class = price - sum of `rows` - `each` + penalties of the cuts + charges of pairs."""

    rows: Floats
    each: float  # dual of the row that fixes the number of classes
    penalties: Floats  # of each cut, at least 0
    members: Ints  # (cuts, 3): the types of each cut
    starts: Ints  # cuts of type t: cuts[starts[t]:starts[t + 1]]
    cuts: Ints
    pairs: Ints  # (charges, 2): types whose pairs in a class are charged
    charges: Floats  # negative: a reward


@part
def plain_duals(rows: Floats) -> Duals:
    """Duals of records alone: neither cuts nor charges."""
    nothing, no_rows = np.zeros(0), np.zeros(0, np.int64)
    starts = np.zeros(len(rows) + 1, np.int64)
    return Duals(rows, 0.0, nothing, no_rows.reshape((0, 3)), starts, no_rows, no_rows.reshape((0, 2)), nothing)


@part
def penalty_of(duals: Duals, chosen: Ints) -> float:
    """What the cuts charge a class: floor(number of members in the cut / 2) penalties each."""
    total = 0.0
    for a in range(len(chosen)):
        t = chosen[a]
        for e in range(duals.starts[t], duals.starts[t + 1]):
            cut = duals.cuts[e]
            # Count at the last member of the cut in the class, so that each cut is counted once.
            count = 0
            last = True
            for b in range(len(chosen)):
                inside = False
                for u in duals.members[cut]:
                    inside = inside or u == chosen[b]
                if inside:
                    count += 1
                    last = last and b <= a
            if last:
                total += (count // 2) * duals.penalties[cut]
    return total


@part
def charge_of(pairs: Ints, charges: Floats, chosen: Ints) -> float:
    """What a class is charged."""
    total = 0.0
    for e in range(len(charges)):
        a, b = 0, 0
        for t in chosen:
            a += t == pairs[e, 0]
            b += t == pairs[e, 1]
        total += charges[e] * (a * (a - 1) // 2 if pairs[e, 0] == pairs[e, 1] else a * b)
    return total


@kernel
def reduced_cost(types: Types, duals: Duals, chosen: Ints) -> float:
    """The exact reduced cost of a class, infinite if it does not meet the conditions."""
    if not types.only_size and not meets(types.test, count_values(types.test, chosen), len(chosen)):
        return np.inf
    cost: float = class_price(types.kind, types.numeric, types.codes, types.code_weights, types.climbs, chosen)
    cost -= duals.each
    for t in chosen:
        cost -= duals.rows[t]
    if len(duals.penalties):
        cost += penalty_of(duals, chosen)
    if len(duals.charges):
        cost += charge_of(duals.pairs, duals.charges, chosen)
    return cost
