"""How results look on a terminal: the audit as a table, the run in one sentence, progress in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table as Grid

if TYPE_CHECKING:
    from optmodels.audit import Audit
    from optmodels.conditions import Conditions
    from optmodels.front import ParetoFront
    from optmodels.release import Release
    from optmodels.solution import Solution
    from optmodels.solver import OnProgress, Progress
    from optmodels.table import Table

# The levels of a sensitive attribute that fit on a terminal; JSON and the HTML page have all of them.
LEVELS = ("distinct_l", "entropy_l", "recursive_c", "t_variational")
# What the values of a sensitive attribute are to the earth mover's distance.
GROUNDS = {"equal": "as names", "ordered": "in order", "hierarchical": "by hierarchy"}
# The points of a front that fit on a terminal; front.csv has all of them.
POINTS = 20
# Between two lines of progress where there is no terminal to move one on.
LOG_SECONDS = 30.0


def say(text: str) -> None:
    """A line of plain text on stdout; rich markup is understood, wrapping is left to the terminal."""
    Console().print(text, soft_wrap=True, highlight=False)


def escaped(text: object) -> str:
    """Text from data or files, which may hold square brackets."""
    return escape(str(text))


def number(value: float | None) -> str:
    """A measure in a few digits.

    >>> [number(value) for value in (1000, 0.0569186, 3.0, None)]
    ['1,000', '0.05692', '3', '-']
    """
    if value is None:
        return "-"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.4g}"


def side_by_side(columns: Mapping[str, Mapping[str, float | None]]) -> None:
    """A table with a column for each audit and a row for each measure."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    grid.add_column("", style="bold")
    for title in columns:
        grid.add_column(escaped(title), justify="right")
    for measure in dict.fromkeys(measure for measures in columns.values() for measure in measures):
        grid.add_row(escaped(measure), *(number(measures.get(measure)) for measures in columns.values()))
    Console().print(grid)


