"""A front found in a process of its own, told point by point while it grows, kept as a folder like any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import moocore
import numpy as np

from optmodels import front_folder, registry
from optmodels.audit.kept import check_kept, kept_columns
from optmodels.errors import RefusedError
from optmodels.explorer.telling import Teller
from optmodels.jsonable import with_tuples
from optmodels.price import Floats
from optmodels.problem import Problem
from optmodels.solver import FrontSolver
from optmodels.solver.run import Progress
from optmodels.table.roles import Roles

_MOST_POINTS = 3000  # that are told while a front grows


def run(request: Mapping[str, Any], tell: Teller) -> dict[str, Any]:
    """Find the front that a request of the page asks for; the roles are in a file beside it."""
    tell({"note": "reading the data"}, always=True)
    roles = Roles.load(tell.folder / "roles.toml")
    table = front_folder.table_of(request["data"], roles)
    check_kept(kept_columns(table.frame, table.quasi, table.sensitive), request.get("allow_unique", ()))
    kind = registry.formulation(request["formulation"])
    model = registry.configured(kind, with_tuples(request["parameters"]))
    seed = int(request["seed"])
    problem = front_folder.with_objectives(model.build(table, seed), request["objectives"])
    solver = registry.configured(registry.solver(request["solver"]), request.get("options", {}))
    if not isinstance(solver, FrontSolver):
        raise RefusedError(f"The solver '{solver.name}' answers with one solution, not with a front.")
    axes = [{"name": o.name, "better": "low" if o.sense == "min" else "high"} for o in problem.objectives]
    tell({"note": "searching", "axes": axes, "target": problem.target.name}, always=True)
    source = front_folder.source_of(request["data"], seed)
    front = solver.pareto(problem, time_limit=request["time_limit"], seed=seed, on_progress=watched(problem, tell))
    if not len(front):
        raise front_folder.nothing_to_write(front)
    folder = Path(request["folder"])
    front_folder.save(front, {**source, "asked": request}, table.roles, folder)
    return {
        "folder": str(folder),
        "points": len(front),
        "stop": front.details.get("stop"),
        "solver": front.details.get("solver"),
        "because": front.details.get("because"),
        "complete": front.details.get("complete"),
        "hypervolume": front.hypervolume(),
    }


def _proofs(signs: Floats, reference: Floats, points: Floats, bounds: Floats | None) -> dict[str, Any]:
    """The volume that the points would dominate if each were as good as its bound, and how many cannot be better.

    >>> found = _proofs(np.ones(2), np.ones(2), np.array([[0.5, 0.5]]), np.array([0.25]))
    >>> found["hypervolume_bound"], found["proven"], found["largest_gap"]
    (0.375, 0, 0.5)
    """
    if bounds is None or not np.isfinite(bounds).any():
        return {}
    known = np.isfinite(bounds)
    reached = points.copy()
    reached[known, 0] = bounds[known]
    gaps = np.abs(points[known, 0] - bounds[known]) / np.maximum(np.abs(points[known, 0]), 1e-12)
    return {
        "hypervolume_bound": float(moocore.hypervolume(signs * reached, ref=reference)),
        "proven": int((gaps <= 1e-6).sum()),
        "largest_gap": float(gaps.max()),
    }


def watched(problem: Problem, tell: Teller) -> Callable[[Progress], None]:
    """Tells where a run is: the points so far, the volume that they dominate, the bound."""
    signs = np.array([1.0 if objective.sense == "min" else -1.0 for objective in problem.objectives])
    reference = signs * np.array(list(problem.reference().values()))

    def on_progress(state: Progress) -> None:
        if not tell.due:
            return
        told: dict[str, Any] = {
            "seconds": state.seconds,
            "note": state.note,
            "solver": state.solver,
            "value": state.value,
            "bound": state.bound,
            "gap": state.gap,
        }
        if state.points is not None and len(state.points):
            best = moocore.is_nondominated(signs * state.points, keep_weakly=False)
            told["points"] = state.points[best][:_MOST_POINTS].tolist()
            told["bounds"] = None if state.bounds is None else state.bounds[best][:_MOST_POINTS].tolist()
            told["hypervolume"] = float(moocore.hypervolume(signs * state.points, ref=reference))
            told |= _proofs(signs, reference, state.points[best], None if state.bounds is None else state.bounds[best])
        tell(told)

    return on_progress
