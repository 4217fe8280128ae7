"""The output of a published swarm as it stands: for comparison, and labelled where it breaks what it promises."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from optmodels.errors import InputError
from optmodels.partition import Labels
from optmodels.recoding import recode

if TYPE_CHECKING:
    from solvers.pso.flight import Flight

BROKEN = "breaks_k"  # the column that says whose class is too small


@dataclass(frozen=True)
class PublishedRelease:
    """Records at the raw centroids of the best particle; `broken` says what is not kept, and is empty if all is.

    It is no `Release`: nothing of it is promised, and where k is broken its frame begins with a column that says for
    whom.

    >>> import optmodels as om
    >>> from formulations import MoObam
    >>> from solvers import Pso
    >>> table = om.dataset("german").take(range(60))
    >>> problem = MoObam(k=2, n_clusters=2, objective="lambda", lam=0.01).build(table)
    >>> Pso(swarm="authors", iterations=2).published(problem).broken
    ''
    """

    frame: pd.DataFrame = field(repr=False)
    labels: Labels = field(repr=False)
    loss: float  # around the centroids that are released
    values: dict[str, float]  # around means and modes, as every other partition is judged
    people_below_k: int
    broken: str

    @classmethod
    def of(cls, flight: Flight) -> PublishedRelease:
        """The best particle so far."""
        found = flight.described()
        if not found:
            raise InputError("The swarm has not made a step: give it an iteration.")
        labels, problem = flight.best_labels, flight.problem
        below = np.bincount(labels)[labels] < problem.conditions.k
        violations = {name: amount for name, amount in found["violations"].items() if amount}
        broken = ""
        if violations:
            asked = ", ".join(violations)
            broken = (
                f"NOT SAFE TO PUBLISH: the published method breaks {asked}; {int(below.sum())} of {problem.n} records "
                f"are in classes of fewer than k = {problem.conditions.k}."
            )
            warnings.warn(broken, stacklevel=3)
        frame = _at_centroids(flight, labels)
        if broken:
            frame.insert(0, BROKEN, below)
        return cls(frame, labels, found["loss_around_centroids"], found["values"], int(below.sum()), broken)


def _at_centroids(flight: Flight, labels: Labels) -> pd.DataFrame:
    """The table with every record at the centroid it has joined, in the units of its columns."""
    table, space = flight.problem.table, flight.space
    frame = recode(table, labels)
    decoded = space.decode(flight.best[None], mend=False)
    grain, joined = decoded.parts(0)
    centroid = joined[grain.unit_of]
    matrices = space.matrices(flight.best[None])
    for j, name in enumerate(table.measured):
        scaled, own = space.price.numeric[:, j], table.values[:, j]
        low, high = int(np.argmin(own)), int(np.argmax(own))
        width = scaled[high] - scaled[low]
        step = (own[high] - own[low]) / width if width else 0.0
        if table.kinds[name] == "numeric":
            frame[name] = own[low] + (matrices.numeric[0, centroid, j] - scaled[low]) * step
    for j, name in enumerate(table.categorical):
        levels = np.asarray(table.levels[name], object)
        frame[name] = pd.Series(levels[matrices.codes[0, centroid, j]], index=frame.index)
    return frame
