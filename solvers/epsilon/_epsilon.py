"""Exact and certified Pareto fronts of loss against entropy: epsilon-constraint, and a metaheuristic's incumbents.

For a level E of the entropy f2 = sum over sensitive attributes of the least entropy of a class, the least loss is
found by branching on the attributes' own least entropies: a partition that meets them but misses E is left behind by
asking for more of one attribute or of another. E then rises just above the entropy found, until nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from optmodels import registry
from optmodels.errors import InputError, whole
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import PROVEN, FrontSolver, Run
from optmodels.structures import EntropyLevels, Priced, Score, Structure
from solvers.epsilon import certified_levels, certified_score, closeness_levels, left_out_levels
from solvers.epsilon.certified_front import LEVELS, CertifiedFront
from solvers.epsilon.first_front import first_front
from solvers.epsilon.least_loss import MORE, Answer, few, least_loss, listed, oracle

_FEW_RECORDS = 17  # of fewer all is known in a second, without a heuristic before it
_FIRST_SHARE = 0.1  # of the time, for that heuristic
_FIRST_SECONDS = 3.0  # at most
_NOTHING = "No partition has the least entropies asked for together with k and the number of classes."


@dataclass(frozen=True)
class EntropyLevel:
    """All that is known of partitions with at least this entropy: their loss is at least `bound`."""

    entropy: float
    bound: float
    found: Answer | None


@dataclass(frozen=True)
class Epsilon(FrontSolver):
    """The whole front, each point with its certificate; of up to 24 records every class is priced once.

    Of more records a metaheuristic's front is what is proven: `levels` asks for bounds of that many evenly spaced
    levels of entropy (`certified_front`; with a time limit 8 of them unless told otherwise), and every point found has
    the best bound of the levels below it. Without either, and where the price is no spread in few numbers, `solver`
    answers each step. Cut short, the front comes with what is proven about the points not found. A score of loss and
    entropy is sought by the metaheuristic and bounded likewise, whatever the size.
    """

    name: ClassVar[str] = "epsilon"
    summary: ClassVar[str] = "exact Pareto fronts by epsilon-constraint over an exact solver; a certificate a point"
    exact: ClassVar[bool] = True
    needs: ClassVar[tuple[type[Structure], ...]] = (EntropyLevels, Priced)

    solver: str = "columns"
    levels: int | None = None

    def __post_init__(self) -> None:
        if self.levels is not None:
            whole("levels", self.levels, 2, "a front has two ends")
        if not registry.solver(self.solver).exact:
            raise InputError(
                f"The solver '{self.solver}' proves nothing, and every step of 'epsilon' needs a proof: use "
                "solver='columns' or solver='milp'."
            )

    def refuses(self, problem: Problem) -> str | None:
        """A score is solved by way of what it is made of; of many records it has a bound that any table has."""
        parts = _parts(problem)
        if parts is not problem and _compiled(parts) and not few(parts):
            return None
        return super().refuses(parts)

    def cannot(self, problem: Problem) -> str | None:
        """Its steps for more than a few records go to an exact solver, and few are priced by compiled kernels."""
        if problem.require(Priced).compiled is None:
            return "it prices classes by compiled kernels, and this price is a plain function."
        if not listed(problem) and (reason := registry.solver(self.solver)().refuses(problem)):
            return f"its steps go to '{self.solver}', and {reason}"
        return None

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """Every point of a front has its certificate."""
        return True

    def search(self, problem: Problem, run: Run) -> None:
        """The best score over the exact front; of a problem with two objectives, the least loss."""
        run.offer(np.zeros(problem.n, np.int64))  # everyone together, where one class is allowed, is a beginning
        score = problem.structure(Score)
        if score is None:
            answer = oracle(self.solver, problem, run)(np.zeros(_attributes(problem)), 0.0, run.remaining, inf)
            if answer.labels is not None:
                run.offer(answer.labels)
            if answer.bound == inf:
                run.infeasible(_NOTHING)
            else:
                run.prove(answer.bound)
            if not answer.proven and run.remaining <= 0:
                run.stop = Stop.TIME
            return
        if not few(problem):
            certified_score.search(problem, score, self.solver, run)
            return
        # Partitions with an entropy below the next level lose at least what this level proves.
        bound, below = inf, inf
        parts = problem.unscored()
        known = list(_first_answers(parts, run))
        for answer in known:
            if answer.labels is not None:
                run.offer(answer.labels)
        for level in _sweep(parts, self.solver, self.levels, known, run):
            if level.found is not None and level.found.labels is not None:
                run.offer(level.found.labels)
            if below < inf:
                bound = min(bound, score.of(below, level.entropy - MORE))
            elif level.bound == inf:
                run.infeasible(_NOTHING)
            below = level.bound
        most = float(parts.require(EntropyLevels).most.sum())
        if below < inf:  # cut short: the rest has at most the whole table's entropy
            bound = min(bound, score.of(below, most))
        elif bound == inf and not run.proven_infeasible:  # cut short before anything was proven
            bound = score.of(score.least_loss(), most)
        if bound < inf:
            # A score near 0 is a difference of larger numbers: the bound misses it by their rounding, not by its own.
            value = run.value
            run.prove(value if value is not None and abs(value - bound) <= PROVEN * max(1.0, abs(value)) else bound)

    def refuses_front(self, problem: Problem) -> str | None:
        """Fronts of a target and of how many are left out, or of closeness, need an exact solver of steps alone."""
        if left_out_levels.applies(problem):
            return left_out_levels.refuses(problem, self.solver)
        if closeness_levels.applies(problem):
            return closeness_levels.refuses(problem, self.solver)
        return super().refuses_front(problem)

    def decides_suppression(self, problem: Problem) -> bool:
        """On a front of how many are left out, by the solver of its steps."""
        return left_out_levels.applies(problem) and left_out_levels.refuses(problem, self.solver) is None

    def explore(self, problem: Problem, run: Run) -> None:
        """Level after level of entropy, closeness or how many are left out; the record says what else is proven."""
        if left_out_levels.applies(problem):
            left_out_levels.explore(problem, self.solver, run)
            return
        if closeness_levels.applies(problem):
            closeness_levels.explore(problem, self.solver, run)
            return
        if self._certified(_parts(problem), run):
            _explore_certified(_parts(problem), self.levels or LEVELS, self.solver, run)
            return
        proven: list[dict[str, float | None]] = []
        run.details.update(levels=proven, complete=False)
        known: list[Answer] = []
        try:
            known += _first_answers(_parts(problem), run)
            for level in _sweep(_parts(problem), self.solver, self.levels, list(known), run):
                least = None if level.bound == inf else level.bound
                proven.append({"entropy_at_least": level.entropy, "loss_at_least": least})
                if level.found is not None and level.found.labels is not None:
                    _keep(run, level.found.labels, level.bound)
                if level.bound == inf and not run.front:
                    run.details["infeasible"] = _NOTHING
                run.report(f"entropy {level.entropy:.4f}: {len(run.front)} points", done=level.entropy)
        finally:
            _keep_unproven(run, known, proven)
            if not run.front:  # nothing has more entropy than everyone together, and no loss is negative
                _keep(run, np.zeros(problem.n, np.int64), 0.0)
        every_level = self.levels is None and bool(proven) and proven[-1]["loss_at_least"] is None
        run.details["complete"] = every_level and all(point.status is Status.OPTIMAL for point in run.front)

    def _certified(self, problem: Problem, run: Run) -> bool:
        """Whether a metaheuristic's front is bounded: the exact one of so many records would take too long."""
        asked = self.levels is not None or run.time_limit is not None
        return asked and not few(problem) and certified_levels.applies(problem)


