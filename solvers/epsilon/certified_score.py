"""A score of loss and entropy for any number of records: a metaheuristic that aims at it, and a bound.

A partition whose entropy lies between two levels loses at least what the lower one proves, and has less entropy than
the upper one: the least score of all such pairs is the bound. With no level but the lowest it is the bound on the loss
and the most entropy that there can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from optmodels import registry
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import PROVEN, Run
from optmodels.structures import EntropyLevels, Score
from solvers.epsilon import certified_levels
from solvers.epsilon.certified_front import Proven
from solvers.epsilon.certified_levels import LevelBounds, LevelProof
from solvers.epsilon.first_front import HEURISTIC

_SEARCH_SHARE = 0.6  # of the time, for the metaheuristic
_LEVEL_SECONDS = 1.0  # a level, for bounds, where there is no time limit
_LEVEL_SHARE = 0.1  # of the time left, for one step of a level
_LEAST_SHARE = 0.15  # of the time left, for the bound on the loss alone
_ROUNDS = 12  # of levels, where there is no time limit
_HALVINGS = 40  # of an interval of losses
_NARROW = 1e-3  # bits: a level is not halved further
_LEAST_SECONDS = 10.0  # for the bound on the loss alone, the same


def search(problem: Problem, score: Score, solver: str, run: Run) -> None:
    """Offer what the metaheuristic finds, then prove what no score is below."""
    parts = problem.unscored()
    most = float(parts.require(EntropyLevels).most.sum())
    run.prove(score.of(score.least_loss(), most))
    heuristic = registry.solver(HEURISTIC)
    if heuristic.missing() is None and heuristic().refuses(problem) is None:
        part = run.part(problem, HEURISTIC, _SEARCH_SHARE * run.remaining)
        try:
            heuristic().search(problem, part)
        finally:
            if part.labels is not None:
                run.offer(part.labels)
    if run.expired or problem.suppression.most:
        return
    if not certified_levels.applies(parts):
        _by_least_loss(parts, score, most, solver, run, 1.0)
        return
    _by_least_loss(parts, score, most, solver, run, _LEAST_SHARE)
    levels_of = ScoreLevels(parts, score, run)
    while not run.expired and levels_of.raise_weakest():
        prove(run, score_bound(score, levels_of.proven(), most))
        run.report("levels of entropy")


class ScoreLevels:
    """Levels of entropy bounded where the score needs it: the weakest is halved, or raised where it is narrow."""

    def __init__(self, parts: Problem, score: Score, run: Run) -> None:
        self._parts, self._score, self._run = parts, score, run
        self._most = float(parts.require(EntropyLevels).most.sum())
        self._bounds = LevelBounds(parts, run)
        self._proofs: list[LevelProof] = []
        self._rounds = 0
        if run.labels is not None:
            self._bounds.learn(run.labels, run.values["entropy"])

    def proven(self) -> list[Proven]:
        """What is proven of each level, in ascending order."""
        found, least = [], 0.0
        for proof in self._proofs:
            least = max(least, proof.bound)
            found.append(Proven(proof.entropy, least))
        return found or [Proven(0.0, 0.0)]

    def raise_weakest(self) -> bool:
        """Work on the levels that the bound hangs on; whether there is more to be done."""
        if not self._proofs:
            # A score hangs on what is proven just above the entropy of the best partition, and just below it.
            here = self._run.values.get("entropy", 0.0)
            self._proofs = [self._bounds.level(at) for at in sorted({0.0, 0.5 * here, here, 0.5 * (here + self._most)})]
            for place in range(len(self._proofs)):
                self._advance(place)
            return True
        self._rounds += 1
        if self._run.time_limit is None and self._rounds > _ROUNDS:
            return False
        proven = self.proven()
        uppers = [*(one.entropy for one in proven[1:]), self._most]
        scores = [self._score.of(one.bound, upper) for one, upper in zip(proven, uppers, strict=True)]
        weakest = min(range(len(scores)), key=scores.__getitem__)
        value = self._run.value
        if value is not None and scores[weakest] >= value - PROVEN * max(1.0, abs(value)):
            return False
        low, high = proven[weakest].entropy, uppers[weakest]
        # Half of what is missing may be the width of the level, which halving takes away, or its bound.
        if high - low > _NARROW and (self._proofs[weakest].done or self._width_matters(proven[weakest], high)):
            self._proofs.insert(weakest + 1, self._bounds.level(0.5 * (low + high)))
            self._advance(weakest + 1)
            return True
        if self._proofs[weakest].done:
            return False
        self._advance(weakest)
        return True

    def _width_matters(self, level: Proven, high: float) -> bool:
        """Whether more of what is missing comes from the width of a level than from its bound."""
        value = self._run.value
        if value is None:
            return True
        at_low, at_high = self._score.of(level.bound, level.entropy), self._score.of(level.bound, high)
        return at_low - at_high >= 0.5 * (value - at_high)

    def _advance(self, place: int) -> None:
        """Raise the bound of a level to what would rule it out, for a share of the time."""
        seconds = _LEVEL_SECONDS if self._run.time_limit is None else max(0.05, _LEVEL_SHARE * self._run.remaining)
        upper = self._proofs[place + 1].entropy if place + 1 < len(self._proofs) else self._most
        self._proofs[place].advance(self._needed(upper), seconds)

    def _needed(self, upper: float) -> float:
        """The loss from which on no partition with less entropy than `upper` is better than the best one."""
        value, low, high = self._run.value, 0.0, 1.0
        if value is None:
            return high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self._score.of(middle, upper) >= value else (middle, high)
        return high


def score_bound(score: Score, proven: Sequence[Proven], most: float) -> float:
    """What no score is below, of partitions of which this is proven of their losses and this is the most entropy.

    >>> score = Score(lambda loss, entropy: loss - 0.1 * entropy)
    >>> round(score_bound(score, [Proven(0.0, 0.2), Proven(1.0, 0.5)], 2.0), 9)
    0.1
    """
    uppers = [*(one.entropy for one in proven[1:]), most]
    return min(score.of(one.bound, upper) for one, upper in zip(proven, uppers, strict=True))


def prove(run: Run, bound: float) -> None:
    """Record a bound: a score near 0 is a difference of larger numbers, and misses it by their rounding alone."""
    value = run.value
    run.prove(value if value is not None and abs(value - bound) <= PROVEN * max(1.0, abs(value)) else bound)


def _by_least_loss(parts: Problem, score: Score, most: float, solver: str, run: Run, share: float) -> None:
    """The bound by the exact solver's on the loss, where that takes so many records."""
    exact = registry.solver(solver)()
    if exact.refuses(parts) is None:
        seconds = _LEAST_SECONDS if run.remaining == inf else max(share * run.remaining, 0.1)
        answer = exact.solve(parts, time_limit=seconds, seed=run.seed, start=run.labels)
        if answer.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.labels is not None:
            run.offer(answer.labels)
        if answer.bound is not None:
            prove(run, score.of(answer.bound, most))
