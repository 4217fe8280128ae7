"""Two partitions of the same records, taken apart where they can be: of every part the cheaper of both.

Join the classes of two partitions wherever they share a record. What hangs together holds the same records in
both, so each such part may be taken from either partition, whatever is taken elsewhere: one pass over the records
finds the best of all these mixtures, 2 to the number of parts where they differ. A search that has cooled down
differs from its best in many small parts, some for the better, hardly ever all at once.
"""

from __future__ import annotations

import numpy as np

from optmodels.kernels import kernel
from optmodels.partition import Labels, root_of
from optmodels.price import Floats


@kernel(nogil=True)
def crossed(
    labels: Labels, prices: Floats, other_labels: Labels, other_prices: Floats, fixed: bool, tolerance: float
) -> tuple[Labels, Floats, int]:
    """The first partition with every part replaced that the other one has cheaper by more than the tolerance.

    Prices are those of the classes by their labels. Where the number of classes is `fixed`, only parts of as many
    classes are replaced. Returns labels 0..C-1, the prices of their classes, and how many parts were replaced.
    """
    slots = len(prices)
    parent = np.arange(slots + len(other_prices))
    for i in range(len(labels)):
        a, b = root_of(parent, labels[i]), root_of(parent, slots + other_labels[i])
        parent[b] = a
    saving = np.zeros(len(parent))
    more = np.zeros(len(parent), np.int64)  # classes of the other partition less those of this one
    counted = np.zeros(len(parent), np.bool_)
    for i in range(len(labels)):
        a, b = labels[i], slots + other_labels[i]
        root = root_of(parent, a)
        if not counted[a]:
            counted[a] = True
            saving[root] += prices[a]
            more[root] -= 1
        if not counted[b]:
            counted[b] = True
            saving[root] -= other_prices[b - slots]
            more[root] += 1
    new_label = np.full(len(parent), -1, np.int64)
    mixed = np.empty(len(labels), np.int64)
    mixed_prices = np.empty(len(parent))
    classes, replaced = 0, 0
    for i in range(len(labels)):
        root = root_of(parent, labels[i])
        better = saving[root] > tolerance and (more[root] == 0 or not fixed)
        source = slots + other_labels[i] if better else labels[i]
        if new_label[source] < 0:
            new_label[source] = classes
            mixed_prices[classes] = other_prices[source - slots] if better else prices[source]
            classes += 1
            if better and counted[root]:
                counted[root] = False
                replaced += 1
        mixed[i] = new_label[source]
    return mixed, mixed_prices[:classes].copy(), replaced
