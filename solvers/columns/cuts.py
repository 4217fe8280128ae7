"""Violated subset-row cuts on three types, found by enumeration around every type of the fractional classes."""

from __future__ import annotations

import numpy as np

from optmodels.kernels import kernel, part
from solvers.columns.instance import Floats, Ints
from solvers.columns.master import Master, Relaxed, Triple

_INTEGRAL = 1e-6
_LEAST_VIOLATION = 0.02


def violated(master: Master, relaxed: Relaxed, most: int, most_per_type: int) -> list[Triple]:
    """The most violated cuts, no more than `most_per_type` on any one type."""
    fractional = np.flatnonzero((relaxed.weights > _INTEGRAL) & (relaxed.weights < 1 - _INTEGRAL))
    if len(fractional) < 3:
        return []
    classes = [master.classes[c] for c in fractional]
    starts = np.concatenate([[0], np.cumsum([len(members) for members in classes])]).astype(np.int64)
    flat = np.concatenate(classes)
    columns = np.repeat(np.arange(len(classes)), np.diff(starts))
    by_type = np.argsort(flat, kind="stable")
    n_types = master.instance.n_types
    type_starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=n_types))]).astype(np.int64)
    triples, violations = _enumerate(
        starts,
        flat,
        type_starts,
        columns[by_type],
        relaxed.weights[fractional],
        master.instance.types.copies,
        _LEAST_VIOLATION,
    )
    used = np.zeros(n_types, np.int64)
    chosen: list[Triple] = []
    for place in np.argsort(-violations, kind="stable"):
        if len(chosen) == most:
            break
        a, b, c = (int(t) for t in triples[place])
        if max(used[a], used[b], used[c]) < most_per_type:
            used[[a, b, c]] += 1
            chosen.append((a, b, c))
    return chosen


@kernel
def _enumerate(
    starts: Ints, flat: Ints, type_starts: Ints, columns: Ints, weights: Floats, copies: Ints, least: float
) -> tuple[Ints, Floats]:
    """All violated triples with a member that shares fractional classes with both others."""
    n = len(copies)
    room = 256
    triples = np.empty((room, 3), np.int64)
    violations = np.empty(room)
    count = 0
    mark = np.full(n, -1, np.int64)
    seen = np.full(n, -1, np.int64)
    near = np.empty(n, np.int64)
    for hub in range(n):
        n_near = 0
        for p in range(type_starts[hub], type_starts[hub + 1]):
            column = columns[p]
            for q in range(starts[column], starts[column + 1]):
                u = flat[q]
                if u != hub and mark[u] != hub:
                    mark[u] = hub
                    near[n_near] = u
                    n_near += 1
        for x in range(n_near):
            a = near[x]
            # Types that share a class with a: a triple all of whose pairs do is taken at its first member only.
            for p in range(type_starts[a], type_starts[a + 1]):
                column = columns[p]
                for q in range(starts[column], starts[column + 1]):
                    seen[flat[q]] = hub * n + a
            for y in range(n_near):
                b = near[y]
                if b <= a or (seen[b] == hub * n + a and hub > a):
                    continue
                total = copies[hub] + copies[a] + copies[b]
                if total % 2 == 0:
                    continue
                left = _left_side(hub, a, b, starts, flat, type_starts, columns, weights)
                if left > total // 2 + least:
                    if count == room:
                        room *= 2
                        triples = np.concatenate((triples, np.empty_like(triples)))
                        violations = np.concatenate((violations, np.empty_like(violations)))
                    triples[count] = np.sort(np.array([hub, a, b]))
                    violations[count] = left - total // 2
                    count += 1
    return triples[:count], violations[:count]


@part
def _left_side(
    a: int, b: int, c: int, starts: Ints, flat: Ints, type_starts: Ints, columns: Ints, weights: Floats
) -> float:
    total = 0.0
    for first in (a, b, c):
        previous = -1
        for p in range(type_starts[first], type_starts[first + 1]):
            column = columns[p]
            if column == previous:
                continue
            previous = column
            inside, counted = 0, False  # with the types of the cut before this one
            for q in range(starts[column], starts[column + 1]):
                u = flat[q]
                inside += u in (a, b, c)
                counted = counted or (u == a and first != a) or (u == b and first == c)
            if not counted:
                total += (inside // 2) * weights[column]
    return total
