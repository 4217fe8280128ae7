"""The algorithms of pymoo that make fronts, each by its name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from optmodels.partition import Labels
from solvers.evolution._evolution import Evolution

if TYPE_CHECKING:
    from pymoo.core.algorithm import Algorithm

    from optmodels.centroids.pymoo_problem import CentroidProblem


@dataclass(frozen=True)
class Nsga2(Evolution):
    """NSGA-II.

    >>> import optmodels as om
    >>> from formulations import MoObam
    >>> problem = MoObam(k=5).build(om.dataset("german").take(np.arange(60)))
    >>> front = Nsga2(evaluations=500).pareto(problem, seed=1)
    >>> all(point.release().audit.k >= 5 for point in front), len(front) > 3
    (True, True)
    """

    name: ClassVar[str] = "nsga2"
    summary: ClassVar[str] = "Pareto fronts by NSGA-II on centroids with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """NSGA-II with the problem's operators."""
        from pymoo.algorithms.moo.nsga2 import NSGA2

        return NSGA2(pop_size=self.population, **problem.operators_from(*starts))


@dataclass(frozen=True)
class Nsga3(Evolution):
    """NSGA-III, for three objectives or more."""

    name: ClassVar[str] = "nsga3"
    summary: ClassVar[str] = "Pareto fronts of many objectives by NSGA-III, with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """NSGA-III with evenly spread directions."""
        from pymoo.algorithms.moo.nsga3 import NSGA3

        directions = directions_along(problem, self.population)
        return NSGA3(directions, pop_size=max(self.population, len(directions)), **problem.operators_from(*starts))


@dataclass(frozen=True)
class SmsEmoa(Evolution):
    """SMS-EMOA: survival by hypervolume."""

    name: ClassVar[str] = "sms-emoa"
    summary: ClassVar[str] = "Pareto fronts by SMS-EMOA (hypervolume), with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """SMS-EMOA with the problem's operators; with one objective a volume is a length, and survival by rank."""
        if problem.n_obj == 1:
            from pymoo.algorithms.moo.nsga2 import NSGA2

            return NSGA2(pop_size=self.population, **problem.operators_from(*starts))
        from pymoo.algorithms.moo.sms import SMSEMOA

        return SMSEMOA(pop_size=self.population, **problem.operators_from(*starts))


@dataclass(frozen=True)
class Spea2(Evolution):
    """SPEA2: survival by strength and density."""

    name: ClassVar[str] = "spea2"
    summary: ClassVar[str] = "Pareto fronts by SPEA2, with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """SPEA2 with the problem's operators."""
        from pymoo.algorithms.moo.spea2 import SPEA2, SPEA2Survival

        # pymoo's default survival is one object for all runs of a process, and remembers them.
        survival = SPEA2Survival(normalize=True)
        return SPEA2(pop_size=self.population, survival=survival, **problem.operators_from(*starts))


@dataclass(frozen=True)
class AgeMoea(Evolution):
    """AGE-MOEA: survival by the geometry of the front."""

    name: ClassVar[str] = "age-moea"
    summary: ClassVar[str] = "Pareto fronts by AGE-MOEA, with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """AGE-MOEA with the problem's operators."""
        from pymoo.algorithms.moo.age import AGEMOEA

        return AGEMOEA(pop_size=self.population, **problem.operators_from(*starts))


@dataclass(frozen=True)
class Moead(Evolution):
    """MOEA/D: one scalar problem for each direction."""

    name: ClassVar[str] = "moead"
    summary: ClassVar[str] = "Pareto fronts by MOEA/D (decomposition), with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """MOEA/D in its parallel form: a whole population is evaluated at once."""
        from pymoo.algorithms.moo.moead import ParallelMOEAD

        directions = directions_along(problem, self.population)
        operators = {
            name: made for name, made in problem.operators_from(*starts).items() if name != "eliminate_duplicates"
        }
        return ParallelMOEAD(directions, n_neighbors=min(20, len(directions)), **operators)


@dataclass(frozen=True)
class MopsoCd(Evolution):
    """MOPSO-CD: a swarm led by the least crowded members of its archive."""

    name: ClassVar[str] = "mopso-cd"
    summary: ClassVar[str] = "Pareto fronts by the swarm MOPSO-CD, with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """MOPSO-CD with the problem's sampling; particles move by velocities, not by operators."""
        from pymoo.algorithms.moo.mopso_cd import MOPSO_CD

        return MOPSO_CD(pop_size=self.population, sampling=problem.operators_from(*starts)["sampling"])


@dataclass(frozen=True)
class Cmopso(Evolution):
    """CMOPSO: a swarm whose particles learn from the winners of competitions."""

    name: ClassVar[str] = "cmopso"
    summary: ClassVar[str] = "Pareto fronts by the competitive swarm CMOPSO, with local search; feasible, heuristic"

    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """CMOPSO with the problem's sampling and mutation."""
        from pymoo.algorithms.moo.cmopso import CMOPSO

        operators = problem.operators_from(*starts)
        return CMOPSO(pop_size=self.population, sampling=operators["sampling"], mutation=operators["mutation"])


def directions_along(problem: CentroidProblem, many: int) -> Any:
    """Evenly spread directions (Das and Dennis), at most so many unless there are more objectives."""
    from pymoo.util.ref_dirs import get_reference_directions

    m = problem.n_obj
    if m == 1:
        return np.ones((many, 1))
    parts = next(parts for parts in count(1) if comb(parts + m, m - 1) > many)
    return get_reference_directions("das-dennis", m, n_partitions=parts)
