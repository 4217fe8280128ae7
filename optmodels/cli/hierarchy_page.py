"""Hierarchies as a page: their levels, and the tree with how much each of its nodes stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from optmodels.markup import Markup, details, joined, named, tag
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import percent

if TYPE_CHECKING:
    from optmodels.table.hierarchy import Hierarchy


def page(made: Mapping[str, Hierarchy], columns: pd.DataFrame | None, most: int, source: Mapping[str, str]) -> str:
    """Every hierarchy with at most so many nodes below each; with the columns that they cover, how many records too."""
    values = sum(len(tree.values) for tree in made.values())
    tiles = [
        (f"{len(made):,}", "hierarchy" if len(made) == 1 else "hierarchies"),
        (f"{values:,}", "values, each of which has a node on every level"),
        (f"{max(tree.n_levels for tree in made.values()):,}", "levels at most, the values themselves included"),
    ]
    lead = [
        tag(
            "p",
            "A value may be released as any node above it: the further up, the less it tells, and the more people "
            "share it. Every level is nested in the next.",
            class_="soft",
        )
    ]
    sections: list[Section] = [
        (f"Hierarchy of {name}", f"hierarchy-{place}", _page_of(tree, None if columns is None else columns[name], most))
        for place, (name, tree) in enumerate(made.items())
    ]
    sections.append(("How it was made", "making", signature(source)))
    return sheet("Generalisation hierarchies", lead, sections, tiles=tiled(tiles))


def node_records(tree: Hierarchy, column: pd.Series) -> pd.Series:
    """How many records each node stands for."""
    records = np.zeros(len(tree.labels), np.int64)
    leaves = tree.codes(column.dropna())
    for level in range(tree.n_levels):
        np.add.at(records, tree.nodes[leaves, level], 1)
    return pd.Series(records)


def _page_of(tree: Hierarchy, column: pd.Series | None, most: int) -> Markup:
    records = None if column is None else node_records(tree, column)
    return joined((_levels(tree, records), details("The tree", tag("ul", _branch(tree, records, most)))))


def _levels(tree: Hierarchy, records: pd.Series | None) -> Markup:
    rows = []
    for level in range(tree.n_levels):
        nodes = np.unique(tree.nodes[:, level])
        row: dict[str, object] = {
            "level": "the values" if level == 0 else str(level),
            "nodes": len(nodes),
            "values in the largest": int(tree.leaf_counts[nodes].max()),
        }
        if records is not None and records[nodes].sum():
            row["records in the smallest"] = int(records[nodes].min())
            row["share of records in the largest"] = percent(records[nodes].max() / records[nodes].sum())
        rows.append(row)
    return frame_table(pd.DataFrame(rows))


def _branch(tree: Hierarchy, records: pd.Series | None, most: int) -> Markup:
    below: dict[int, list[int]] = {}
    for node, parent in enumerate(tree.parents.tolist()):
        below.setdefault(parent, []).append(node)

    def grown(node: int) -> Markup:
        children = below.get(node, [])
        counts = [f"{tree.leaf_counts[node]:,} values"] if children else []
        if records is not None:
            counts.append(f"{records[node]:,} record{'' if records[node] == 1 else 's'}")
        shown = [grown(child) for child in children[:most]]
        if len(children) > most:
            shown.append(tag("li", f"and {len(children) - most:,} more", class_="soft"))
        about = tag("span", f" {', '.join(counts)}", class_="soft") if counts else None
        return tag("li", named(tree.labels[node]), about, tag("ul", *shown) if shown else None)

    return grown(int(tree.nodes[0, -1]))
