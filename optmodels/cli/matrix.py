"""`optmodels list matrix`: what goes with what, as cells for scripts or as tables and reasons for readers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from optmodels.cli.values import Choice, chosen, names

if TYPE_CHECKING:
    from optmodels.matrix import Cell

TITLES = {"solve": "One answer", "pareto": "A Pareto front"}
REFUSED = "-"


def matrix(
    *, formulation: Sequence[str], task: Sequence[str], condition: Sequence[str], solver: Sequence[str]
) -> list[Cell]:
    """The cells of the rows and columns that were named, of all where none were."""
    from optmodels.matrix import CONDITIONS, TASKS, cells
    from optmodels.registry import formulation_names, solver_names

    return list(
        cells(
            formulations=_among("--formulation", formulation, formulation_names()),
            tasks=_among("--task", task, TASKS),
            conditions=_among("--condition", condition, tuple(CONDITIONS)),
            solvers=_among("--solver", solver, solver_names()),
        )
    )


def document(cells: Iterable[Cell]) -> dict[str, list[dict[str, Any]]]:
    """The cells as JSON has them."""
    return {"cells": [asdict(cell) for cell in cells]}


def put(cells: Sequence[Cell]) -> None:
    """A table for each task with a row for each solver and a column for each formulation, and why some refuse."""
    from optmodels.cli import show

    conditions, formulations = (_distinct(map(attrgetter(of), cells)) for of in ("condition", "formulation"))
    for task in _distinct(cell.task for cell in cells):
        claims: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for cell in cells:
            if cell.task == task:
                claims[cell.solver, cell.formulation][cell.claims or REFUSED].append(cell.condition)
        show.say(f"[bold]{TITLES[task]}[/]")
        rows = [
            (solver, *(_claimed(claims[solver, formulation], conditions) for formulation in formulations))
            for solver in _distinct(cell.solver for cell in cells)
        ]
        show.grid(("solver", *formulations), rows)
    show.say(f"Under each of these conditions alone, unless some are named: {', '.join(conditions)}.")
    show.say(f"proven: best, given the time; feasible: all conditions kept, nothing proven; {REFUSED}: refused.")
    for solvers, where, reason in _refusals(cells):
        show.say(f"  [bold]{show.escaped(', '.join(solvers))}[/] ({show.escaped(where)}): {show.escaped(reason)}")


def _claimed(claims: Mapping[str, Sequence[str]], conditions: Sequence[str]) -> str:
    """The claims of a solver for a formulation; which conditions they are about where these are not all.

    >>> _claimed({"proven": ["k"], "-": ["delta", "t-equal"]}, ["k", "delta", "t-equal"])
    'proven: k'
    >>> _claimed({"proven": ["k", "delta"], "-": ["t-equal"]}, ["k", "delta", "t-equal"])
    'proven but t-equal'
    """
    told = []
    for claim, kept in claims.items():
        others = [condition for condition in conditions if condition not in kept]
        if not others:
            return claim
        if claim != REFUSED:
            told.append(
                f"{claim} but {', '.join(others)}" if len(others) < len(kept) else f"{claim}: {', '.join(kept)}"
            )
    return "; ".join(told)


def _refusals(cells: Iterable[Cell]) -> Iterator[tuple[list[str], str, str]]:
    """Solvers that refuse for the same reason, what they refuse, and the reason; one condition stands for all."""
    told: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    seen = set()
    for cell in cells:
        row = cell.solver, cell.formulation, cell.task
        if cell.reason is None or row in seen:
            continue
        seen.add(row)
        general = cell.reason.replace(f"'{cell.formulation}'", "the model")
        told[general][cell.solver].append(cell.formulation)
    for reason, by_solver in told.items():
        alike: dict[str, list[str]] = defaultdict(list)
        for solver, formulations in by_solver.items():
            alike[", ".join(_distinct(formulations))].append(solver)
        for where, solvers in alike.items():
            yield solvers, where, reason


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _among(option: str, texts: Sequence[str], known: Sequence[Choice]) -> Sequence[Choice]:
    """Those that were typed, or all."""
    return [chosen(option, text, known) for text in names(option, texts)] or known
