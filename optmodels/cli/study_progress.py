"""Where a study is: a bar on a terminal, lines for a log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from optmodels.study.engine import OnStudyProgress, StudyProgress


@contextmanager
def study_progress() -> Iterator[OnStudyProgress]:
    """A bar on a terminal; elsewhere a line on stderr for every tenth of the runs."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        printed = -1

        def tell(state: StudyProgress) -> None:
            nonlocal printed
            tenth = 10 * state.done // max(1, state.total)
            if tenth > printed and (state.last or printed < 0):
                printed = tenth
                typer.echo(_line(state), err=True)

        yield tell
        return
    columns = BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=None)

        def draw(state: StudyProgress) -> None:
            changed: dict[str, Any] = {"description": _described(state)} if state.last or not state.done else {}
            bar.update(task, total=state.total, completed=state.done, **changed)

        yield draw


def _line(state: StudyProgress) -> str:
    return f"{state.done} of {state.total} runs, {state.seconds:.0f} s. {_described(state)}".rstrip()


def _described(state: StudyProgress) -> str:
    parts = [f"{state.failed} failed"] if state.failed else []
    if state.remaining is not None:
        parts.append(f"about {_duration(state.remaining)} to go")
    return "  ".join([*parts, *([state.last] if state.last else [])])


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever is short to read."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
