"""One front by two engines: heuristics find partitions, column generation proves what no partition can beat.

A metaheuristic has the first share of the time, and local search goes on from its front at every level of entropy. The
levels are bounded upwards once, and then whichever has the widest gap goes on, with local search first. A bound of a
level holds for every higher one, so that each point has the best bound of the levels at or below its own entropy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from optmodels import registry
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Stop, relative_gap
from optmodels.solver import PROVEN, Run
from optmodels.structures import EntropyLevels
from solvers.epsilon.certified_levels import LevelBounds, LevelProof
from solvers.epsilon.first_front import first_front
from solvers.epsilon.level_descents import LevelDescents
from solvers.epsilon.level_partitions import EQUAL, LevelPartition, LevelPartitions

LEVELS = 8  # unless another number is asked for
_FIRST_SHARE = 0.1  # of the time, for the metaheuristic before anything is proven
_FIRST_SECONDS = 0.5  # a record, at most, for that
_TRIES = 4  # such shares of what is left, at most, for as many points as there are levels
_EXACT_SHARE = 0.1  # of the time then left, for the exact solver's least loss
_BOUND_SECONDS = 0.3  # a record and level, for bounds, where there is no time limit
_DESCENT_SHARE = 0.2  # of the time then left, for local search at the levels
_DESCENT_SECONDS = 0.05  # a record, for that, where there is no time limit
_BETWEEN = 3  # steps from one level to the next, for that
_ROUNDS = 3  # of the levels, for each to begin with what was found at the others
_GAIN = 0.01  # relative: less than this and a bound hardly rises
_AGAIN_SHARE = 0.15  # of the time for a level's bound, for local search at that level before it


@dataclass(frozen=True)
class Proven:
    """No partition with at least this entropy loses less than `bound`; the entropies of proven levels ascend."""

    entropy: float
    bound: float


class CertifiedFront:
    """Partitions, and what is proven of levels of entropy; `work` goes on until time is over or all is proven."""

    def __init__(self, problem: Problem, levels: int, solver: str, run: Run) -> None:
        self._seconds = _BOUND_SECONDS * problem.n
        self._problem, self._solver, self._run = problem, solver, run
        self._levels = levels
        self._most = float(problem.require(EntropyLevels).most.sum())
        self.partitions = LevelPartitions(problem)
        self._descents = LevelDescents(problem, self.partitions, run)
        self._proofs: list[LevelProof] = []
        self._fruitless: Counter[LevelProof] = Counter()  # times in a row that a level's bound hardly rose
        self._least = 0.0  # no partition loses less
        self.partitions.offer(np.zeros(problem.n, np.int64))

    def work(self) -> Iterator[None]:
        """Find and prove; whoever iterates sees the state after every step."""
        run = self._run
        for _ in range(_TRIES):
            self._find(_FIRST_SHARE, _FIRST_SECONDS * self._problem.n)
            yield
            if len(self.points()) >= self._levels:  # a machine with little to spare may need a second share
                break
        first = self.partitions.best(0.0)
        if first is None or run.expired:
            return
        self._descend(first)
        yield
        self._prove_least_loss((self.partitions.best(0.0) or first).labels)
        yield
        bounds = LevelBounds(self._problem, run)
        for found in self.points():
            bounds.learn(found.labels, found.entropy)
        first = self.partitions.best(0.0) or first
        targets = np.linspace(first.entropy, self._most, self._levels)
        chosen = self.partitions.front(targets)
        self._proofs = [bounds.level(0.0 if found is first else found.entropy - EQUAL) for found in chosen]
        limit = run.time_limit
        each = self._seconds if limit is None else 0.5 * run.remaining / len(self._proofs)
        for proof in self._proofs:
            if run.expired:
                return
            self._advance(proof, each)
            yield
        while limit is not None and not run.expired and (weakest := self._weakest()) is not None:
            seconds, before = max(0.5 * each, 0.1 * run.remaining), len(self.partitions.found)
            self._descents.search(weakest.entropy, _AGAIN_SHARE * seconds)
            for found in self.partitions.found[before:]:
                bounds.learn(found.labels, found.entropy)
            self._advance(weakest, seconds)
            yield

    def proven(self) -> list[Proven]:
        """What is proven of each level, in ascending order: at least what is proven of lower ones."""
        found, least = [], self._least
        for proof in self._proofs:
            least = max(least, proof.bound)
            found.append(Proven(proof.entropy, least))
        return found or [Proven(0.0, least)]

    def bound(self, entropy: float) -> float:
        """The best bound on the loss of a partition with at least this entropy."""
        proven = self.proven()
        place = bisect_right([one.entropy for one in proven], entropy + EQUAL)
        return proven[place - 1].bound if place else self._least

    def points(self) -> list[LevelPartition]:
        """The partitions that no other found one dominates, by loss."""
        kept: list[LevelPartition] = []
        for found in sorted(self.partitions.found, key=lambda one: (one.loss, -one.entropy)):
            if not kept or found.entropy > kept[-1].entropy + EQUAL:
                kept.append(found)
        return kept

    @property
    def complete(self) -> bool:
        """Whether everything up to the most entropy has been looked at."""
        return bool(self._proofs) and all(proof.done for proof in self._proofs)

    def _find(self, share: float, most_seconds: float) -> None:
        """Let the metaheuristic search on from the partitions that are known, best first."""
        run = self._run
        if run.time_limit is None and most_seconds == inf:
            return
        known = [point.labels for point in self.points()]
        for labels in first_front(self._problem, run, share, most_seconds=most_seconds, known=known):
            self.partitions.offer(labels)

    def _descend(self, first: LevelPartition) -> None:
        """Local search at levels and between them, from the most entropy down: what is found is good for lower ones."""
        run = self._run
        limited = run.time_limit is not None
        seconds = _DESCENT_SHARE * run.remaining if limited else _DESCENT_SECONDS * self._problem.n
        steps = _BETWEEN * (self._levels - 1)
        for _ in range(_ROUNDS):
            for entropy in np.linspace(first.entropy, self._most, steps + 1)[-2::-1]:
                self._descents.search(float(entropy), seconds / (_ROUNDS * steps))

    def _prove_least_loss(self, start: Labels) -> None:
        """The exact solver's bound on the least loss: it is stronger where classes are small."""
        run = self._run
        seconds = self._seconds if run.time_limit is None else _EXACT_SHARE * run.remaining
        exact = registry.solver(self._solver)().solve(
            self._problem, time_limit=max(seconds, 0.1), seed=run.seed, start=start
        )
        if exact.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if exact.labels is not None:
            self.partitions.offer(exact.labels)
        self._least = max(self._least, exact.bound or 0.0)

    def _advance(self, proof: LevelProof, seconds: float) -> None:
        found, before = self.partitions.best(proof.entropy), proof.bound
        proof.advance(inf if found is None else found.loss, seconds)
        self._fruitless[proof] = 0 if proof.bound > (1 + _GAIN) * before else self._fruitless[proof] + 1
        note = f"entropy {proof.entropy:.4f}: no loss below {self.bound(proof.entropy):.6g}"
        self._run.report(note, points=np.array([(point.loss, point.entropy) for point in self.points()]))

    def _weakest(self) -> LevelProof | None:
        """The level with the widest gap of those that can still be raised; a level that hardly rises has to wait."""
        gaps = []
        for proof in self._proofs:
            found = self.partitions.best(proof.entropy)
            gap = None if found is None else relative_gap(found.loss, self.bound(proof.entropy))
            if gap is not None and gap > PROVEN and not proof.done:
                gaps.append((gap / (1 + self._fruitless[proof]), proof))
        return max(gaps, key=lambda pair: pair[0], default=(0.0, None))[1]
