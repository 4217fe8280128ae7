"""What a worker does with a folder of records: sample, shuffle, solve a group of blocks, put a part together, judge it.

Every step reads files, writes one file that appears whole or not at all, and can be done again by anyone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from math import isclose
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from optmodels.audit import Audit
from optmodels.audit.parts import Ground, Tally, part_audit
from optmodels.conditions import ClassTest, Conditions
from optmodels.errors import NoSolutionError
from optmodels.files import write_whole
from optmodels.folders.described import Counts, spread
from optmodels.folders.people import PartPeople, heads, most_heads, routing_test, with_people
from optmodels.folders.pieces import (
    Piece,
    peak_megabytes,
    read_together,
    whole_numbered_frame,
    write_sorted,
)
from optmodels.folders.plan import Plan
from optmodels.folders.routing import RoutingTree, dealt, places_in_all
from optmodels.metrics.loss import attribute_losses
from optmodels.partition import LEFT_OUT, Labels
from optmodels.price import SPREAD, Floats, extent
from optmodels.problem import Problem, whole_price
from optmodels.recoding import Method, recode
from optmodels.solver import Run, leave_out_who_pays
from optmodels.structures import Parts, PartValues, Pooled, Priced, compiled_price
from optmodels.suppression import left_out
from optmodels.table import Table
from optmodels.table.summary import Moments
from optmodels.values import in_value_order_with_places, spelled
from solvers._construction.places import dear_price
from solvers.blocks.watching import pressed_once
from solvers.blocks.work import block_seed, median_cuts


@dataclass(frozen=True)
class Sample:
    """Places of some records of a piece, what is tested of classes, and why the solver would refuse, if it would."""

    places: Floats
    test: ClassTest | None
    release_method: Method
    refused: str | None
    conditions: Conditions
    inner: str
    stand_in: str | None
    pooled: Pooled | None


def sample(piece: Piece, plan: Plan, share: float) -> Sample:
    """A random share of a piece's records as points."""
    table = piece.table(plan.roles, plan.columns)
    problem = plan.posed(table)
    refused = _refused(problem, plan)
    if refused is not None:
        return Sample(np.zeros((0, 0)), None, problem.release_method, refused, problem.conditions, "", None, None)
    parts = problem.require(Parts)
    chosen = np.random.default_rng([plan.seed, piece.number]).random(table.n) < share
    return Sample(
        places_of(problem)[chosen],
        routing_test(problem),
        problem.release_method,
        None,
        problem.conditions,
        plan.solver.inner_for(problem),
        parts.stand_in,
        parts.pooled,
    )


def _refused(problem: Problem, plan: Plan) -> str | None:
    """Why the problem cannot be solved in groups that no process holds all of, or None."""
    priced, parts = problem.structure(Priced), problem.structure(Parts)
    alone = priced is not None and priced.compiled is not None and priced.n_classes is None
    if not alone and (parts is None or parts.pooled is None):
        return (
            f"from folder to folder each class has a price of its own, and '{problem.formulation.name}' with the "
            f"target '{problem.target.name}' ties all classes together: name a file with --out, to go by way of memory."
        )
    if plan.formulation.suppress and (priced is None or compiled_price(priced).kind == SPREAD):
        return (
            "from folder to folder records are left out where each costs the same in all groups, as in "
            f"'generalisation' and 'liang-samavi', and '{problem.formulation.name}' compares them with their own "
            "group: leave out suppress, or name a file with --out, to go by way of memory."
        )
    return plan.solver.refuses(problem)


def places_of(problem: Problem) -> Floats:
    """Records as points that are comparable across groups."""
    price = dear_price(problem)
    levels = [len(problem.table.levels[name]) for name in problem.table.categorical] if price.codes.shape[1] else []
    return places_in_all(price, levels)


@dataclass(frozen=True)
class Shuffled:
    """The records of a piece in a file by group, and how many of which sensitive values each group got."""

    file: str
    row_groups: Mapping[int, int]
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    peak: float


