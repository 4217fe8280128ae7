"""A table without a front yet: what its columns are like, the roles that fit them, and what can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from optmodels import registry
from optmodels.conditions import CONDITIONS, HOW, SensitiveConditions
from optmodels.datasets import DATASETS
from optmodels.datasets import frame as dataset_frame
from optmodels.docstrings import said_about
from optmodels.errors import InputError
from optmodels.inspection import Inspection, inspect_file, inspect_frame
from optmodels.matrix import cells
from optmodels.objectives import OWN, QUANTITIES
from optmodels.solver import FrontSolver
from optmodels.table.role_types import Kind, Missing, Scaling
from optmodels.table.roles import Roles

LARGE = 16 << 20  # bytes of a file that the server does not read itself

# What a column can be on the page, and the words for it.
ROLES: Mapping[str, str] = {
    "numeric": "quasi-identifier, a number",
    "categorical": "quasi-identifier, categories",
    "ordinal": "quasi-identifier, ordered",
    "sensitive": "sensitive",
    "target": "to be predicted (kept)",
    "identifier": "identifier (dropped)",
    "keep": "kept as it is",
    "drop": "dropped",
}


class DataFile:
    """A file or a dataset that is to be anonymised."""

    def __init__(self, place: str) -> None:
        self.place = place if place in DATASETS else str(Path(place).expanduser())
        self.name = place if place in DATASETS else Path(self.place).name

    @property
    def large(self) -> bool:
        """Whether looking at it takes so long, or so much memory, that another process had better do it."""
        path = Path(self.place)
        return self.place not in DATASETS and path.is_file() and path.stat().st_size > LARGE

    @cached_property
    def inspection(self) -> Inspection:
        """What was seen in it."""
        if self.place in DATASETS:
            return inspect_frame(dataset_frame(self.place), source=self.place)
        return inspect_file(self.place)

    def document(self) -> dict[str, Any]:
        """The columns with their proposed roles, and what is odd about them."""
        seen = self.inspection.to_dict()
        known = DATASETS[self.place].roles if self.place in DATASETS else None
        columns = [
            {"name": name, **column, "role": _proposed(name, column, known)} for name, column in seen["columns"].items()
        ]
        return {
            "name": self.name,
            "place": self.place,
            "records": seen["records"],
            "unique_share": seen["unique_share"],
            "columns": columns,
            "findings": seen["findings"],
            "roles": dict(ROLES),
            "missing": list(get_args(Missing)),
            "scaling": list(get_args(Scaling)),
        }

    def free_folder(self) -> str:
        """A folder that a front of it can be kept in."""
        return str(free_folder(Path.cwd() / f"{Path(self.name).stem}-front"))


def _proposed(name: str, column: Mapping[str, Any], known: Roles | None) -> str:
    if known is not None:
        if name in known.quasi:
            return known.quasi[name]
        if name in known.sensitive:
            return "sensitive"
        return "target" if name == known.target else "identifier" if name in known.identifiers else "drop"
    role = str(column["kind"] if column["role"] == "quasi" else column["role"])
    return role if role in ROLES else "drop"


def free_folder(wanted: Path) -> Path:
    """The folder, or the first of its kind with a number that does not exist."""
    number, folder = 1, wanted
    while folder.exists():
        number += 1
        folder = wanted.with_name(f"{wanted.name}-{number}")
    return folder


def roles_of(chosen: Mapping[str, str], missing: str, scaling: str, known: Roles | None = None) -> Roles:
    """The roles that were chosen on the page, column by column.

    >>> roles_of({"age": "numeric", "illness": "sensitive", "name": "identifier"}, "error", "standard").quasi
    {'age': 'numeric'}
    """
    for name, role in chosen.items():
        if role not in ROLES:
            raise InputError(f"The column '{name}' cannot be '{role}': it is one of {', '.join(ROLES)}.")

    def of(role: str) -> tuple[str, ...]:
        return tuple(name for name, one in chosen.items() if one == role)

    kinds: dict[str, Kind] = {name: kind for kind in get_args(Kind) for name in of(kind)}
    targets = of("target")
    if len(targets) > 1:
        raise InputError(f"Only one column can be predicted, not {', '.join(targets)}: keep or drop the others.")
    asked: dict[str, Any] = {
        "quasi": {name: kinds[name] for name in chosen if name in kinds},
        "sensitive": of("sensitive"),
        "identifiers": of("identifier"),
        "others": {**dict.fromkeys(of("keep"), "keep"), **dict.fromkeys(of("drop"), "drop")} or "error",
        "missing": missing,
        "scaling": scaling,
    }
    if targets:
        asked["target"] = targets[0]
    if known is None:
        return Roles(**asked)
    # What a dataset says of its columns stays true of them: orders, hierarchies, bins.
    return replace(known, target=None).reassigned(**asked)


@cache
def choices() -> dict[str, Any]:
    """What can be asked for: formulations, conditions, objectives and solvers of fronts."""
    formulations = [_formulation(name) for name in registry.formulation_names()]
    solvers = [_solver(name) for name in registry.solver_names()]
    return {
        "formulations": [one for one in formulations if one is not None],
        "conditions": [{"name": name, "how": HOW.get(name)} for name in CONDITIONS],
        "objectives": [
            {"name": OWN, "meaning": "what the formulation makes small", "better": "low"},
            *(
                {"name": name, "meaning": one.meaning, "better": "low" if one.sense == "min" else "high"}
                for name, one in QUANTITIES.items()
            ),
        ],
        "solvers": [one for one in solvers if one is not None],
    }


def _formulation(name: str) -> dict[str, Any] | None:
    try:
        kind = registry.formulation(name)
    except Exception:  # one broken plug-in must not hide the others
        return None
    shared = {field.name for field in fields(SensitiveConditions)}
    own = [field for field in fields(kind) if field.name not in shared]
    return {
        "name": name,
        "summary": kind.summary,
        "parameters": [
            {
                "name": field.name,
                "type": str(field.type),
                "default": None if field.default is MISSING else field.default,
                "needed": field.default is MISSING and field.default_factory is MISSING,
                "about": said_about(field.name, kind),
            }
            for field in own
        ],
    }


def _solver(name: str) -> dict[str, Any] | None:
    try:
        kind = registry.solver(name)
        missing = kind.missing()
    except Exception:  # likewise
        return None
    if not issubclass(kind, FrontSolver) or missing is not None:
        return None
    return {"name": name, "summary": kind.summary, "exact": kind.exact, "takes": kind.takes()}


# Conditions that can be typed on the page, as the matrix calls them.
_ASKED = ("distinct-l", "entropy-l", "recursive", "most-share", "beta-basic", "delta", "t-equal")


@cache
def matrix(under: Literal["k", "all"] = "all") -> dict[str, Any]:
    """Which solver finds fronts of which formulation, under which of the conditions, and why not where it does not."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in cells(tasks=("pareto",), conditions=("k",) if under == "k" else ("k", *_ASKED)):
        one = found.setdefault(cell.formulation, {}).setdefault(
            cell.solver, {"works": [], "claims": cell.claims, "reason": None, "reasons": {}}
        )
        if cell.works:
            one["works"].append(cell.condition)
            one["claims"] = one["claims"] or cell.claims
        else:
            one["reason"] = one["reason"] or cell.reason
            one["reasons"][cell.condition] = cell.reason
    solvers = [name for name in registry.solver_names() if any(row[name]["works"] for row in found.values())]
    return {"solvers": solvers, "rows": found}
