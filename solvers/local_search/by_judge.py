"""Annealed single moves for any problem: each is judged by the problem itself, or by a plain price of its classes.

Where records lie also makes the first partitions: what is good by the distances of records is hardly ever bad by
whatever a model counts, and compiled search finds it in no time. The judge takes the best of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import exp, isfinite

import numpy as np

from optmodels.centroids.balanced import BalancedSpace
from optmodels.clock import now
from optmodels.partition import Labels
from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run
from optmodels.structures import Assignment, Centroids, Construction, Priced
from solvers._construction.repair import offer_coarser
from solvers.local_search.construct import first_partition, make_feasible
from solvers.local_search.descent import Descent
from solvers.local_search.judged_moves import ClassRows, MoveJudge, PriceJudge, Proposals, WholeJudge, cost_of
from solvers.local_search.search import Schedule, follow

_TRIALS_PER_RECORD, _LEAST_TRIALS = 20, 1_000  # of the first cooling, where no iterations are given
_FRUITLESS = 2  # coolings in a row that end the search
_ALL_THE_REST = 3.0  # a cooling that would take more than one part in this of the time left has all of it
_OFTEN = 64  # trials between two looks at the clock and reports
_SAMPLED = 200  # moves by which temperatures are measured
_HOTTEST, _COLDEST = 0.2, 0.005  # of what a move that makes things worse typically costs
_PATIENCE = 200  # trials for each record, with which to begin at the hottest; with fewer it begins colder
_GEOMETRY_ROUNDS = 100  # of ruin and recreate for each class, by distances alone
_GEOMETRY_SHARE = 0.05  # of the time, at most


def by_judge(problem: Problem, run: Run, iterations: int | None = None, *, begun: bool = False) -> None:
    """Anneal single moves until trials or time run out, or longer and longer coolings no longer help.

    Where it has `begun` before, it goes on from the run's best partition.
    """
    if not begun:
        _start(problem, run)
    if run.labels is None:
        run.details["start"] = "no partition that meets the conditions was found to start from"
        return
    search = _Annealing(problem, run)
    cooling = max(_LEAST_TRIALS, _TRIALS_PER_RECORD * problem.n) if iterations is None else iterations
    fruitless = 0
    while fruitless < _FRUITLESS and not run.expired:
        before = search.best
        search.cool(cooling, counted=iterations is not None)
        if iterations is not None:
            break
        fruitless = 0 if search.best < before else fruitless + 1
        cooling *= 2
    run.details.update(trials=search.trials, judged="by the problem" if search.whole else "by a plain price of classes")
    if iterations is not None and not run.expired:
        run.stop = Stop.ITERATIONS


def _start(problem: Problem, run: Run) -> None:
    """Offer partitions to begin with; coarser ones only where nothing else is feasible."""
    for labels in _starts(problem, run):
        if run.labels is None:
            offer_coarser(run, labels)
        else:
            run.offer(labels)
        if run.expired and run.labels is not None:
            return


def _starts(problem: Problem, run: Run) -> Iterator[Labels]:
    centroids, assignment = problem.require(Centroids), problem.structure(Assignment)
    construction = problem.structure(Construction)
    if construction is not None:
        for candidate in construction.candidates(None, lambda: run.interrupt.pressed or run.remaining <= 0):
            yield candidate.labels
    if assignment is not None:
        space = BalancedSpace.of(centroids, assignment)
        with run.halting(space.halt):
            if assignment.centres is not None:
                yield space.labels(assignment.centres.ravel())
                return
            rows = np.random.default_rng(run.seed).permutation(problem.n)[: space.n_centroids]
            *_, settled = space.settling(centroids.price.numeric[rows].ravel())
        yield settled
        return
    price, test, wanted = centroids.price, centroids.test, centroids.n_classes
    if run.labels is None and run.start is not None:
        mended = make_feasible(price, test, run.start, wanted)
        if mended is not None:
            yield mended
    for where in _geometries(price):
        if (first := first_partition(where, test, wanted)) is not None:
            yield first
            yield _by_distances(replace(centroids, price=where), first, run)
    if run.labels is None:
        yield np.zeros(problem.n, np.int64)


def _geometries(price: Price) -> Iterator[Price]:
    """By all attributes, and by numbers alone: what a model counts may be either."""
    yield price
    if price.numeric.shape[1] and price.codes.shape[1]:
        yield replace(price, codes=price.codes[:, :0], code_weights=price.code_weights[:0])


def _by_distances(centroids: Centroids, first: Labels, run: Run) -> Labels:
    """The partition after a while of compiled search, by the distances of records and nothing else."""
    fixed = centroids.n_classes is not None
    descent = Descent(centroids.price, centroids.test, first, fixed=fixed, seed=run.seed)
    end = now() + _GEOMETRY_SHARE * max(run.remaining, 0.0)
    schedule = Schedule(iterations=_GEOMETRY_ROUNDS * descent.n_classes)
    follow(descent, schedule, lambda _: None, lambda: run.interrupt.pressed or now() > end)
    return descent.best


class _Annealing:
    """A partition moved from trial to trial."""

    def __init__(self, problem: Problem, run: Run) -> None:
        assert run.labels is not None
        self.problem, self.run, self.priced = problem, run, problem.structure(Priced)
        self.whole = self.priced is None
        self.trials = 0
        self.seconds_a_trial = 0.0
        self.best_label = run.labels
        self.best = cost_of(problem, run.labels)
        self.classes = ClassRows(run.labels)
        self.moves = Proposals(problem.require(Centroids), self.classes, run.seed)
        self.judge = self._judge()
        self.typical = self._measured()

    def _judge(self) -> MoveJudge:
        return WholeJudge(self.problem, self.classes) if self.priced is None else PriceJudge(self.priced, self.classes)

    def _measured(self) -> float:
        """What a move that makes things worse typically costs."""
        costs, began, tried = [], now(), 0
        while tried < _SAMPLED and not self.run.expired:
            move = self.moves.one()
            worse = 0.0 if move is None else self.judge.after(move) - self.judge.cost
            if worse > 0 and isfinite(worse):
                costs.append(worse)
            tried += 1
        self.seconds_a_trial = (now() - began) / max(tried, 1)
        return float(np.median(costs)) if costs else abs(self.best) or 1.0

    def cool(self, trials: int, *, counted: bool) -> None:
        """Try so many moves from the best partition on, or what time is left for, and offer the best one met.

        Unless trials are counted, a cooling that the time would cut short is as long as the time.
        """
        self.classes.fill(self.best_label)
        self.judge = self._judge()
        began, seconds = now(), self.run.remaining
        timed = not counted and trials * self.seconds_a_trial * _ALL_THE_REST > seconds
        expected = seconds / self.seconds_a_trial if timed else trials
        hottest = _HOTTEST * min(1.0, expected / (_PATIENCE * self.problem.n))
        done, share = 0, 0.0
        try:
            while share < 1 and not self.run.expired:
                temperature = self.typical * max(hottest * (_COLDEST / _HOTTEST) ** share, 1e-12)
                for _ in range(_OFTEN if timed else min(_OFTEN, trials - done)):
                    self._try(temperature)
                    done += 1
                    if self.run.remaining <= 0:
                        break
                share = (now() - began) / seconds if timed else done / trials
                self.run.report("moves tried", done=share, total=1.0)
        finally:
            self.trials += done
            self.seconds_a_trial = (now() - began) / max(done, 1)
            self.run.offer(self.best_label)

    def _try(self, temperature: float) -> None:
        """Try one move; worse ones are made now and then."""
        move = self.moves.one()
        if move is None:
            return
        after = self.judge.after(move)
        worse = after - self.judge.cost
        if not isfinite(after) or (worse > 0 and self.moves.luck() >= exp(-worse / temperature)):
            return
        self.judge.made(move)
        self.moves.made()
        self.classes.make(move)
        if after < self.best - 1e-12 * abs(self.best):
            self.best, self.best_label = after, self.classes.label.copy()
            if self.whole:
                self.run.offer(self.best_label)
