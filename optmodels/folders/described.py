"""What a report tells of a release that is in no memory: counted group by group and part by part, and added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from optmodels.audit import Audit
from optmodels.audit.parts import Ground, Tally, part_audit
from optmodels.folders.people import with_people
from optmodels.folders.pieces import Piece, frame_together, write_sorted
from optmodels.folders.plan import Plan
from optmodels.partition import class_sizes, group_frame
from optmodels.plot.bands import MOST, Bands, bands_of, bands_of_levels
from optmodels.plot.classes import range_of, riskiest_classes
from optmodels.plot.readings import Recoded
from optmodels.recoding import Method
from optmodels.report.dossier import Described
from optmodels.table import Table
from optmodels.table.summary import Whole

_RISKIEST = 5

Counts = Mapping[str, NDArray[np.float64]]  # of each column, its records in each band


def quasi_bands(whole: Whole, quasi: Sequence[str], kinds: Mapping[str, str]) -> dict[str, Bands]:
    """The bands of quasi-identifiers, the same for all pieces."""
    found: dict[str, Bands] = {}
    for name in quasi:
        if name in whole.moments:
            low, high = whole.moments[name].low, whole.moments[name].high
            few = whole.decimals[name] == 0 and high - low < MOST
            found[name] = bands_of(pd.Series(np.arange(low, high + 1) if few else np.linspace(low, high, MOST + 1)))
        else:
            levels = whole.levels[name]
            found[name] = bands_of_levels(levels.values, levels.counts, ordered=kinds[name] == "ordinal")
    return found


def spread(
    table: Table, labels: NDArray[np.int64], method: Method, recoded: pd.DataFrame, whole: Whole
) -> tuple[Counts, Counts]:
    """How the values of a group are spread over the bands, before and as they are read after."""
    bands = quasi_bands(whole, table.quasi, table.kinds)
    read = Recoded(table, labels, method)

    def counted(frame: pd.DataFrame, name: str) -> NDArray[np.float64]:
        return np.bincount(bands[name].of(frame[name]), minlength=len(bands[name])).astype(np.float64)

    after = {
        name: counted(recoded, name) if method == "centroid" else read.spread(name, bands[name]).sum(axis=0)
        for name in table.quasi
    }
    return {name: counted(table.frame, name) for name in table.quasi}, after


@dataclass(frozen=True)
class PartShown:
    """The classes of a written part: how many of each size, the shares of sensitive values in them, the riskiest."""

    sizes: NDArray[np.int64]
    ranges: Mapping[str, pd.DataFrame]
    riskiest: pd.DataFrame


def part_shown(file: str, quasi: Sequence[str], whole: Whole) -> PartShown:
    """What is told of the classes of a written part."""
    frame = pq.read_table(file).to_pandas()
    labels = group_frame(frame, quasi)
    ranges = {}
    for place, (name, levels) in enumerate(whole.sensitive.items()):
        bands = bands_of_levels(levels.values, levels.counts, ordered=whole.sensitive_ordered[place])
        ranges[name] = range_of(bands, bands.of(frame[name]), labels)
    return PartShown(
        class_sizes(labels), ranges, riskiest_classes(frame, quasi, tuple(whole.sensitive), most=_RISKIEST)
    )


def described(
    whole: Whole,
    kinds: Mapping[str, str],
    spreads: Sequence[tuple[Counts, Counts]],
    parts: Sequence[PartShown],
    dropped: Sequence[str],
) -> Described:
    """All groups and parts together."""
    bands = quasi_bands(whole, list(kinds), kinds)
    changes = {
        name: pd.DataFrame(
            {
                "value": bands[name].labels,
                "before": np.sum([before[name] for before, _ in spreads], axis=0).astype(np.int64),
                "after": np.sum([after[name] for _, after in spreads], axis=0),
            }
        )
        for name in kinds
    }
    sizes = np.concatenate([part.sizes for part in parts])
    records = np.array([part.sizes.sum() for part in parts], np.float64)
    ranges = {}
    for name in whole.sensitive:
        found = [part.ranges[name] for part in parts]
        ranges[name] = pd.DataFrame(
            {
                "value": found[0]["value"],
                "whole": np.average([one["whole"] for one in found], axis=0, weights=records),
                "least": np.min([one["least"] for one in found], axis=0),
                "most": np.max([one["most"] for one in found], axis=0),
                "without": np.sum([one["without"] for one in found], axis=0),
            }
        )
    worst = pd.concat([part.riskiest for part in parts], ignore_index=True)
    worst = worst.sort_values(["guessed", "size"], ascending=[False, True], kind="stable").head(_RISKIEST)
    return Described(kinds, changes, sizes, ranges, worst.reset_index(drop=True), tuple(dropped))


def by_values(piece: Piece, plan: Plan, parts: int) -> tuple[str, Mapping[int, int]]:
    """The records of a piece as they were, in a file by a hash of their quasi-identifiers: equal ones share a part."""
    table, whose = piece.records(plan.roles, plan.columns)
    key = pd.util.hash_pandas_object(table.frame[list(table.quasi)], index=False).to_numpy() % np.uint64(parts)
    file = plan.scratch / f"original-{piece.number:06}.parquet"
    return str(file), write_sorted(
        with_people(table.as_read(table.frame), whose, plan.roles), key.astype(np.int64), file
    )


def judge_original(
    members: Sequence[tuple[str, int]], quasi: Sequence[str], ground: Ground, tally: Tally, person: str | None = None
) -> Audit:
    """The audit of a part of the records as they were."""
    frame = frame_together(members)
    whose = None if person is None else pd.factorize(frame.pop(person))[0].astype(np.int64)
    return part_audit(frame, quasi, ground, tally, whose)
