"""A binary heap of nodes by their distances, in which a node that has come nearer rises from where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part

Nodes = NDArray[np.signedinteger[Any]]


@part
def rise(heap: Nodes, place: Nodes, distance: NDArray[np.float64], at: int, node: int) -> None:
    """Move a node towards the top; `at` is where it was, or the first place that is free."""
    key = distance[node]
    while at > 0:
        above = (at - 1) >> 1
        other = heap[above]
        if distance[other] <= key:
            break
        heap[at] = other
        place[other] = at
        at = above
    heap[at] = node
    place[node] = at


@part
def pop(heap: Nodes, place: Nodes, distance: NDArray[np.float64], size: int) -> int:
    """Take the nearest of so many nodes out of the heap."""
    top = int(heap[0])
    size -= 1
    if size > 0:
        node = heap[size]
        key = distance[node]
        at = 0
        while True:
            child = 2 * at + 1
            if child >= size:
                break
            if child + 1 < size and distance[heap[child + 1]] < distance[heap[child]]:
                child += 1
            if distance[heap[child]] >= key:
                break
            heap[at] = heap[child]
            place[heap[at]] = at
            at = child
        heap[at] = node
        place[node] = at
    return top
