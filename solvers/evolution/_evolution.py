"""Pareto fronts by pymoo's algorithms, on centroids, with local search and an archive around them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf, isfinite
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from optmodels import registry
from optmodels.conditions import ClassTest
from optmodels.errors import whole
from optmodels.parallel import threads
from optmodels.partition import Labels
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import FrontSolver, Run
from optmodels.structures import Assignment, Centroids, Score, Structure
from solvers.evolution.intensify import Improved
from solvers.evolution.settle import intensifier_of
from solvers.evolution.standing import Standing, explored_for
from solvers.evolution.tasks import Task, next_task
from solvers.local_search.by_judge import by_judge

if TYPE_CHECKING:
    from pymoo.core.algorithm import Algorithm
    from pymoo.core.population import Population

    from optmodels.centroids.pymoo_problem import CentroidProblem
    from optmodels.centroids.space import Decoded

_EVALUATIONS = 20_000  # where neither evaluations nor a time limit are given
_SLOW_EVALUATIONS = 2_000  # the same where each takes a flow, or the judge
_TASKS = 2  # local searches drawn from one archive; no number of cores: what is found must not depend on the machine
_ROUNDS_PER_CLASS = 0.5  # of ruin and recreate, in one local search
_MATINGS = 5  # times that mating is tried again for partitions not yet known
_ANCHORS_SHARE = 0.2  # of the evaluations or the time, for the ends of the front
_IMPROVED_RUNGS = 4  # of the first partitions, about, that local search then improves
_SEARCHES_SHARE = 0.6  # of the evaluations or the time after that, for local search
_LATE = 2  # populations that a generation may decode when evaluations have run out, so as to come to its end
_ONE_SEARCH = 0.05  # of the time, at most, for one local search
_FRUITLESS = 1_000  # local searches in a row without a gain that end a run of few records
_STARTS = 0.5  # of the first population, at most, are known partitions
_IDLE = 3  # generations in a row that decode nothing: decisions only come back
_SWARM_SHARE = 0.3  # of the time, for a swarm by the one score that was asked for, at most
_MOVES_SHARE = 0.1  # of the time, for single moves by it
_JUDGING_MARGIN = 1.5  # on the shortest that judging a partition has taken: the first calls are slow for other reasons


@dataclass(frozen=True)
class Evolution(FrontSolver):
    """A pymoo algorithm on a problem's centroids; every point returned satisfies the conditions, none is proven best.

    `memetic` adds local search: first for the ends of the front, then on members of the archive and in its gaps; with
    up to a few thousand records also leaps into gaps by way of partitions that break the conditions. `evaluations`
    counts decoded partitions, and local search by the work it takes: a sweep over n records as n / 10, a round of ruin
    and recreate as the records of an average class, 40 + 0.3 n steps of a leap as one. Decisions met before are
    remembered and not counted; a run that meets nothing else has converged. `population` is how many partitions a
    generation has, and `n_centroids` how many classes each has at most, where their number is free; by default as many
    as there are records for, up to a limit. The generation under way is finished, so that a few populations more than
    `evaluations` may be decoded. With it and without a time limit the front is the same for the same seed.
    """

    requires: ClassVar[tuple[str, ...]] = ("pymoo",)
    needs: ClassVar[tuple[type[Structure], ...]] = (Centroids,)

    evaluations: int | None = None
    population: int = 100
    n_centroids: int | None = None
    memetic: bool = True

    def __post_init__(self) -> None:
        if self.evaluations is not None:
            whole("evaluations", self.evaluations, 1)
        whole("population", self.population, 4)
        if self.n_centroids is not None:
            whole("n_centroids", self.n_centroids, 1)

    @abstractmethod
    def algorithm(self, problem: CentroidProblem, starts: list[Labels]) -> Algorithm:
        """The pymoo algorithm, with operators made for the problem; its sampling begins with `starts`."""

    def search(self, problem: Problem, run: Run) -> None:
        """Offer the members of the front.

        Where one score is asked for, a swarm that flies for it alone comes first, and at last single moves by it.
        """
        limit = run.time_limit
        if explored_for(problem) is problem or not self.memetic or limit is None:
            self._evolve(problem, run, run.offer)
            return
        swarm = run.part(problem, "pso", _SWARM_SHARE * limit)
        try:
            registry.solver("pso")().search(problem, swarm)
        finally:
            if swarm.labels is not None:
                run.offer(swarm.labels)
                run.known = [*run.known, swarm.labels]
        run.time_limit = (1.0 - _MOVES_SHARE) * limit
        try:
            self._evolve(problem, run, run.offer)
        finally:
            run.time_limit = limit
        if run.labels is not None and not run.expired:
            by_judge(problem, run, begun=True)
            run.stop = Stop.TIME

    def explore(self, problem: Problem, run: Run) -> None:
        """Evolve until evaluations or time run out; whatever ends it, the archive is what is found."""
        self._evolve(problem, run, run.keep)

    def _evolve(self, problem: Problem, run: Run, hand_over: Callable[[Labels], object]) -> None:
        search = FrontSearch(self, problem, run)
        try:
            with run.halting(search.native.space.halt):
                search.follow()
        finally:
            run.details.update(evaluations=search.evaluations, generations=search.generations)
            for labels in search.archive.partitions():
                hand_over(labels)


class _RunOutError(Exception):
    """Evaluations or time ran out within a generation."""


class FrontSearch:
    """One run: the archive, the count of evaluations, and the steps that share them."""

    def __init__(self, options: Evolution, problem: Problem, run: Run) -> None:
        self.options = options
        self.problem = problem
        self.run = run
        self.explored = explored = explored_for(problem)
        self.native: CentroidProblem = explored.to_pymoo(options.n_centroids).native
        self._slow = self.native.measures.judged or explored.structure(Assignment) is not None
        self.standing = Standing(explored, run)
        self.archive = self.standing.archive
        self.intensifier = intensifier_of(explored)
        self.intensifier.halted = lambda: run.interrupt.pressed
        self.intensifier.halt = self.native.space.halt
        self.draw = np.random.default_rng([run.seed, 1])
        self.generations = 0
        self._charged = 0
        self._anchors = 0.0  # work that went into the ends of the front
        self._searched = 0.0  # work that went into local search since
        self._limit = options.evaluations
        if self._limit is None and run.time_limit is None:
            self._limit = _SLOW_EVALUATIONS if self._slow else _EVALUATIONS
        self._judging = inf  # seconds to judge one partition, at least

    @property
    def evaluations(self) -> int:
        """Partitions evaluated so far, and what local search has cost in them."""
        return self.native.decoded + self._charged

    @property
    def spent(self) -> float:
        """The share of evaluations, or of time, that is used up."""
        shares = [0.0]
        if self._limit is not None:
            shares.append(self.evaluations / self._limit)
        if self.run.time_limit is not None:
            shares.append(self.run.seconds / max(1e-9, self.run.time_limit - self.reserve))
        return max(shares)

    @property
    def _left(self) -> float:
        """Evaluations that are left."""
        return inf if self._limit is None else max(0.0, float(self._limit - self.evaluations))

    @property
    def reserve(self) -> float:
        """Seconds that are kept for judging the archive once more."""
        return _JUDGING_MARGIN * self._judging * len(self.archive) if isfinite(self._judging) else 0.0

    @property
    def _work(self) -> float:
        """Work done so far: evaluations where these are limited, so that nothing hangs on the clock, or seconds."""
        return float(self.evaluations) if self._limit is not None else self.run.seconds

    @property
    def over(self) -> bool:
        """Whether to stop."""
        if self._limit is not None and self.evaluations >= self._limit:
            self.run.stop = Stop.ITERATIONS
            return True
        if self.spent >= 1.0:
            self.run.stop = Stop.TIME
            return True
        return False

    def follow(self) -> None:
        """The ends of the front, then generations with local search in between."""
        if self.run.start is not None:
            self._judge(self.run.start)
        for labels in self.run.known:
            self._judge(labels)
        if self.options.memetic:
            self._anchor()
            self._anchors = self._work
        self.native.watch = self._watch
        with suppress(_RunOutError):
            self._evolve()
        if self.options.memetic and not self.over:
            self._search_on()

    def _watch(self, decoded: Decoded, costs: Floats) -> None:
        """End a generation that is late: one that mostly meets known partitions tries a hundred times for others."""
        if self._slow:  # decoding takes so long there that nothing may be lost
            for i in np.flatnonzero(decoded.partitions.missing == 0).tolist():
                self.archive.add(costs[i], partial(decoded.labels, i))
        if not self.over:
            return
        if self._limit is None or self.evaluations >= self._limit + _LATE * self.options.population or self.run.expired:
            raise _RunOutError

    def _evolve(self) -> None:
        from pymoo.core.termination import NoTermination

        known = list(self.archive.partitions())
        few = max(1, int(_STARTS * self.options.population))
        starts = [known[i] for i in np.unique(np.linspace(0, len(known) - 1, min(few, len(known))).astype(int))]
        algorithm = self.options.algorithm(self.native, starts)
        algorithm.setup(self.native, termination=NoTermination(), seed=self.run.seed, verbose=False)
        if mating := getattr(algorithm, "mating", None):
            mating.n_max_iterations = _MATINGS
        _seed_elites(algorithm)
        idle = 0
        while not self.over:
            before = self.native.decoded
            infills = algorithm.infill()
            if infills is None or len(infills) == 0:
                self.run.stop = Stop.CONVERGED  # every partition that the operators can make is known
                return
            algorithm.evaluator.eval(self.native, infills, algorithm=algorithm)
            self._archive(infills)
            if self.options.memetic:
                self._intensify(infills)
            with np.errstate(invalid="ignore"):  # by the width of a front of one point, in SPEA2
                algorithm.advance(infills=infills)
            self.generations += 1
            self.report(f"generation {self.generations}")
            idle = idle + 1 if self.native.decoded == before else 0
            if idle == _IDLE:
                self.run.stop = Stop.CONVERGED  # the particles stand still
                return

    def report(self, note: str) -> None:
        """Tell where the front is."""
        self.standing.tell(note, self.evaluations, self._limit)

    def _archive(self, infills: Population) -> None:
        costs = infills.get("F")
        for i in np.flatnonzero(infills.get("FEAS")):
            self.archive.add(costs[i], partial(self.native.labels, infills[i].X))

    def _judge(self, labels: Labels) -> bool:
        """Let the problem judge a partition and the archive take it in."""
        began = self.run.seconds
        gained = self.standing.judge(labels)
        self._judging = min(self._judging, self.run.seconds - began)
        return gained

    def _affordable(self, labels: Labels, rounds: int, share: float) -> bool:
        """Whether local search would stay within a share of the evaluations; by the clock it may always begin."""
        if self._limit is None:
            return True
        return self.evaluations + self.intensifier.expected(labels, rounds) <= share * self._limit

    def _anchor(self) -> None:
        """Partitions good in one objective: everyone together, constructions from strict to lax, local search."""
        self._judge(np.zeros(self.problem.n, np.int64))
        rungs: list[tuple[ClassTest, Labels]] = []
        for test, built in self.intensifier.built():
            self._charged += 1
            self._judge(built)
            rungs.append((test, built))
            self.report("first partitions")
            if self.over or self.spent > _ANCHORS_SHARE / 2:
                break
        self._improve_rungs(rungs[:: max(1, len(rungs) // _IMPROVED_RUNGS)])

    def _improve_rungs(self, rungs: list[tuple[ClassTest, Labels]]) -> None:
        """Local search on some of the first partitions, each for its part of the share."""
        first = self.spent
        for step, (test, built) in enumerate(rungs):
            share = first + (_ANCHORS_SHARE - first) * (step + 1) / len(rungs)
            rounds, labels = self._rounds(built), built
            while self.spent < share and self._affordable(labels, rounds, share) and not self.over:
                seed, seconds = int(self.draw.integers(1 << 31)), self._seconds(share - self.spent)
                better = self.intensifier.improve(labels, test, rounds, seed, seconds)
                if better is None:
                    break
                self._charged += better.evaluations
                labels = better.labels
                gained = self._judge(labels)
                self.report("ends of the front")
                if not gained:
                    break
                rounds *= 2

    def _search_on(self) -> None:
        """Local search alone, where the algorithm makes nothing new any more, as with few records."""
        fruitless = 0
        while fruitless < _FRUITLESS and not self.over:
            task = self._task()
            if not self._possible(task):
                self.run.stop = Stop.ITERATIONS
                return
            better = self._improved(self._seconds(_ONE_SEARCH), task)
            gained = False
            if better is not None:
                self._charged += better.evaluations
                gained = self._judge(better.labels)
            fruitless = 0 if gained else fruitless + 1
            if gained:
                self.report("local search")
        if not self.over:
            self.run.stop = Stop.CONVERGED

    def _intensify(self, infills: Population) -> None:
        """Local search on members of the archive, while its share of the work lasts; what it finds joins the swarm."""
        searches = 0
        while (
            len(self.archive)
            and not self.over
            and searches < self.options.population // 4
            and self._searched < _SEARCHES_SHARE * (self._work - self._anchors)
        ):
            before, seconds = self._work, self._seconds(_ONE_SEARCH)
            tasks = [self._task() for _ in range(_TASKS)]
            if not all(map(self._possible, tasks)):
                return
            with threads(_TASKS) as pool:
                found = list(pool.map(partial(self._improved, seconds), tasks))
            for better in found:
                searches += 1  # those that cannot even begin count as well, or there would be no end of them
                if better is None:
                    continue
                self._charged += better.evaluations
                if self._judge(better.labels):
                    self._join(infills, better.labels)
            self._searched += self._work - before

    def _improved(self, seconds: float | None, task: Task) -> Improved | None:
        if task.classes is not None:
            test = self.intensifier.beyond(task.labels, task.seed)
            most = self._left / _TASKS
            return self.intensifier.leap(task.labels, test, task.classes, task.seed, most, seconds)
        test = self.intensifier.conditions(task.labels, task.share, task.seed)
        rounds = self._rounds(task.labels) * (task.patience if self._limit is None else 1)
        return self.intensifier.improve(task.labels, test, rounds, task.seed, seconds)

    def _possible(self, task: Task) -> bool:
        """Whether the evaluations left are enough for a task; a leap makes do with what there is."""
        return task.classes is not None or self._affordable(task.labels, self._rounds(task.labels), 1.0)

    def _task(self) -> Task:
        return next_task(self.archive, self.draw, leaps=self.intensifier.leaps, scores=self._scores())

    def _scores(self) -> Floats | None:
        """What the members are worth by the one score that is asked for, if there is one."""
        score = self.problem.structure(Score)
        if self.explored is self.problem or score is None:
            return None
        loss, entropy = self.archive.costs.T
        return np.array([score.of(one, -other) for one, other in zip(loss, entropy, strict=True)])

    def _join(self, infills: Population, labels: Labels) -> None:
        """Put the centroids of a partition in the place of a random newcomer."""
        decision = self.native.space.decision(labels)
        member = infills[int(self.draw.integers(len(infills)))]
        out = self.native.evaluate(decision[None, :], return_as_dictionary=True)
        member.set("X", decision)
        member.set("F", out["F"][0])

    def _rounds(self, labels: Labels) -> int:
        return 1 + int(_ROUNDS_PER_CLASS * (int(labels.max()) + 1))

    def _seconds(self, share: float) -> float | None:
        """The longest that one local search may take: this share of the time."""
        limit = self.run.time_limit
        return None if limit is None else max(min(share * limit, self.run.remaining), 1e-3)


def _seed_elites(algorithm: Algorithm) -> None:
    """CMOPSO's elites are thinned out by tournaments, which pymoo draws without the seed of the run."""
    elites = getattr(algorithm, "elites", None)
    if elites is None:
        return
    survival, draw = elites.truncation.survival, getattr(algorithm, "random_state", None)
    elites.truncation = lambda found, most: survival.do(algorithm.problem, found, n_survive=most, random_state=draw)
