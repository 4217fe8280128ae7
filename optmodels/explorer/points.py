"""One point of a front, looked into: what it promises, protects, risks and costs, before and after."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, get_args

import numpy as np
import pandas as pd

from optmodels.audit import Audit, audit_table
from optmodels.errors import InputError, unknown
from optmodels.explorer.fronts import SavedFront
from optmodels.plot import changes, classes
from optmodels.plot.risks import risk_change
from optmodels.recoding import Method
from optmodels.release import Release
from optmodels.solution import Solution

_REMEMBERED = 8  # releases that are kept in memory
_ROWS = 12  # of a sample
_RISKY = 12
_PAIRS = 40  # of columns, whose correlation is shown
_TEXT = 200  # characters of a value that are shown


@dataclass(frozen=True)
class Made:
    """A point judged again and released."""

    solution: Solution
    release: Release


class Points:
    """Points that were looked into, the latest remembered: making a release of a large table takes its time."""

    def __init__(self) -> None:
        self._made: OrderedDict[tuple[str, int, str | None], Made] = OrderedDict()
        self._audits: dict[str, Audit] = {}
        self._lock = Lock()

    def made(self, front: SavedFront, number: int, method: str | None = None) -> Made:
        """A point's release, which keeps its promise or is an error."""
        key = str(front.folder), number, method
        with self._lock:
            if key not in self._made:
                solution = front.front().judged(number)
                self._made[key] = Made(solution, solution.release(method=checked_method(method)))
            self._made.move_to_end(key)
            while len(self._made) > _REMEMBERED:
                self._made.popitem(last=False)
            return self._made[key]

    def before(self, front: SavedFront) -> Audit:
        """The audit of the table as it was."""
        key = str(front.folder)
        if key not in self._audits:
            self._audits[key] = audit_table(front.front().problem.table)
        return self._audits[key]

    def document(self, front: SavedFront, number: int, method: str | None = None) -> dict[str, Any]:
        """All that the page shows of a point."""
        made, before = self.made(front, number, method), self.before(front)
        solution, release = made.solution, made.release
        problem, after, recoded = solution.problem, release.audit, release.recoded
        assert recoded is not None
        table, frame = problem.table, release.frame
        sizes = classes.sizes_of(frame, table.quasi)
        return {
            "front": front.name,
            "point": number,
            "values": dict(solution.values),
            "senses": {objective.name: objective.sense for objective in problem.objectives},
            "status": str(solution.status),
            "bound": solution.bound,
            "gap": solution.gap,
            "solver": solution.solver,
            "promise": problem.conditions.describe(),
            "kept": after.check(problem.conditions) == [],
            "method": release.method,
            "methods": list(get_args(Method)),
            "target": table.target,
            "before": before.to_dict(),
            "after": after.to_dict(),
            "risks": records_of(risk_change(before, after)),
            "sizes": records_of(classes.class_size_bands(sizes)),
            "sensitive": {
                name: records_of(
                    classes.sensitive_range(frame, table.quasi, name, order=table.sensitive_orders.get(name))
                )
                for name in table.sensitive
            },
            "by_class": {
                name: class_by_class(frame, table.quasi, name, order=table.sensitive_orders.get(name))
                for name in table.sensitive
            },
            "loss": dict(after.attribute_loss),
            "all_but_lost": list(after.all_but_lost),
            "riskiest": _frame(classes.riskiest_classes(frame, table.quasi, table.sensitive, most=_RISKY)),
            "rows": _pairs_of_rows(changes.rows_before_and_after(recoded, rows=_ROWS)),
            "means": records_of(changes.mean_change(recoded)),
            "correlations": _correlations(changes.correlation_change(recoded)),
            "distributions": {name: records_of(changes.distribution_change(recoded, name)) for name in table.quasi},
        }


def class_by_class(
    frame: pd.DataFrame, quasi: Sequence[str], name: str, *, order: pd.Index | None = None, most: int = _RISKY
) -> dict[str, Any]:
    """The shares of a sensitive attribute's values in classes, those that differ most from the whole table first.

    >>> people = pd.DataFrame({"age": [30, 30, 40, 40], "illness": ["flu", "cold", "flu", "flu"]})
    >>> class_by_class(people, ["age"], "illness")["classes"][0]
    {'class': 0, 'size': 2, 'differs': 0.25, 'shares': [0.5, 0.5]}
    """
    found = classes.sensitive_in_classes(frame, quasi, name, order=order)
    ranged = classes.sensitive_range(frame, quasi, name, order=order)
    whole = ranged["whole"].to_numpy(float)
    place = pd.Series(range(len(ranged)), index=ranged["value"])
    shares = np.zeros((int(found["class"].max()) + 1, len(ranged)))
    shares[found["class"], place[found["value"]]] = found["share"]
    sizes = found.groupby("class")["size"].first().to_numpy()
    apart = np.abs(shares - whole).sum(axis=1) / 2
    rows = np.lexsort((np.arange(len(sizes)), sizes, -apart))[:most].tolist()
    return {
        "values": [_cell(value) for value in ranged["value"]],
        "whole": whole.tolist(),
        "count": len(sizes),
        "classes": [
            {"class": i, "size": int(sizes[i]), "differs": float(apart[i]), "shares": shares[i].tolist()} for i in rows
        ],
    }


def checked_method(method: str | None) -> Method | None:
    """The way of recoding that is asked for, or None for the formulation's own."""
    for known in get_args(Method):
        if known == method:
            chosen: Method = known
            return chosen
    if method is None:
        return None
    raise unknown("recoding", method, get_args(Method))


def checked_number(front: SavedFront, text: str) -> int:
    """The number of a point of the front."""
    count = len(front.frame)
    if not text.isdecimal() or int(text) >= count:
        raise InputError(f"The front '{front.name}' has the points 0 to {count - 1}, not '{text[:20]}'.")
    return int(text)


def _cell(value: Any) -> Any:
    """A value as the page shows it: numbers as numbers, anything else as text of a length that can be shown."""
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    if pd.isna(value):
        return None
    text = str(value)
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame whose columns have names of ours."""
    names = [str(name) for name in frame.columns]
    return [dict(zip(names, map(_cell, row), strict=True)) for row in frame.itertuples(index=False, name=None)]


def _frame(frame: pd.DataFrame) -> dict[str, Any]:
    """A frame whose columns may be called anything, so that its rows are lists."""
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return {"columns": [_cell(str(name)) for name in frame.columns], "rows": rows}


def _pairs_of_rows(frame: pd.DataFrame) -> dict[str, Any]:
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return {"columns": [[_cell(str(pair[0])), str(pair[1])] for pair in frame.columns.tolist()], "rows": rows}


def _correlations(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Those that change most first; the page says how many there are in all."""
    moved = (frame["before"] - frame["after"]).abs().fillna(-1.0)
    return records_of(frame.assign(moved=moved).sort_values("moved", ascending=False, kind="stable").head(_PAIRS))