def shuffle(piece: Piece, plan: Plan, tree: RoutingTree, mirrored: int) -> Shuffled:
    """Write a piece's records by group: as the tree says, or dealt to `mirrored` groups if that is not 0."""
    table, whose = piece.records(plan.roles, plan.columns)
    problem = plan.posed(table)
    test = problem.test.of_records
    groups = mirrored or tree.groups
    key = dealt(test, mirrored, piece.number) if mirrored else tree.route(places_of(problem), piece.number)
    codes = [*test.codes.T, *([] if whose is None else [int(test.starts[-1]) + heads(whose, test.k)])]
    values = int(test.starts[-1]) + (0 if whose is None else most_heads(test.k))
    counts = np.zeros((groups, values), np.int64)
    for one in codes:
        counts += np.bincount(key * values + one, minlength=groups * values).reshape(groups, values)
    file = plan.scratch / f"piece-{piece.number:06}.parquet"
    found = write_sorted(with_people(table.as_read(table.frame), whose, plan.roles), key, file)
    return Shuffled(str(file), found, np.bincount(key, minlength=groups), counts, peak_megabytes())


@dataclass(frozen=True)
class Cost:
    """What classes cost and what everyone in one class would, in pieces that can be added up."""

    total: float
    scale: float | None  # None: the price of everyone in one class, from the next two
    moments: tuple[Moments, ...]
    mismatches: tuple[tuple[float, NDArray[np.int64]], ...]

    @classmethod
    def of(cls, priced: Priced, table: Table, labels: NDArray[np.int64]) -> Cost:
        """The cost of a partition of a part of the records."""
        price = compiled_price(priced)
        # a model that reports shares of what one class would lose can know that of its own records only
        of_everyone = price.kind == SPREAD and isclose(priced.scale, whole_price(price), rel_tol=1e-12)
        return cls(
            price.total(labels) + left_out(labels) * priced.left_out_price,
            None if of_everyone else priced.scale,
            tuple(Moments.of(column) for column in price.numeric.T),
            tuple(
                (float(weight), np.bincount(price.codes[:, j], minlength=len(table.levels[name])).astype(np.int64))
                for j, (name, weight) in enumerate(zip(table.categorical, price.code_weights, strict=True))
            )
            if of_everyone
            else (),
        )

    def merged(self, other: Cost) -> Cost:
        """The cost of both."""
        return Cost(
            self.total + other.total,
            self.scale if other.scale == self.scale else None,
            tuple(mine.merged(theirs) for mine, theirs in zip(self.moments, other.moments, strict=True)),
            tuple(
                (weight, mine + theirs)
                for (weight, mine), (_, theirs) in zip(self.mismatches, other.mismatches, strict=True)
            ),
        )

    @property
    def value(self) -> float:
        """The target's value."""
        if self.scale is not None:
            return self.total / self.scale
        everyone = sum(moments.squares for moments in self.moments)
        everyone += sum(weight * int(counts.sum() - counts.max()) for weight, counts in self.mismatches)
        return self.total / (everyone or 1.0)


@dataclass(frozen=True)
class Group:
    """The recoded records of a group in a file by part, and what that took."""

    file: str
    row_groups: Mapping[int, int]
    cells: float  # the sum of all cells' shares of their attribute's range
    lost: Mapping[str, float]  # of each attribute, of what one class of the whole table would lose
    worth: Mapping[str, Cost] | PartValues
    blocks: int
    by_median_cuts: int
    left_out: int
    peak: float
    spread: tuple[Counts, Counts] | None = None  # of values before and after, where it is to be told


def solve_group(
    number: int, members: Sequence[tuple[str, int]], plan: Plan, method: Method, parts: int, seconds: float | None
) -> Group:
    """Cut a group into blocks, solve them, recode, and write the records by the part that their values belong to."""
    problem, whose = plan.read_records(members)
    if reason := problem.impossible():
        raise NoSolutionError(f"A group of {problem.n} records has no solution: {reason}")
    labels, details = _solved(problem, plan, block_seed(plan.seed, number), seconds)
    missing = left_out(labels)
    kept = np.flatnonzero(labels != LEFT_OUT)
    table, classes = (problem.table.part(kept), labels[kept]) if missing else (problem.table, labels)
    recoded = _uniform(table, recode(table, classes, method), method)
    key = pd.util.hash_pandas_object(recoded[list(table.quasi)], index=False).to_numpy() % np.uint64(parts)
    file = plan.scratch / f"group-{number:06}.parquet"
    people = None if whose is None else whose.take(kept)
    found = write_sorted(with_people(table.as_read(recoded), people, plan.roles), key.astype(np.int64), file)
    lost = attribute_losses(table, classes, method, recoded=recoded if method == "centroid" else None)
    return Group(
        str(file),
        found,
        extent(table.rescaled(weights=dict.fromkeys(table.quasi, 1.0))).total(classes) + missing * len(table.quasi),
        {name: loss + missing / plan.whole.n for name, loss in lost.items()},
        _worth(problem, labels),
        _count(details["blocks"]),
        _count(details["blocks_by_median_cuts"]),
        missing,
        peak_megabytes(),
        spread(table, labels, method, recoded, plan.whole) if plan.told else None,
    )


