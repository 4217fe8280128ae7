"""The least loss under least entropies: each step by enumeration or an exact solver, a level by branching.

A partition that has an attribute's least entropies but misses the level is left behind by asking for more of one
attribute or of another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from math import inf, log

import numpy as np

from optmodels import registry
from optmodels.partition import Labels
from optmodels.price import HIERARCHY, Floats
from optmodels.problem import Problem
from optmodels.solution import Status, Stop
from optmodels.solver import PROVEN, Run
from optmodels.structures import EntropyLevels, Priced, compiled_price
from solvers.epsilon.every_class import MOST_RECORDS, EveryClass

# "More entropy than this" in bits: above the tolerance within which two entropies are the same.
MORE = 1e-8
_LISTING_SECONDS = 1e-6  # to price one class, at most: with less time than all of them take, the solver is asked


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


# Least entropies of each attribute, and of all together; seconds; the loss from which on it is no use.
Ask = Callable[[Floats, float, float, float], Answer]


def few(problem: Problem) -> bool:
    """Whether there are no more records than those of which every class can be listed."""
    return problem.n <= MOST_RECORDS


def listed(problem: Problem) -> bool:
    """Whether every class can be priced: the records are few, and the price is none of hierarchies."""
    return few(problem) and compiled_price(problem.require(Priced)).kind != HIERARCHY


def least_loss(
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
        if (needed <= most + MORE / 10).all():
            # What was proven under looser bounds holds here too.
            looser = (answer.bound for answer in known if (answer.least <= needed + MORE / 10).all())
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
            answer = ask(least, entropy, left / (1 + len(branches)), worst)
            known.append(answer)
        bound = max(bound, answer.bound)
        if answer.labels is None:
            closed = min(closed, bound)
        elif answer.entropies.sum() >= entropy - MORE / 10:
            if best is None or answer.loss < best.loss:
                best = answer
            closed = min(closed, bound)
        else:
            for j in range(len(most)):
                more = least.copy()
                more[j] = answer.entropies[j] + MORE
                branch(bound, more)
    open_bound = branches[0][0] if branches else inf
    proven = min(closed, open_bound)
    return (proven if best is None else min(proven, best.loss)), best


def _recalled(known: list[Answer], least: Floats) -> Answer | None:
    """An earlier answer that settles these least entropies too."""
    for answer in known:
        looser = (answer.least <= least + MORE / 10).all()
        if looser and answer.proven and (answer.labels is None or (answer.entropies >= least - MORE / 10).all()):
            return answer
    return None


def oracle(solver: str, problem: Problem, run: Run) -> Ask:
    """A function that minimises the loss under least entropies, in so many seconds, if it is below `useful`."""
    priced, entropies = problem.require(Priced), problem.require(EntropyLevels)
    if listed(problem) and _LISTING_SECONDS * 2.0**problem.n <= run.remaining:
        classes = EveryClass(priced)

        def by_enumeration(least: Floats, total: float, seconds: float, useful: float) -> Answer:
            began, bits = run.seconds, np.maximum(least * log(2), problem.test.entropies)

            def halted() -> bool:
                return run.interrupt.pressed or run.seconds - began > seconds

            best = classes.best(bits, useful * priced.scale, halted, total=max(0.0, total - MORE / 10) * log(2))
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

    def by_solver(least: Floats, total: float, seconds: float, useful: float) -> Answer:
        bounded = problem.with_entropy(np.maximum(least, problem.test.entropies / log(2)).tolist())
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
