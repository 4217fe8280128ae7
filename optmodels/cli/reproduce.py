"""`optmodels reproduce`: a published study run again, our figures beside theirs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optmodels.cli import options
from optmodels.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from optmodels.reproduce.kept_pieces import KeptPieces
    from optmodels.reproduce.report import Report
    from optmodels.reproduce.setting import Scale

# Rows of a table that fit on a terminal; its CSV has all of them.
ROWS = 80
_MARKS = {True: "[green]holds[/]", False: "[red]does not hold[/]", None: "[yellow]cannot be judged[/]"}


def reproduce(
    name: Annotated[str | None, typer.Argument(help="The study; without it, all that there are.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="At most ten minutes on two cores; the default.")] = False,
    full: Annotated[bool, typer.Option("--full", help="As many repetitions as in the paper.")] = False,
    miniature: Annotated[bool, typer.Option("--miniature", help="Just enough to see that it runs.")] = False,
    rounds: Annotated[int | None, typer.Option(min=1, help="So many repetitions instead.")] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of your own, for 'microaggregation'.")
    ] = None,
    seed: options.Seed = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Where to write tables and figures; reproduction-NAME by default.",
            rich_help_panel=options.FILES,
        ),
    ] = None,
    report: options.Report = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Run a published study again and print our figures beside the published ones.

    Finished pieces of it are kept in the folder until all are there: the same command goes on where it was stopped.
    """
    from optmodels.cli import show
    from optmodels.cli.output import (
        check_folder,
        check_outputs,
        made_folder,
        page_writer,
        put_json,
        to_json,
        write_together,
    )
    from optmodels.cli.typed_command import command
    from optmodels.errors import unknown
    from optmodels.reproduce import STUDIES
    from optmodels.reproduce import reproduce as run_again
    from optmodels.reproduce.setting import Setting

    if name is None:
        show.grid(["study", "what", "data"], [[key, one.covers, one.data] for key, one in STUDIES.items()])
        return
    if name not in STUDIES:
        raise unknown("reproduction", name, STUDIES)
    if data is not None and not STUDIES[name].own_data:
        raise InputError(f"'{name}' runs on the data of its paper ({STUDIES[name].data}): leave out --data.")
    if rounds is not None and not STUDIES[name].repeats:
        raise InputError(f"'{name}' repeats nothing: leave out --rounds.")
    scale = _scale(quick, full, miniature)
    check_outputs({"--report": report}, inputs=[data])
    folder = out or Path(f"reproduction-{name}")
    kept = _kept(folder, name, scale, seed, rounds, data)
    if force:
        kept.clear()
    elif not kept.begun():
        check_folder(folder, force=False)
    with made_folder(folder):
        with show.steps(name) as on_step:
            found = run_again(name, Setting(scale, seed, rounds, jobs, data, on_step, kept))
        files = found.writers(to_json(found.to_dict()))
        written = [(folder / file, write) for file, write in files.items()]
        if report is not None:
            written.append((report, page_writer(found.to_html(source=command()))))
        write_together(written)
        if found.complete:
            kept.clear()
    if json:
        put_json(found.to_dict())
    else:
        _tell(found, folder, files, report)
    if found.failed:
        raise typer.Exit(1)


def _tell(found: Report, folder: Path, files: Iterable[str], report: Path | None) -> None:
    from optmodels.cli import show

    _show(found)
    show.say(f"Written: {show.escaped(folder)}/ with {', '.join(files)}.")
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _kept(folder: Path, name: str, scale: Scale, seed: int, rounds: int | None, data: Path | None) -> KeptPieces:
    """Where pieces of the study are kept, and all that they are made of."""
    from optmodels.front_folder import fingerprint
    from optmodels.reproduce import STUDIES
    from optmodels.reproduce.kept_pieces import FOLDER, KeptPieces
    from optmodels.study.machine import sources, versions

    def contents(file: str) -> str:
        try:
            return fingerprint(file)
        except InputError:
            return "not here"

    read = (str(data),) if data is not None else STUDIES[name].data_read(scale)
    asked = {"study": name, "scale": scale, "seed": str(seed), "rounds": str(rounds), "data": ", ".join(read)}
    code = {f"code of {package}": code for package, code in sources().items()}
    libraries = {f"version of {library}": version for library, version in versions().items()}
    files = {f"contents of {file}": contents(file) for file in read}
    return KeptPieces(folder / FOLDER, {**asked, **code, **libraries, **files})


def _scale(quick: bool, full: bool, miniature: bool) -> Scale:
    if quick + full + miniature > 1:
        raise InputError("Choose one of --quick, --full and --miniature.")
    return "full" if full else "miniature" if miniature else "quick"


def _show(report: Report) -> None:
    from optmodels.cli import show

    show.say(f"[bold]{show.escaped(report.source)}[/], {report.scale}, {report.seconds:.0f} s")
    for one in report.comparisons:
        show.say(f"\n[bold]{show.escaped(one.title)}[/]")
        shown = one.frame[list(one.columns or one.frame.columns)].head(ROWS if one.shown else 0)
        if len(shown):
            show.grid(list(map(str, shown.columns)), _cells(shown))
        if len(one.frame) > len(shown):
            show.say(f"{len(one.frame) - len(shown):,} more rows in {one.key}.csv.")
        if one.remark:
            show.say(show.escaped(one.remark))
    for verdict in report.verdicts:
        mark = _MARKS[verdict.holds]
        show.say(f"{mark}: {show.escaped(verdict.claim)}: {show.escaped(verdict.found)}.")
    for spent in report.spent:
        show.say(f"Pieces: {show.escaped(spent.described())}.")
    for text in (*report.remarks, *(f"Protocol: {line}" for line in report.protocol)):
        show.say(show.escaped(text))


def _cells(frame: pd.DataFrame) -> list[list[str]]:
    return [[_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.4g}"
    return str(value)
