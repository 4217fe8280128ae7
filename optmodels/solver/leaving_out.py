"""Records left out of what a solver found for everybody: what any solver gets without a line of its own.

Where classes have prices, it is those who pay for it, one after the other; where they have none, those whom classes
are far from in the table, as many as the judge likes best. With time left, the solver is asked again for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from optmodels.partition import LEFT_OUT, Labels
from optmodels.problem import Problem
from optmodels.solver.run import Run
from optmodels.structures import Centroids, ClassCount, Priced
from optmodels.suppression import Saving, left_out, loneliest, savings, trimmed, without_payers

Search = Callable[[Problem, Run], None]  # what a solver does: offer partitions of a problem to a run


def leave_out(search: Search, problem: Problem, run: Run) -> None:
    """Improve a run's incumbent by leaving out records; where there is none, search among those who can be mixed."""
    if run.labels is None:
        kept = trimmed(problem.test, problem.n, problem.suppression.most)
        if kept is not None and len(kept) < problem.n:
            _search_among(search, problem, run, kept)
        if run.labels is None:
            return
    for labels in improved(problem, run.labels):
        run.offer(labels)
    # The first answer had a place for everybody; without those who are far from all others there are better ones.
    if not run.expired:
        far = loneliest(problem.require(Centroids).price, run.labels, problem.conditions.k, problem.suppression.most)
        _search_among(search, problem, run, np.delete(np.arange(problem.n), far))
        for labels in improved(problem, run.labels):
            run.offer(labels)


def leave_out_who_pays(problem: Problem, run: Run) -> None:
    """Offer the incumbent without those who pay for it to be left out, where some may be."""
    if problem.suppression.most and run.labels is not None:
        for labels in improved(problem, run.labels):
            run.offer(labels)


def leave_out_on_front(problem: Problem, run: Run) -> None:
    """Add to the points of a front what they become with more and more records left out."""
    for point in run.front:
        if point.labels is None or run.expired:
            return
        for labels in _prefixes(problem, point.labels):
            run.keep(labels)


def improved(problem: Problem, labels: Labels) -> Iterator[Labels]:
    """Partitions with records left out that pay for it, or by the judge might."""
    priced = problem.structure(Priced)
    if priced is None:
        yield from _prefixes(problem, labels)
        return
    most, whole = problem.suppression.most - left_out(labels), problem.structure(ClassCount) is None
    found = without_payers(priced.price, priced.test, labels, most, priced.left_out_price, whole=whole)
    if found is not labels:
        yield found


def _savings(problem: Problem, labels: Labels) -> Iterator[Saving]:
    priced, centroids = problem.structure(Priced), problem.require(Centroids)
    price, test = (centroids.price, centroids.test) if priced is None else (priced.price, priced.test)
    most = problem.suppression.most - left_out(labels)
    return savings(price, test, labels, most, whole=problem.structure(ClassCount) is None)


def _prefixes(problem: Problem, labels: Labels) -> Iterator[Labels]:
    """With 1, 2, 4, ... records left out, and as many as may be."""
    result, wanted = labels.copy(), 1
    count = 0
    for saving in _savings(problem, labels):
        result[saving.rows] = LEFT_OUT
        count += len(saving.rows)
        if count >= wanted:
            yield result.copy()
            wanted = 2 * count
    if count and 2 * count > wanted:
        yield result


def _search_among(search: Search, problem: Problem, run: Run, kept: Labels) -> None:
    """Let the solver search for classes of some of the records, and offer what it finds."""
    if len(kept) < problem.conditions.k:
        return
    part = problem.part(kept).allowing(0)
    if part.impossible() is not None:  # whom they were left with can keep what is asked; they alone cannot
        return
    limit = None if run.time_limit is None else max(run.remaining, 0.05)
    inner = Run(part, run.solver, time_limit=limit, seed=run.seed)
    inner.interrupt = run.interrupt
    inner.leaves_out = False
    search(part, inner)
    if inner.labels is not None:
        labels = np.full(problem.n, LEFT_OUT, np.int64)
        labels[kept] = inner.labels
        run.offer(labels)
