"""The solver `columns`: an incumbent, column generation with cuts, then all classes that can still matter."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import ClassVar

import numpy as np

from optmodels.errors import whole
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import Run, Solver
from optmodels.structures import Priced, Structure, compiled_price
from solvers.columns import candidate_centres, split_bound
from solvers.columns.branching import Tree
from solvers.columns.cuts import violated
from solvers.columns.finish import at_hand, finish
from solvers.columns.generation import Certificate, Generation
from solvers.columns.incumbent import first_partition, improved
from solvers.columns.instance import Instance, Ints, make_instance
from solvers.columns.integer import combine
from solvers.columns.listing import by_listing, possible_classes
from solvers.columns.master import Master, Relaxed
from solvers.columns.pricing import Pricer

_MOST_RECORDS = 6_000  # the pairwise bound is a dense matrix
_ALWAYS_LISTED = 24  # records up to which classes of any size are priced one by one
_CUT_ROUND_GAIN = 1e-5  # a round of cuts must raise the bound by this share of it
_CUTS_A_TYPE = 4
_TO_SPARE = 0.5  # seconds: HiGHS looks at its clock only now and then
_ROUNDING = 1e-8
_INTEGRAL = 1e-6
_FOR_INTEGERS = 0.25  # of the time limit
_FOR_LOCAL_SEARCH = 0.6
_LARGE = 8  # least size of classes for which local search is the better hope
_PRICINGS = 4
_SHARE = 0.15  # of the remaining time, for the integer master where no proof is in sight
_SPLIT_SHARE = 0.5
_POLISH_SECONDS = 120.0  # a round of local search and of combining what it found
_POLISH_SHARE = 0.93
_AT_HAND = 10_000  # classes in the integer master where pricing could not be completed
_AT_HAND_SECONDS = 300.0
_BEFORE_BRANCHING = 0.05  # of the remaining time, for an incumbent that prunes
_BEFORE_BRANCHING_SECONDS = 10.0


@dataclass(frozen=True)
class Columns(Solver):
    """Set partitioning by column generation: the best classes, with a proven bound at any moment.

    Args:
        cuts_a_round: subset-row cuts added in one round.
        node_limit: nodes of one depth-first search in exact pricing before it is cut short; what is cut short
            weakens the bound and never invalidates it.
        enumeration: how many classes of small reduced cost are listed at most to finish with a MIP over them; what
            that leaves open, or everything if it is 0, is left to branching on pairs of records.

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
    needs: ClassVar[tuple[type[Structure], ...]] = (Priced,)
    only: ClassVar[str] = f"up to {_MOST_RECORDS:,} records"

    cuts_a_round: int = 60
    node_limit: int = 50_000
    enumeration: int = 200_000

    def __post_init__(self) -> None:
        whole("cuts_a_round", self.cuts_a_round, 0)
        whole("node_limit", self.node_limit, 1)
        whole("enumeration", self.enumeration, 0)

    def cannot(self, problem: Problem) -> str | None:
        """It compares all pairs of records."""
        if problem.n > _MOST_RECORDS:
            return (
                f"it compares all pairs of records, and {problem.n} are more than {_MOST_RECORDS}: "
                "cut the table into blocks, or use local search."
            )
        return None

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """Of a plain price nothing is known, so that all classes must be few enough to be listed."""
        priced = problem.require(Priced)
        return not front and (priced.compiled is not None or possible_classes(priced) <= self.enumeration)

    def search(self, problem: Problem, run: Run) -> None:
        """Incumbent, linear master, cuts, finish; each proves and offers what it can."""
        priced = problem.require(Priced)
        if priced.compiled is None:
            by_listing(problem, run, self.enumeration)
            return
        run.prove(0.0)  # no compiled price is negative
        if run.labels is None and (labels := first_partition(priced)) is not None:
            run.offer(labels)
        improved(priced, run)
        if run.value == 0.0:
            return
        if problem.n < 2 * problem.test.k:  # everyone in one class is the only partition
            run.offer(np.zeros(problem.n, np.int64))
            if run.value is not None:
                run.prove(run.value)
                return
        if run.labels is not None and problem.n > _ALWAYS_LISTED and candidate_centres.applies(priced):
            run.details["classes"] = "by their centres, which are searched for in boxes"
            candidate_centres.search(priced, run)
            return
        Proof(self, priced, run).follow()


