"""Rules that pick one candidate, each a function of what candidates lose and risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import InputError, finite
from optmodels.front import knee_of
from optmodels.tuning.candidates import TuningPoint

Rule = Literal["knee", "one-se", "cost"]

RULES: Mapping[str, str] = {
    "knee": "the furthest below the plane through the extremes of what is lost, found and guessed, each from 0 to 1",
    "one-se": "the fewest people found, among those whose classifier is within a standard error of the best",
    "cost": "the largest benefit of what is kept, less the harm by attackers for whom an attack is worth its cost",
}


@dataclass(frozen=True)
class Stakes:
    """What an attack costs and what it does, for the rule 'cost'.

    An attacker attacks a class where the chance to be right, 1 / its size, exceeds `cost`: what an attack costs as a
    share of what a person found is worth to them. A person who is found does `harm`, in units of what the complete
    record of one person is worth to those who use the data.
    """

    cost: float = 0.05
    harm: float = 10.0

    def __post_init__(self) -> None:
        finite("cost", self.cost, "it is a share of what a person found is worth")
        finite("harm", self.harm, "it is counted in records")

    def benefit(self, one: TuningPoint) -> float:
        """What the release is worth for each record: what is kept of it, less the harm that is to be expected.

        In a class that is attacked one person is found on average, whatever its size.
        """
        attacked = int((1.0 / one.sizes > self.cost).sum()) if one.sizes.size else 0
        return 1.0 - one.lost - self.harm * attacked / max(int(one.sizes.sum()), 1)


@dataclass(frozen=True)
class Scores:
    """What a classifier scores from each candidate: the mean over trials and the standard error of the mean."""

    mean: NDArray[np.float64]
    error: NDArray[np.float64]


def knee(found: Sequence[TuningPoint]) -> int:
    """The number of the candidate at the knee of what is lost, found and guessed; dominated ones are not considered."""
    costs = np.array([(one.lost, one.found, one.guessed) for one in found])
    best = [i for i in range(len(found)) if not _dominated(costs, i)]
    return best[knee_of(costs[best])]


def most_worth(found: Sequence[TuningPoint], stakes: Stakes) -> int:
    """The number of the candidate of the largest benefit; of several, the one that loses least."""
    worth = [(stakes.benefit(one), -one.lost) for one in found]
    return max(range(len(found)), key=lambda i: worth[i])


def within_one_error(found: Sequence[TuningPoint], scores: Scores) -> int:
    """The number of the candidate with the fewest people found whose score is within an error of the best one's."""
    best = int(np.argmax(scores.mean))
    near: list[int] = np.flatnonzero(scores.mean >= scores.mean[best] - scores.error[best]).tolist()
    return min(near, key=lambda i: (found[i].found, found[i].guessed, found[i].lost))


def _dominated(costs: NDArray[np.float64], i: int) -> bool:
    return bool(((costs <= costs[i]).all(axis=1) & (costs < costs[i]).any(axis=1)).any())


def chosen(rule: str, found: Sequence[TuningPoint], stakes: Stakes, scores: Scores | None) -> int:
    """The number of the candidate that a rule picks."""
    if not found:
        raise InputError("There is nothing to choose from: no k that was tried has a feasible partition.")
    if rule == "knee":
        return knee(found)
    if rule == "cost":
        return most_worth(found, stakes)
    assert scores is not None
    return within_one_error(found, scores)
