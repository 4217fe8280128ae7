"""Optimal univariate microaggregation (Hansen and Mukherjee 2003): one ordered attribute, exactly, in O(k n)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.evidence import Evidence
from optmodels.kernels import kernel
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Centroids, ClassCount, Priced, Structure
from solvers._construction.rest import cut_rest

Floats = NDArray[np.float64]

_WORK = 100_000_000  # classes priced between looks at the clock


@dataclass(frozen=True)
class Univariate(Solver):
    """The partition of least squared error of one numeric or ordinal attribute, proven to be the best there is.

    Some optimal partition puts neighbours in sorted order together, k to 2k - 1 of them: it is a shortest path through
    the sorted records, whose arcs are the classes. That holds for squared errors and not for the widths of intervals:
    of -1, 0, 0, 0, 1 with k = 2 the best intervals are [-1, 1] and [0, 0], one within the other.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70, 23]}), quasi={"age": "numeric"})
    >>> best = Univariate().solve(Microaggregation(k=3).build(table))
    >>> best.status, best.labels
    (<Status.OPTIMAL: 'optimal'>, array([0, 1, 0, 1, 0, 1, 0]))
    """

    name: ClassVar[str] = "univariate"
    summary: ClassVar[str] = (
        "the optimal classes of one ordered attribute under k, by a shortest path; millions of rows"
    )
    exact: ClassVar[bool] = True
    needs: ClassVar[tuple[type[Structure], ...]] = (Priced,)
    rejects: ClassVar[tuple[type[Structure], ...]] = (ClassCount,)
    only: ClassVar[str] = "squared distances of one ordered attribute, k alone"

    def cannot(self, problem: Problem) -> str | None:
        """One attribute may vary, prices must be squared errors, and only the size of classes may matter."""
        price = problem.require(Priced).compiled
        if price is None or price.name != "spread":
            return "it needs a model that prices classes by squared distances: intervals may be best when nested."
        if not problem.test.only_size:
            return "neighbours in sorted order need not be diverse nor close to the table: ask for k only."
        if len(_varying(price)) > 1 or not _numbers_only(price):
            return "it needs one numeric or ordinal quasi-identifier that varies, and no categorical one that does."
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the optimal partition, and prove it by its own price; what time is too short for is cut at medians."""
        priced = problem.require(Priced)
        price, k = problem.require(Centroids).price, problem.test.k  # of a spread it is the price itself
        column = next(iter(_varying(price)), None)
        values = np.zeros(price.n) if column is None else price.numeric[:, column]
        order = np.argsort(values, kind="stable")
        ordered = values[order]
        total, start = np.full(price.n + 1, np.inf), np.zeros(price.n + 1, np.int64)
        total[0] = 0.0
        labels = np.full(price.n, -1, np.int64)
        done, step = 0, max(2 * k, _WORK // k)
        try:
            while done < price.n and not run.expired:
                until = min(done + step, price.n)
                best_ends(ordered, k, total, start, done + 1, until + 1)
                done = until
                run.report("records reached", done=done, total=price.n)
        finally:
            if done == price.n:
                labels[order] = classes_to(start, price.n)
            cut_rest(price, problem.test, labels, run)
            run.offer(labels)
        if done == price.n and run.value is not None:
            # nobody ends a class before the k-th record: such places may lie as high as any
            run.evidence = Evidence("path", np.where(np.isinf(total), total[-1], total))
            run.prove(float(total[-1]) / priced.scale)


def _varying(price: Price) -> list[int]:
    """The first two numeric attributes that vary, or fewer: a second one is one too many."""
    return list(islice((j for j, column in enumerate(price.numeric.T) if (column != column[0]).any()), 2))


def _numbers_only(price: Price) -> bool:
    """Whether every record has the same categories, or they cost nothing."""
    weighed = zip(price.codes.T, price.code_weights, strict=True)
    return all(weight == 0 or bool((codes == codes[0]).all()) for codes, weight in weighed)


@kernel(nogil=True)
def best_ends(values: Floats, k: int, total: Floats, start: NDArray[np.int64], first: int, last: int) -> None:
    """For each number of records from `first` to `last`, exclusive: the least price of these first records, sorted.

    The price of a class grows record by record, towards smaller values, by Welford's rule and measured from its largest
    value: prefix sums of squares would cancel where values are many, and rounded means where they are far from zero.
    """
    for end in range(first, last):
        mean, squares = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            value = values[end - size] - values[end - 1]
            step = value - mean
            mean += step / size
            squares += step * (value - mean)
            if size >= k and total[end - size] + squares < total[end]:
                total[end] = total[end - size] + squares
                start[end] = end - size


@kernel(nogil=True)
def classes_to(start: NDArray[np.int64], n: int) -> Labels:
    """The labels of the sorted records on the shortest path."""
    labels = np.empty(n, np.int64)
    label, end = 0, n
    while end > 0:
        labels[start[end] : end] = label
        end, label = start[end], label + 1
    return labels
