"""`optmodels verify`: a release checked against its promise by code that had no part in making it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optmodels.cli import options


def verify(
    release: Annotated[Path, typer.Argument(help="A release: a CSV or Parquet file, or a folder of Parquet files.")],
    promise: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Its promise; NAME.promise.json beside it by default.")
    ] = None,
    original: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The data that it was made of, to compare with.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How the characters of --original are written; found out by default."),
    ] = None,
    report: options.Report = None,
    json: Annotated[bool, typer.Option("--json", help="Print every check as JSON, and nothing else.")] = False,
) -> None:
    """Verify a release: read its file again, work out every promise anew, and tell which of them it keeps.

    The exit code is 4 where one is broken.
    """
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.typed_command import source
    from optmodels.cli.verdict_page import page
    from optmodels.errors import BrokenPromiseError
    from optmodels.verifier import beside, load_promise
    from optmodels.verifier import verify as verified

    said = promise or beside(release)
    check_outputs({"--report": report}, inputs=[release, said, original])
    verdict = verified(release, load_promise(said), original=original, encoding=encoding)
    if report is not None:  # also, and above all, of a release that breaks its promise
        write_together([(report, page_writer(page(verdict, release, source(str(release)))))])
    if json:
        put_json(verdict.to_dict())
    else:
        words = {True: "kept", False: "broken", None: "not told"}
        rows = [(one.what, one.promised, one.found, words[one.kept]) for one in verdict.checks]
        show.grid(("promise", "promised", "found", ""), rows)
    if verdict.broken:
        raise BrokenPromiseError(f"'{release}' does not keep its promise: {'; '.join(verdict.broken)}.")
    if not json:
        untold = f"; {len(verdict.unchecked)} could not be told from these files" if verdict.unchecked else ""
        show.say(f"Every promise that was checked is kept{untold}.")
        if report is not None:
            show.say(f"Written: {show.escaped(report)}")