class Proof:
    """One run of the solver, from the incumbent to the proof."""

    def __init__(self, options: Columns, priced: Priced, run: Run) -> None:
        self.options = options
        self.priced = priced
        self.run = run
        price = compiled_price(priced)
        whole = price.of(np.arange(price.n)) or 1.0
        total = whole if run.value is None else run.value * priced.scale
        self.instance: Instance = make_instance(
            price,
            priced.test,
            largest=priced.largest,
            n_classes=priced.n_classes,
            unit=total / price.n,
        )
        self.scale = self.instance.unit / priced.scale
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
        """Generation leaves a quarter of the time to the integer master, more to local search if classes are large."""
        limit = self.run.time_limit
        share = _FOR_LOCAL_SEARCH if self.instance.smallest >= _LARGE else _FOR_INTEGERS
        return (
            self.run.expired
            or (limit is not None and self.run.remaining < share * limit)
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
            if self._too_large():
                break
            assert generation.relaxed is not None
            self.offer_if_integral(generation.relaxed)
            if certificate.bound - before < _CUT_ROUND_GAIN * certificate.bound:
                break
            before = certificate.bound
            cuts = violated(self.master, generation.relaxed, self.options.cuts_a_round, _CUTS_A_TYPE)
            if self.master.add_cuts(cuts) == 0:
                break
            certificate = self._converge() or certificate
        if not run.proven_infeasible and not self.closed() and not run.expired:
            if certificate is None or not certificate.converged or self._too_large():
                self._polish(certificate)
            else:
                if self.options.enumeration > 0:
                    finish(self, certificate)
                if not self.closed() and not run.expired:
                    self._branch(certificate.bound)
        self._note()

    def _too_large(self) -> bool:
        """Whether there is no time for pricing classes of all sizes again and again, as cuts and branching ask for."""
        instance = self.instance
        if not instance.types.only_size or instance.n_classes is not None:
            return False  # all sizes were priced from the beginning
        sizes = instance.largest - instance.smallest + 1
        return self.generation.quickest * sizes * _PRICINGS > self.run.remaining

    def _polish(self, certificate: Certificate | None) -> None:
        """Where no proof is in sight: the best of the classes at hand, a better bound, and local search again."""
        run = self.run
        self.combine(at_hand(self, certificate, _AT_HAND), min(_SHARE * run.remaining, _AT_HAND_SECONDS))
        if certificate is None and split_bound.applies(self.instance) and run.value is not None:
            end = run.seconds + min(_SPLIT_SHARE * run.remaining, _AT_HAND_SECONDS)
            split_bound.split_bound(self.instance, self.value, self.prove, lambda: run.seconds > end)
        if run.time_limit is None:
            return
        rounds = max(1, round(run.remaining / _POLISH_SECONDS))
        for again in range(1, rounds + 1):
            if run.expired or self.closed():
                return
            share = run.remaining / (rounds + 1 - again)
            found = improved(self.priced, run, _POLISH_SHARE * share, again)
            classes = {members.tobytes(): members for labels in found for members in self.instance.classes(labels)}
            self.combine(list(classes.values())[-_AT_HAND:], (1 - _POLISH_SHARE) * share)
        run.stop = Stop.TIME  # it was spent, but for what HiGHS must be spared

    def _branch(self, bound: float) -> None:
        if self.options.enumeration == 0:
            seconds = min(_BEFORE_BRANCHING * self.run.remaining, _BEFORE_BRANCHING_SECONDS)
            self.combine(at_hand(self, None, _AT_HAND), seconds)
        tree = Tree(self, bound)
        tree.explore()
        self.run.details["nodes"] = tree.visited

    def _converge(self) -> Certificate | None:
        def on_round() -> None:
            generation = self.generation
            self.run.report(
                f"columns {len(self.master.classes)}, cuts {len(self.master.cuts)}, round {generation.rounds}"
            )

        return self.generation.converge(on_round)

    def closed(self) -> bool:
        """Whether incumbent and bound have met."""
        return self.run.value is not None and self.value - self.bound <= 1e-9 * self.value

    def offer_if_integral(self, relaxed: Relaxed) -> bool:
        """Offer the optimum of a linear master if it is a partition, and say whether it is."""
        times = np.rint(relaxed.weights).astype(np.int64)
        if np.abs(relaxed.weights - times).max() >= _INTEGRAL or relaxed.missing >= _INTEGRAL:
            return False
        self.offer([self.master.classes[c] for c in np.flatnonzero(times) for _ in range(times[c])])
        return True

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
