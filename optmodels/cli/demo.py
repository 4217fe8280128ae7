"""`optmodels demo`: the main job on bundled data, before and after, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

K = 5
DISTINCT_L = 2
SECONDS = 10.0


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to leave the results.")] = Path("demo"),
) -> None:
    """Anonymise German credit (1,000 people), show its audit before and after, and leave all of it in a folder."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, write_together
    from optmodels.cli.parts import formulation_of, solver_of
    from optmodels.datasets import load
    from optmodels.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"Cannot make the folder '{out}': {problem.strerror}. Name another with --out.") from problem
    release_file, json_file, html_file = out / "release.csv", out / "audit.json", out / "audit.html"
    check_outputs({"release": release_file, "audit": json_file, "report": html_file}, inputs=[])

    table = load("german", scaling="standard")
    problem = formulation_of("microaggregation", {"k": K, "distinct_l": DISTINCT_L}, {}).build(table)
    with show.progress() as on_progress:
        solution = solver_of("auto", {}).solve(problem, time_limit=SECONDS, on_progress=on_progress)
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
