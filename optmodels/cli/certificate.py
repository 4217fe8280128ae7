"""`optmodels certificate`: what proves an answer, checked again by code that had no part in finding it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optmodels.cli import options

app = typer.Typer(no_args_is_help=True, help="Check what proves an answer: `certificate verify FILE [DATA]`.")


@app.callback()
def _certificate() -> None:
    """Check what proves an answer."""


@app.command(epilog="Example: optmodels certificate verify proof.json patients.csv")
def verify(
    certificate: Annotated[Path, typer.Argument(metavar="FILE", help="What 'anonymize --certificate FILE' wrote.")],
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="The data that it should be about, to compare with.")
    ] = None,
    report: options.Report = None,
    json: Annotated[bool, typer.Option("--json", help="Print every check as JSON, and nothing else.")] = False,
) -> None:
    """Verify a certificate: is the partition allowed, is its value right, and is no other one below the bound?

    The exit code is 4 where something is not so.
    """
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.typed_command import source
    from optmodels.cli.verdict_page import certificate_page
    from optmodels.errors import BrokenPromiseError
    from optmodels.verifier import load_certificate, verify_certificate

    check_outputs({"--report": report}, inputs=[certificate, data])
    said = load_certificate(certificate)
    verdict = verify_certificate(said, data)
    if report is not None:
        made = certificate_page(verdict, certificate, said["rests_on"], source(str(certificate)))
        write_together([(report, page_writer(made))])
    if json:
        put_json(verdict.to_dict() | {"kind": said["kind"], "rests_on": said["rests_on"]})
    else:
        words = {True: "kept", False: "broken", None: "not told"}
        rows = [(one.what, one.promised, one.found, words[one.kept]) for one in verdict.checks]
        show.grid(("claim", "claimed", "found", ""), rows)
        show.say(f"It rests on {show.escaped(said['rests_on'])}.")
    if verdict.broken:
        raise BrokenPromiseError(f"'{certificate}' does not prove what it says: {'; '.join(verdict.broken)}.")
    if not json:
        proven = "the bound is proven" if said["bound"] is not None else "nothing is proven of other partitions"
        show.say(f"The partition and its value are as it says, and {proven}.")
        if report is not None:
            show.say(f"Written: {show.escaped(report)}")
