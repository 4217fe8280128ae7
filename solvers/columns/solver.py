"""The solver `columns`: an incumbent, column generation with cuts, then all classes that can still matter."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from optmodels.problem import ClassAdditive, Problem
from optmodels.solver import Run, Solver
from solvers import candidate_centres
from solvers.columns.cuts import violated
from solvers.columns.finish import at_hand, finish
from solvers.columns.generation import Certificate, Generation
from solvers.columns.incumbent import first_partition, improved
from solvers.columns.instance import Instance, Ints, make_instance
from solvers.columns.integer import combine
from solvers.columns.master import Master
from solvers.columns.pricing import Pricer

_MOST_RECORDS = 6_000  # the pairwise bound is a dense matrix
_ALWAYS_LISTED = 24  # records up to which classes of any size are priced one by one
_CUT_ROUND_GAIN = 1e-5  # a round of cuts must raise the bound by this share of it
_CUTS_A_TYPE = 4
_TO_SPARE = 0.5  # seconds: HiGHS looks at its clock only now and then
_ROUNDING = 1e-8
_AT_HAND = 10_000  # classes in the integer master where pricing could not be completed
_AT_HAND_SECONDS = 300.0


@dataclass(frozen=True)
class Columns(Solver):
    """Set partitioning by column generation: the best classes, with a proven bound at any moment.

    Args:
        cuts_a_round: subset-row cuts added in one round.
        node_limit: nodes of one depth-first search in exact pricing before it is cut short; what is cut short
            weakens the bound and never invalidates it.
        enumeration: how many classes of small reduced cost are listed at most to finish with a MIP over them.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> solution = Columns().solve(Microaggregation(k=3).build(table))
    >>> solution.status, solution.labels
    (<Status.OPTIMAL: 'optimal'>, array([0, 1, 0, 1, 0, 1]))
    """

    name: ClassVar[str] = "columns"
    summary: ClassVar[str] = "column generation with exact pricing, cuts and an integer master; proves a bound"
    exact: ClassVar[bool] = True
    requires: ClassVar[tuple[str, ...]] = ("highspy",)

    cuts_a_round: int = 60
    node_limit: int = 50_000
    enumeration: int = 200_000

    def refuses(self, problem: Problem) -> str | None:
        """It needs a price for each class alone, and a matrix of all pairs of records."""
        if not isinstance(problem, ClassAdditive):
            return "it needs a model whose value is a sum of prices of classes."
        if problem.price.n > _MOST_RECORDS:
            return (
                f"it compares all pairs of records, and {problem.price.n} are more than {_MOST_RECORDS}: "
                "cut the table into blocks, or use local search."
            )
        return None

    def search(self, problem: Problem, run: Run) -> None:
        """Incumbent, linear master, cuts, finish; each proves and offers what it can."""
        assert isinstance(problem, ClassAdditive)
        run.prove(0.0)  # no price is negative
        if run.labels is None and (labels := first_partition(problem)) is not None:
            run.offer(labels)
        improved(problem, run)
        if run.value == 0.0:
            return
        if run.labels is not None and problem.price.n > _ALWAYS_LISTED and candidate_centres.applies(problem):
            candidate_centres.search(problem, run)
            return
        Course(self, problem, run).follow()


class Course:
    """One run of the solver, from the incumbent to the proof."""

    def __init__(self, options: Columns, problem: ClassAdditive, run: Run) -> None:
        self.options = options
        self.problem = problem
        self.run = run
        whole = problem.price.of(np.arange(problem.price.n)) or 1.0
        total = whole if run.value is None else run.value * problem.price_scale
        self.instance: Instance = make_instance(
            problem.price,
            problem.test,
            largest=problem.largest,
            n_classes=problem.n_classes,
            unit=total / problem.price.n,
        )
        self.scale = self.instance.unit / problem.price_scale
        self.ceiling = whole / self.instance.unit  # no partition costs more than everyone in one class
        self.master = Master(self.instance, big=10.0 * self.ceiling + 10.0)
        self.generation = Generation(
            self.instance,
            self.master,
            Pricer(self.instance, options.node_limit),
            proved=self.prove,
            expired=self._enough,
            remaining=lambda: run.remaining,
        )
        self.integer_seconds = 0.0

    def prove(self, bound: float) -> None:
        """Record a bound given in the instance's unit."""
        # A hair less than computed: sums of many duals carry their rounding.
        bound -= 1e-10 * (abs(bound) + self.instance.n)
        if self.run.value is None:
            if bound > self.ceiling * (1 + 1e-6):
                self.run.infeasible("No partition satisfies the conditions: the linear relaxation has none either.")
                return
            bound = min(bound, self.ceiling)
        elif self.value < bound <= self.value + _ROUNDING * (self.value + self.instance.n):
            bound = self.value  # further beyond the incumbent it would be wrong, and the run says so
        self.run.prove(bound * self.scale)

    @property
    def value(self) -> float:
        """The incumbent's price in the instance's unit."""
        return np.inf if self.run.value is None else self.run.value / self.scale

    @property
    def bound(self) -> float:
        """The proven bound in the instance's unit."""
        return (self.run.bound or 0.0) / self.scale

    def _enough(self) -> bool:
        """Generation leaves a quarter of the time to the integer master."""
        limit = self.run.time_limit
        return (
            self.run.expired
            or (limit is not None and self.run.remaining < 0.25 * limit)
            or bool(self.run.proven_infeasible)
        )

    def follow(self) -> None:
        """Converge, cut, converge again; then finish."""
        run, generation = self.run, self.generation
        if run.labels is not None:
            generation.start(self.instance.classes(run.labels))
        certificate = self._converge()
        before = 0.0
        while certificate is not None and certificate.converged and not self.closed() and not self._enough():
            assert generation.relaxed is not None
            self._round_up()
            if certificate.bound - before < _CUT_ROUND_GAIN * certificate.bound:
                break
            before = certificate.bound
            cuts = violated(self.master, generation.relaxed, self.options.cuts_a_round, _CUTS_A_TYPE)
            if self.master.add_cuts(cuts) == 0:
                break
            certificate = self._converge() or certificate
        if not run.proven_infeasible and not self.closed() and not run.expired:
            if certificate is not None and certificate.converged:
                finish(self, certificate)
            else:
                self.combine(at_hand(self, certificate, _AT_HAND), min(run.remaining, _AT_HAND_SECONDS))
                if run.time_limit is not None and not run.expired:
                    improved(self.problem, run, run.remaining)
        self._note()

    def _converge(self) -> Certificate | None:
        def on_round() -> None:
            generation = self.generation
            self.run.report(
                f"columns {len(self.master.classes)}, cuts {len(self.master.cuts)}, round {generation.rounds}"
            )

        return self.generation.converge(on_round)

    def closed(self) -> bool:
        """Whether incumbent and bound have met."""
        return self.value - self.bound <= 1e-9 * self.value

    def _round_up(self) -> None:
        """If the linear master's optimum is integral it is the best partition."""
        assert self.generation.relaxed is not None
        weights = self.generation.relaxed.weights
        times = np.rint(weights).astype(np.int64)
        if np.abs(weights - times).max() < 1e-6 and self.generation.relaxed.missing < 1e-6:
            self.offer([self.master.classes[c] for c in np.flatnonzero(times) for _ in range(times[c])])

    def offer(self, classes: list[Ints]) -> None:
        """Offer a partition given by its classes."""
        self.run.offer(self.instance.labels(classes))

    def combine(self, classes: list[Ints], seconds: float) -> tuple[float, bool]:
        """Offer the best partition made of these classes; the bound on all of them, and whether it is settled."""
        began = perf_counter()
        start = None if self.run.labels is None else self.instance.classes(self.run.labels)
        best = combine(self.master, classes, min(seconds, self.run.remaining - _TO_SPARE), start)
        if best.classes is not None:
            self.offer(best.classes)
        self.integer_seconds += perf_counter() - began
        return best.bound, best.optimal

    def _note(self) -> None:
        generation = self.generation
        self.run.details.update(
            types=self.instance.n_types,
            columns=len(self.master.classes),
            cuts=len(self.master.cuts),
            rounds=generation.rounds,
            linear_values=[value * self.scale for value in generation.values],
            seconds={**generation.seconds, "integer": self.integer_seconds},
        )
