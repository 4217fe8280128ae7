"""An invented table as a page: how many records, from which seed, what its columns are and how they are spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from optmodels.markup import Markup, joined, named, tag
from optmodels.plot.bands import bands_of
from optmodels.report.bars import Bar, bars
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import percent

if TYPE_CHECKING:
    from optmodels.table.roles import Roles

_SHAPES = {
    "health": "Health records in the shape of those that MASS was published with.",
    "sepsis": "Hospital stays in the shape of the sepsis table that MO-OBAM was published with.",
}


def page(what: str, frame: pd.DataFrame, records: int, seed: int, roles: Roles, source: Mapping[str, str]) -> str:
    """What was invented, by its first records."""
    tiles = [(f"{records:,}", "invented records"), (f"{seed}", "is the seed"), (f"{frame.shape[1]}", "columns")]
    lead = [
        tag("p", _SHAPES[what], " Nobody in it exists, and no record was made from anybody's.", class_="soft"),
    ]
    some = "" if len(frame) == records else f" The first {len(frame):,} records stand for all: they are drawn alike."
    pictures = [_spread(name, frame) for name in frame.columns]
    sections: list[Section] = [
        ("Columns", "columns", frame_table(pd.DataFrame([_column(name, frame, roles) for name in frame.columns]))),
        (
            "How they are spread",
            "spread",
            joined((tag("p", f"Shares of records.{some}", class_="soft"), tag("div", *pictures, class_="pictures"))),
        ),
        ("How it was made", "making", signature(source, [("what", what), ("seed", str(seed))])),
    ]
    return sheet(f"{records:,} invented records", lead, sections, tiles=tiled(tiles))


def _column(name: str, frame: pd.DataFrame, roles: Roles) -> dict[str, object]:
    if name in roles.quasi:
        role = f"quasi-identifier, {roles.quasi[name]}"
    elif name in roles.sensitive:
        role = "sensitive"
    else:
        role = "target" if name == roles.target else "identifier" if name in roles.identifiers else "other"
    return {"column": name, "role": role, "values": int(frame[name].nunique())}


def _spread(name: str, frame: pd.DataFrame) -> Markup:
    bands = bands_of(frame[name])
    counts = np.bincount(bands.of(frame[name]), minlength=len(bands))
    most = max(int(counts.max()), 1)
    rows = [
        Bar(label, (count / most,), percent(count / len(frame)))
        for label, count in zip(bands.labels, counts.tolist(), strict=True)
    ]
    return bars(named(name), rows)
