"""`optmodels inspect`: what a file holds, what is odd about it, and the roles that fit its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optmodels.cli import options
from optmodels.cli.options import FILES
from optmodels.cli.role_options import TypedRoles, takes_roles

if TYPE_CHECKING:
    from optmodels.cli.output import Writer
    from optmodels.inspection import Inspection


@takes_roles("separator", "decimal", "encoding")
def inspect(
    file: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file, or the name of a dataset.")],
    columns: TypedRoles,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the roles proposed, as TOML to be edited, with reasons.", rich_help_panel=FILES
        ),
    ] = None,
    report: options.Report = None,
    force: options.Force = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was seen as JSON, and nothing else.", rich_help_panel=FILES)
    ] = False,
) -> None:
    """Look at a table before anything is done to it: its columns, what is odd, which roles fit. Nothing is changed."""
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.source import is_dataset
    from optmodels.cli.typed_command import source
    from optmodels.datasets import frame
    from optmodels.inspection import inspect_file, inspect_frame

    check_outputs({"--out": out, "--report": report}, inputs=[Path(file)], force=force)
    asked = columns.read()
    if is_dataset(file):
        seen = inspect_frame(frame(file), source=file)
    else:
        seen = inspect_file(
            file, separator=asked.get("separator"), decimal=asked.get("decimal"), encoding=asked.get("encoding")
        )
    files: list[tuple[Path, Writer]] = []
    if out is not None:
        text = seen.to_toml()
        files.append((out, lambda draft: draft.write_text(text, encoding="utf-8", newline="\n")))
    if report is not None:
        files.append((report, page_writer(seen.to_html(source(file)))))
    write_together(files)
    if json:
        put_json(seen.to_dict())
        return
    from optmodels.cli import show

    _show(seen)
    if out is not None:
        _next(file, out)
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _show(seen: Inspection) -> None:
    from optmodels.cli import show

    show.say(
        f"[bold]{show.escaped(seen.source)}[/]: {seen.records:,} record{'s' * (seen.records != 1)}, "
        f"{len(seen.columns)} columns; "
        f"[bold]{seen.unique_share:.0%}[/] of records are alone with the quasi-identifiers proposed."
    )
    titles = ("column", "type", "missing", "values", "pairs apart", "alone", "proposed role")
    show.grid(
        titles,
        [
            (
                name,
                column.type,
                f"{column.missing:,}",
                f"{column.distinct:,}",
                f"{column.separation:.1%}",
                f"{column.unique_share:.0%}",
                " ".join(filter(None, (seen.proposals[name].role, seen.proposals[name].kind))),
            )
            for name, column in seen.columns.items()
        ],
    )
    for finding in seen.findings:
        examples = f" ({show.escaped(', '.join(finding.examples))})" if finding.examples else ""
        where = "The file" if finding.column is None else show.escaped(finding.column)
        show.say(f"[bold]{where}[/]: {show.escaped(finding.what)}{examples}: {show.escaped(finding.remedy)}.")
    show.say("")
    for name, proposal in seen.proposals.items():
        show.say(f"[bold]{show.escaped(name)}[/] as {proposal.role}: {show.escaped(proposal.reason)}.")


def _next(file: str, out: Path) -> None:
    from optmodels.cli import show

    show.say(
        f"\nWritten: {show.escaped(out)}. Read and correct it, then: "
        f"optmodels anonymize {show.escaped(file)} --roles {show.escaped(out)} --k 5 --out release.csv"
    )
