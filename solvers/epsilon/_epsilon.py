"""Exact Pareto fronts of loss against entropy by the epsilon-constraint method, over any exact solver.

For a level E of the entropy f2 = sum over sensitive attributes of the least entropy of a class, the least loss is
found by branching on the attributes' own least entropies: a partition that meets them but misses E is left behind by
asking for more of one attribute or of another. E then rises just above the entropy found, until nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf, log
from typing import ClassVar

import numpy as np

from optmodels import registry
from optmodels.errors import InputError, whole
from optmodels.partition import Labels
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import PROVEN, FrontSolver, Run
from optmodels.structures import EntropyLevels, Priced, Score, Structure
from solvers.epsilon import certified_levels, left_out_levels
from solvers.epsilon.every_class import MOST_RECORDS, EveryClass

# "More entropy than this" in bits: above the tolerance within which two entropies are the same.
_MORE = 1e-8
_LISTING_SECONDS = 1e-6  # to price one class, at most: with less time than all of them take, the solver is asked
_NOTHING = "No partition has the least entropies asked for together with k and the number of classes."


@dataclass(frozen=True)
class Answer:
    """What is known of the least loss under least entropies: a bound, and perhaps a partition and its entropies."""

    least: Floats
    bound: float
    loss: float = inf
    labels: Labels | None = None
    entropies: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def proven(self) -> bool:
        """Whether the loss is the least, or nothing meets the least entropies."""
        return self.loss - self.bound <= PROVEN * max(1.0, abs(self.loss)) if self.loss < inf else self.bound == inf


Ask = Callable[[Floats, float, float], Answer]  # least entropies, seconds, and the loss from which on it is no use


@dataclass(frozen=True)
class Level:
    """All that is known of partitions with at least this entropy: their loss is at least `bound`."""

    entropy: float
    bound: float
    found: Answer | None


@dataclass(frozen=True)
class Epsilon(FrontSolver):
    """The whole front, each point with its certificate; of up to 24 records every class is priced once.

    `solver` answers each step for more records; `levels` asks for that many evenly spaced levels of entropy
    instead of every one, where the price is a spread each with a partition by local search and a bound by column
    generation (`certified_levels`). Cut short, the front comes with what is proven about the points not found.
    """

    name: ClassVar[str] = "epsilon"
    summary: ClassVar[str] = "exact Pareto fronts by epsilon-constraint over an exact solver; a certificate a point"
    exact: ClassVar[bool] = True
    needs: ClassVar[tuple[type[Structure], ...]] = (
        EntropyLevels,
        Priced,
    )

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
        """A score is solved by way of what it is made of."""
        return super().refuses(_parts(problem))

    def cannot(self, problem: Problem) -> str | None:
        """Its steps for more than a few records go to an exact solver, and few are priced by compiled kernels."""
        if problem.require(Priced).compiled is None:
            return "it prices classes by compiled kernels, and this price is a plain function."
        if problem.n > MOST_RECORDS and (reason := registry.solver(self.solver)().refuses(problem)):
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
            answer = _oracle(self.solver, problem, run)(np.zeros(_attributes(problem)), run.remaining, inf)
            if answer.labels is not None:
                run.offer(answer.labels)
            if answer.bound == inf:
                run.infeasible(_NOTHING)
            else:
                run.prove(answer.bound)
            if not answer.proven and run.remaining <= 0:
                run.stop = Stop.TIME
            return
        # Partitions with an entropy below the next level lose at least what this level proves.
        bound, below = inf, inf
        for level in _sweep(score.parts, self.solver, self.levels, run):
            if level.found is not None and level.found.labels is not None:
                run.offer(level.found.labels)
            if below < inf:
                bound = min(bound, score.of(below, level.entropy - _MORE))
            elif level.bound == inf:
                run.infeasible(_NOTHING)
            below = level.bound
        if below < inf:  # cut short: the rest has at most the whole table's entropy
            bound = min(bound, score.of(below, float(score.parts.require(EntropyLevels).most.sum())))
        if bound < inf:
            # A score near 0 is a difference of larger numbers: the bound misses it by their rounding, not by its own.
            value = run.value
            run.prove(value if value is not None and abs(value - bound) <= PROVEN * max(1.0, abs(value)) else bound)

    def refuses_front(self, problem: Problem) -> str | None:
        """A front of any target and of how many are left out needs nothing but an exact solver of its steps."""
        if left_out_levels.applies(problem):
            return left_out_levels.refuses(problem, self.solver)
        return super().refuses_front(problem)

    def decides_suppression(self, problem: Problem) -> bool:
        """On a front of how many are left out, by the solver of its steps."""
        return left_out_levels.applies(problem) and left_out_levels.refuses(problem, self.solver) is None

    def explore(self, problem: Problem, run: Run) -> None:
        """Level after level of entropy, or of how many are left out; the record says what is proven of other points."""
        if left_out_levels.applies(problem):
            left_out_levels.explore(problem, self.solver, run)
            return
        proven: list[dict[str, float | None]] = []
        run.details.update(levels=proven, complete=False)
        try:
            for level in _sweep(_parts(problem), self.solver, self.levels, run):
                least = None if level.bound == inf else level.bound
                proven.append({"entropy_at_least": level.entropy, "loss_at_least": least})
                if level.found is not None and level.found.labels is not None:
                    _keep(run, level.found.labels, level.bound)
                if level.bound == inf and not run.front:
                    run.details["infeasible"] = _NOTHING
                run.report(f"entropy {level.entropy:.4f}: {len(run.front)} points", done=level.entropy)
        finally:
            if not run.front:  # nothing has more entropy than everyone together, and no loss is negative
                _keep(run, np.zeros(problem.n, np.int64), 0.0)
        every_level = self.levels is None and bool(proven) and proven[-1]["loss_at_least"] is None
        run.details["complete"] = every_level and all(point.status is Status.OPTIMAL for point in run.front)


def _attributes(problem: Problem) -> int:
    return len(problem.table.sensitive)


def _parts(problem: Problem) -> Problem:
    """The loss and the entropy that a score is made of, or the problem itself."""
    score = problem.structure(Score)
    return problem if score is None else score.parts


def _keep(run: Run, labels: Labels, least_loss: float) -> None:
    """Keep a point, proven where its loss is the least of its level: a score is then the best with its entropy."""
    score = run.problem.structure(Score)
    bound = least_loss
    if score is not None:
        found = score.parts.values(run.problem.check(labels))
        bound = score.of(min(least_loss, found["loss"]), found["entropy"])
    run.keep(labels, bound, stop=Stop.TIME)


def _sweep(problem: Problem, solver: str, levels: int | None, run: Run) -> Iterator[Level]:
    """Levels of entropy upwards, each with the least loss at or above it; the last has nothing at or above it."""
    most = float(problem.require(EntropyLevels).most.sum())
    if levels is not None and problem.n > MOST_RECORDS and certified_levels.applies(problem):
        found = None
        for level in certified_levels.certified_levels(problem, levels, solver, run):
            found = level.found
            yield Level(
                level.entropy,
                level.bound,
                Answer(found.entropies, level.bound, found.loss, found.labels, found.entropies),
            )
        if found is not None:
            if found.entropy >= most - _MORE:
                yield Level(most + _MORE, inf, None)  # nothing has more entropy than the whole table
            return
    ask = _oracle(solver, problem, run)
    known: list[Answer] = []
    entropy, steps = 0.0, levels or 0
    while not run.expired:
        share = run.remaining / max(1, steps) if steps else run.remaining
        bound, best = _least_loss(problem.require(EntropyLevels), entropy, ask, known, run, share)
        yield Level(entropy, bound, best)
        if best is None and bound < inf:
            # the solver neither found a partition nor proved that there is none: higher up it is harder
            run.stop = Stop.TIME
            return
        reached = entropy if best is None else float(best.entropies.sum())
        if bound == inf or reached >= most - _MORE:
            if bound < inf:
                yield Level(reached + _MORE, inf, None)  # nothing has more entropy than the whole table
            return
        next_up = reached + _MORE
        if levels is not None:
            steps -= 1
            if steps <= 0:
                return
            next_up = max(next_up, entropy + (most - entropy) / steps)
        entropy = next_up


def _least_loss(
    entropies: EntropyLevels,
    entropy: float,
    ask: Ask,
    known: list[Answer],
    run: Run,
    seconds: float,
) -> tuple[float, Answer | None]:
    """A bound on the loss of any partition with this much entropy, and the best such partition found."""
    most, began, ticket = entropies.most, run.seconds, count()
    best: Answer | None = min(
        (a for a in known if a.labels is not None and a.entropies.sum() >= entropy), key=lambda a: a.loss, default=None
    )
    closed = inf  # the least bound of branches that cannot be improved any more
    branches: list[tuple[float, int, Floats]] = []

    def branch(bound: float, least: Floats) -> None:
        # What the other attributes cannot contribute at most, an attribute must.
        needed = np.maximum(least, entropy - (most.sum() - most))
        if (needed <= most + _MORE / 10).all():
            # What was proven under looser bounds holds here too.
            looser = (answer.bound for answer in known if (answer.least <= needed + _MORE / 10).all())
            heappush(branches, (max(bound, *looser, 0.0), next(ticket), np.minimum(needed, most)))

    branch(0.0, np.zeros(len(most)))
    while branches:
        bound, _, least = heappop(branches)
        worst = inf if best is None else best.loss
        left = seconds - (run.seconds - began)
        if bound >= worst - PROVEN * max(1.0, abs(worst)) or run.expired or left <= 0:
            heappush(branches, (bound, next(ticket), least))
            break
        answer = _recalled(known, least)
        if answer is None:
            answer = ask(least, left / (1 + len(branches)), worst)
            known.append(answer)
        bound = max(bound, answer.bound)
        if answer.labels is None:
            closed = min(closed, bound)
        elif answer.entropies.sum() >= entropy - _MORE / 10:
            if best is None or answer.loss < best.loss:
                best = answer
            closed = min(closed, bound)
        else:
            for j in range(len(most)):
                more = least.copy()
                more[j] = answer.entropies[j] + _MORE
                branch(bound, more)
    open_bound = branches[0][0] if branches else inf
    proven = min(closed, open_bound)
    return (proven if best is None else min(proven, best.loss)), best


def _recalled(known: list[Answer], least: Floats) -> Answer | None:
    """An earlier answer that settles these least entropies too."""
    for answer in known:
        looser = (answer.least <= least + _MORE / 10).all()
        if looser and answer.proven and (answer.labels is None or (answer.entropies >= least - _MORE / 10).all()):
            return answer
    return None


def _oracle(solver: str, problem: Problem, run: Run) -> Ask:
    """A function that minimises the loss under least entropies, in so many seconds, if it is below `useful`."""
    priced, entropies = problem.require(Priced), problem.require(EntropyLevels)
    if problem.n <= MOST_RECORDS and _LISTING_SECONDS * 2.0**problem.n <= run.remaining:
        classes = EveryClass(priced)

        def by_enumeration(least: Floats, seconds: float, useful: float) -> Answer:
            began, bits = run.seconds, np.maximum(least * log(2), problem.test.entropies)

            def halted() -> bool:
                return run.interrupt.pressed or run.seconds - began > seconds

            best = classes.best(bits, useful * priced.scale, halted)
            run.interrupt.heed()
            if best is None:
                return Answer(least, inf)
            bound = best.bound / priced.scale
            if best.labels is None:
                return Answer(least, bound)
            loss = best.price / priced.scale
            return Answer(least, bound, loss, best.labels, entropies.least_of(best.labels))

        return by_enumeration

    exact = registry.solver(solver)()

    def by_solver(least: Floats, seconds: float, useful: float) -> Answer:
        bounded = entropies.at(np.maximum(least, problem.test.entropies / log(2)).tolist())
        limit = None if seconds == inf else max(seconds, 0.1)
        answer = exact.solve(bounded, time_limit=limit, seed=run.seed)
        if answer.stop is Stop.INTERRUPTED:
            raise KeyboardInterrupt
        if answer.stop is Stop.TIME:
            run.stop = Stop.TIME
        if answer.labels is None or answer.value is None:
            return Answer(least, inf if answer.status is Status.INFEASIBLE else answer.bound or 0.0)
        bound = 0.0 if answer.bound is None else answer.bound
        return Answer(least, bound, answer.value, answer.labels, entropies.least_of(answer.labels))

    return by_solver
