"""Particle swarms over centroids: MO-OBAM's own (Wei et al., Algorithm 1) and pymoo's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from optmodels.errors import InputError, RefusedError, finite, unknown, whole
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import FrontSolver, Run
from optmodels.structures import Assignment, Centroids, Structure
from solvers.evolution.intensify import Improved, Intensifier
from solvers.evolution.settle import intensifier_of
from solvers.evolution.standing import Standing, explored_for
from solvers.pso.authors import PENALTY, AuthorsFlight
from solvers.pso.flight import Flight, loss_of
from solvers.pso.published import PublishedRelease

Swarm = Literal["paper", "authors", "pymoo"]

_POLISH_ROUNDS = 20  # of ruin and recreate, for each class
_POLISH_SHARE = 0.2  # of the time, or of the evaluations


class Budget(NamedTuple):
    """What one swarm may use, by the run's clock and in evaluations."""

    steps: int
    fly_until: float
    polish_until: float
    polish: float  # evaluations


@dataclass(frozen=True)
class Pso(FrontSolver):
    """A particle is a matrix of centroids; records join the nearest, and the swarm follows its best particles.

    By default particles are mended before they are scored, so that all satisfy the conditions, scored around the
    means and modes of their classes, and the best is polished by local search. `faithful` is the paper's swarm as it
    stands, for comparison: random records as first centroids, the raw centroids released, too small classes only
    penalised by `penalty` for each missing record. Its best particle may break k. It is in the details as
    `faithful`, with its violations, and in words as `remark`; offered, and so returned, is only what satisfies the
    conditions. `Flight.best_labels` has its classes.

    `swarm='authors'` is the authors' program, which differs from their text (`AuthorsFlight` says how) and gives the
    figures of their tables; else it is as faithful, with a `penalty` of 1/500. `published` hands out what either of
    them would release, with a warning where it breaks the conditions.

    A front is made of one swarm for each of `lambdas`, minimising the first objective plus lambda times the others (as
    costs), and of all that their particles have met. `swarm` is 'paper', 'authors' or, for one answer, 'pymoo'.
    Categories move by the transfer function |v / sqrt(v^2 + 1)|: the chance that a coordinate takes the common best's
    category, or the own best's.

    A swarm has `particles`, of at most `n_centroids` classes where their number is free; by default as many as there
    are records for, up to a limit. `evaluations`, where given, replaces `iterations`, the steps of a swarm: scored
    particles, and polishing by the work it takes, if a share of them affords it. Lambdas have equal parts, also of the
    time. The step under way is finished.

    >>> import optmodels as om
    >>> from formulations import MoObam
    >>> table = om.dataset("german").take(np.arange(80))
    >>> problem = MoObam(k=5, n_clusters=8, objective="lambda", lam=0.01).build(table)
    >>> Pso(iterations=10).solve(problem, seed=1).status
    <Status.FEASIBLE: 'feasible'>
    """

    name: ClassVar[str] = "pso"
    summary: ClassVar[str] = "MO-OBAM's particle swarm, mended and polished (or as published, or pymoo's); heuristic"
    requires: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[tuple[type[Structure], ...]] = (Centroids,)

    particles: int = 20
    iterations: int = 50
    n_centroids: int | None = None
    penalty: float | None = None
    faithful: bool = False
    swarm: Swarm = "paper"
    lambdas: tuple[float, ...] = (0.0001, 0.001, 0.01, 0.1, 1.0)
    evaluations: int | None = None

    @property
    def as_published(self) -> bool:
        """A faithful swarm that finds nothing says so."""
        return self.faithful

    def __post_init__(self) -> None:
        if self.swarm not in get_args(Swarm):
            raise unknown("swarm", self.swarm, get_args(Swarm))
        whole("particles", self.particles, 1)
        whole("iterations", self.iterations, 1)
        if self.evaluations is not None:
            whole("evaluations", self.evaluations, 1)
        if self.n_centroids is not None:
            whole("n_centroids", self.n_centroids, 1)
        if self.penalty is not None:
            finite("penalty", self.penalty, "a missing record is a cost")
        if not isinstance(self.lambdas, (tuple, list)) or not self.lambdas:
            raise InputError(f"lambdas must be one weight or more, as in (0.01, 0.1), not {self.lambdas!r}.")
        for weight in self.lambdas:
            finite("Each of lambdas", weight)
        if self.faithful and self.swarm != "paper":
            raise InputError("faithful is about the paper's swarm: use it with swarm='paper'.")

    @property
    def unmended(self) -> bool:
        """Whether particles are scored as they are and only pay for what they break."""
        return self.faithful or self.swarm == "authors"

    @property
    def _whose(self) -> str:
        return "faithful" if self.faithful else "authors'"

    def cannot(self, problem: Problem) -> str | None:
        """The faithful swarm knows the loss around raw centroids only."""
        if self.unmended and (problem.structure(Assignment) or loss_of(problem) is None):
            dropped = "faithful" if self.faithful else "swarm='authors'"
            return (
                f"the published swarm scores raw centroids as MO-OBAM does, which this model does not: drop {dropped}."
            )
        return None

    def refuses_front(self, problem: Problem) -> str | None:
        """Pymoo's swarm has one answer."""
        if self.swarm == "pymoo":
            return f"swarm='{self.swarm}' has one answer, no front: use swarm='paper'."
        return super().refuses_front(problem)

    def search(self, problem: Problem, run: Run) -> None:
        """Fly, and polish the best."""
        posed = problem if problem.objectives[0] == problem.target else problem.with_objectives(problem.target.name)
        intensifier = _intensifier(problem, run)
        if self.swarm == "pymoo":
            budget, used = self._by_pymoo(problem, run, intensifier)
        else:
            flight = self.flight(posed, run.seed)
            budget = self.budget(run, intensifier, flight.space.n_centroids)
            try:
                with run.halting(flight.space.halt):
                    self._fly(flight, budget, run)
            finally:
                used = flight.evaluations
                run.details.update(evaluations=used)
                if self.unmended and (particle := flight.described()):
                    remark = f"The {self._whose} swarm's best particle {_words(particle)}."
                    run.details.update(faithful=particle, remark=remark)
        run.stop = Stop.ITERATIONS if run.seconds < budget.fly_until else Stop.TIME
        if run.labels is None and run.expired and not self.unmended:
            run.offer(np.zeros(problem.n, np.int64))  # not one particle could be mended in time
        if run.labels is not None and (better := self.polished(intensifier, run, run.labels, budget)):
            run.details.update(evaluations=used + better.evaluations)
            run.offer(better.labels)

    def _fly(self, flight: Flight, budget: Budget, run: Run) -> None:
        """Step by step, offering the best of each."""
        while flight.iterations < budget.steps and run.seconds < budget.fly_until:
            decoded, costs = flight.step()
            feasible = np.where(decoded.partitions.missing == 0, costs, np.inf)
            if np.isfinite(feasible).any():
                run.offer(decoded.labels(int(np.argmin(feasible))))
            done, total = float(flight.iterations), float(budget.steps)
            run.report(f"iteration {flight.iterations}", done=done, total=total)

    def explore(self, problem: Problem, run: Run) -> None:
        """One swarm after the other; all feasible partitions that a particle stood for are candidates."""
        swarms = Swarms(self, explored_for(problem), run)
        try:
            swarms.follow()
        finally:
            if run.stop is Stop.CONVERGED:
                run.stop = Stop.ITERATIONS
            run.details.update(evaluations=swarms.evaluations)
            if swarms.best_particles:
                words = "; ".join(
                    f"lambda {particle['lambda']:g} {_words(particle)}" for particle in swarms.best_particles
                )
                remark = f"The {self._whose} swarms' best particles: {words}."
                run.details.update(faithful=swarms.best_particles, remark=remark)
            for labels in swarms.standing.archive.partitions():
                run.keep(labels)

    def flight(self, problem: Problem, seed: int, weight: float = 0.0) -> Flight:
        """A swarm before its first step, with `weight` on all objectives but the first."""
        kind = AuthorsFlight if self.swarm == "authors" else Flight
        usual = PENALTY if self.swarm == "authors" else 1.0
        return kind(
            problem,
            seed,
            weight,
            particles=self.particles,
            n_centroids=self.n_centroids,
            penalty=(usual if self.penalty is None else self.penalty) if self.unmended else None,
        )

    def published(self, problem: Problem, seed: int = 0) -> PublishedRelease:
        """What the published swarm would release after its iterations: raw centroids, whether they keep k or not.

        Where they do not, a warning says so and the release says whom it concerns. `solve` never returns such classes.
        """
        if not self.unmended:
            raise InputError("Only a published swarm can break k: use swarm='authors' or faithful=True, or solve.")
        if reason := self.cannot(problem):
            raise RefusedError(f"There is no such release: {reason}")
        flight = self.flight(problem, seed)
        while flight.iterations < self.iterations:
            flight.step()
        return PublishedRelease.of(flight)

    def _by_pymoo(self, problem: Problem, run: Run, intensifier: Intensifier) -> tuple[Budget, int]:
        from pymoo.algorithms.soo.nonconvex.pso import PSO
        from pymoo.core.termination import NoTermination

        native = problem.with_objectives(problem.target.name).to_pymoo(self.n_centroids).native
        algorithm = PSO(pop_size=self.particles, sampling=native.operators["sampling"])
        algorithm.setup(native, termination=NoTermination(), seed=run.seed, verbose=False)
        best = np.inf
        budget = self.budget(run, intensifier, native.space.n_centroids)
        for iteration in range(budget.steps):
            if run.seconds >= budget.fly_until:
                break
            infills = algorithm.infill()
            algorithm.evaluator.eval(native, infills, algorithm=algorithm)
            algorithm.advance(infills=infills)
            costs = infills.get("F")[:, 0]
            if costs.min() < best:
                best = float(costs.min())
                run.offer(native.labels(infills[int(np.argmin(costs))].X))
            run.details.update(evaluations=native.decoded)
            run.report(f"iteration {iteration + 1}", done=iteration + 1.0, total=float(budget.steps))
        return budget, native.decoded

    def budget(self, run: Run, intensifier: Intensifier, n_centroids: int, place: int = 0, swarms: int = 1) -> Budget:
        """What one of several swarms may use: the time until its turn is over, and an equal part of evaluations."""
        for_polish = 0.0 if self.unmended else _POLISH_SHARE
        begin = run.seconds
        end = np.inf if run.time_limit is None else max(begin, run.time_limit * (place + 1) / swarms)
        steps, polish = self.iterations, np.inf
        if self.evaluations is not None:
            part = self.evaluations / swarms
            least = intensifier.expected(np.array([n_centroids - 1]), 1)
            polish = for_polish * part if least <= for_polish * part else 0.0
            steps = max(1, int((part - polish) // self.particles))
        return Budget(steps, begin + (1.0 - for_polish) * (end - begin), end, polish)

    def polished(self, intensifier: Intensifier, run: Run, labels: Labels, budget: Budget) -> Improved | None:
        """Local search on the loss that keeps what a particle has reached in other objectives; None without time."""
        if run.seconds >= budget.polish_until:
            return None
        rounds = _POLISH_ROUNDS * (int(labels.max()) + 1)
        while rounds > 1 and intensifier.expected(labels, rounds) > budget.polish:
            rounds //= 2
        if self.unmended or intensifier.expected(labels, rounds) > budget.polish:
            return None
        seconds = max(budget.polish_until - run.seconds, 1e-3) if np.isfinite(budget.polish_until) else None
        return intensifier.improve(labels, intensifier.conditions(labels), rounds, run.seed, seconds)


class Swarms:
    """One swarm for each lambda, the archive of all that their particles have met, and what the best ones are."""

    def __init__(self, options: Pso, problem: Problem, run: Run) -> None:
        self.options, self.problem, self.run = options, problem, run
        self.standing = Standing(problem, run)
        self.evaluations = 0
        self.best_particles: list[dict[str, object]] = []  # of faithful swarms
        self._intensifier = _intensifier(problem, run)
        self._total = options.evaluations or len(options.lambdas) * options.iterations * options.particles

    def follow(self) -> None:
        """Swarm after swarm, until evaluations or time are used up."""
        limit = self.options.evaluations
        for place in range(len(self.options.lambdas)):
            if self.run.expired or (limit is not None and self.evaluations >= limit):
                break
            self._fly(place)
        if not len(self.standing.archive) and self.run.expired and not self.options.unmended:
            self.standing.judge(np.zeros(self.problem.n, np.int64))  # not one particle could be mended in time

    def _fly(self, place: int) -> None:
        weight = self.options.lambdas[place]
        flight = self.options.flight(self.problem, self.run.seed + place, weight)
        before = self.evaluations
        budget = self.options.budget(
            self.run, self._intensifier, flight.space.n_centroids, place, len(self.options.lambdas)
        )
        try:
            with self.run.halting(flight.space.halt):
                while flight.iterations < budget.steps and self.run.seconds < budget.fly_until:
                    decoded, _ = flight.step()
                    self.evaluations = before + flight.evaluations
                    costs = flight.native.measures.costs(decoded)
                    for i in np.flatnonzero(decoded.partitions.missing == 0).tolist():
                        self.standing.archive.add(costs[i], partial(decoded.labels, i))
                    self._tell(f"lambda {weight:g}, iteration {flight.iterations}")
        finally:
            if self.options.unmended and (particle := flight.described()):
                self.best_particles.append({"lambda": weight, **particle})
        if flight.iterations < budget.steps:
            self.run.stop = Stop.TIME
        if np.isfinite(flight.best_cost) and self.run.seconds < budget.polish_until:
            self._polish(flight.best_labels, budget, weight)

    def _polish(self, labels: Labels, budget: Budget, weight: float) -> None:
        better = self.options.polished(self._intensifier, self.run, labels, budget)
        if better is not None:
            self.evaluations += better.evaluations
            self.standing.judge(better.labels)
            self._tell(f"lambda {weight:g}, polished")

    def _tell(self, note: str) -> None:
        self.standing.tell(note, self.evaluations, max(self._total, self.evaluations))


def _intensifier(problem: Problem, run: Run) -> Intensifier:
    """Local search that Ctrl-C ends."""
    intensifier = intensifier_of(problem)
    intensifier.halted = lambda: run.interrupt.pressed
    return intensifier


def _words(particle: Mapping[str, Any]) -> str:
    """What a published swarm's best particle is worth and what it breaks, in words."""
    values = ", ".join(f"{name} {value:.4g}" for name, value in particle["values"].items())
    values += f" (a loss of {particle['loss_around_centroids']:.4g} around the centroids it would release)"
    k, below = particle["classes_below_k"], particle["records_in_classes_below_k"]
    broken = [f"k in {k} of {particle['classes']} classes ({below} records)"] if k else []
    broken += [f"{name} ({amount})" for name, amount in particle["violations"].items() if amount and name != "k"]
    return f"has {values} and " + (f"breaks {', '.join(broken)}" if broken else "keeps all conditions")
