"""Where a front stands while it is sought: partitions are judged into its archive, and the run is told."""

from __future__ import annotations

import numpy as np

from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solver import Run
from optmodels.structures import Score
from solvers.evolution.archive import Archive


def explored_for(problem: Problem) -> Problem:
    """What is explored for a problem: the members of a front of loss and entropy hold the best of any score of them."""
    score = problem.structure(Score)
    return problem.unscored() if score is not None and score.alone else problem


class Standing:
    """The archive of one run on a problem, in costs: objectives to be maximised are negated."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem, self.run = problem, run
        self.archive = Archive(len(problem.objectives))
        run.hold(self.archive.held)
        self._signs = np.array([1.0 if objective.sense == "min" else -1.0 for objective in problem.objectives])
        self._reference = self._signs * np.array(list(problem.reference().values()))

    def judge(self, labels: Labels) -> bool:
        """Let the problem judge a partition and the archive take it in."""
        evaluation = self.problem.evaluate(labels)
        values = [evaluation.values[objective.name] for objective in self.problem.objectives]
        return evaluation.feasible and self.archive.add(self._signs * np.array(values), lambda: labels)

    def tell(self, note: str, evaluations: int, total: int | None) -> None:
        """Tell the run where the front is: size, hypervolume, evaluations, the best value of every objective."""
        volume = self.archive.hypervolume(self._reference)
        self.run.details.update(evaluations=evaluations, hypervolume=volume)
        curve = self.run.details.setdefault("curve", [])
        assert isinstance(curve, list)
        curve.append((evaluations, self.run.seconds, volume))
        self.run.report(
            f"{note}: {len(self.archive)} points, hypervolume {volume:.6g}, {evaluations} evaluations",
            done=float(evaluations),
            total=None if total is None else float(total),
            front={"evaluations": evaluations, "points": len(self.archive), "hypervolume": volume, **self._best},
            points=self._signs * self.archive.costs,
        )

    @property
    def _best(self) -> dict[str, float]:
        """The best value of every objective in the archive."""
        least = self._signs * self.archive.costs.min(axis=0) if len(self.archive) else ()
        return {objective.name: float(value) for objective, value in zip(self.problem.objectives, least, strict=False)}
