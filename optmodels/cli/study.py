"""`optmodels study`: compare solvers on data, safe to stop at any moment, with tables, tests and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from optmodels.cli import options
from optmodels.cli.study_progress import study_progress
from optmodels.cli.values import chosen, names
from optmodels.errors import InputError, NoSolutionError

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(
    help="Compare solvers: datasets x formulations x solvers x seeds, in parallel, resumed where it stopped.",
    no_args_is_help=True,
)

Database = Annotated[Path, typer.Argument(metavar="RUNS.DB", help="The study's file.")]
Measure = Annotated[
    str,
    typer.Option(metavar="NAME", help="value, seconds, time-to-target, evaluations, peak_memory or gap."),
]
Tolerance = Annotated[
    float, typer.Option(min=0.0, help="How close to the best known value a target is, as a share of it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the study as one HTML page: ranks, profiles, curves, tables."),
]


@app.command("run", epilog="Example: optmodels study run which_solver.toml --out runs.db --workers 2")
def run(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.TOML", help="What to run.")],
    out: Annotated[Path, typer.Option(metavar="RUNS.DB", help="The file the runs are written to, one by one.")],
    workers: Annotated[int | None, typer.Option(min=1, help="Runs at a time; by default one for each core.")] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster instead of this machine.")
    ] = None,
    retry: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Make runs again that ended so: refused, error, crashed, overtime, memory."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check the spec and count its runs.")] = False,
    report: Report = None,
) -> None:
    """Make all runs of a study that are not in the file yet; stop it as you like, and run it again to go on."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs
    from optmodels.study import load_study
    from optmodels.study import run as make
    from optmodels.study.building import planned

    study = load_study(spec)
    check_outputs({"--report": report}, inputs=[spec, out])
    if dry_run:
        show.say(f"{show.escaped(study.name)}: {len(planned(study))} runs.")
        return
    with study_progress() as on_progress:
        done = make(
            study, out, workers=workers, dask=dask, retry=names("--retry", retry or ()), on_progress=on_progress
        )
    place = f"optmodels study run {spec} --out {out}"
    if done.interrupted:
        raise NoSolutionError(
            f"Stopped after {done.made} more runs: all that were finished are in '{out}', and '{place}' goes on from "
            "there."
        )
    again = "" if done.made == done.total else f" ({done.total - done.made} were there already)"
    show.say(f"{show.escaped(study.name)}: {done.made} runs made{again}, {done.total} in {show.escaped(out)}.")
    _tell_failures(out)
    _write_report(out, report)


@app.command("status", epilog="Example: optmodels study status runs.db")
def status(database: Database, report: Report = None, json: Json = False) -> None:
    """How far a study is: runs done, waiting and failed, with reasons; also while it runs."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json
    from optmodels.study import open_study

    check_outputs({"--report": report}, inputs=[database])
    results = open_study(database)
    found = results.status()
    if json:
        _write_report(database, report, said=False)
        put_json({**found, "failures": results.failures().to_dict("records")})
        return
    ended = ", ".join(f"{count} {outcome}" for outcome, count in found["outcomes"].items()) or "none ended"
    show.say(f"[bold]{show.escaped(found['study'])}[/]: {found['planned']} runs, {ended}, {found['waiting']} waiting.")
    if found["running"]:
        show.say(f"Being run by {show.escaped(found['running'])}.")
    if found["of_earlier_versions"]:
        show.say(f"{found['of_earlier_versions']} more runs are of earlier versions of the study, and left out.")
    made_with = [machine for machine in found["environments"] if machine]
    for line in dict.fromkeys(
        f"{machine['cores']} cores of {machine['cpu']}, optmodels {machine['versions']['optmodels']} "
        f"(sources {machine['sources']['optmodels']})"
        for machine in made_with
    ):
        show.say(show.escaped(line))
    if found["differing"]:
        listed = "; ".join(f"{name} {' and '.join(values)}" for name, values in found["differing"].items())
        show.say(
            f"[yellow]Runs were made on different machines or by different code[/]: {show.escaped(listed)}. Compare "
            "them with care, or run the study into a new file."
        )
    _tell_failures(database)
    _write_report(database, report)


@app.command("table", epilog="Example: optmodels study table runs.db --measure seconds")
def table(
    database: Database,
    measure: Annotated[str, typer.Option(metavar="NAME", help="value, seconds, gap, evaluations, peak_memory, ...")] = (
        "value"
    ),
    statistic: Annotated[str, typer.Option(metavar="NAME", help="median, mean, min, max or std.")] = "median",
    report: Report = None,
    json: Json = False,
) -> None:
    """A measure for every dataset and model (rows) and every solver (columns), over repetitions."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json
    from optmodels.study import open_study
    from optmodels.study.measures import Statistic, overview, summary

    check_outputs({"--report": report}, inputs=[database])
    how = chosen("--statistic", statistic, get_args(Statistic))
    runs = _some(open_study(database).runs(), database)
    found = summary(runs, measure, how)
    if json:
        put_json(found.reset_index().to_dict("records"))
        _write_report(database, report, said=False)
        return
    _grid(found.reset_index())
    solved = overview(runs)["solved"]
    if len(frail := solved[solved < 1]):
        listed = ", ".join(f"{name} {share:.0%}" for name, share in frail.items())
        show.say(f"The {how} is of runs that were solved; not all of them were by {show.escaped(listed)}.")
    _write_report(database, report)


