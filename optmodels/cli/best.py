"""`optmodels best`: the library of best-known solutions, listed, judged again and improved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optmodels.cli import options

if TYPE_CHECKING:
    from optmodels.best.library import Record

app = typer.Typer(no_args_is_help=True, help="The best partitions known: `best list`, `best verify`, `best submit`.")

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these records.")]
Library = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Where the library is; benchmarks/best, as in a clone.")
]


@app.command("list", epilog="Example: optmodels best list")
def list_(
    names: Names = None, library: Library = None, report: options.Report = None, json: options.Json = False
) -> None:
    """List the best-known values, what is proven of them, and by which method they were found."""
    from optmodels.best.library import USUAL, chosen
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json

    check_outputs({"--report": report}, inputs=[])
    found = chosen(library or USUAL, names or [])
    if json:
        put_json({name: _row_of(record) for name, record in found.items()})
    else:
        rows = [
            (
                name,
                "open" if record.value is None else f"{record.value:.8g}",
                "" if record.bound is None else f"{record.bound:.8g}",
                "" if record.gap is None else f"{record.gap:.2%}",
                record.by,
                record.date,
            )
            for name, record in found.items()
        ]
        show.grid(("record", "value", "bound", "gap", "by", "on"), rows)
    _report(report, [{"name": name, **_words(_row_of(record))} for name, record in found.items()])


@app.command(epilog="Example: optmodels best verify census-k3")
def verify(
    names: Names = None, library: Library = None, report: options.Report = None, json: options.Json = False
) -> None:
    """Judge records again: build the instance anew, and work out what its classes are worth.

    Those whose data are not on this machine are skipped, with a word. The exit code is 4 where one is wrong.
    """
    from dataclasses import asdict

    from optmodels.best.library import USUAL, chosen, judged
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json
    from optmodels.errors import BrokenPromiseError

    check_outputs({"--report": report}, inputs=[])
    found = list(judged(chosen(library or USUAL, names or [])))
    if json:
        put_json([asdict(one) for one in found])
    else:
        rows = [(one.name, one.verdict, "" if one.value is None else f"{one.value:.8g}", one.why) for one in found]
        show.grid(("record", "verdict", "value", "why"), rows)
    _report(report, [_words(asdict(one)) for one in found])
    if wrong := [one.name for one in found if one.verdict == "wrong"]:
        raise BrokenPromiseError(f"These records are not what they say: {', '.join(wrong)}.")


@app.command(epilog="Example: optmodels best submit census-k3 census.search")
def submit(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of which record.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="What 'anonymize --resume' kept; or a front's folder, a release (.csv), or a class number a line "
            "(.txt).",
        ),
    ],
    by: Annotated[str, typer.Option(metavar="METHOD", help="How it was found; the solver where that is known.")] = "",
    library: Library = None,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Put a better partition, or a better bound, in a record's place; the instance's problem is the judge."""
    from optmodels.best import library as best
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json

    check_outputs({"--report": report}, inputs=[file])
    before, after = best.submit(library or best.USUAL, name, file, by=by)
    if json:
        put_json({"before": _row_of(before), "after": _row_of(after)})
    else:
        show.say(f"{show.escaped(name)}: value {before.value} -> {after.value}, bound {before.bound} -> {after.bound}")
    _report(report, [{"name": name, **_words(_row_of(after))}])


def _row_of(record: Record) -> dict[str, object]:
    keys = ("instance", "formulation", "parameters", "value", "bound", "gap", "by", "bound_by", "date")
    return {key: getattr(record, key) for key in keys}


def _words(facts: Mapping[str, object]) -> dict[str, str]:
    return {key: "" if value is None else str(value) for key, value in facts.items()}


def _report(path: Path | None, rows: Sequence[Mapping[str, str]]) -> None:
    from optmodels.cli.listing_page import of_rows
    from optmodels.cli.output import page_writer, write_together
    from optmodels.cli.typed_command import command

    if path is not None:
        write_together([(path, page_writer(of_rows("records", rows, command())))])
