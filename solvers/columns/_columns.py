"""The solver `columns`: an incumbent, column generation with cuts, then all classes that can still matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optmodels.errors import whole
from optmodels.evidence import Evidence
from optmodels.problem import Problem
from optmodels.solution import Stop
from optmodels.solver import PROVEN, Run, Solver, leave_out_who_pays
from optmodels.structures import Priced, Structure
from solvers.columns import candidate_centres, split_bound
from solvers.columns.branching import BranchingTree
from solvers.columns.companion import Companion
from solvers.columns.compared import MOST_COPIES, compared_records
from solvers.columns.cuts import violated
from solvers.columns.finish import at_hand, finish
from solvers.columns.generation import Certificate
from solvers.columns.incumbent import beside, first_partition, head_start
from solvers.columns.instance import Floats
from solvers.columns.listing import by_listing, possible_classes
from solvers.columns.proof import Proof

_MOST_RECORDS = 6_000  # the pairwise bound is a dense matrix
_ALWAYS_LISTED = 24  # records up to which classes of any size are priced one by one
_CUT_ROUND_GAIN = 1e-5  # a round of cuts must raise the bound by this share of it
_CUTS_A_TYPE = 4
_PRICINGS = 4
_SHARE = 0.15  # of the remaining time, for the integer master where no proof is in sight
_SPLIT_SHARE = 0.5
_POLISH_SECONDS = 120.0  # a round of local search and of combining what it found
_POLISH_SHARE = 0.93
_PAIR_SECONDS = 1e-7  # of what a proof begins with, for each pair of records
_WORTH_A_ROUND = 0.08  # of the time limit, that must be left
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
    only: ClassVar[str] = f"up to {_MOST_RECORDS:,} records; {MOST_COPIES:,} if no more differ, under k alone"
    leaves_out: ClassVar[bool] = True

    cuts_a_round: int = 60
    node_limit: int = 50_000
    enumeration: int = 200_000

    def __post_init__(self) -> None:
        whole("cuts_a_round", self.cuts_a_round, 0)
        whole("node_limit", self.node_limit, 1)
        whole("enumeration", self.enumeration, 0)

    def cannot(self, problem: Problem) -> str | None:
        """It compares all pairs of records."""
        if (compared := compared_records(problem.require(Priced), _MOST_RECORDS)) > _MOST_RECORDS:
            return (
                f"it compares all pairs of records, and {compared} are more than {_MOST_RECORDS}: "
                "cut the table into blocks, or use local search."
            )
        return None

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """Of a plain price nothing is known, so that all classes must be few enough to be listed."""
        priced, most = problem.require(Priced), self.enumeration
        return not front and (priced.compiled is not None or possible_classes(priced, most) <= most)

    def search(self, problem: Problem, run: Run) -> None:
        """Incumbent, linear master, cuts, finish; each proves and offers what it can."""
        priced = problem.require(Priced)
        if priced.compiled is None:
            by_listing(problem, run, self.enumeration)
            return
        run.prove(0.0)  # no compiled price is negative
        if run.labels is None and (labels := first_partition(priced)) is not None:
            run.offer(labels)
        # everyone in one class may be the only partition
        if problem.n < 2 * problem.test.k and not priced.suppression.most:
            run.offer(np.zeros(problem.n, np.int64))
            if run.value is not None:
                run.prove(run.value)
                return
        leave_out_who_pays(problem, run)
        compared = compared_records(priced, _MOST_RECORDS)
        with beside(problem, priced, run) as companion:
            companion.wait(head_start(priced, compared, run), lambda: run.value == 0.0)
            leave_out_who_pays(problem, run)
            if run.value == 0.0 or run.expired:
                return
            if run.remaining < _PAIR_SECONDS * compared**2:  # all pairs of records take longer than there is time
                companion.wait(run.remaining)
                leave_out_who_pays(problem, run)
                run.stop = Stop.TIME
                return
            self._prove(problem, priced, run, companion)

    def _prove(self, problem: Problem, priced: Priced, run: Run, companion: Companion) -> None:
        every = not priced.suppression.most
        if every and run.labels is not None and problem.n > _ALWAYS_LISTED and candidate_centres.applies(priced):
            run.details["classes"] = "by their centres, which are searched for in boxes"
            candidate_centres.search(priced, run)
            if run.gap is None or run.gap > PROVEN:
                companion.wait(run.remaining)
            return
        proof = Proof(priced, run, node_limit=self.node_limit, enumeration=self.enumeration)
        follow(proof, self.cuts_a_round, companion)


def follow(proof: Proof, cuts_a_round: int, companion: Companion | None = None) -> None:
    """Converge, cut, converge again; then finish."""
    run, generation = proof.run, proof.generation
    if run.labels is not None:
        generation.start(proof.instance.classes(run.labels), _known_duals(proof))
    certificate = _converge(proof)
    before = 0.0
    while certificate is not None and certificate.converged and not proof.closed() and not proof.enough():
        if _too_large(proof):
            break
        assert generation.relaxed is not None
        proof.offer_if_integral(generation.relaxed)
        if certificate.bound - before < _CUT_ROUND_GAIN * certificate.bound:
            break
        before = certificate.bound
        cuts = violated(proof.master, generation.relaxed, cuts_a_round, _CUTS_A_TYPE)
        if proof.master.add_cuts(cuts) == 0:
            break
        certificate = _converge(proof) or certificate
    if not run.proven_infeasible and not proof.closed() and not run.expired:
        if certificate is None or not certificate.converged or _too_large(proof):
            _polish(proof, certificate, companion)
        else:
            if proof.enumeration > 0:
                finish(proof, certificate)
            if not proof.closed() and not run.expired:
                _branch(proof, certificate.bound)
    _note(proof)


def _known_duals(proof: Proof) -> Floats | None:
    """Duals of the types of records by which somebody has proven a bound before."""
    known, instance = proof.run.evidence, proof.instance
    if known is None or known.kind != "classes":
        return None
    duals = np.zeros(instance.n_types)
    duals[instance.type_of] = known.numbers / instance.unit
    return duals


def _too_large(proof: Proof) -> bool:
    """Whether there is no time for pricing classes of all sizes again and again, as cuts and branching ask for."""
    instance = proof.instance
    if not instance.types.only_size or instance.n_classes is not None:
        return False  # all sizes were priced from the beginning
    sizes = instance.largest - instance.smallest + 1
    return proof.generation.quickest * sizes * _PRICINGS > proof.run.remaining


def _polish(proof: Proof, certificate: Certificate | None, companion: Companion | None) -> None:
    """Where no proof is in sight: the best of the classes at hand, a better bound, and local search on and again."""
    run = proof.run
    proof.combine(at_hand(proof, certificate, _AT_HAND), min(_SHARE * run.remaining, _AT_HAND_SECONDS))
    everyone = not proof.instance.left_out
    if everyone and certificate is None and split_bound.applies(proof.instance) and run.value is not None:
        end = run.seconds + min(_SPLIT_SHARE * run.remaining, _AT_HAND_SECONDS)
        split_bound.split_bound(proof.instance, proof.value, proof.prove, lambda: run.seconds > end)
    if companion is not None and companion.searching:
        companion.wait(run.remaining, proof.closed)
        leave_out_who_pays(run.problem, run)
        _combine_found(proof, companion, run.remaining)
    if run.time_limit is None:
        return
    rounds = max(1, round(run.remaining / _POLISH_SECONDS))
    for again in range(1, rounds + 1):
        if run.expired or proof.closed() or run.remaining < _WORTH_A_ROUND * run.time_limit:
            break
        share = run.remaining / (rounds + 1 - again)
        with beside(run.problem, proof.priced, run, _POLISH_SHARE * share) as searching:
            searching.wait(share, proof.closed)
        leave_out_who_pays(run.problem, run)
        _combine_found(proof, searching, (1 - _POLISH_SHARE) * share)
    if not proof.closed():
        run.stop = Stop.TIME  # it was spent, but for what HiGHS must be spared


def _combine_found(proof: Proof, companion: Companion, seconds: float) -> None:
    """The best partition made of the classes of all that a companion has found."""
    if proof.closed() or proof.run.expired:
        return
    found = tuple(companion.found)
    classes = {members.tobytes(): members for labels in found for members in proof.instance.classes(labels)}
    proof.combine(list(classes.values())[-_AT_HAND:], seconds)


def _branch(proof: Proof, bound: float) -> None:
    if proof.enumeration == 0:
        seconds = min(_BEFORE_BRANCHING * proof.run.remaining, _BEFORE_BRANCHING_SECONDS)
        proof.combine(at_hand(proof, None, _AT_HAND), seconds)
    tree = BranchingTree(proof, bound)
    tree.explore()
    proof.run.details["nodes"] = tree.visited


def _converge(proof: Proof) -> Certificate | None:
    def on_round() -> None:
        generation = proof.generation
        proof.run.report(
            f"columns {len(proof.master.classes)}, cuts {len(proof.master.cuts)}, round {generation.rounds}"
        )

    return proof.generation.converge(on_round)


def _note(proof: Proof) -> None:
    generation, instance = proof.generation, proof.instance
    if generation.plain is not None:
        found = Evidence("classes", generation.plain[1][instance.type_of] * instance.unit)
        known = proof.run.evidence
        if known is None or known.kind != found.kind or found.numbers.sum() > known.numbers.sum():
            proof.run.evidence = found
    proof.run.details.update(
        types=proof.instance.n_types,
        columns=len(proof.master.classes),
        cuts=len(proof.master.cuts),
        rounds=generation.rounds,
        linear_values=[value * proof.scale for value in generation.values],
        seconds={**generation.seconds, "integer": proof.integer_seconds},
    )
