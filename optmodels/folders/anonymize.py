"""Releases of tables that fit into no memory: a Parquet folder in, a Parquet folder out, by blocks.

Pieces are summed up; groups of records that lie together are found by a k-d tree on a sample and exact counts; pieces
are shuffled to groups, groups solved block by block and recoded, and records put into parts by a hash of their released
values. So equal records share a part, parts tell nothing of groups, and the audit is exact, part by part, from
what was written. No process holds more than a piece, a group or a part; all of them must see the same files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from optmodels.audit import Audit
from optmodels.audit.parts import Ground, Tally, merged_audit
from optmodels.errors import BrokenPromiseError, InputError, NoSolutionError, RefusedError, whole
from optmodels.folders import groups, known_values
from optmodels.folders import seams as folder_seams
from optmodels.folders.described import by_values, described, judge_original, part_shown
from optmodels.folders.people import counted
from optmodels.folders.pieces import (
    Columns,
    Piece,
    check_roles,
    columns_read,
    common_types,
    pieces_of,
    released_types,
    sum_up,
)
from optmodels.folders.placing import AUDIT_FILE, check_place, put_in_place
from optmodels.folders.plan import Plan
from optmodels.folders.promise import vouched_folder
from optmodels.folders.routing import grow, merged_groups
from optmodels.folders.seams import Members
from optmodels.folders.steps import Steps
from optmodels.problem import Formulation
from optmodels.recoding import Method
from optmodels.report import Described, Dossier, page
from optmodels.solver import OnProgress
from optmodels.table.encoding import check_told_apart
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.roles import Roles
from optmodels.table.summary import Whole
from solvers.blocks import USUAL, Blocks, blocks_optimise
from solvers.blocks.scratch import scratch_folder
from solvers.blocks.seams import NOT_COMPARED, TIME_SHARE, not_said, said
from solvers.blocks.worker_pool import Step, dask_client, worker_pool

SeamCost = Mapping[str, Any]

GROUP_ROWS = 250_000
SAMPLE_PER_GROUP = 1_000
MOST_SAMPLED = 2_000_000
UNFINISHED = ".unfinished-"  # how the folder for what is on its way begins


@dataclass(frozen=True)
class FolderRelease:
    """A release in a folder: its audit from the written parts, what it cost, and how it came about."""

    folder: Path
    audit: Audit = field(repr=False)
    values: Mapping[str, float]
    method: Method
    provenance: Mapping[str, object] = field(default_factory=dict, repr=False)
    before: Audit | None = field(default=None, repr=False)
    described: Described | None = field(default=None, repr=False)

    def to_html(self, *, source: Mapping[str, str] | None = None) -> str:
        """The report as one page; what is told of values and groups was counted if `report` was asked for."""
        return page(
            Dossier(
                audit=self.audit,
                before=self.before,
                described=self.described,
                method=self.method,
                provenance=self.provenance,
                source=source or {},
            )
        )


def anonymize_folder(
    source: object,
    out: str | Path,
    *,
    roles: Roles,
    formulation: Formulation,
    solver: Blocks | None = None,
    method: Method | None = None,
    group_rows: int = GROUP_ROWS,
    seed: int = 0,
    time_limit: float | None = None,
    report: bool = False,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> FolderRelease:
    """Anonymise a Parquet folder, or a Dask DataFrame, into a folder that appears whole or not at all.

    With `force` it replaces a release that is there, once it is finished; what is no release is never replaced.

    `group_rows` is about how many records a worker holds at a time, and so bounds its memory. Once the time is over, or
    after Ctrl-C, the blocks that are left are cut at medians, in groups under way too, which takes little; a second
    Ctrl-C leaves nothing. Records that are left out, of every group at most the share that may be, are dropped. With
    `report` values are counted before and after and the original is audited, too, which reads and writes it once more.

    Raises:
        InputError: the source, the roles or the options are wrong, or something is where `out` is to be.
        BrokenPromiseError: the written parts do not keep the promise; nothing is left of them.
    """
    whole("group_rows", group_rows, 1)
    if isinstance(roles.weights, str):
        raise InputError(
            f"weights='{roles.weights}' are found out from a whole table, and a folder is read in parts: give them by "
            "name, as --weight age=2; a sample of the records, as a table, tells them."
        )
    chosen = solver if solver is not None else Blocks()
    target = Path(out)
    check_place(target, force=force)
    if isinstance(source, str | Path) and target.resolve() == Path(source).resolve():
        raise InputError(f"'{target}' is what is read: name another folder for the release.")
    check_roles(roles)
    with (
        dask_client(chosen.address) as client,
        scratch_folder(UNFINISHED, target.parent) as scratch,  # on the disk of the release, which is moved from there
        worker_pool(chosen.backend, chosen.workers_for(chosen.inner or USUAL), client) as workers,
    ):
        flow = _Flow(Steps(workers, time_limit, on_progress), seed)
        folder = _as_folder(source, scratch)
        return flow.run(folder, target, roles, formulation, chosen, method, group_rows, scratch, report)


class _Flow:
    """The steps one after the other, each done by all workers side by side."""

    def __init__(self, steps: Steps, seed: int) -> None:
        self.steps, self.seed = steps, seed

    def run(
        self,
        folder: Path,
        out: Path,
        roles: Roles,
        formulation: Formulation,
        solver: Blocks,
        method: Method | None,
        group_rows: int,
        scratch: Path,
        report: bool,
    ) -> FolderRelease:
        """From pieces to parts."""
        with self.steps.interrupt.listening():
            pieces, schemas = pieces_of(folder)
            columns = common_types(schemas, columns_read(roles, schemas[pieces[0].file].names), roles)
            cleaned = self._known(roles.revised(identifiers=(), others="keep"), pieces, columns)
            sums = self.steps.each("summing up", sum_up, [(piece, cleaned, columns) for piece in pieces])
            total = Whole.all_of(sums)
            for name, levels in total.sensitive.items():
                check_told_apart(levels.values, name)
            # one group after the other: side by side is what groups are
            inner = replace(solver, backend="in-process", workers=1, address=None, compare=False)
            plan = Plan(cleaned, columns, formulation, inner, self.seed, total, scratch, report)
            wanted = max(1, round(total.n / group_rows))
            share = min(1.0, max(2.0, SAMPLE_PER_GROUP * wanted) / total.n, MOST_SAMPLED / total.n)
            samples = self.steps.each("sampling", groups.sample, [(piece, plan, share) for piece in pieces])
            if samples[0].refused is not None:
                raise RefusedError(f"The solver 'blocks' cannot solve this problem: {samples[0].refused}")
            chosen = method or samples[0].release_method
            types = released_types(columns, roles, chosen)
            places = np.concatenate([one.places for one in samples])
            tree = grow(places, max(1.0, len(places) / wanted))
            mirrored = wanted if solver.cut == "strata" else 0
            shuffled = self.steps.each("shuffling", groups.shuffle, [(piece, plan, tree, mirrored) for piece in pieces])
            assert samples[0].test is not None
            merged = merged_groups(
                samples[0].test,
                np.sum([one.sizes for one in shuffled], axis=0),
                np.sum([one.counts for one in shuffled], axis=0),
                group_rows,
            )
            parts = max(1, ceil(total.n / group_rows))
            members = [
                [(one.file, one.row_groups[leaf]) for leaf in leaves for one in shuffled if leaf in one.row_groups]
                for leaves in merged
            ]
            self.steps.held_back = TIME_SHARE * (self.steps.time_limit or 0.0) if solver.compare else 0.0
            solved = self._solve(plan, members, chosen, parts)
            self.steps.held_back = 0.0
            seams = (
                self._seams(plan, members, solved, samples[0])
                if solver.compare
                else NOT_COMPARED.format("compare=False")
            )
            dropped = [name for name in schemas[pieces[0].file].names if name not in columns or name == roles.person]
            return self._publish(plan, out, solved, chosen, parts, types, samples[0], seams, shuffled, pieces, dropped)

    def _known(self, roles: Roles, pieces: Sequence[Piece], columns: Columns) -> Roles:
        """The roles with what only all pieces together tell of dates and hierarchies."""
        if known_values.undated(roles):
            given = [(piece, roles, columns) for piece in pieces]
            roles = known_values.with_formats(
                roles, self.steps.each("reading dates", known_values.piece_formats, given)
            )
        if known_values.unmade(roles):
            given = [(piece, roles, columns) for piece in pieces]
            roles = known_values.with_trees(roles, self.steps.each("making trees", known_values.piece_values, given))
        return roles

    def _solve(self, plan: Plan, members: Sequence[Members], method: Method, parts: int) -> list[groups.Group]:
        def step(number: int, some: Members) -> Step[groups.Group]:
            return Step(
                groups.solve_group, lambda unfinished: (number, some, plan, method, parts, self.steps.share(unfinished))
            )

        return self.steps.stoppable(
            "solving groups", plan.stop_file, [step(number, some) for number, some in enumerate(members)]
        )

    def _seams(
        self, plan: Plan, members: Sequence[Members], solved: Sequence[groups.Group], sample: groups.Sample
    ) -> SeamCost | str:
        """What seams cost, estimated from some groups; or why that is not known."""
        blocks = sum(group.blocks for group in solved)
        if blocks == 1:
            return NOT_COMPARED.format("all records are one block")
        cut = sum(group.by_median_cuts for group in solved)
        if self.steps.remaining <= 0 or (cut and self.steps.time_limit is not None):
            return NOT_COMPARED.format(self._no_time())
        if cut:
            return NOT_COMPARED.format(f"{cut:,} blocks, in which nothing else was found, were cut at medians")

        def step(number: int) -> Step[list[folder_seams.SeamPair]]:
            after = members[number + 1] if number + 1 < len(members) else members[number - 1] if number else None
            return Step(
                folder_seams.pairs_of,
                lambda unfinished: (number, members[number], after, plan, self.steps.share(unfinished)),
            )

        chosen = folder_seams.sampled_groups(len(members), self.seed)
        try:
            found = self.steps.stoppable(
                "estimating what seams cost", plan.stop_file, [step(number) for number in chosen]
            )
        except NoSolutionError as lost:  # the release itself is solved, and no worker is needed for it any more
            return NOT_COMPARED.format(str(lost))
        pairs = [pair for some in found for pair in some]
        estimate = folder_seams.Estimate(pairs, sample.stand_in is not None)
        if pairs:
            return estimate.to_dict()
        hurried = self.steps.interrupted or self.steps.time_limit is not None
        return NOT_COMPARED.format(
            self._no_time() if hurried else "no two neighbouring blocks could be solved together"
        )

    def _no_time(self) -> str:
        return "it was interrupted" if self.steps.interrupted else "no time was left"

    def _publish(
        self,
        plan: Plan,
        out: Path,
        solved: Sequence[groups.Group],
        method: Method,
        parts: int,
        types: pa.Schema,
        sample: groups.Sample,
        seams: SeamCost | str,
        shuffled: Sequence[groups.Shuffled],
        pieces: Sequence[Piece],
        dropped: Sequence[str],
    ) -> FolderRelease:
        conditions, inner = sample.conditions, sample.inner
        draft = plan.scratch / "release"
        draft.mkdir()
        members = {
            part: [(group.file, group.row_groups[part]) for group in solved if part in group.row_groups]
            for part in range(parts)
        }
        given = [(part, some, plan, draft, types) for part, some in members.items() if some]
        written = self.steps.each("writing parts", groups.put_together, given)
        tally = reduce(Tally.merged, (part.tally for part in written))
        missing = sum(group.left_out for group in solved)
        if missing:  # classes are compared with the original's distribution, whoever is left out
            tally = Tally(
                plan.whole.n,
                {
                    name: dict(zip(levels.values.tolist(), levels.counts.tolist(), strict=True))
                    for name, levels in plan.whole.sensitive.items()
                },
            )
        made = plan.roles.hierarchies.items()
        ground = Ground(
            {name: levels.values for name, levels in plan.whole.sensitive.items()},
            dict(zip(plan.whole.sensitive, plan.whole.sensitive_ordered, strict=True)),
            {name: tree for name, tree in made if name in plan.whole.sensitive and isinstance(tree, Hierarchy)},
        )
        quasi = list(plan.roles.quasi)
        given_parts = [(part.file, quasi, ground, tally, part.people) for part in written]
        audit = replace(merged_audit(self.steps.each("auditing", groups.judge, given_parts)), suppressed=missing)
        people = [part.people for part in written if part.people is not None]
        if audit.people is not None:
            number, most = counted(people)
            audit = replace(audit, people=replace(audit.people, people=number, most_records=most))
        if broken := audit.check(conditions):
            raise BrokenPromiseError(
                f"The release does not keep its promise: {'; '.join(broken)}. Nothing was written."
            )
        if audit.records + missing != plan.whole.n:
            raise BrokenPromiseError(
                f"The release has {audit.records} records, and {missing} are left out, of {plan.whole.n}. Nothing was "
                "written."
            )
        gcp = sum(group.cells for group in solved) / (plan.whole.n * len(quasi))
        values = groups.values_of(solved, sample.pooled)
        lost = {name: sum(group.lost[name] for group in solved) for name in quasi}
        audit = audit.annotated(promise=conditions.to_dict(), loss={**values, "gcp": gcp}, attribute_loss=lost)
        peaks = [*(one.peak for one in shuffled), *(one.peak for one in solved), *(one.peak for one in written)]
        provenance = {
            "formulation": plan.formulation.name,
            "parameters": plan.formulation.to_dict(),
            "solver": "blocks",
            "inner": inner,
            "values": values,
            "seed": self.seed,
            "seconds": self.steps.seconds,
            "stop": "interrupted" if self.steps.interrupted else "time" if self.steps.remaining <= 0 else "converged",
            "details": {
                "pieces": len(shuffled),
                "groups": len(solved),
                "blocks": sum(group.blocks for group in solved),
                "blocks_by_median_cuts": sum(group.by_median_cuts for group in solved),
                "parts": len(written),
                "workers": self.steps.workers.workers,
                "peak_worker_megabytes": round(max(peaks)),
                "one_block": seams,
                **blocks_optimise(sample.stand_in),
            },
            "remark": _remark(sum(group.blocks for group in solved), inner, seams),
        }
        record = {"audit": audit.to_dict(), **provenance}
        (draft / AUDIT_FILE).write_text(json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8")
        told, before = None, None
        if plan.told:
            shown = self.steps.each("counting", part_shown, [(part.file, quasi, plan.whole) for part in written])
            spreads = [group.spread for group in solved if group.spread is not None]
            told = described(plan.whole, plan.roles.quasi, spreads, shown, dropped)
            before = self._before(plan, pieces, parts, ground, tally)
            if before.people is not None and audit.people is not None and not missing:
                known = replace(before.people, people=audit.people.people, most_records=audit.people.most_records)
                before = replace(before, people=known)
        promise = vouched_folder(draft, plan, conditions, method, ground, missing, people)
        put_in_place(draft, out, promise)
        return FolderRelease(out, audit, values, method, provenance, before, told)

    def _before(self, plan: Plan, pieces: Sequence[Piece], parts: int, ground: Ground, tally: Tally) -> Audit:
        """The audit of the records as they were, by parts that equal ones share."""
        found = self.steps.each("sorting the original", by_values, [(piece, plan, parts) for piece in pieces])
        members = [[(file, rows[part]) for file, rows in found if part in rows] for part in range(parts)]
        given = [(some, list(plan.roles.quasi), ground, tally, plan.roles.person) for some in members if some]
        return merged_audit(self.steps.each("auditing the original", judge_original, given))


def _remark(blocks: int, inner: str, seams: SeamCost | str) -> str:
    if isinstance(seams, str):
        return not_said(blocks, seams)
    return said(blocks, inner, float(seams["excess"]), str(seams["how"]))


def _as_folder(source: object, scratch: Path) -> Path:
    """The source as a Parquet folder; a Dask DataFrame is written to one by its own workers."""
    if isinstance(source, str | Path):
        folder = Path(source)
        if not folder.is_dir():
            raise InputError(f"'{folder}' is not a folder of Parquet files.")
        return folder
    if hasattr(source, "to_parquet") and hasattr(source, "npartitions"):
        folder = scratch / "source"
        source.to_parquet(str(folder), write_index=False)
        return folder
    raise InputError(
        f"A release by folder is made from a Parquet folder or a Dask DataFrame, not from {type(source).__name__}."
    )
