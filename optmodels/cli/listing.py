"""`optmodels list`: formulations, solvers and datasets, whether they can be used here, and what goes together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optmodels.cli import options
from optmodels.cli.values import chosen
from optmodels.errors import InputError

if TYPE_CHECKING:
    from optmodels.datasets import Dataset
    from optmodels.problem import Formulation
    from optmodels.solver import Solver

KINDS = ("formulations", "solvers", "datasets", "matrix")
READY = "ready"


def _only(what: str) -> Any:
    return typer.Option(metavar="A,B", help=f"Of the matrix, only these {what}.")


def list_(
    what: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What to list.")],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Of formulations or solvers: one of them, with all its parameters."),
    ] = None,
    report: options.Report = None,
    json: Annotated[bool, typer.Option("--json", help="Print the list as JSON, and nothing else.")] = False,
    formulation: Annotated[list[str] | None, _only("formulations")] = None,
    task: Annotated[list[str] | None, _only("tasks: solve, pareto")] = None,
    condition: Annotated[list[str] | None, _only("conditions")] = None,
    solver: Annotated[list[str] | None, _only("solvers")] = None,
) -> None:
    """List formulations with their parameters, solvers with their options, datasets, or the matrix of what works."""
    from optmodels.cli import listing_page as page
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.typed_command import command

    def written(make: Callable[[], str]) -> None:
        if report is not None:
            write_together([(report, page_writer(make()))])
            if not json:
                show.say(f"Written: {show.escaped(report)}")

    check_outputs({"--report": report}, inputs=[])
    chosen("list", what, KINDS)
    if name is not None:
        if what not in ("formulations", "solvers"):
            raise InputError(f"'list {what}' lists all of them: leave out '{name}'.")
        from optmodels.cli import explaining

        found = explaining.explained(what, name)  # type: ignore[arg-type]
        put_json(found) if json else explaining.put(found)
        written(lambda: page.of_one(found, command()))
        return
    named = {"formulation": formulation, "task": task, "condition": condition, "solver": solver}
    if what == "matrix":
        from optmodels.cli import matrix

        cells = matrix.matrix(**{option: texts or () for option, texts in named.items()})
        put_json(matrix.document(cells)) if json else matrix.put(cells)
        written(lambda: page.of_matrix(matrix.document(cells)["cells"], command()))
        return
    for option, texts in named.items():
        if texts:
            raise InputError(f"--{option} is about 'list matrix', and '{what}' are listed: leave it out.")
    rows = {"formulations": formulations, "solvers": solvers, "datasets": datasets}[what]()
    told = [{key: _cell(value) for key, value in row.items()} for row in rows]
    if json:
        put_json(rows)
        written(lambda: page.of_rows(what, told, command()))
        return
    if what == "formulations":
        rows = [{**row, "parameters": _own(row["parameters"])} for row in rows]
    show.listing([{key: _cell(value) for key, value in row.items()} for row in rows])
    if what == "formulations":
        show.say(f"All of them take conditions on sensitive values: {', '.join(_condition_options())}.")
        show.say("All of them let records be left out of all classes: --suppress, --suppression-price.")
    written(lambda: page.of_rows(what, told, command()))


def _own(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a model without the conditions that all models take."""
    from optmodels.cli.promise import CONDITION_OPTIONS, SUPPRESSION_OPTIONS

    return {name: value for name, value in parameters.items() if name not in CONDITION_OPTIONS + SUPPRESSION_OPTIONS}


def _condition_options() -> list[str]:
    from optmodels.cli.promise import CONDITION_OPTIONS, option_of

    return [option_of(name) for name in CONDITION_OPTIONS]


def formulations() -> list[dict[str, Any]]:
    """Every formulation: its summary and its parameters with their defaults."""
    from optmodels.registry import formulation, formulation_names

    return [_described(name, formulation, "parameters") for name in formulation_names()]


def solvers() -> list[dict[str, Any]]:
    """Every solver: whether it is ready, its summary, what it answers with and takes, its options with defaults."""
    from optmodels.registry import solver, solver_names

    return [_described(name, solver, "options") for name in solver_names()]


def datasets() -> list[dict[str, Any]]:
    """Every dataset: whether it is on this machine, its size, its roles and where it comes from."""
    from optmodels.datasets import DATASETS

    return [
        {
            "name": one.name,
            "state": _whereabouts(one),
            "summary": one.title,
            "records": one.rows,
            "quasi": dict(one.roles.quasi),
            "sensitive": list(one.roles.sensitive),
            "licence": one.licence,
        }
        for one in DATASETS.values()
    ]


def _described(name: str, find: Callable[[str], type[Formulation] | type[Solver]], settings: str) -> dict[str, Any]:
    try:
        kind = find(name)
    except Exception as error:  # one broken plug-in must not hide the others, however it is broken
        return {"name": name, "state": f"not ready: {error}", "summary": "", settings: {}}
    missing = getattr(kind, "missing", lambda: None)()
    return {
        "name": name,
        "state": READY if missing is None else f"not ready: the module '{missing}' is not installed",
        "summary": kind.summary,
        **_answers(kind),
        settings: _defaults(kind),
    }


def _answers(kind: type[Formulation] | type[Solver]) -> dict[str, str]:
    from optmodels.solver import FrontSolver, Solver

    if not issubclass(kind, Solver):
        return {}
    answers = "one solution or a Pareto front" if issubclass(kind, FrontSolver) else "one solution"
    return {"answers": answers, "takes": kind.takes()}


def _defaults(kind: Any) -> dict[str, Any]:
    own_first = sorted(fields(kind), key=lambda field: bool(field.kw_only))
    return {field.name: "required" if field.default is MISSING else field.default for field in own_first}


def _whereabouts(dataset: Dataset) -> str:
    from optmodels.datasets import locate

    try:
        for source in dataset.sources:
            locate(replace(source, address=None))  # without an address nothing is downloaded
    except InputError:
        if all(source.address for source in dataset.sources):
            return "downloaded when first used"
        return "not ready: put its file into the folder that OPTMODELS_DATA names"
    return READY


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={_cell(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_cell(item) for item in value)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)
