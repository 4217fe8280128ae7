"""A problem's centroid space as a genuine pymoo Problem."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from pymoo.core.problem import Problem as PymooProblem

from optmodels.centroids.balanced import BalancedSpace
from optmodels.centroids.measures import Measures
from optmodels.centroids.space import CentroidSpace, Decoded
from optmodels.errors import InputError
from optmodels.partition import Labels, canonical
from optmodels.price import Floats
from optmodels.problem import Centroids, FreeCentres, Problem, Scalarised
from optmodels.problem.chosen import Rejudged

# Centroids of a decision where the number of classes is free: more make every operator slower and no front better.
_MOST_CENTROIDS = 100
# What a missing record costs, in spans of an objective, where classes could not be mended.
_PENALTY = 10.0
_REMEMBERED = 4_000


class CentroidProblem(PymooProblem):  # type: ignore[misc]
    """Centroid matrices as decisions; any pymoo algorithm can minimise it, with pymoo's operators or with `operators`.

    With `mend` every decision stands for a partition that meets the conditions and there are no constraints. Without
    it records only join their nearest centroid, and the one constraint is the number of records that classes lack.
    Decisions are remembered by their bytes, so that an operator that looks at partitions does not double the work.

    Attributes:
        space: the way from decisions to partitions and back.
        decoded: how many decisions have been decoded so far: what evaluations cost, with or without operators.
        watch: called with every batch of decisions decoded and their costs; what it raises ends whatever asked for it.
    """

    def __init__(self, problem: Problem, n_centroids: int | None = None, *, mend: bool = True) -> None:
        assert isinstance(problem, Centroids)
        if n_centroids is not None and n_centroids < 1:
            raise InputError(f"n_centroids must be a whole number of at least 1, not {n_centroids!r}.")
        if problem.n_classes is not None and n_centroids not in (None, problem.n_classes):
            raise InputError(
                f"The problem asks for {problem.n_classes} classes, so n_centroids cannot be {n_centroids}."
            )
        if isinstance(problem, FreeCentres):
            self.space: CentroidSpace = BalancedSpace.of(problem)
        else:
            many = problem.n_classes or n_centroids or max(1, min(_MOST_CENTROIDS, problem.n // problem.test.k))
            self.space = CentroidSpace(problem.price, problem.test, many, problem.n_classes is not None)
        self.judge = problem
        self.mend = mend
        self.decoded = 0
        self.watch: Callable[[Decoded, Floats], None] | None = None
        # A scalarised problem's further objectives are only what its score is made of, unless they were asked for.
        alone = isinstance(problem, Scalarised) and not isinstance(problem, Rejudged)
        objectives = problem.objectives[:1] if alone else problem.objectives
        self.measures = Measures(problem, objectives)
        self._seen: OrderedDict[bytes, tuple[bytes, Floats, int]] = OrderedDict()
        super().__init__(
            n_var=self.space.size,
            n_obj=len(objectives),
            n_ieq_constr=0 if mend else 1,
            xl=self.space.low,
            xu=self.space.high,
            vtype=float,
        )

    @property
    def operators(self) -> dict[str, Any]:
        """Sampling, crossover, mutation, repair and duplicate elimination made for this problem, by pymoo's names."""
        return self.operators_from()

    def operators_from(self, *starts: Labels) -> dict[str, Any]:
        """The same, with partitions that any solver has found as the first of the samples."""
        from optmodels.centroids import operators

        return {
            "sampling": operators.CentroidSampling([self._checked(labels) for labels in starts]),
            "crossover": operators.RegionCrossover(),
            "mutation": operators.CentroidMutation(),
            "repair": operators.Polish(),
            "eliminate_duplicates": operators.SamePartition(self),
        }

    def _checked(self, labels: Labels) -> Labels:
        if np.shape(labels) != (self.judge.n,):
            raise InputError(f"A partition to start from needs the class of each of the {self.judge.n} records.")
        return canonical(labels)

    def labels(self, decision: Floats) -> Labels:
        """The class of each record under one decision."""
        return self.space.labels(np.asarray(decision, np.float64), mend=self.mend)

    def decode(self, decisions: Floats) -> Decoded:
        """The partitions of decisions, measured; they are remembered."""
        decoded = self.space.decode(decisions, self.measures.asked, mend=self.mend)
        self.decoded += len(decisions)
        costs = self.measures.costs(decoded)
        for i, decision in enumerate(decisions):
            partition = _digest(decoded.labels(i).astype(np.int32))
            self._seen[_digest(decision)] = partition, costs[i], int(decoded.partitions.missing[i])
        if self.watch is not None:
            self.watch(decoded, costs)
        return decoded

    def polished(self, decisions: Floats) -> Floats:
        """Decisions moved to the means and modes of their classes."""
        batches = self._batches(decisions)
        return np.concatenate([self.space.polished(batch, self.decode(batch)) for batch in batches])

    def partition_keys(self, decisions: Floats) -> list[bytes]:
        """A key for each decision, the same for the same partition."""
        return [partition for partition, _, _ in self._recalled(decisions)]

    def _batches(self, decisions: Floats) -> list[Floats]:
        """Decisions in as many pieces as leave moments to be interrupted."""
        return np.split(decisions, range(self.space.at_once, len(decisions), self.space.at_once))

    def _evaluate(self, x: Floats, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
        recalled = self._recalled(x)
        costs = np.array([cost for _, cost, _ in recalled])
        missing = np.array([lacking for _, _, lacking in recalled], np.float64)
        if self.mend:
            if missing.any():
                span = np.maximum(np.abs(costs).max(axis=0), 1.0)
                costs = costs + _PENALTY * missing[:, None] * span
            out["F"] = costs
        else:
            out["F"], out["G"] = costs, missing[:, None]

    def _recalled(self, decisions: Floats) -> list[tuple[bytes, Floats, int]]:
        keys = [_digest(decision) for decision in decisions]
        recalled = {key: self._seen[key] for key in keys if key in self._seen}
        new = [i for i, key in enumerate(keys) if key not in recalled]
        if new:
            for batch in self._batches(np.ascontiguousarray(decisions[new])):
                self.decode(batch)
            recalled |= {keys[i]: self._seen[keys[i]] for i in new}
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return [recalled[key] for key in keys]


def _digest(array: Any) -> bytes:
    return blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()
