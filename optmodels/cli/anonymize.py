"""`optmodels anonymize`: a table in, a release that keeps its promise out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from optmodels.cli import options
from optmodels.cli.promise_options import takes_promise
from optmodels.cli.role_options import TypedRoles, takes_roles
from optmodels.cli.values import names, numbers, pairs
from optmodels.errors import InputError, RefusedError


@takes_roles()
@takes_promise
def anonymize(
    data: options.Data,
    columns: TypedRoles,
    promise: dict[str, Any],
    against: options.Against = None,
    roles: options.RoleFile = None,
    allow_unique: options.AllowUnique = None,
    save_roles: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the roles as TOML, to be reused.", rich_help_panel=options.ROLES),
    ] = None,
    formulation: options.Formulation = "microaggregation",
    param: options.Param = None,
    solver: Annotated[
        str, typer.Option(metavar="NAME|auto", help="How: see 'list solvers'.", rich_help_panel=options.SEARCH)
    ] = "auto",
    option: options.Option = None,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="Hand out what a published swarm finds even where it breaks k, labelled: for comparison, never to be "
            "published.",
            rich_help_panel=options.SEARCH,
        ),
    ] = False,
    wish: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Come nearest to these values of objectives, as in loss=0.01,entropy=1.2.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    dask: options.Dask = None,
    group_rows: options.GroupRows = None,
    time_limit: options.TimeLimit = None,
    bound: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.0,
            help="Then prove, for so long at most, how far from optimal the answer can be, whoever found it.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    resume: options.Resume = None,
    seed: options.Seed = 0,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write what proves the answer as JSON, for 'certificate verify'. It holds the records: keep it as you "
            "keep the data.",
            rich_help_panel=options.SEARCH,
        ),
    ] = None,
    out: options.Out = None,
    force: options.Force = False,
    recode: options.Recode = None,
    suppressed: options.Suppressed = None,
    escape_formulas: options.EscapeFormulas = False,
    report: options.Report = None,
    json: options.Json = False,
) -> None:
    """Anonymise a table: find classes of similar records, release one description for each, and audit the result."""
    from json import dumps

    from optmodels import kept_search
    from optmodels.audit.kept import check_kept, kept_columns
    from optmodels.certificate import lacks_certificate
    from optmodels.cli import as_published as published_swarm
    from optmodels.cli import folder, publishing, resuming, show
    from optmodels.cli.guarding import guarded
    from optmodels.cli.output import Writer, check_outputs, page_writer
    from optmodels.cli.parts import formulation_of, on_dask, solver_of
    from optmodels.cli.source import is_dataset, roles_of, table_of
    from optmodels.cli.typed_command import source
    from optmodels.cli.usual_limit import said, usual_limit
    from optmodels.problem import wished
    from solvers.bound import Bound, bounded

    method, way = publishing.method_of(recode), publishing.way_of(suppressed)
    into_folder = folder.is_meant(data, out)
    if bound is not None and into_folder:
        raise InputError("--bound is for a table that fits in memory, and not for a folder anonymised into a folder.")
    if certificate is not None and into_folder:
        raise InputError("--certificate is for a table that is solved whole, not for a folder of Parquet files.")
    if group_rows is not None and not into_folder:
        raise InputError("--group-rows is for a folder of Parquet files that is anonymised into a folder.")
    check_outputs(
        {
            **publishing.written_for(None if into_folder else out),
            "--report": report,
            "--save-roles": save_roles,
            "--certificate": certificate,
            "--resume": resume,
        },
        inputs=[Path(data), roles, *columns.files],
        force=force,
    )
    if not into_folder:
        publishing.check_ending(out)
    if against and into_folder:
        raise InputError("--against is for a table that is read whole: for a folder, give --beta and --t themselves.")
    if wish is not None and into_folder:
        raise InputError("--wish is for a table that is solved whole, not for a folder of Parquet files.")
    if resume is not None and into_folder:
        raise InputError("--resume is for a table that is solved whole, not for a folder of Parquet files.")
    values = None if wish is None else numbers("--wish", wish)
    model = formulation_of(formulation, promise, pairs("--param", param or ()))
    search = solver_of(*on_dask(solver, pairs("--option", option or ()), dask))
    if as_published:
        unused: dict[str, object] = {"--report": report, "--certificate": certificate, "--resume": resume}
        unused |= {"--wish": wish, "--bound": bound, "--time-limit": time_limit}
        unused |= {"--recode": recode, "--suppressed": suppressed, "the folder": into_folder}
        published_swarm.check(search, unused, out)
    asked = columns.read()
    if into_folder:
        assert out is not None
        if way != "drop":
            raise InputError(
                f"--suppressed {way} is for files: from folder to folder, records that are left out are dropped."
            )
        folder.anonymize(
            Path(data),
            out,
            roles=roles_of(data, asked, roles),
            model=model,
            search=search,
            method=method,
            group_rows=group_rows,
            time_limit=time_limit,
            seed=seed,
            report=report,
            save_roles=save_roles,
            force=force,
            json=json,
            allow_unique=names("--allow-unique", allow_unique or ()),
        )
        return
    table = table_of(data, asked, roles)
    check_kept(kept_columns(table.frame, table.quasi, table.sensitive), names("--allow-unique", allow_unique or ()))
    problem = guarded(model, table, names("--against", against or ())).build(table, seed)
    if as_published:
        published_swarm.put(search, problem, seed=seed, out=out, json=json)
        return
    if values is not None:
        problem = wished(problem, values)
    if roles is not None or asked.get("hierarchies") or not is_dataset(data):  # a dataset's own are for some models
        method = publishing.with_hierarchies(
            method, problem.release_method, table.roles, asked.get("hierarchies") or ()
        )
    publishing.check_recoding(problem, method)
    if bound is not None and (reason := Bound().refuses(problem)):
        raise RefusedError(f"--bound: nothing can be proven of this problem: {reason}")
    if certificate is not None and (reason := lacks_certificate(problem)):
        raise RefusedError(f"--certificate: {reason}")
    with show.progress() as on_progress:
        limit = usual_limit(search, time_limit)
        solution = search.solve(problem, time_limit=limit, seed=seed, on_progress=on_progress, resume=resume)
        if bound is not None and solution.labels is not None:
            solution = bounded(solution, time_limit=bound, on_progress=on_progress)
            if resume is not None:
                kept_search.save(resume, problem, kept_search.SoFar.of(solution), front=False)
    origin = source(data) if report or out or certificate else None
    further: list[tuple[Path, Writer]] = [(save_roles, table.roles.save)] if save_roles else []
    if certificate is not None and solution.labels is not None:
        proof = solution.certificate(sha256=(origin or {}).get("sha256"))
        further.append((certificate, page_writer(dumps(proof))))
    publishing.publish(
        solution,
        method=method,
        suppressed=way,
        escape_formulas=escape_formulas,
        out=out,
        report=report,
        source=origin,
        further=further,
        json=json,
        remark=" ".join(filter(None, (said(time_limit, solution.stop), resuming.said(resume, solution.details)))),
    )
