"""What there is, as a page: formulations, solvers, datasets, the matrix of what works, or one of them explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from optmodels.markup import Markup, joined, named, tag
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled

_FEW = 400  # cells of the matrix that are told one by one


def of_rows(what: str, rows: Sequence[Mapping[str, str]], source: Mapping[str, str]) -> str:
    """A list whose rows each have a name, with all that is said of them."""
    sections: list[Section] = []
    for place, row in enumerate(rows):
        facts = [
            tag("tr", tag("th", key, scope="row"), tag("td", _plain(value)))
            for key, value in row.items()
            if key not in ("name", "summary") and value
        ]
        about = tag("p", row["summary"]) if row.get("summary") else None
        sections.append(
            (row["name"], f"one-{place}", joined((about, tag("table", tag("tbody", *facts), class_="facts"))))
        )
    sections.append(("How it was made", "making", signature(source)))
    return sheet(what.capitalize(), [], sections, tiles=tiled([(f"{len(rows):,}", what)]))


def of_one(found: Mapping[str, Any], source: Mapping[str, str]) -> str:
    """One formulation or solver with its parameters."""
    rows = [
        {"parameter": one["typed"], "takes": one["takes"], "default": str(one["default"]), "about": one["about"]}
        for one in found["parameters"]
    ]
    sections: list[Section] = []
    if rows:
        sections.append(("Parameters", "parameters", frame_table(pd.DataFrame(rows))))
    if found["conditions"]:
        sections.append(("Conditions that it takes", "conditions", tag("p", ", ".join(found["conditions"]))))
    sections.append(("An example", "example", tag("pre", found["example"])))
    sections.append(("How it was made", "making", signature(source)))
    return sheet(found["name"], [tag("p", found["summary"]), tag("p", found["about"], class_="soft")], sections)


def of_matrix(document: Sequence[Mapping[str, Any]], source: Mapping[str, str]) -> str:
    """What works of the matrix, by formulation and task, and the reasons of what does not."""
    frame = pd.DataFrame(document)
    works = frame["reason"].isna()
    tiles = [
        (f"{len(frame):,}", "combinations of formulation, task, condition and solver"),
        (f"{int(works.sum()):,}", "work"),
        (f"{int((~works).sum()):,}", "are refused, each with a reason"),
    ]
    sections: list[Section] = []
    for place, ((formulation, task), group) in enumerate(frame.groupby(["formulation", "task"], sort=False)):
        able = group[group["reason"].isna()]
        by_solver = able.groupby("solver", sort=False)
        rows = pd.DataFrame(
            [
                {
                    "solver": solver,
                    "claims": ", ".join(dict.fromkeys(own["claims"].astype(str))),
                    "under": ", ".join(own["condition"]),
                }
                for solver, own in by_solver
            ]
        )
        why = group[~group["reason"].isna()].drop_duplicates(["solver", "reason"])
        reasons = tag("ul", *(tag("li", tag("b", one.solver), ": ", one.reason) for one in why.itertuples()))
        sections.append(
            (
                f"{formulation}, {task}",
                f"row-{place}",
                joined((frame_table(rows, most=_FEW) if len(rows) else None, reasons if len(why) else None)),
            )
        )
    sections.append(("How it was made", "making", signature(source)))
    return sheet("What goes with what", [], sections, tiles=tiled(tiles))


def _plain(value: str) -> Markup:
    return joined((value,)) if len(value) > 60 else named(value)
