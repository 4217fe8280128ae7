"""A problem's centroid space as a genuine pymoo Problem."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from pymoo.core.problem import Problem as PymooProblem

from optmodels.centroids.balanced import BalancedSpace
from optmodels.centroids.measures import Decodable, Measures
from optmodels.centroids.space import CentroidSpace, Decoded
from optmodels.errors import InputError
from optmodels.partition import Labels, canonical
from optmodels.price import Floats
from optmodels.structures import Assignment, Centroids, Score

# Centroids of a decision where the number of classes is free: more make every operator slower and no front better.
_MOST_CENTROIDS = 100
# What a missing record costs, in spans of an objective, where classes could not be mended.
_PENALTY = 10.0
_REMEMBERED = 4_000
_JUDGED_AT_ONCE = 4  # decisions between two moments to be interrupted, where the judge is asked about each


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

    def __init__(self, judge: Decodable, n_centroids: int | None = None, *, mend: bool = True) -> None:
        centroids, assignment = judge.require(Centroids), judge.structure(Assignment)
        wanted = centroids.n_classes
        if n_centroids is not None and n_centroids < 1:
            raise InputError(f"n_centroids must be a whole number of at least 1, not {n_centroids!r}.")
        if wanted is not None and n_centroids not in (None, wanted):
            raise InputError(f"The problem asks for {wanted} classes, so n_centroids cannot be {n_centroids}.")
        if assignment is not None:
            self.space: CentroidSpace = BalancedSpace.of(centroids, assignment)
        else:
            many = wanted or n_centroids or max(1, min(_MOST_CENTROIDS, judge.n // centroids.test.k))
            self.space = CentroidSpace(centroids.price, centroids.test, many, wanted is not None)
        self.judge = judge
        self.mend = mend
        self.decoded = 0
        self.watch: Callable[[Decoded, Floats], None] | None = None
        # A score's further objectives are only what it is made of, unless they were asked for.
        score = judge.structure(Score)
        objectives = judge.objectives[:1] if score is not None and score.alone else judge.objectives
        self.measures = Measures(judge, objectives)
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
        at_once = min(self.space.at_once, _JUDGED_AT_ONCE) if self.measures.judged else self.space.at_once
        return np.split(decisions, range(at_once, len(decisions), at_once))

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
