"""`optmodels hierarchy`: a generalisation hierarchy drawn and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optmodels.cli import options
from optmodels.cli.options import FILES
from optmodels.errors import InputError, unknown

if TYPE_CHECKING:
    import pandas as pd
    from rich.tree import Tree

    from optmodels.table.hierarchy import Hierarchy
    from optmodels.table.role_types import AnyHierarchy


def hierarchy(
    source: Annotated[
        str,
        typer.Argument(
            help="A hierarchy: a CSV in ARX's form, a role file that has some, or a few words such as prefix:3,2, "
            "bands:5,10,20, date:month,year or {kind = ...} as in a role file."
        ),
    ],
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The table whose values the hierarchy is made of or must cover.")
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="A", help="The column of the table, or of the role file.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Draw at most so many nodes below each.")] = 8,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write it as CSV in ARX's form.", rich_help_panel=FILES)
    ] = None,
    report: options.Report = None,
    force: options.Force = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print the levels as JSON, and nothing else.", rich_help_panel=FILES)
    ] = False,
) -> None:
    """Draw a hierarchy and check it: every value covered, every level nested in the next."""
    from optmodels.cli import show
    from optmodels.cli.hierarchy_page import page
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.typed_command import command

    given = _given(source, column)
    check_outputs({"--out": out, "--report": report}, inputs=[Path(source), data], force=force)
    if out is not None and len(given) > 1:
        raise InputError(f"--out holds one hierarchy: say which with --column ({', '.join(given)}).")
    frame, made = _with_values(source, given, data)
    if out is not None:
        written = next(iter(made.values())).to_frame()
        text = written.to_csv(None, index=False, header=False, sep=";", lineterminator="\n")
        write_together([(out, lambda draft: draft.write_text(text, encoding="utf-8", newline="\n"))])
    if report is not None:
        about = {"data": str(data or source), **command()}
        write_together([(report, page_writer(page(made, frame, most, about)))])
    if json:
        put_json({name: _record(tree) for name, tree in made.items()})
        return
    for name, tree in made.items():
        levels = [len(set(tree.nodes[:, level].tolist())) for level in range(tree.n_levels)]
        counts = ", ".join(f"{many:,}" for many in levels)
        covered = "" if frame is None else f"; it covers all values of '{name}' in {data}"
        show.say(
            f"[bold]{show.escaped(name)}[/]: {len(tree.values):,} values, {tree.n_levels} levels of {counts} nodes, "
            f"each nested in the next{show.escaped(covered)}."
        )
        _draw(tree, most, None if frame is None else frame[name])
    if out is not None:
        show.say(f"Written: {show.escaped(out)}")
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _with_values(
    source: str, given: dict[str, AnyHierarchy], data: Path | None
) -> tuple[pd.DataFrame | None, dict[str, Hierarchy]]:
    """The columns of the data, and the hierarchies over their values; those of a role file as it cleans them."""
    if data is None or Path(source).suffix != ".toml":
        frame = None if data is None else _frame(data, list(given))
        return frame, {name: _made(name, tree, frame) for name, tree in given.items()}
    import pandas as pd

    from optmodels.table import Table
    from optmodels.table.roles import Roles

    roles = Roles.load(source)
    columns: dict[str, pd.Series] = {}
    made: dict[str, Hierarchy] = {}
    for name, tree in given.items():
        # as if it were the only column: gaps and roles of others do not matter to its hierarchy
        alone = Roles(
            quasi={name: roles.quasi.get(name, "categorical")},
            dates={name: roles.dates[name]} if name in roles.dates else {},
            clean=roles.clean.without({*roles.clean.columns} - {name}),
            missing="drop",
            others="drop",
            hierarchies={name: tree},
            **roles.text_format,
        )
        table = Table.from_file(data, roles=alone)
        columns[name], made[name] = table.frame[name], table.hierarchies[name]
    return pd.DataFrame(columns), made


def _given(source: str, column: str | None) -> dict[str, AnyHierarchy]:
    """The hierarchies that are meant, by column."""
    from optmodels.cli.role_options import said_hierarchy
    from optmodels.table import role_file
    from optmodels.table.hierarchy import Hierarchy
    from optmodels.table.hierarchy_spec import HierarchySpec
    from optmodels.table.roles import Roles

    if source.lstrip().startswith("{"):
        form = role_file.parsed(f"spec = {source}")["spec"]
        return {column or "values": role_file.hierarchy(column or "values", form, Path())}
    if (said := said_hierarchy(source)) is not None:
        return {column or "values": HierarchySpec.of(said, column or "values")}
    if Path(source).suffix == ".toml":
        known = Roles.load(source).hierarchies
        if not known:
            raise InputError(f"The role file '{source}' has no hierarchies: add a table [hierarchies].")
        if column is None:
            return dict(known)
        if column not in known:
            raise unknown(f"hierarchy in '{source}' for the column", column, known)
        return {column: known[column]}
    return {column or Path(source).stem: Hierarchy.from_csv(source)}


def _frame(data: Path, columns: list[str]) -> pd.DataFrame:
    from optmodels.table.reading import read_frame

    return read_frame(data, columns=columns, text=columns)


def _made(name: str, tree: AnyHierarchy, frame: pd.DataFrame | None) -> Hierarchy:
    """The hierarchy over a column's values, all of which it covers."""
    from optmodels.table.hierarchy import Hierarchy

    if frame is None:
        if isinstance(tree, Hierarchy):
            return tree
        raise InputError("Such a hierarchy is made of the values of a column: name them with --data and --column.")
    values = frame[name].dropna().unique().tolist()
    if not isinstance(tree, Hierarchy):
        return tree.build(values)
    try:
        tree.codes(values)
    except InputError as problem:
        raise InputError(f"Column '{name}': {problem}") from problem
    return tree


def _record(tree: Hierarchy) -> dict[str, Any]:
    levels = tree.to_frame()
    return {"values": len(tree.values), "levels": [levels[level].astype(str).unique().tolist() for level in levels]}


def _draw(tree: Hierarchy, most: int, column: pd.Series | None) -> None:
    """The tree on the terminal, with how many values, and records if they are known, each node stands for."""
    import numpy as np
    from rich.console import Console
    from rich.tree import Tree

    from optmodels.cli.hierarchy_page import node_records

    records = None if column is None else node_records(tree, column)

    def title(node: int) -> str:
        from optmodels.cli.show import escaped

        many = f"{tree.leaf_counts[node]:,} values" if tree.leaf_counts[node] > 1 else ""
        seen = "" if records is None else f"{records[node]:,} record{'s' if records[node] != 1 else ''}"
        return f"{escaped(tree.labels[node])} [dim]{', '.join(filter(None, (many, seen)))}[/]"

    def grow(branch: Tree, node: int) -> None:
        below = np.flatnonzero(tree.parents == node).tolist()
        for child in below[:most]:
            grow(branch.add(title(child)), child)
        if len(below) > most:
            branch.add(f"[dim]and {len(below) - most:,} more[/]")

    root = int(tree.nodes[0, -1])
    drawn = Tree(title(root))
    grow(drawn, root)
    Console().print(drawn, soft_wrap=True)
