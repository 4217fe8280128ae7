"""Particle swarms over centroids: MO-OBAM's own (Wei et al., Algorithm 1) and pymoo's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from optmodels.centroids.centres import centred_prices
from optmodels.errors import InputError, finite, unknown, whole
from optmodels.partition import Labels
from optmodels.price import Floats
from optmodels.problem import Centroids, FreeCentres, Problem, Scalarised
from optmodels.rejudged import Rejudged
from optmodels.solution import Solution, Stop
from optmodels.solver import FrontSolver, Run
from solvers.archive import Archive, solutions
from solvers.settle import intensifier_of

if TYPE_CHECKING:
    from optmodels.centroids.space import CentroidSpace, Decoded

Swarm = Literal["paper", "pymoo"]

# Inertia and the pull of the own and the common best: the customary values, the paper states none.
_INERTIA, _OWN, _COMMON = 0.7, 1.5, 1.5
_FASTEST = 0.2  # of an attribute's range, in one step
_POLISH_ROUNDS = 20
_POLISH_SHARE = 0.2  # of the time


@dataclass(frozen=True)
class Pso(FrontSolver):
    """A particle is a matrix of centroids; records join the nearest, and the swarm follows its best particles.

    By default particles are mended before they are scored, so that all satisfy the conditions, scored around the
    means and modes of their classes, and the best is polished by local search. `faithful` is the paper's swarm as it
    stands, for comparison: random records as first centroids, the raw centroids released, too small classes only
    penalised by `penalty` for each missing record. Its best particle may break k. It is described in the details as
    `faithful`, with its violations; offered, and so returned, is only what satisfies the conditions.

    A front is made of one swarm for each of `lambdas`, minimising the first objective plus lambda times the others (as
    costs), and of all that their particles have met. `swarm` is 'paper' or, for one answer, 'pymoo'. Categories move by
    the transfer function |v / sqrt(v^2 + 1)|: the chance that a coordinate takes the common best's category, or the own
    best's.

    >>> import optmodels as om
    >>> from formulations import MoObam
    >>> table = om.dataset("german").take(np.arange(80))
    >>> problem = MoObam(k=5, n_clusters=8, objective="lambda", lam=0.01).build(table)
    >>> Pso(iterations=10).solve(problem, seed=1).status
    <Status.FEASIBLE: 'feasible'>
    """

    name: ClassVar[str] = "pso"
    summary: ClassVar[str] = "MO-OBAM's particle swarm, mended and polished (or faithful, or pymoo's); heuristic"
    requires: ClassVar[tuple[str, ...]] = ()

    particles: int = 20
    iterations: int = 50
    n_centroids: int | None = None
    penalty: float = 1.0
    faithful: bool = False
    swarm: Swarm = "paper"
    lambdas: tuple[float, ...] = (0.0001, 0.001, 0.01, 0.1, 1.0)

    def __post_init__(self) -> None:
        if self.swarm not in get_args(Swarm):
            raise unknown("swarm", self.swarm, get_args(Swarm))
        whole("particles", self.particles, 1)
        whole("iterations", self.iterations, 1)
        if self.n_centroids is not None:
            whole("n_centroids", self.n_centroids, 1)
        finite("penalty", self.penalty, "a missing record is a cost")
        if not isinstance(self.lambdas, (tuple, list)) or not self.lambdas:
            raise InputError(f"lambdas must be one weight or more, as in (0.01, 0.1), not {self.lambdas!r}.")
        for weight in self.lambdas:
            finite("Each of lambdas", weight)
        if self.faithful and self.swarm != "paper":
            raise InputError("faithful is about the paper's swarm: use it with swarm='paper'.")

    def refuses(self, problem: Problem) -> str | None:
        """It needs classes around centroids."""
        if self.faithful and isinstance(problem, FreeCentres):
            return "the faithful swarm is about MO-OBAM, whose records join their nearest centroid: drop faithful."
        return problem.lacks_pymoo()

    def search(self, problem: Problem, run: Run) -> None:
        """Fly, and polish the best."""
        if self.swarm == "pymoo":
            self._by_pymoo(problem, run)
        else:
            flight = Flight(self, problem, run, run.seed)
            while flight.iterations < self.iterations and self._in_time(run):
                decoded, costs = flight.step()
                feasible = np.where(decoded.partitions.missing == 0, costs, np.inf)
                if np.isfinite(feasible).any():
                    run.offer(decoded.labels(int(np.argmin(feasible))))
            run.details.update(evaluations=flight.evaluations, **flight.described())
        run.stop = Stop.ITERATIONS if self._in_time(run) else Stop.TIME
        if run.labels is not None and not self.faithful:
            self._polish(problem, run, run.labels)

    def explore(self, problem: Problem, run: Run, found: list[Solution]) -> None:
        """One swarm after the other; all feasible partitions that a particle stood for are candidates."""
        explored = problem.parts if isinstance(problem, Scalarised) and not isinstance(problem, Rejudged) else problem
        archive, curve = Archive(len(explored.objectives)), list[tuple[int, float, float]]()
        worst = explored.reference()
        reference = np.array([objective.worse(worst[objective.name], 0.0) for objective in explored.objectives])
        before = evaluations = 0
        run.details["curve"] = curve
        try:
            for place, weight in enumerate(self.lambdas):
                flight = Flight(self, explored, run, run.seed + place, weight)
                while flight.iterations < self.iterations and not run.expired:
                    decoded, _ = flight.step()
                    evaluations = before + flight.evaluations
                    costs = flight.native.measures.costs(decoded)
                    for i in np.flatnonzero(decoded.partitions.missing == 0).tolist():
                        archive.add(costs[i], partial(decoded.labels, i))
                    curve.append((evaluations, run.seconds, archive.hypervolume(reference)))
                before = evaluations
        finally:
            if run.stop is Stop.CONVERGED:
                run.stop = Stop.ITERATIONS
            run.details.update(evaluations=evaluations, faithful=self.faithful)
            found.extend(solutions(archive, problem, run))

    def _by_pymoo(self, problem: Problem, run: Run) -> None:
        from pymoo.algorithms.soo.nonconvex.pso import PSO
        from pymoo.core.termination import NoTermination

        target = problem if isinstance(problem, Scalarised) else problem.with_objectives(problem.target.name)
        native = target.to_pymoo(self.n_centroids).native
        algorithm = PSO(pop_size=self.particles, sampling=native.operators["sampling"])
        algorithm.setup(native, termination=NoTermination(), seed=run.seed, verbose=False)
        best = np.inf
        for iteration in range(self.iterations):
            if not self._in_time(run):
                break
            infills = algorithm.infill()
            algorithm.evaluator.eval(native, infills, algorithm=algorithm)
            algorithm.advance(infills=infills)
            costs = infills.get("F")[:, 0]
            if costs.min() < best:
                best = float(costs.min())
                run.offer(native.labels(infills[int(np.argmin(costs))].X))
            run.details.update(evaluations=native.decoded)
            run.report(f"iteration {iteration + 1}", done=iteration + 1.0, total=float(self.iterations))

    def _in_time(self, run: Run) -> bool:
        """Whether the swarm may fly on: the best particle is to be polished before the time is over."""
        share = 1.0 if self.faithful else 1.0 - _POLISH_SHARE
        return run.time_limit is None or run.seconds < share * run.time_limit

    def _polish(self, problem: Problem, run: Run, labels: Labels) -> None:
        """Local search on the loss that keeps the entropy of the best particle."""
        intensifier = intensifier_of(problem)
        seconds = None if run.time_limit is None else max(run.remaining, 1e-3)
        rounds = _POLISH_ROUNDS * (int(labels.max()) + 1)
        better = intensifier.improve(labels, intensifier.conditions(labels), rounds, run.seed, seconds)
        if better is not None:
            run.offer(better.labels)


class Flight:
    """The swarm: positions, velocities, and the best places of each particle and of all.

    It minimises the first objective and, as costs, `weight` times the others.
    """

    def __init__(self, options: Pso, problem: Problem, run: Run, seed: int, weight: float = 0.0) -> None:
        assert isinstance(problem, Centroids)
        self.options, self.problem, self.run = options, problem, run
        self.weight = weight
        self.native = problem.to_pymoo(options.n_centroids, mend=not options.faithful).native
        self.space: CentroidSpace = self.native.space
        self.draw = np.random.default_rng(seed)
        self.numeric = np.tile(
            np.arange(self.space.width) < problem.price.numeric.shape[1], self.space.n_centroids
        )  # which coordinates are numbers
        self.span = np.where(self.numeric, self.space.high - self.space.low, 1.0)
        rows = self.draw.integers(problem.n, size=(options.particles, self.space.n_centroids))
        records = np.concatenate([problem.price.numeric[rows], problem.price.codes[rows]], axis=2)
        self.positions = records.reshape(options.particles, -1).astype(np.float64)
        self.velocities = np.zeros_like(self.positions)
        self.own_best, self.own_costs = self.positions.copy(), np.full(options.particles, np.inf)
        self.best, self.best_cost = self.positions[0].copy(), np.inf
        self.iterations = 0

    @property
    def evaluations(self) -> int:
        """Particles evaluated so far."""
        return self.native.decoded

    def step(self) -> tuple[Decoded, Floats]:
        """Score every particle, remember the best places, and move on; what was scored, and how."""
        decoded = self.native.decode(self.positions)
        costs = self._fitness(decoded)
        better = costs < self.own_costs
        self.own_best[better], self.own_costs[better] = self.positions[better], costs[better]
        leader = int(np.argmin(costs))
        if costs[leader] < self.best_cost:
            self.best, self.best_cost = self.positions[leader].copy(), float(costs[leader])
        self.iterations += 1
        self.run.report(
            f"iteration {self.iterations}", done=float(self.iterations), total=float(self.options.iterations)
        )
        self._move()
        return decoded, costs

    def _fitness(self, decoded: Decoded) -> Floats:
        """The target and the weighted others; in the faithful swarm around raw centroids and with the penalty."""
        costs = self.native.measures.costs(decoded)
        missing = decoded.partitions.missing
        others = self.weight * costs[:, 1:].sum(axis=1)
        if not self.options.faithful:
            return np.where(missing > 0, np.inf, costs[:, 0] + others)
        problem = self.problem
        parts = problem.parts if isinstance(problem, Scalarised) else problem
        prices = centred_prices(decoded.coarse.units, decoded.partitions.labels, *self.space.matrices(self.positions))
        losses = prices / float(getattr(parts, "price_scale", 1.0))
        if isinstance(problem, Scalarised):
            entropies = decoded.partitions.entropies.sum(axis=1)
            losses = np.array([problem.score(loss, bits) for loss, bits in zip(losses, entropies, strict=True)])
        return np.asarray(losses + others + self.options.penalty * missing)

    def _move(self) -> None:
        shape = self.positions.shape
        own, common = self.draw.random(shape), self.draw.random(shape)
        to_own, to_best = self.own_best - self.positions, self.best - self.positions
        # Categories have no distance: that they differ is what pulls.
        to_own = np.where(self.numeric, to_own, to_own != 0)
        to_best = np.where(self.numeric, to_best, to_best != 0)
        self.velocities = _INERTIA * self.velocities + _OWN * own * to_own + _COMMON * common * to_best
        limit = np.where(self.numeric, _FASTEST * self.span, np.inf)
        self.velocities = np.clip(self.velocities, -limit, limit)
        moved = np.clip(self.positions + self.velocities, self.space.low, self.space.high)
        chance = np.abs(self.velocities / np.sqrt(self.velocities**2 + 1.0))
        taken = np.where(self.draw.random(shape) < 0.5, self.own_best, self.best)
        switched = np.where(self.draw.random(shape) < chance, taken, self.positions)
        self.positions = np.where(self.numeric, moved, switched)

    def described(self) -> dict[str, object]:
        """In the faithful swarm, what its best particle is worth, violations and all."""
        if not self.options.faithful:
            return {}
        labels = self.native.labels(self.best)
        evaluation = self.problem.evaluate(labels)
        sizes = np.bincount(labels)
        below = int(sizes[sizes < self.problem.conditions.k].sum())
        return {
            "faithful": {
                "fitness": self.best_cost,
                "values": dict(evaluation.values),
                "classes": len(sizes),
                "records_in_classes_below_k": below,
                "violations": dict(evaluation.violations),
                "labels": labels.tolist() if len(labels) <= 10_000 else None,
            }
        }
