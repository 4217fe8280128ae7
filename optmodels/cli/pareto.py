"""`optmodels pareto`: a table in, a folder with the Pareto front of its releases out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optmodels.cli import options
from optmodels.cli.promise_options import takes_promise
from optmodels.cli.role_options import TypedRoles, takes_roles
from optmodels.cli.values import names, pairs
from optmodels.errors import InputError

if TYPE_CHECKING:
    from optmodels.front import ParetoFront


@takes_roles()
@takes_promise
def pareto(
    data: options.Data,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to leave the front.", rich_help_panel=options.FILES)
    ],
    columns: TypedRoles,
    promise: dict[str, Any],
    against: options.Against = None,
    roles: options.RoleFile = None,
    allow_unique: options.AllowUnique = None,
    formulation: options.Formulation = "mo-obam",
    param: options.Param = None,
    objectives: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Two or more of loss (what the formulation minimises), entropy, linkage (linkage@0.075), homogeneity, "
            "homogeneity-all, skewness (skewness@3), similarity (similarity@0.2), closeness, variational, classes, "
            "utility (utility@rf) where there is a target; the formulation's own by default.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How: see 'list solvers'.", rich_help_panel=options.SEARCH),
    ] = None,
    algorithm: Annotated[str | None, typer.Option(metavar="NAME", hidden=True)] = None,  # what --solver was called
    option: options.Option = None,
    evaluations: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Stop after so many evaluations of a partition; exact solvers count none.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    time_limit: options.TimeLimit = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|FOLDER",
            help="Go on from the search that this file keeps, and keep it there: now and then, and when it ends; or "
            "from the front that 'pareto' left in this folder.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    seed: options.Seed = 0,
    report: options.Report = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Find the best compromises between objectives: a folder with the front, from which points can be released."""
    from optmodels import front_folder
    from optmodels.audit.kept import check_kept, kept_columns
    from optmodels.cli import resuming, show
    from optmodels.cli.guarding import guarded
    from optmodels.cli.output import check_outputs, made_folder, page_writer, put_json, write_together
    from optmodels.cli.parts import formulation_of, front_solver_of
    from optmodels.cli.source import table_of
    from optmodels.cli.usual_limit import said, usual_limit

    wanted = names("--objectives", objectives or ())
    if len(wanted) == 1:
        raise InputError(f"--objectives names '{wanted[0]}' alone and a front needs two or more, e.g. loss,entropy.")
    model = formulation_of(formulation, promise, pairs("--param", param or ()))
    if solver is not None and algorithm is not None:
        raise InputError("--solver and --algorithm are one and the same: leave out --algorithm.")
    search = front_solver_of(solver or algorithm, pairs("--option", option or ()), evaluations)
    asked = columns.read()
    with made_folder(out):
        files = {name: out / name for name in front_folder.NAMES}
        inputs = [Path(data), roles, *columns.files]
        kept = None if resume is None or resume.is_dir() else resume
        asked_for = {"--report": report, "--resume": kept, **{f"--out: {name}": path for name, path in files.items()}}
        check_outputs(asked_for, inputs=inputs, force=force)
        table = table_of(data, asked, roles)
        check_kept(kept_columns(table.frame, table.quasi, table.sensitive), names("--allow-unique", allow_unique or ()))
        source = front_folder.source_of(data, seed)
        problem = front_folder.with_objectives(
            guarded(model, table, names("--against", against or ())).build(table, seed), wanted
        )
        start = resuming.front_in(resume, problem, source["sha256"]) if resume is not None and kept is None else None
        with show.progress() as on_progress:
            limit = usual_limit(search, time_limit) if search.name != "auto" else time_limit
            front = search.pareto(
                problem, time_limit=limit, seed=seed, on_progress=on_progress, start=start, resume=kept
            )
        if not len(front):
            if json:
                put_json(_document(front, out))
            raise front_folder.nothing_to_write(front)
        written = front_folder.writers(front, source, table.roles)
        pages = [(report, page_writer(_report(front, source["sha256"], data)))] if report is not None else []
        write_together([*((files[name], write) for name, write in written.items()), *pages])
    if json:
        put_json(_document(front, out))
        return
    show.front(front)
    show.say("Of the knee:")
    show.lost(front.knee().attribute_losses)
    show.orders_guessed(front.problem.table.order_guessed)
    for remark in (said(time_limit, str(front.details["stop"])), resuming.said(kept, front.details)):
        if remark:
            show.say(remark)
    show.say(
        f"Written: {show.escaped(out)}/ with the front (front.csv, front.html) and all that is needed to release a "
        f"point: optmodels release {show.escaped(out)} --point knee --out release.csv"
    )


def _report(front: ParetoFront, sha256: str, data: str) -> str:
    """The report of the front and of its best compromise, as if that was released."""
    from optmodels.cli.typed_command import source

    return front.knee().release().to_html(source=source(data, sha256), front=front, chosen=front.knee_index)


def _document(front: ParetoFront, out: Path) -> dict[str, Any]:
    """The run by the names that scripts rely on; exact solvers count no evaluations, theirs are null."""
    from optmodels.cli.publishing import further_details

    details = front.details
    reference = front.problem.reference()
    return {
        "points": front.frame().to_dict("records"),
        "hypervolume": front.hypervolume(reference),
        "evaluations": details.get("evaluations"),
        "seconds": details.get("seconds"),
        "seed": details.get("seed"),
        "solver": details.get("solver"),
        "stop": details.get("stop"),
        "formulation": front.problem.formulation.name,
        "parameters": front.problem.formulation.to_dict(),
        "objectives": {objective.name: objective.sense for objective in front.problem.objectives},
        "reference": reference,
        "knee": front.knee_index if len(front) else None,
        "knee_attribute_loss": front.knee().attribute_losses if len(front) else None,
        "folder": str(out),
        **({"order_guessed": guessed} if (guessed := front.problem.table.order_guessed) else {}),
        **further_details(details),
    }