def _explore_certified(problem: Problem, levels: int, solver: str, run: Run) -> None:
    """Keep the points of two engines, each with the best bound that holds at its entropy."""
    front = CertifiedFront(problem, levels, solver, run)
    run.details["complete"] = False
    try:
        for _ in front.work():
            pass
    finally:
        run.details["levels"] = [
            {"entropy_at_least": proven.entropy, "loss_at_least": proven.bound} for proven in front.proven()
        ]
        for point in front.points():
            _keep(run, point.labels, front.bound(point.entropy))


def _compiled(problem: Problem) -> bool:
    priced = problem.structure(Priced)
    return priced is not None and priced.compiled is not None and problem.structure(EntropyLevels) is not None


def _keep_unproven(run: Run, known: list[Answer], proven: list[dict[str, float | None]]) -> None:
    """Keep partitions that were known beforehand, with what is proven of the levels below them."""
    for answer in known:
        if answer.labels is not None and proven and proven[-1]["loss_at_least"] is not None:
            entropy = float(answer.entropies.sum())
            below = [one["loss_at_least"] or 0.0 for one in proven if (one["entropy_at_least"] or 0.0) <= entropy]
            _keep(run, answer.labels, max(below, default=0.0))


def _attributes(problem: Problem) -> int:
    return len(problem.table.sensitive)


def _parts(problem: Problem) -> Problem:
    """The loss and the entropy that a score is made of, or the problem itself."""
    return problem if problem.structure(Score) is None else problem.unscored()


def _keep(run: Run, labels: Labels, least_loss: float) -> None:
    """Keep a point, proven where its loss is the least of its level: a score is then the best with its entropy."""
    score = run.problem.structure(Score)
    bound = least_loss
    if score is not None:
        parts = run.problem.unscored()
        found = parts.values(run.problem.check(labels))
        loss, entropy = (found[objective.name] for objective in parts.objectives)
        bound = score.of(min(least_loss, loss), entropy)
    run.keep(labels, bound, stop=Stop.TIME)


def _sweep(problem: Problem, solver: str, levels: int | None, known: list[Answer], run: Run) -> Iterator[EntropyLevel]:
    """Levels of entropy upwards, each with the least loss at or above it; the last has nothing at or above it."""
    most = float(problem.require(EntropyLevels).most.sum())
    ask = oracle(solver, problem, run)
    entropy, steps = 0.0, levels or 0
    while not run.expired:
        share = run.remaining / max(1, steps) if steps else run.remaining
        bound, best = least_loss(problem.require(EntropyLevels), entropy, ask, known, run, share)
        yield EntropyLevel(entropy, bound, best)
        if best is None and bound < inf:
            # the solver neither found a partition nor proved that there is none: higher up it is harder
            run.stop = Stop.TIME
            return
        reached = entropy if best is None else float(best.entropies.sum())
        if bound == inf or reached >= most - MORE:
            if bound < inf:
                yield EntropyLevel(reached + MORE, inf, None)  # nothing has more entropy than the whole table
            return
        next_up = reached + MORE
        if levels is not None:
            steps -= 1
            if steps <= 0:
                return
            next_up = max(next_up, entropy + (most - entropy) / steps)
        entropy = next_up


def _first_answers(problem: Problem, run: Run) -> Iterator[Answer]:
    """Partitions that a metaheuristic finds before anything is proven: an incumbent for every level."""
    if problem.n < _FEW_RECORDS:
        return
    entropies = problem.require(EntropyLevels)
    for labels in first_front(problem, run, _FIRST_SHARE, most_seconds=_FIRST_SECONDS):
        found = problem.evaluate(labels)
        if found.feasible:
            yield Answer(
                entropies.least_of(labels), 0.0, found.values[problem.target.name], labels, entropies.least_of(labels)
            )