def grid(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table of texts, as wide as it needs to be: the first column to the left, the others to the right."""
    shown = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, title in enumerate(titles):
        shown.add_column(escaped(title), justify="right" if place else "left")
    for row in rows:
        shown.add_row(*(escaped(cell) for cell in row))
    console = Console()
    wanted = Measurement.get(console, console.options.update(max_width=1000), shown).maximum
    Console(width=max(wanted, console.width)).print(shown)


def before_and_after(table: Table, release: Release, solution: Solution) -> None:
    """What the table gave away, what its release still does, and what that cost; loudly, if a risk rose."""
    from optmodels.audit import audit_table
    from optmodels.plot.risks import risen

    cost = {**solution.values, "gap": solution.gap}
    before = audit_table(table)
    side_by_side({"before": measures(before.to_dict()), "after": measures(release.audit.to_dict()) | cost})
    if worse := risen(before, release.audit):
        say(
            f"[bold red]Risks that rose:[/] {escaped('; '.join(worse))}. Conditions keep them down: a larger --k, "
            "--distinct-l, --most-share, --beta, --t, or --against."
        )


def cleaned(table: Table) -> None:
    """What was done to values before anything else, cell by cell counted."""
    for step, by in table.cleaning_report.items():
        columns = ", ".join(f"{escaped(name)} {cells:,}" for name, cells in by.items())
        say(f"Cleaned ({step}), cells changed: {columns}.")
    dropped = table.missing_report["records_dropped"]
    if dropped:
        say(f"Left out because of missing values: {dropped:,} records.")


def people(table: Table, audit: Audit, promise: Conditions) -> None:
    """Whom k counts: people, where it is known whose records are; loudly, where an identifier says that it should."""
    for name, many in table.repeated_identifiers.items():
        say(
            f"[bold red]k counts records, and {many:,} values of the identifier {escaped(name)} have several:[/] if it "
            f"says whose a record is, a class of k may be one person. Count people with --person {escaped(name)}."
        )
    if audit.people is None:
        return
    say(
        f"k counts people ({escaped(table.roles.person)}): {audit.records:,} records of {audit.people.people:,}, "
        f"of one at most {audit.people.most_records:,}."
    )
    if short := audit.short_by_people(promise):
        say(
            "[bold red]What is promised of sensitive values is kept of records, and not if a person counts once for "
            f"each value:[/] {escaped('; '.join(short))}."
        )


def kept(audit: Mapping[str, Any]) -> None:
    """What no promise covers, loudly: columns that are released as they are."""
    found = audit.get("kept")
    if not found:
        return
    columns = ", ".join(f"{escaped(name)} {alone:.0%}" for name, alone in found["columns"].items())
    together = found["alone_with_quasi_and_kept"]
    say(
        f"[bold red]Kept as they are, and covered by no promise:[/] records alone with their value of {columns}; "
        f"[bold]{together:.0%}[/] are alone with their quasi-identifiers and these together. Who may know these "
        "columns finds people by them: drop them with --others drop, or name them as quasi-identifiers."
    )


def lost(attribute_loss: Mapping[str, float]) -> None:
    """What is lost of each quasi-identifier, and loudly where it is nearly all."""
    from optmodels.metrics.loss import all_but_lost

    if not attribute_loss:
        return
    gone = all_but_lost(attribute_loss)
    shares = ", ".join(
        f"[bold red]{escaped(name)} {share:.1%}[/]" if name in gone else f"{escaped(name)} [bold]{share:.1%}[/]"
        for name, share in attribute_loss.items()
    )
    say(f"Lost of each quasi-identifier, where one class of everybody would lose 100%: {shares}.")
    if gone:
        say(
            f"[bold red]All but lost:[/] {', '.join(map(escaped, gone))}. Let it count more with --weight "
            f"{escaped(gone[0])}=10 or choose another --scaling; or leave it out of the release with --identifier."
        )


def weights(table: Table) -> None:
    """What each quasi-identifier counts, where they do not all count the same."""
    if len(set(table.weights.values())) > 1:
        counted = ", ".join(f"{escaped(name)} [bold]{weight:g}[/]" for name, weight in table.weights.items())
        say(f"Weights of quasi-identifiers: {counted}.")


def orders_guessed(guessed: Mapping[str, bool]) -> None:
    """Whether numbers count as names or in their order, loudly where nobody said it: t means one or the other."""
    for name, ordered in guessed.items():
        column = escaped(name)
        if ordered:
            say(
                f"[bold yellow]{column}[/] holds numbers with decimals, taken for measurements: t is about their "
                f"order. If they are codes, say --nominal {column}; if you mean it, --ordered {column}."
            )
        else:
            say(
                f"[bold yellow]{column}[/] holds whole numbers, which may be codes: to t they are names, all equally "
                f"far apart. If they are amounts, say --ordered {column}; if you mean it, --nominal {column}."
            )


def measures(audit: Mapping[str, Any]) -> dict[str, float | None]:
    """The rows of an audit that fit on a terminal."""
    found: dict[str, float | None] = {name: audit[name] for name in ("records", "classes", "k")}
    if audit["people"] is not None:
        found = {"records": audit["records"], "people": audit["people"]["people"], **found}
    if audit.get("suppressed"):
        found["suppressed"] = audit["suppressed"]
    found |= {f"linked at {tau}": linked for tau, linked in audit["linkage"].items()}
    if audit["sensitive"]:
        found["homogeneous"] = audit["homogeneity"]["total"]
    for name, levels in audit["sensitive"].items():
        found |= {f"{name}: {level.replace('_', ' ')}": levels[level] for level in LEVELS}
        found[f"{name}: t emd, {GROUNDS[levels['t_ground']]}"] = levels["t_emd"]
        found[f"{name}: open to skewness"] = levels["skewed"]
        found[f"{name}: open to similarity"] = levels["alike"]
    return found


def notes(details: Mapping[str, object]) -> None:
    """What a solver has to tell beyond its result: what `auto` picked and why, its remark."""
    if "chosen" in details:
        say(f"auto picked [bold]{escaped(details['chosen'])}[/]: {escaped(details['because'])}.")
    if "blocks_optimise" in details:
        say(f"Blocks optimise {escaped(details['blocks_optimise'])}.")
    if "remark" in details:
        say(escaped(details["remark"]))


def run(solution: Solution) -> None:
    """A run in one sentence: what was found, by what, and what is proven about it."""
    values = ", ".join(f"{name} {number(value)}" for name, value in solution.values.items())
    notes(solution.details)
    proven = "" if solution.gap is None else f", at most {solution.gap:.2%} from optimal"
    stop = "" if solution.stop == "converged" else f" (stopped: {solution.stop})"
    say(
        f"[bold]{escaped(solution.problem.formulation.name)}[/], {escaped(solution.problem.conditions.describe())}: "
        f"{solution.status} by {escaped(solution.solver)} in {solution.seconds:.2f} s{stop}, [bold]{values}[/]{proven}."
    )


def front(found: ParetoFront) -> None:
    """A front in one sentence and as a table, the knee marked; of many points evenly spaced ones are shown."""
    from optmodels.plot.points import axis_title

    details, objectives = found.details, found.problem.objectives
    notes(details)
    stop = "" if details["stop"] == "converged" else f" (stopped: {details['stop']})"
    say(
        f"[bold]{escaped(found.problem.formulation.name)}[/], {escaped(found.problem.conditions.describe())}: "
        f"{len(found)} points by {escaped(details['solver'])} in {details['seconds']:.2f} s{stop}, "
        f"hypervolume [bold]{number(found.hypervolume())}[/]."
    )
    shown = {round(i * (len(found) - 1) / (POINTS - 1)) for i in range(POINTS)} if len(found) > POINTS else None
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("point", *(axis_title(objective) for objective in objectives), "gap"):
        grid.add_column(escaped(title), justify="right")
    knee = found.knee_index
    for i, point in enumerate(found):
        if shown is None or i in shown or i == knee:
            values = (number(point.values[objective.name]) for objective in objectives)
            gap = "-" if point.gap is None else f"{point.gap:.2%}"
            grid.add_row(f"{i} (knee)" if i == knee else str(i), *values, gap)
    Console().print(grid)
    if shown is not None:
        say(f"These are {len(shown | {knee})} of {len(found)} points, evenly spaced; front.csv has all of them.")


def listing(entries: Sequence[Mapping[str, str]]) -> None:
    """Entries one below the other: the name and its state, the summary, and what else is known."""
    console = Console()
    for entry in entries:
        colour = "green" if entry["state"] == "ready" else "yellow"
        console.print(f"[bold]{escaped(entry['name'])}[/]  [{colour}]{escaped(entry['state'])}[/]", highlight=False)
        further = [f"{key}: {value}" for key, value in entry.items() if key not in ("name", "state", "summary")]
        for line in (entry["summary"], *further):
            if line and not line.endswith(": "):
                console.print(Padding(escaped(line), (0, 0, 0, 4), expand=False), highlight=False)


@contextmanager
def progress() -> Iterator[OnProgress]:
    """One moving line on stderr while a solver runs, which leaves nothing behind; in a log a line now and then."""
    console = Console(stderr=True)
    if not console.is_terminal:
        printed = perf_counter()

        def tell(state: Progress) -> None:
            nonlocal printed
            if perf_counter() - printed >= LOG_SECONDS:
                printed = perf_counter()
                console.print(progress_line(state), soft_wrap=True)

        yield tell
        return
    with console.status("solving ...") as line:
        yield lambda state: line.update(progress_line(state))


@contextmanager
def steps(what: str) -> Iterator[Callable[..., object]]:
    """One moving line on stderr while steps are counted, which leaves nothing behind; in a log a line now and then."""
    console = Console(stderr=True)
    if not console.is_terminal:
        printed = perf_counter()

        def tell(done: int, total: int, note: str = "") -> None:
            nonlocal printed
            if perf_counter() - printed >= LOG_SECONDS:
                printed = perf_counter()
                console.print(f"{escaped(note or what)} {done:,} of {total:,}")

        yield tell
        return
    with console.status(f"{what} ...") as line:
        yield lambda done, total, note="": line.update(f"{escaped(note or what)} {done:,} of {total:,}")


def progress_line(state: Progress) -> str:
    """Where a solver is: its name, the seconds, the value, the bound, the gap, its note."""
    parts = [f"[bold]{escaped(state.solver)}[/]", f"{state.seconds:.0f} s"]
    if state.value is not None:
        parts.append(f"value {number(state.value)}")
    if state.bound is not None:
        parts.append(f"bound {number(state.bound)}")
    if state.gap is not None:
        parts.append(f"gap {state.gap:.2%}")
    if state.total:
        parts.append(f"{state.done / state.total:.0%}")
    if state.note:
        parts.append(escaped(state.note))
    return "  ".join(parts)
