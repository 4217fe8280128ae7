"""Making classes around centroids meet their conditions, without destroying the rest of the partition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optmodels.centroids.nearest import nearest_open
from optmodels.centroids.units import Ints, Units, cost
from optmodels.conditions import ClassTest, meets, only_size
from optmodels.halting import Flag
from optmodels.kernels import part
from optmodels.nearest_lists import keep_nearest
from optmodels.price import Codes, Floats

# A class with at least this share of k is completed by its nearest units; a smaller one is dissolved.
_WORTH_COMPLETING = 0.5


@part
def records_lacking(test: ClassTest, sizes: Ints, counts: NDArray[np.int64], fixed: bool) -> int:
    """Records that classes lack to reach k; a class that breaks another condition lacks one."""
    lacking = 0
    for c in range(len(sizes)):
        if sizes[c] > 0 or fixed:
            if sizes[c] < test.k:
                lacking += test.k - sizes[c]
            elif not meets(test, counts[c], sizes[c]):
                lacking += 1
    return lacking


@part
def mend_classes(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, fixed: bool,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64], halt: Flag,
) -> int:  # fmt: skip
    """Make every class meet the conditions; returns how many records are missing where that proved impossible.

    From the smallest broken class on: one that is nearly large enough draws in its nearest units from classes that
    can spare them, any other is dissolved into the nearest classes. With a fixed number of classes none is dissolved.
    Once the flag is raised it stays as it is.
    """
    m, simple = len(sizes), only_size(test)  # where only sizes matter they are looked at here: a call costs more
    open_to = np.ones(m, np.bool_)  # centroids that may still have a class
    tried = np.zeros(m, np.bool_)
    if not fixed:
        for c in range(m):
            open_to[c] = sizes[c] > 0
    alive = open_to.sum()
    while alive > 1:
        broken = np.zeros(m, np.bool_)
        for c in range(m):
            if open_to[c] and not tried[c]:
                broken[c] = sizes[c] < test.k or not (simple or meets(test, counts[c], sizes[c]))
        if not broken.any() or halt[0]:
            break
        places = np.flatnonzero(broken)
        for c in places[np.argsort(sizes[places], kind="mergesort")]:
            if (
                alive == 1 or halt[0] or meets(test, counts[c], sizes[c])
            ):  # what was dissolved before it may have mended it
                continue
            worth_completing = fixed or sizes[c] >= _WORTH_COMPLETING * test.k
            if worth_completing and _complete(units, test, numeric, codes, c, labels, sizes, counts):
                continue
            tried[c] = True
            if not fixed:
                open_to[c] = False
                alive -= 1
                for u in range(len(labels)):
                    if labels[u] == c:
                        _move(units, u, nearest_open(units, u, numeric, codes, open_to), labels, sizes, counts)
    lacking: int = records_lacking(test, sizes, counts, fixed)
    return lacking


@part
def _complete(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Draw units into class c until it meets the conditions: first of those around its centroid, then of all."""
    around = _around(units, test, numeric, codes, c, labels, sizes, 4 * test.k + 16)
    if _draw_in(units, test, numeric, codes, c, around, labels, sizes, counts):
        return True
    if len(around) == len(labels):
        return False
    everything = np.arange(len(labels))
    drawn: bool = _draw_in(units, test, numeric, codes, c, everything, labels, sizes, counts)
    return drawn


@part
def _around(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int,
    labels: NDArray[np.int32], sizes: Ints, few: int,
) -> Ints:  # fmt: skip
    """The few nearest units of centroid c in classes that could spare them; all units where there is no axis."""
    n = len(labels)
    if units.axis < 0 or few >= n:
        return np.arange(n)
    x = numeric[c, units.axis]
    right = np.searchsorted(units.numeric[:, units.axis], x)
    left = right - 1
    found, distances, many = np.empty(few, np.int64), np.full(few, np.inf), 0
    while left >= 0 or right < n:
        below = (x - units.numeric[left, units.axis]) ** 2 if left >= 0 else np.inf
        above = (units.numeric[right, units.axis] - x) ** 2 if right < n else np.inf
        if many == few and min(below, above) >= distances[-1]:
            break
        if below <= above:
            u = left
            left -= 1
        else:
            u = right
            right += 1
        if labels[u] == c or sizes[labels[u]] - units.counts[u] < test.k:
            continue
        distance = cost(units, u, numeric, codes, c)
        if many < few or distance < distances[-1]:
            keep_nearest(found, distances, min(many, few - 1), u, distance)
            many = min(many + 1, few)
    return found[:many]


@part
def _draw_in(
    units: Units, test: ClassTest, numeric: Floats, codes: Codes, c: int, candidates: Ints,
    labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64],
) -> bool:  # fmt: skip
    """Draw in the candidates whose move costs least until class c meets the conditions; undo it if it never does."""
    extra, simple = np.full(len(candidates), np.inf), only_size(test)
    for place in range(len(candidates)):
        u = candidates[place]
        if labels[u] != c and sizes[labels[u]] - units.counts[u] >= test.k:
            extra[place] = cost(units, u, numeric, codes, c) - cost(units, u, numeric, codes, labels[u])
    came_from, moved, n_moved = np.empty(len(candidates), np.int32), np.empty(len(candidates), np.int64), 0
    for place in np.argsort(extra, kind="mergesort"):
        if extra[place] == np.inf or sizes[c] > 4 * test.k + 16:
            break
        u = candidates[place]
        own = labels[u]
        _move(units, u, c, labels, sizes, counts)
        if sizes[own] < test.k or not (simple or meets(test, counts[own], sizes[own])):
            _move(units, u, own, labels, sizes, counts)
            continue
        came_from[n_moved] = own
        moved[n_moved] = u
        n_moved += 1
        if sizes[c] >= test.k and (simple or meets(test, counts[c], sizes[c])):
            return True
    for back in range(n_moved - 1, -1, -1):
        _move(units, moved[back], came_from[back], labels, sizes, counts)
    return False


@part
def _move(units: Units, u: int, to: int, labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64]) -> None:
    old = labels[u]
    labels[u] = to
    sizes[old] -= units.counts[u]
    sizes[to] += units.counts[u]
    for cell in range(units.cell_starts[u], units.cell_starts[u + 1]):
        counts[old, units.places[cell]] -= units.amounts[cell]
        counts[to, units.places[cell]] += units.amounts[cell]