def _worth(problem: Problem, labels: Labels) -> Mapping[str, Cost] | PartValues:
    priced = problem.structure(Priced)
    if priced is not None:
        return {problem.target.name: Cost.of(priced, problem.table, labels)}
    return PartValues(problem.values(labels), problem.n, int(labels.max()) + 1)


def _solved(problem: Problem, plan: Plan, seed: int, seconds: float | None) -> tuple[Labels, dict[str, object]]:
    """The classes of a group and what became of its blocks; once told to stop, what is left is cut at medians."""
    with pressed_once(plan.stopped) as interrupt:
        if not interrupt.pressed and (seconds is None or seconds > 0):
            run = Run(problem, plan.solver.name, time_limit=seconds, seed=seed)
            run.interrupt = interrupt
            with suppress(KeyboardInterrupt):  # the blocks that were solved until then are kept
                plan.solver.search(problem, run)
                if problem.suppression.most and not plan.solver.decides_suppression(problem):
                    leave_out_who_pays(problem, run)
            if run.labels is not None:
                return run.labels, run.details
    hurried = median_cuts(problem)
    if hurried.labels is None:
        raise NoSolutionError(f"A group of {problem.n} records has no solution that median cuts would find.")
    return hurried.labels.astype(np.int64), {"blocks": 1, "blocks_by_median_cuts": 1}


def _count(value: object) -> int:
    assert isinstance(value, int)
    return value


def _uniform(table: Table, recoded: pd.DataFrame, method: Method) -> pd.DataFrame:
    """Numbers in one way in all groups: floating ones as centroids, text otherwise, whatever a group's values allow."""
    for name, kind in table.kinds.items():
        if name in table.roles.dates:  # which are written as dates in all groups
            continue
        if method == "centroid" and kind == "numeric":
            recoded[name] = recoded[name].astype(np.float64)
        elif method != "centroid" and pd.api.types.is_numeric_dtype(recoded[name].dtype):
            codes, values = pd.factorize(recoded[name])
            recoded[name] = pd.Index(spelled(np.asarray(values)), dtype="str").take(codes)
    return recoded


@dataclass(frozen=True)
class Part:
    """A written part of the release and what has to be known of it before any part can be judged."""

    file: str
    tally: Tally
    peak: float
    people: PartPeople | None = None


def put_together(number: int, members: Sequence[tuple[str, int]], plan: Plan, out: Path, types: pa.Schema) -> Part:
    """Write a part of the release, its rows in the order of their values, and take its tally from the file."""
    table = read_together(members)
    whose = None if plan.roles.person is None else table.column(plan.roles.person).to_pandas()
    table = table if whose is None else table.drop_columns([plan.roles.person])
    wanted = pa.schema([types.field(field.name) if field.name in types.names else field for field in table.schema])
    frame, places = in_value_order_with_places(whole_numbered_frame(table.cast(wanted)))
    file = out / f"part-{number:05}.parquet"
    write_whole(file, lambda draft: pq.write_table(pa.Table.from_pandas(frame, wanted, preserve_index=False), draft))
    written = pq.read_table(file).to_pandas()
    tally = Tally.of(written, plan.roles.sensitive)
    people = None if whose is None else PartPeople.of(whose.take(places), plan.scratch / f"people-{number:05}.npy")
    return Part(str(file), tally, peak_megabytes(), people)


def judge(file: str, quasi: Sequence[str], ground: Ground, tally: Tally, people: PartPeople | None = None) -> Audit:
    """The audit of a written part, against the tally of all of them."""
    whose = None if people is None else people.rows()
    return part_audit(pq.read_table(file).to_pandas(), quasi, ground, tally, whose)


def values_of(groups: Sequence[Group], pooled: Pooled | None) -> dict[str, float]:
    """What all groups together are worth."""
    parts = [group.worth for group in groups if isinstance(group.worth, PartValues)]
    if parts and pooled is not None:
        return pooled(parts)
    costs = [group.worth for group in groups if not isinstance(group.worth, PartValues)]
    return {name: reduce(Cost.merged, (cost[name] for cost in costs)).value for name in costs[0]}
