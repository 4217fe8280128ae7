"""`optmodels demo`: the main job on bundled data, before and after, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optmodels.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    from optmodels.solver import Solver

K = 20  # a chance of one in twenty to be linked, so that nobody is above the thresholds of the audit
DISTINCT_L = 2
SECONDS = 10.0


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to leave the results.")] = Path("demo"),
) -> None:
    """Anonymise German credit (1,000 people), show its audit before and after, and leave all of it in a folder."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, write_together
    from optmodels.cli.parts import formulation_of
    from optmodels.datasets import load

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise InputError(f"Cannot make the folder '{out}': {failure.strerror}. Name another with --out.") from failure
    release_file, json_file, html_file = out / "release.csv", out / "audit.json", out / "audit.html"
    check_outputs({"release": release_file, "audit": json_file, "report": html_file}, inputs=[])

    table = load("german", scaling="standard")
    problem = formulation_of("microaggregation", {"k": K, "distinct_l": DISTINCT_L}, {}).build(table)
    with show.progress() as on_progress:
        solution = _solver().solve(problem, time_limit=SECONDS, on_progress=on_progress)
    release = solution.release()
    write_together(
        [
            (release_file, release.to_csv),
            (json_file, release.save_audit),
            (html_file, release.save_report),
        ]
    )
    show.say(f"German credit: {show.escaped(table)}")
    show.run(solution)
    show.before_and_after(table, release, solution)
    show.say(f"In {show.escaped(out)}/: the anonymised table (release.csv) and its audit (audit.json, audit.html).")


def _solver() -> Solver:
    """The best there is here: what `auto` builds on may not be installed, MDAV needs nothing."""
    from optmodels.cli.parts import solver_of

    try:
        return solver_of("auto", {})
    except MissingDependencyError:
        return solver_of("mdav", {})
