"""Pareto fronts: distinct non-dominated solutions, each with its own certificate, that can be picked and released."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isclose, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError, finite, unknown
from optmodels.files import write_whole
from optmodels.markup import MOST_CELLS, grid, notebook
from optmodels.objective import Objective
from optmodels.plot.points import axis_title, front_points
from optmodels.problem import Problem, Wish
from optmodels.saved_front import (
    ROW,
    check_objectives,
    difference,
    frame_in,
    objectives_of,
    plain,
    points_in,
    record_in,
)
from optmodels.solution import Solution, Status

if TYPE_CHECKING:
    from optmodels.plot.figures import Backend

# Objective values closer than this share of the largest are one point: the same partition priced in another order.
_SAME = 1e-12
# Saved values are the same partition's on the same table if they differ by no more than this, relatively.
_REPRODUCED = 1e-7


@dataclass(frozen=True, eq=False)
class ParetoFront:
    """Solutions of one problem, none of which is at least as good as another in every objective.

    Points are sorted by the first objective, best first. `details` is the run record.
    """

    problem: Problem
    points: tuple[Solution, ...]
    details: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(
        cls, problem: Problem, solutions: Iterable[Solution], details: Mapping[str, object] | None = None
    ) -> ParetoFront:
        """The front of some solutions: dominated and repeated ones are left out."""
        found = [solution for solution in solutions if solution.labels is not None]
        found.sort(key=lambda solution: tuple(_costs(problem, solution)))
        kept: list[Solution] = []
        if found:
            costs = np.array([_costs(problem, solution) for solution in found])
            largest = np.abs(costs).max(axis=0, where=np.isfinite(costs), initial=np.finfo(float).tiny / _SAME)
            best = moocore.is_nondominated(np.round(costs / (_SAME * largest)), keep_weakly=False)
            kept = [solution for solution, keep in zip(found, best, strict=True) if keep]
        return cls(problem, tuple(kept), dict(details or {}))

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.points)

    def __getitem__(self, index: int) -> Solution:
        return self.points[index]

    @property
    def names(self) -> list[str]:
        """The names of the objectives."""
        return [objective.name for objective in self.objectives]

    @property
    def objectives(self) -> tuple[Objective, ...]:
        """The objectives of its problem."""
        return self.problem.objectives

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """Objective values with all objectives to be minimised, one row a point."""
        rows = [_costs(self.problem, solution) for solution in self.points]
        return np.array(rows).reshape(len(rows), len(self.names))

    def frame(self, *, runs: bool = False) -> pd.DataFrame:
        """One row a point: objective values, and the bound and gap where they are proven.

        With `runs` it also says which solver found a point, and in how many seconds.
        """
        rows = [
            {**solution.values, "status": str(solution.status), "bound": solution.bound, "gap": solution.gap}
            for solution in self.points
        ]
        found = pd.DataFrame(rows, columns=[*self.names, "status", "bound", "gap"])
        return found.assign(solver=[s.solver for s in self], seconds=[s.seconds for s in self]) if runs else found

    @property
    def knee_index(self) -> int:
        """The number of the point furthest below the line (plane) through the extremes, objectives scaled to 0..1."""
        return knee_of(self._scaled())

    def knee(self) -> Solution:
        """The point furthest below the line (plane) through the extremes, each objective scaled to 0..1."""
        return self.points[self.knee_index]

    def pick(
        self, *, weights: Mapping[str, float] | None = None, limits: Mapping[str, float] | None = None
    ) -> Solution:
        """The best point by a weighted sum of scaled objectives, among those within limits.

        `limits` are upper limits of objectives to be minimised and lower limits of objectives to be maximised.
        Without weights the first objective decides.
        """
        for name in (*(weights or {}), *(limits or {})):
            if name not in self.names:
                raise unknown("objective", name, self.names)
        for name, weight in (weights or {}).items():
            finite(f"The weight of '{name}'", weight, "objectives to be maximised need no sign")
        scaled = self._scaled()
        allowed = np.ones(len(self), bool)
        for name, limit in (limits or {}).items():
            if isnan(limit):
                raise InputError(f"The limit of '{name}' must be a number, not {limit!r}.")
            j = self.names.index(name)
            allowed &= self.costs[:, j] <= _sign(self.problem, j) * limit + _SAME
        if not allowed.any():
            raise InputError(f"No point of the front is within {dict(limits or {})}; the front spans {self._span()}.")
        chosen = weights or {self.names[0]: 1.0}
        score = scaled @ np.array([chosen.get(name, 0.0) for name in self.names])
        return self.points[int(np.argmin(np.where(allowed, score, np.inf)))]

    def near(self, **wish: float) -> Solution:
        """The point nearest to what is wished of objectives, by name, as in `near(loss=0.01, entropy=1.2)`.

        That is the one whose objective that falls short most, as a share of the wish, falls short least; of points that
        keep the wish, the one that is furthest beyond it. Where some objectives have no wish, the others are limits.
        `solve(problem, wish=...)` searches for what may be nearer than any point of the front.
        """
        if not len(self):
            raise InputError("The front has no point: nothing feasible was found.")
        asked = Wish.of(wish, self.names)
        return min(self.points, key=lambda point: asked.achievement(self.problem.objectives, point.values))

    def hypervolume(self, reference: Mapping[str, float] | None = None) -> float:
        """The volume dominated by the front within a reference point, given by objective name.

        Without one it is the worst value of every objective, `problem.reference()`: of loss as a share 1, of entropy 0,
        of linkage and homogeneity all records, of closeness 1, of the number of classes 1.
        """
        worst = self._point(self.problem.reference() if reference is None else reference)
        return float(moocore.hypervolume(self.costs, ref=worst)) if len(self) else 0.0

    def igd_plus(self, other: ParetoFront) -> float:
        """How far this front is from another one, on average over the other's points (IGD+).

        A front without points is infinitely far from any other.
        """
        check_objectives("The other front", objectives_of(other.problem), self.problem)
        if not len(other):
            raise InputError("The other front has no point, so there is nothing to measure a distance from.")
        return float(moocore.igd_plus(self.costs, ref=other.costs)) if len(self) else inf

    def merge(self, other: ParetoFront) -> ParetoFront:
        """The front of both fronts' points, all judged by this front's problem.

        What is proven of the other's points is kept only where both fronts have the same model and parameters.

        Raises:
            InputError: the other front has another table or other objectives, or a point that breaks a condition.
        """
        mine, theirs = self.problem, other.problem
        if mine.n != theirs.n or not mine.table.frame.equals(theirs.table.frame):
            raise InputError(
                f"The fronts are of different tables, of {mine.n} and of {theirs.n} records: only fronts of one table "
                "can be merged."
            )
        check_objectives("The other front", objectives_of(theirs), mine)
        same = not difference(theirs.formulation.name, plain(theirs.formulation.to_dict()), mine.formulation)
        joining = [_judged(mine, point, f"Point {i} of the other front") for i, point in enumerate(other.points)]
        if not same:
            joining = [replace(point, status=Status.FEASIBLE, bound=None) for point in joining]
        return ParetoFront.of(mine, (*self.points, *joining), self.details)

    def save(self, folder: str | Path) -> None:
        """Write the front as front.parquet (one row a point), labels.parquet and front.json."""
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder '{path}' cannot be made: {error.strerror}.") from error
        for name, write in self.files().items():
            write_whole(path / name, write)

    def files(self) -> dict[str, Callable[[Path], object]]:
        """What a saved front consists of: the name of each file and the function that writes it."""
        frame = self.frame(runs=True).assign(stop=[str(s.stop) for s in self], seed=[s.seed for s in self])
        # by the rows of the file, whatever order its records were solved in: that is how others know them
        rows = pd.Index(np.asarray(self.problem.table.rows if len(self) else [], np.int64), name=ROW)
        labels = pd.DataFrame({str(i): s.labels for i, s in enumerate(self.points)}, index=rows).sort_index()
        record = {
            "formulation": self.problem.formulation.name,
            "parameters": self.problem.formulation.to_dict(),
            "objectives": objectives_of(self.problem),
            "records": self.problem.n,
            "points": len(self),
            "details": dict(self.details),
        }
        text = json.dumps(record, indent=2, default=str)
        return {
            "front.parquet": frame.to_parquet,
            "labels.parquet": labels.to_parquet,
            "front.json": lambda target: target.write_text(text + "\n", encoding="utf-8"),
        }

    @staticmethod
    def record(folder: str | Path) -> dict[str, Any]:
        """What a saved front says of itself: formulation, parameters, objectives, records, points and details."""
        return record_in(Path(folder))

    @classmethod
    def load(cls, folder: str | Path, problem: Problem, *, judge: bool = True) -> ParetoFront:
        """A saved front of the same problem: the same model, parameters and objectives, on the same table.

        Without `judge` values are as they were saved, and `judged` is left to be asked for the points that matter:
        where classifiers are trained, judging all points takes as long as finding them did.

        Raises:
            InputError: the problem is another one, or the problem's judgement of a point is not what was saved.
        """
        path = Path(folder)
        record = cls.record(path)
        if record["records"] != problem.n:
            raise InputError(f"The front in '{path}' is of {record['records']} records and the table has {problem.n}.")
        if other := difference(record["formulation"], record["parameters"], problem.formulation):
            raise InputError(f"The front in '{path}' is of another problem: {other}. Build the problem as it was then.")
        check_objectives(f"The front in '{path}'", record["objectives"], problem)
        frame, labels = frame_in(path / "front.parquet"), frame_in(path / "labels.parquet")
        try:
            saved = cls(problem, tuple(points_in(problem, frame, labels)), record["details"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"The front in '{path}' is damaged: its points and their labels do not fit together."
            ) from error
        return cls.of(problem, map(saved.judged, range(len(saved))), saved.details) if judge else saved

    def judged(self, index: int) -> Solution:
        """A point as the problem judges it now.

        Raises:
            InputError: it breaks a condition, or its values are not those that it had.
        """
        point = _judged(self.problem, self.points[index], f"Point {index} of the front")
        for name, value in self.points[index].values.items():
            if not isclose(value, point.values[name], rel_tol=_REPRODUCED, abs_tol=_REPRODUCED):
                raise InputError(
                    f"The front is of another table or seed: point {index} was saved with {name} {value:.6g} and has "
                    f"{point.values[name]:.6g} in this one."
                )
        return point

    def plot(self, *, x: str | None = None, y: str | None = None, backend: Backend = "plotly") -> Any:
        """The front as a figure: numbered points, knee and extremes, which way is better, and what is proven.

        The second objective is to the right and the first upwards unless `x` and `y` name others; a third is colour.
        It is a Plotly figure, or with the backend "matplotlib" one for print. `optmodels.plot.points` has the data.
        """
        from optmodels.plot.figures import front_figure, in_backend

        return in_backend(front_figure(front_points(self), self.problem.objectives, x=x, y=y), backend)

    def _scaled(self) -> NDArray[np.float64]:
        if not len(self):
            raise InputError("The front has no point: nothing feasible was found.")
        return _scaled(self.costs)

    def _point(self, reference: Mapping[str, float]) -> NDArray[np.float64]:
        missing = [name for name in self.names if name not in reference]
        if missing:
            raise InputError(f"The reference point needs a value for every objective; missing: {', '.join(missing)}.")
        for name, value in reference.items():
            if name not in self.names:
                raise unknown("objective", name, self.names)
            if isnan(value):
                raise InputError(f"The reference point's '{name}' must be a number, not {value!r}.")
        return np.array([_sign(self.problem, j) * reference[name] for j, name in enumerate(self.names)])

    def _span(self) -> str:
        frame = self.frame()
        return ", ".join(f"{name} {frame[name].min():.6g} to {frame[name].max():.6g}" for name in self.names)

    def _repr_html_(self) -> str:
        facts = {
            "formulation": self.problem.formulation.name,
            "conditions": self.problem.conditions.describe(),
            "solver": self.details.get("solver", ""),
        }
        if not len(self):
            return notebook("ParetoFront without points", facts)
        shown = front_points(self).head(MOST_CELLS)
        titles = ["point", *(axis_title(objective) for objective in self.problem.objectives), "gap", "known for"]
        rows = [
            (
                row["number"],
                *(f"{row[name]:.6g}" for name in self.names),
                "" if pd.isna(row["gap"]) else f"{row['gap']:.2%}",
                row["marks"],
            )
            for row in shown.to_dict("records")
        ]
        more = f"{len(self) - len(shown):,} more" if len(self) > len(shown) else None
        return notebook(f"ParetoFront of {len(self):,} points", facts, grid(titles, rows), more)

    def __repr__(self) -> str:
        return f"ParetoFront({len(self)} points; {self._span()})" if len(self) else "ParetoFront(no points)"


def knee_of(costs: NDArray[np.float64]) -> int:
    """The row furthest below the line (plane) through the extremes, each column of costs scaled to 0..1.

    >>> knee_of(np.array([[0.0, 9.0], [1.0, 1.0], [8.0, 0.0]]))
    1
    """
    return int(np.argmin(_scaled(costs).sum(axis=1)))


def _scaled(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    span = np.ptp(costs, axis=0)
    return np.asarray((costs - costs.min(axis=0)) / np.where(span > 0, span, 1.0))


def _judged(problem: Problem, point: Solution, which: str) -> Solution:
    """The point with the problem's own values; an error if it breaks a condition."""
    assert point.labels is not None
    found = problem.evaluate(point.labels)
    if not found.feasible:
        broken = ", ".join(f"{name} {count} times" for name, count in found.violations.items() if count)
        raise InputError(f"{which} breaks what this problem asks for ({problem.conditions.describe()}): {broken}.")
    return replace(point, problem=problem, values=found.values)


def _sign(problem: Problem, j: int) -> float:
    return 1.0 if problem.objectives[j].sense == "min" else -1.0


def _costs(problem: Problem, solution: Solution) -> list[float]:
    return [_sign(problem, j) * solution.values[o.name] for j, o in enumerate(problem.objectives)]
