"""`optmodels anonymize`: a table in, a release that keeps its promise out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from optmodels.cli.values import chosen, literal, names, pairs
from optmodels.errors import InputError

if TYPE_CHECKING:
    from optmodels.solution import Solution

ROLES = "Columns"
PROMISE = "Promise"
SEARCH = "Model and solver"
FILES = "Output"


def anonymize(
    data: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file, or the name of a dataset.")],
    numeric: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Numeric quasi-identifiers.", rich_help_panel=ROLES)
    ] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Categorical quasi-identifiers.", rich_help_panel=ROLES)
    ] = None,
    ordinal: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Ordinal quasi-identifiers.", rich_help_panel=ROLES)
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Sensitive attributes.", rich_help_panel=ROLES)
    ] = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns that name a person, always dropped.", rich_help_panel=ROLES),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="A", help="The column that a classifier is to predict, kept.", rich_help_panel=ROLES),
    ] = None,
    others: Annotated[
        str | None, typer.Option(metavar="drop|keep", help="What to do with all other columns.", rich_help_panel=ROLES)
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            metavar="error|category|drop|impute", help="What to do with missing values.", rich_help_panel=ROLES
        ),
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option(
            metavar="none|standard|range", help="How numeric columns are made comparable.", rich_help_panel=ROLES
        ),
    ] = None,
    gamma: Annotated[
        float | None,
        typer.Option(help="What one categorical mismatch costs, 1 by default.", rich_help_panel=ROLES),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LOW,...,HIGH",
            help="The order of an ordinal or sensitive column's values.",
            rich_help_panel=ROLES,
        ),
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=N|[EDGES]",
            help="Cut a numeric sensitive attribute into N bins or at edges.",
            rich_help_panel=ROLES,
        ),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=FILE",
            help="A column's generalisation hierarchy, CSV in ARX's form.",
            rich_help_panel=ROLES,
        ),
    ] = None,
    roles: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A TOML file with roles; options override it.", rich_help_panel=ROLES),
    ] = None,
    save_roles: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the roles as TOML, to be reused.", rich_help_panel=ROLES),
    ] = None,
    k: Annotated[
        int | None, typer.Option(help="The least number of records in a class.", rich_help_panel=PROMISE)
    ] = None,
    distinct_l: Annotated[
        int | None, typer.Option(help="The least number of distinct sensitive values.", rich_help_panel=PROMISE)
    ] = None,
    entropy_l: Annotated[
        float | None, typer.Option(help="The least entropy l of the sensitive values.", rich_help_panel=PROMISE)
    ] = None,
    t: Annotated[
        float | None,
        typer.Option(help="The largest distance from the whole table's distribution.", rich_help_panel=PROMISE),
    ] = None,
    formulation: Annotated[
        str,
        typer.Option(metavar="NAME", help="What is optimised: see 'list formulations'.", rich_help_panel=SEARCH),
    ] = "microaggregation",
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A further parameter of the formulation.", rich_help_panel=SEARCH),
    ] = None,
    solver: Annotated[
        str, typer.Option(metavar="NAME|auto", help="How: see 'list solvers'.", rich_help_panel=SEARCH)
    ] = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="An option of the solver.", rich_help_panel=SEARCH),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop then, with the best found so far.", rich_help_panel=SEARCH),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="One seed in, the same answer out.", rich_help_panel=SEARCH)] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the release, as .csv or .parquet.", rich_help_panel=FILES),
    ] = None,
    recode: Annotated[
        str | None,
        typer.Option(
            metavar="centroid|interval|hierarchy",
            help="How a class's values are released; the formulation's own way by default.",
            rich_help_panel=FILES,
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the audit as an HTML page.", rich_help_panel=FILES)
    ] = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="Print the run and its audit as JSON, and nothing else.", rich_help_panel=FILES),
    ] = False,
) -> None:
    """Anonymise a table: find classes of similar records, release one description for each, and audit the result."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json, write_together
    from optmodels.cli.parts import formulation_of, solver_of
    from optmodels.cli.source import asked_roles, table_of
    from optmodels.release import Method

    method = None if recode is None else chosen("--recode", recode, get_args(Method))
    hierarchy_files = {column: Path(file) for column, file in pairs("--hierarchy", hierarchy or ()).items()}
    check_outputs(
        {"--out": out, "--report": report, "--save-roles": save_roles},
        inputs=[Path(data), roles, *hierarchy_files.values()],
    )
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out '{out}' must end in .csv or .parquet, which says how the release is written.")
    promise = {"k": k, "distinct_l": distinct_l, "entropy_l": entropy_l, "t": t}
    model = formulation_of(formulation, promise, pairs("--param", param or ()))
    search = solver_of(solver, pairs("--option", option or ()))
    asked = asked_roles(
        numeric=names("--numeric", numeric or ()),
        categorical=names("--categorical", categorical or ()),
        ordinal=names("--ordinal", ordinal or ()),
        sensitive=names("--sensitive", sensitive or ()),
        identifier=names("--identifier", identifier or ()),
        target=target,
        others=others,
        missing=missing,
        scaling=scaling,
        gamma=gamma,
        orders={column: names("--order", [order]) for column, order in pairs("--order", order or ()).items()},
        bins={column: literal(text) for column, text in pairs("--bins", bins or ()).items()},
        hierarchy_files=hierarchy_files,
    )
    table = table_of(data, asked, roles)
    problem = model.build(table, seed)
    with show.progress() as on_progress:
        solution = search.solve(problem, time_limit=time_limit, seed=seed, on_progress=on_progress)
    if solution.labels is None and json:
        put_json(_record(solution, None))
    release = solution.release(method=method)
    write_together(
        [
            *([(out, release.to_parquet if out.suffix.lower() == ".parquet" else release.to_csv)] if out else []),
            *([(report, release.save_report)] if report else []),
            *([(save_roles, table.roles.save)] if save_roles else []),
        ]
    )
    if json:
        put_json(_record(solution, release.audit.to_dict()))
        return
    show.run(solution)
    show.before_and_after(table, release, solution)
    for path in (out, report, save_roles):
        if path is not None:
            show.say(f"Written: {show.escaped(path)}")


def _record(solution: Solution, audit: dict[str, Any] | None) -> dict[str, Any]:
    """The run by the names that scripts rely on."""
    record = solution.to_dict()
    keys = ("status", "stop", "formulation", "solver", "values", "bound", "gap", "seconds", "seed")
    return {**{key: record[key] for key in keys}, "audit": audit}