@app.command("compare", epilog="Example: optmodels study compare runs.db --measure value")
def compare(
    database: Database,
    measure: Measure = "value",
    tolerance: Tolerance = 0.01,
    correction: Annotated[str, typer.Option(metavar="holm|bh|none", help="For many tests.")] = "holm",
    each: Annotated[
        bool, typer.Option("--each", help="Compare on every problem over its repetitions (Mann-Whitney) instead.")
    ] = False,
    report: Report = None,
    json: Json = False,
) -> None:
    """Whether solvers differ by more than chance: Friedman with Nemenyi, Wilcoxon for pairs, effect sizes."""
    import numpy as np

    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, put_json
    from optmodels.study import measures, open_study, statistics

    how = chosen("--correction", correction, get_args(statistics.Correction))
    what = chosen("--measure", measure, get_args(measures.Measure))
    check_outputs({"--report": report}, inputs=[database])
    results = open_study(database)
    runs = _some(results.runs(), database)
    _write_report(database, report, said=not json)
    costs = measures.costs(runs, results.curves(), what, tolerance)
    if each:
        found = statistics.on_each_problem(costs, how)
        put_json(found.to_dict("records")) if json else _grid(found)
        return
    problems = statistics.by_problem(costs)
    test, pairs = statistics.friedman(problems), statistics.pairwise(problems, how)
    ranked = test.ranks.rename("mean_rank").to_frame().join(measures.overview(runs)).rename_axis("solver").reset_index()
    if json:
        put_json(
            {
                "statistic": test.statistic,
                "p": test.p,
                "problems": test.problems,
                "groups": test.groups,
                "critical_difference": test.critical_difference,
                "ranks": dict(test.ranks),
                "solvers": ranked.to_dict("records"),
                "pairs": pairs.to_dict("records"),
            }
        )
        return
    show.say(
        f"Friedman over {test.problems} problems: statistic {test.statistic:.4g}, p = {test.p:.3g}; mean ranks differ "
        f"significantly from {test.critical_difference:.3g} on (Nemenyi, {test.alpha:g})."
    )
    _grid(ranked)
    if failed := [str(name) for name in problems.columns if np.isinf(problems[name]).any()]:
        show.say(
            "Failed in a repetition or more, which counts as failing on the problem: "
            + ", ".join(f"{show.escaped(name)} on {int(np.isinf(problems[name]).sum())}" for name in failed)
            + f" of {len(problems)} problems."
        )
    show.say(f"Pairs by Wilcoxon's signed ranks, p corrected ({how}); a12 below 0.5 is in favour of the first.")
    _grid(pairs)


@app.command("plot", epilog="Example: optmodels study plot runs.db --out plots")
def plot(
    database: Database,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to leave the pages and their data.")],
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="performance, data, anytime, scaling, boxes, attainment, ranks; all by default."
        ),
    ] = None,
    measure: Measure = "value",
    tolerance: Tolerance = 0.01,
    backend: Annotated[
        str, typer.Option(metavar="plotly|matplotlib", help="Pages to look at, or PDF for print.")
    ] = "plotly",
    report: Report = None,
    force: options.Force = False,
) -> None:
    """Profiles, anytime curves, scaling, boxes and attainment of fronts, mean ranks; with data as CSV."""
    from optmodels.cli import show
    from optmodels.cli.output import check_folder, check_outputs
    from optmodels.plot.figures import Backend
    from optmodels.study import measures, open_study
    from optmodels.study.plots import Kind, plots, write_plots

    check_outputs({"--report": report}, inputs=[database])
    check_folder(out, force=force)
    asked = [chosen("--kind", one, get_args(Kind)) for one in names("--kind", kind or ())] or get_args(Kind)
    what = chosen("--measure", measure, get_args(measures.Measure))
    drawn_by = chosen("--backend", backend, get_args(Backend))
    plotted = plots(open_study(database), asked, measure=what, tolerance=tolerance, backend=drawn_by)
    why = ""
    if "scaling" in asked and "scaling" not in [name for name, *_ in plotted]:
        why = (
            "For scaling a dataset must have been solved in two sizes or more: give it a list of rows or sample, or "
            "give files of several sizes the same family."
        )
    if not plotted:
        raise InputError(f"The study in '{database}' has no data for {', '.join(asked)}. {why}".rstrip())
    if why and kind:
        show.say(why)
    for path in write_plots(plotted, out):
        show.say(f"Written: {show.escaped(path)}")
    _write_report(database, report)


