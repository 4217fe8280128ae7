"""`optmodels audit`: what a table, released or not, gives away."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optmodels.cli import options
from optmodels.cli.role_options import TypedRoles, made_hierarchies, takes_roles
from optmodels.cli.values import literal, names
from optmodels.errors import InputError


@takes_roles(
    "quasi", "sensitive", "person", "ordered", "nominal", "orders", "hierarchies", "separator", "decimal", "encoding"
)
def audit(
    file: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file, or the name of a dataset.")],
    columns: TypedRoles,
    quasi: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Quasi-identifiers of any kind: for an audit it does not matter which.",
            rich_help_panel=options.ROLES,
        ),
    ] = None,
    tau: Annotated[
        str, typer.Option(metavar="T,T", help="Count the records that are linked with a probability above these.")
    ] = "0.05,0.075,0.1",
    report: options.Report = None,
    json: Annotated[bool, typer.Option("--json", help="Print the audit as JSON, and nothing else.")] = False,
) -> None:
    """Audit a table: classes of equal quasi-identifiers, privacy levels, linkage and homogeneity."""
    from optmodels.audit import audit as audited
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.source import audited_frame
    from optmodels.cli.typed_command import source
    from optmodels.errors import unknown
    from optmodels.table.encoding import natural_order

    check_outputs({"--report": report}, inputs=[Path(file), *columns.files])
    taus = _taus(tau)
    frame, roles = audited_frame(file, names("--quasi", quasi or ()), columns.read())
    for column in roles.hierarchies:
        if column not in roles.sensitive:
            raise unknown("sensitive attribute", column, roles.sensitive)
    result = audited(
        frame,
        quasi=tuple(roles.quasi),
        sensitive=roles.sensitive,
        ordered={column: natural_order(frame[column]) for column in roles.ordered} | dict(roles.orders),
        nominal=roles.nominal,
        hierarchies=made_hierarchies(roles.hierarchies, frame),
        taus=taus,
        person=roles.person,
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
