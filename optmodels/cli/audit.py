"""`optmodels audit`: what a table, released or not, gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optmodels.cli import options
from optmodels.cli.role_options import hierarchies, hierarchy_files, orders
from optmodels.cli.values import literal, names
from optmodels.errors import InputError, unknown


def audit(
    file: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file, or the name of a dataset.")],
    quasi: Annotated[list[str] | None, typer.Option(metavar="A,B", help="The quasi-identifiers.")] = None,
    sensitive: Annotated[list[str] | None, typer.Option(metavar="A,B", help="The sensitive attributes.")] = None,
    ordered: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Sensitive attributes whose values have an order: of their numbers, then alphabetical."
        ),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=LOW,...,HIGH", help="The order of a sensitive attribute's values."),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=FILE", help="A sensitive attribute's hierarchy, CSV in ARX's form."),
    ] = None,
    tau: Annotated[
        str, typer.Option(metavar="T,T", help="Count the records that are linked with a probability above these.")
    ] = "0.05,0.075,0.1",
    report: options.Report = None,
    json: Annotated[bool, typer.Option("--json", help="Print the audit as JSON, and nothing else.")] = False,
) -> None:
    """Audit a table: classes of equal quasi-identifiers, privacy levels, linkage and homogeneity."""
    from optmodels.audit import audit as audited
    from optmodels.audit import natural_order
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.source import audited_frame
    from optmodels.cli.typed_command import source

    trees = hierarchy_files("--hierarchy", hierarchy or ())
    check_outputs({"--report": report}, inputs=[Path(file), *trees.values()])
    taus = _taus(tau)
    frame, roles = audited_frame(file, names("--quasi", quasi or ()), names("--sensitive", sensitive or ()))
    given = orders("--order", order or ())
    natural = names("--ordered", ordered or ())
    for option, columns in (("--ordered", natural), ("--order", given), ("--hierarchy", trees)):
        for column in columns:
            if column not in roles.sensitive:
                raise unknown(f"sensitive attribute ({option})", column, roles.sensitive)
    result = audited(
        frame,
        quasi=tuple(roles.quasi),
        sensitive=roles.sensitive,
        ordered={column: natural_order(frame[column]) for column in natural} | given,
        hierarchies=hierarchies("--hierarchy", hierarchy or ()),
        taus=taus,
    )
    if report is not None:
        page = result.to_html(frame, source=source(file))
        write_together([(report, page_writer(page))])
    if json:
        put_json(result.to_dict())
        return
    show.side_by_side({file: show.measures(result.to_dict())})
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _taus(text: str) -> tuple[float, ...]:
    taus = tuple(literal(part) for part in names("--tau", [text]))
    for tau in taus:
        if isinstance(tau, bool) or not isinstance(tau, (int, float)) or not 0 <= tau <= 1:
            raise InputError(f"--tau takes probabilities between 0 and 1, such as 0.05,0.1, not '{tau}'.")
    return taus
