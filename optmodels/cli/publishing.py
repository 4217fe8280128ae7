"""The last step of a command that releases a table: recode, audit, write, and say what came of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from optmodels.audit import audit_table
from optmodels.cli import show
from optmodels.cli.output import Writer, page_writer, put_json, write_together
from optmodels.cli.values import chosen
from optmodels.errors import InputError
from optmodels.plot.risks import risen
from optmodels.problem import Problem
from optmodels.release import Method, Release, Suppressed, recode
from optmodels.solution import Solution
from optmodels.verifier import beside

if TYPE_CHECKING:
    from optmodels.front import ParetoFront
    from optmodels.table.roles import Roles

# What `auto` chose and why, what a swarm's particles break, blocks, the k that MASS chose and its point of a front.
_FURTHER = (
    *("chosen", "because", "faithful", "blocks", "blocks_optimise", "blocks_merged", "one_block", "workers_lost"),
    *("contradicted_bound", "k", "optimum", "resumed", "not_kept"),
)


def method_of(recode: str | None) -> Method | None:
    """The recoding that was asked for, if any."""
    return None if recode is None else chosen("--recode", recode, get_args(Method))


def way_of(suppressed: str | None) -> Suppressed:
    """How records that are left out are released."""
    return "drop" if suppressed is None else chosen("--suppressed", suppressed, get_args(Suppressed))


def with_hierarchies(method: Method | None, own: Method, roles: Roles, given: Collection[str]) -> Method | None:
    """The recoding by which hierarchies that somebody gave are used: theirs, unless another was asked for.

    `own` is the formulation's way, `given` the columns whose hierarchies were typed beside the recoding.

    Raises:
        InputError: the recoding that was asked for cannot use what was typed, or a category has no hierarchy.
    """
    known = [name for name in roles.hierarchies if name in roles.quasi]
    if not known or own == "hierarchy" or method == "hierarchy":
        return method
    if method is not None:
        if unused := [name for name in given if name in roles.quasi]:
            raise InputError(
                f"--recode {method} makes no use of the hierarchy of '{unused[0]}': leave out --recode, so that "
                "classes are released by hierarchies, or leave out --hierarchy."
            )
        return method
    without = [name for name, kind in roles.quasi.items() if kind == "categorical" and name not in known]
    if without:
        raise InputError(
            f"The hierarchy of '{known[0]}' cannot be used: classes are released by hierarchies or by centroids, and "
            f"'{without[0]}' is categorical and has no hierarchy. Give it one with --hierarchy '{without[0]}=FILE', or "
            f"say --recode {own} and leave out hierarchies that are typed."
        )
    return "hierarchy"


def check_recoding(problem: Problem, method: Method | None) -> None:
    """The recoding that was asked for is possible for this table: tried on one record, before a long solve."""
    if method is not None:
        recode(problem.table.take([0]), [0], method)


def check_ending(out: Path | None) -> None:
    """A release is written in the format that its file's ending names."""
    if out is not None and out.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"--out '{out}' must end in .csv or .parquet, which says how the release is written.")


def written_for(out: Path | None) -> dict[str, Path | None]:
    """The files that a release is, by what is said of them: itself and its promise."""
    return {"--out": out, "--out's promise": None if out is None else beside(out)}


def publish(
    solution: Solution,
    *,
    method: Method | None,
    suppressed: Suppressed = "drop",
    escape_formulas: bool = False,
    out: Path | None,
    report: Path | None,
    source: Mapping[str, str] | None = None,
    front: tuple[ParetoFront, int] | None = None,
    further: Sequence[tuple[Path, Writer]] = (),
    json: bool,
    noted: Mapping[str, Any] | None = None,
    remark: str = "",
) -> None:
    """Release a solution, write the files that were asked for, and print the run and its audit.

    A report tells the `source` of the data and the `front` that the solution is a point of, with the point's number.
    `noted` is what a command adds to the record that is printed as JSON, `remark` what it has to say to people.
    """
    if solution.labels is None and json:
        put_json(_record(solution, None) | dict(noted or {}))
    release = solution.release(method=method, suppressed=suppressed)
    files: list[tuple[Path, Writer]] = []
    if out is not None:
        files += _files(release, solution, out, (source or {}).get("sha256"), escape_formulas)
    if report is not None:
        chosen_from, number = (None, None) if front is None else front
        page = release.to_html(source=source, front=chosen_from, chosen=number)
        files.append((report, page_writer(page)))
    files += further
    write_together(files)
    if json:
        table = solution.problem.table
        again = {"repeated_identifiers": table.repeated_identifiers} if table.repeated_identifiers else {}
        guessed = {"order_guessed": table.order_guessed} if table.order_guessed else {}
        worse = risen(audit_table(table), release.audit)
        rose = {"risks_that_rose": worse} if worse else {}
        put_json(_record(solution, release.audit.to_dict()) | guessed | again | rose | dict(noted or {}))
        return
    show.run(solution)
    show.cleaned(solution.problem.table)
    show.people(solution.problem.table, release.audit, solution.problem.conditions)
    show.before_and_after(solution.problem.table, release, solution)
    show.weights(solution.problem.table)
    show.lost(release.audit.attribute_loss)
    show.orders_guessed(solution.problem.table.order_guessed)
    show.kept(release.audit.to_dict())
    problem = solution.problem
    for said in (problem.formulation.caution(problem.table), remark):
        if said:
            show.say(said)
    for path, _ in files:
        show.say(f"Written: {show.escaped(path)}")


def _files(
    release: Release, solution: Solution, out: Path, sha256: str | None, escape_formulas: bool
) -> list[tuple[Path, Writer]]:
    """A CSV is written as the one that was read: with the separator and the decimal mark that were given for it."""
    roles = solution.problem.table.roles
    decimal = roles.decimal or "."
    separator = roles.separator or (";" if decimal == "," else ",")
    parquet = out.suffix.lower() == ".parquet"
    return release.files(
        out,
        parquet=parquet,
        separator=separator,
        decimal=decimal,
        sha256=sha256,
        escape_formulas=escape_formulas and not parquet,
    )


def _record(solution: Solution, audit: dict[str, Any] | None) -> dict[str, Any]:
    """The run by the names that scripts rely on."""
    record = solution.to_dict()
    keys = ("status", "stop", "formulation", "solver", "values", "bound", "gap", "seconds", "seed")
    return {**{key: record[key] for key in keys}, "audit": audit, **further_details(solution.details)}


def further_details(details: Mapping[str, object]) -> dict[str, Any]:
    """What only some solvers have to tell, by these names."""
    return {key: details[key] for key in _FURTHER if key in details}
