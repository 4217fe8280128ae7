"""`optmodels demo`: the main job on bundled data, before and after, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from optmodels.cli import options
from optmodels.errors import InputError

K = 5
CLASSES = 30  # as in the study that MO-OBAM was published with
SECONDS = 10.0
FRONT_SECONDS = 8.0


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to leave the results.")] = Path("demo"),
    report: options.Report = None,
) -> None:
    """Anonymise German credit (1,000 people), show its audit before and after, and leave all of it in a folder."""
    from optmodels import front_folder
    from optmodels.cli import show
    from optmodels.cli.compiled_beside import compiled_beside
    from optmodels.cli.output import check_outputs, page_writer, write_together
    from optmodels.cli.parts import formulation_of, front_solver_of, solver_of
    from optmodels.cli.typed_command import source
    from optmodels.datasets import load

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise InputError(f"Cannot make the folder '{out}': {failure.strerror}. Name another with --out.") from failure
    release_file, json_file, html_file = out / "release.csv", out / "audit.json", report or out / "audit.html"
    check_outputs({"release": release_file, "audit": json_file, "report": html_file}, inputs=[])

    table = load("german")
    problem = formulation_of("mo-obam", {"k": K}, {"n_clusters": str(CLASSES)}).build(table)
    free = formulation_of("mo-obam", {"k": K}, {}).build(table)
    with show.progress() as on_progress:
        with compiled_beside(_first_front):
            solution = solver_of("auto", {}).solve(problem, time_limit=SECONDS, on_progress=on_progress)
        front = front_solver_of(None, {}, None).pareto(free, time_limit=FRONT_SECONDS, on_progress=on_progress)
    release = solution.release()
    write_together(
        [
            *release.files(release_file),
            (json_file, release.save_audit),
            (html_file, page_writer(release.to_html(source=source("german")))),
        ]
    )
    show.say(f"German credit: {show.escaped(table)}")
    show.run(solution)
    show.before_and_after(table, release, solution)
    (out / "front").mkdir(exist_ok=True)
    written = front_folder.writers(front, front_folder.source_of("german", 0), table.roles)
    write_together([(out / "front" / name, write) for name, write in written.items()])
    show.say(f"What else can be had, k = {K}: {show.escaped(front)}")
    page = show.escaped("audit.html" if report is None else report)
    show.say(
        f"In {show.escaped(out)}/: the anonymised table (release.csv), its audit (audit.json, {page}) and a front "
        "to choose other releases from (front/). Look at it, and leave with the one that you want:"
    )
    show.say(f"  optmodels explore {show.escaped(out / 'front')}")


def _first_front() -> None:
    """A front that nobody looks at: what it takes to find one is compiled on the way."""
    from optmodels.cli.parts import formulation_of, front_solver_of
    from optmodels.datasets import load

    problem = formulation_of("mo-obam", {"k": K}, {}).build(load("german"))
    front_solver_of(None, {}, None).pareto(problem, time_limit=0.2)
