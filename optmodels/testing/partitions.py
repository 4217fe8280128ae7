"""Every partition of a few records: the reference that all else is compared with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from optmodels.partition import LEFT_OUT, Labels
from optmodels.problem import Evaluation, Problem


def partitions(n: int, least: int = 1, left_out: int = 0) -> Iterator[Labels]:
    """Every partition of n records into classes of at least `least`, once each, with up to `left_out` in no class.

    >>> sum(1 for _ in partitions(5)), sum(1 for _ in partitions(6, least=3)), sum(1 for _ in partitions(3, 2, 1))
    (52, 11, 4)
    """
    labels = np.zeros(n, np.int64)

    def grow(record: int, sizes: list[int], out: int = 0) -> Iterator[Labels]:
        missing = sum(max(0, least - size) for size in sizes)
        if missing > n - record:
            return
        if record == n:
            if sizes:
                yield labels.copy()
            return
        if out < left_out:
            labels[record] = LEFT_OUT
            yield from grow(record + 1, sizes, out + 1)
        for c in range(len(sizes) + 1):
            labels[record] = c
            if c == len(sizes):
                yield from grow(record + 1, [*sizes, 1], out)
            else:
                sizes[c] += 1
                yield from grow(record + 1, sizes, out)
                sizes[c] -= 1

    yield from grow(0, [])


def brute_force(problem: Problem) -> tuple[Labels, Evaluation] | None:
    """The best feasible partition by looking at every one, or None where there is none; for n up to about 9."""
    best: tuple[Labels, Evaluation] | None = None
    target = problem.target
    for labels in partitions(problem.n, problem.conditions.k, problem.suppression.most):
        found = problem.evaluate(labels)
        if found.feasible and (
            best is None or target.worse(found.values[target.name], best[1].values[target.name]) < 0
        ):
            best = labels, found
    return best


def brute_force_front(problem: Problem) -> list[tuple[float, ...]]:
    """The exact Pareto front, as sorted tuples of objective values, by looking at every partition."""
    senses = [1.0 if objective.sense == "min" else -1.0 for objective in problem.objectives]
    names = [objective.name for objective in problem.objectives]
    points: set[tuple[float, ...]] = set()
    for labels in partitions(problem.n, problem.conditions.k, problem.suppression.most):
        found = problem.evaluate(labels)
        if found.feasible:
            points.add(tuple(round(sign * found.values[name], 12) for sign, name in zip(senses, names, strict=True)))
    kept = [p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)]
    return sorted(tuple(sign * value for sign, value in zip(senses, p, strict=True)) for p in kept)
