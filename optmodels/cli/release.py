"""`optmodels release`: a point of a saved front as a release that keeps its promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optmodels.cli import options
from optmodels.errors import InputError

if TYPE_CHECKING:
    from optmodels.front import ParetoFront

KNEE = "knee"


def release(
    folder: Annotated[Path, typer.Argument(help="The folder of a front, written by 'optmodels pareto'.")],
    point: Annotated[
        str, typer.Option(metavar="knee|N", help="Which point: its number in front.csv, or the best compromise.")
    ] = KNEE,
    data: Annotated[str | None, typer.Option(metavar="FILE", help="Where the data is now, if it was moved.")] = None,
    out: options.Out = None,
    force: options.Force = False,
    recode: options.Recode = None,
    suppressed: options.Suppressed = None,
    escape_formulas: options.EscapeFormulas = False,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Release a point of a front: recode the table by its classes, audit the result, and write it."""
    from optmodels import front_folder
    from optmodels.cli import publishing
    from optmodels.cli.output import check_outputs
    from optmodels.cli.typed_command import source

    method, way = publishing.method_of(recode), publishing.way_of(suppressed)
    check_outputs(
        {**publishing.written_for(out), "--report": report},
        inputs=[*(folder / name for name in front_folder.NAMES), Path(data) if data else None],
        force=force,
    )
    publishing.check_ending(out)
    front = front_folder.reopened(folder, data)
    number, noted = _number(front, point), front_folder.source_in(folder)
    if noted["path"] is not None:
        method = publishing.with_hierarchies(method, front.problem.release_method, front.problem.table.roles, ())
    publishing.publish(
        front.judged(number),
        method=method,
        suppressed=way,
        escape_formulas=escape_formulas,
        out=out,
        report=report,
        source=source(noted["data"], noted["sha256"]),
        front=(front, number),
        json=json,
        noted={"point": number, "points": len(front)},
    )


def _number(front: ParetoFront, point: str) -> int:
    if point == KNEE:
        return front.knee_index
    if not point.isdecimal() or int(point) >= len(front):
        raise InputError(f"--point is 'knee' or a number from 0 to {len(front) - 1}, as in front.csv, not '{point}'.")
    return int(point)
