"""What a program leaves to its tolerances: whether the classes listed make a partition that is better by a hair.

HiGHS decides up to an absolute tolerance, so that of two partitions whose prices differ by less it may take the dearer
one. A partition costs at least what its duals say and the reduced costs of its classes; they are put together as long
as that stays below the incumbent, and what is complete is added up.
"""

from __future__ import annotations

import numpy as np

from solvers.columns.duals import reduced_cost
from solvers.columns.generation import Certificate
from solvers.columns.instance import Ints
from solvers.columns.proof import Proof

_NODES = 5_000
_ROUNDING = 1e-13  # of what is added up


def offer_tolerated(proof: Proof, certificate: Certificate, classes: list[Ints]) -> bool:
    """Offer every partition made of these classes that is better than the incumbent; False if they are too many.

    Nobody is left out here.
    """
    instance = proof.instance
    if instance.left_out or proof.run.labels is None:
        return False
    incumbent = instance.classes(proof.run.labels)
    known = {members.tobytes(): members for members in (*classes, *incumbent)}
    costs = {key: float(reduced_cost(instance.types, certificate.duals, one)) for key, one in known.items()}
    worst = min(0.0, *costs.values()) * instance.most_classes
    start, best = proof.master.dual_value(certificate.duals), sum(map(instance.price, incumbent))
    rounding = _ROUNDING * (abs(best) + abs(start)) - worst
    # what no partition better than the incumbent has room for
    known = {key: members for key, members in known.items() if start + worst + costs[key] < best + rounding}
    holding: list[list[bytes]] = [[] for _ in range(instance.n_types)]
    for key in sorted(known, key=costs.__getitem__):
        for t in np.unique(known[key]).tolist():
            holding[t].append(key)
    choices = np.array([len(one) for one in holding])
    counts = {key: np.bincount(one, minlength=instance.n_types) for key, one in known.items()}
    stack: list[tuple[Ints, float, list[bytes]]] = [(instance.types.copies.copy(), start, [])]
    nodes = 0
    while stack:
        left, cost, chosen = stack.pop()
        nodes += 1
        if nodes > _NODES or (nodes % 1_000 == 0 and proof.run.expired):
            return False
        waiting = np.flatnonzero(left)
        if not len(waiting):
            total = sum(instance.price(known[key]) for key in chosen)
            if total < best and instance.n_classes in (None, len(chosen)):
                best = total
                proof.offer([known[key] for key in chosen])
            continue
        record = int(waiting[np.argmin(choices[waiting])])
        limit = best + rounding
        for key in holding[record]:
            if cost + costs[key] >= limit:
                break
            if (counts[key] <= left).all():
                stack.append((left - counts[key], cost + costs[key], [*chosen, key]))
    return True