@app.command("export", epilog="Example: optmodels study export runs.db --format latex --out table.tex")
def export(
    database: Database,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write; for iohprofiler a new folder.")],
    form: Annotated[
        str, typer.Option("--format", metavar="csv|parquet|latex|iohprofiler", help="Of which kind.")
    ] = "csv",
    what: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="runs, curves, points or summary; LaTeX has the summary, others the runs."),
    ] = None,
    measure: Annotated[str, typer.Option(metavar="NAME", help="Of the summary.")] = "value",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="evaluations|milliseconds", help="What IOHprofiler is to count; by default what all have."
        ),
    ] = None,
    report: Report = None,
    force: options.Force = False,
) -> None:
    """Runs, anytime curves, points of fronts or the summary, for other programs; all curves for IOHprofiler."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs
    from optmodels.study import open_study
    from optmodels.study.export import Format, What
    from optmodels.study.export import export as write
    from optmodels.study.iohprofiler import IOHPROFILER, Budget, export_iohprofiler

    if form == IOHPROFILER:
        check_outputs({"--report": report}, inputs=[database, out])
        if what is not None:
            raise InputError("--what is for tables: to IOHprofiler all anytime curves go.")
        counted = None if budget is None else chosen("--budget", budget, get_args(Budget))
        made = export_iohprofiler(open_study(database), out, counted)
        show.say(f"Written: {show.escaped(out)}, {made} runs.")
        _write_report(database, report)
        return
    if budget is not None:
        raise InputError("--budget is what IOHprofiler counts: it goes with --format iohprofiler.")
    check_outputs({"--out": out, "--report": report}, inputs=[database], force=force)
    part = None if what is None else chosen("--what", what, get_args(What))
    rows = write(open_study(database), out, chosen("--format", form, get_args(Format)), part, measure=measure)
    show.say(f"Written: {show.escaped(out)}, {rows} rows.")
    _write_report(database, report)


def _write_report(database: Path, report: Path | None, *, said: bool = True) -> None:
    """The page of a study, if it was asked for."""
    from optmodels.cli import show
    from optmodels.cli.output import page_writer, write_together
    from optmodels.cli.typed_command import command
    from optmodels.study import open_study
    from optmodels.study.page import page

    if report is not None:
        source = {"data": str(database), **command()}
        write_together([(report, page_writer(page(open_study(database), source)))])
    if report is not None and said:
        show.say(f"Written: {show.escaped(report)}")


def _some(runs: pd.DataFrame, database: Path) -> pd.DataFrame:
    if not len(runs):
        raise InputError(f"The study in '{database}' has no finished run yet: see 'optmodels study status {database}'.")
    return runs


def _tell_failures(database: Path) -> None:
    from optmodels.cli import show
    from optmodels.study import open_study

    for row in open_study(database).failures().to_dict("records"):
        place = f"{row['runs']} x {row['solver']} on {row['datasets']}"
        show.say(f"[yellow]{row['outcome']}[/]: {show.escaped(place)}: {show.escaped(row['reason'])}")


def _grid(frame: pd.DataFrame) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from optmodels.cli import show

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in frame.columns:
        grid.add_column(show.escaped(name), justify="left" if frame[name].dtype.kind not in "fiu" else "right")
    for row in frame.itertuples(index=False):
        grid.add_row(*(_cell(value) for value in row))
    console = Console()
    # On a terminal lines wrap as they must; in a file nothing is folded.
    console.print(grid) if console.is_terminal else Console(
        width=max(80, *map(len, frame.to_string().splitlines())) + 40
    ).print(grid)


def _cell(value: Any) -> str:
    from optmodels.cli import show

    if isinstance(value, float):
        return "-" if value != value else "inf" if abs(value) == float("inf") else show.number(value)
    return show.number(value) if isinstance(value, int) else show.escaped(value)
