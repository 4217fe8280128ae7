"""Studies from TOML files; a misspelt entry is an error that names the nearest one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from optmodels.errors import InputError, unknown
from optmodels.study.spec import DatasetSpec, FormulationSpec, Limits, SolverSpec, Study
from optmodels.table.roles import role_entries

Spec = TypeVar("Spec", DatasetSpec, FormulationSpec, SolverSpec, Limits)

# The tables of a study file and the entries of a study that they become.
_TABLES = {"dataset": "datasets", "formulation": "formulations", "solver": "solvers"}
_SETTINGS = ("parameters", "options", "limits")


def load_study(path: str | Path) -> Study:
    """The study that a TOML file declares; files it names are looked for beside it."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeError) as problem:
        raise InputError(f"Cannot read the study file '{path}': {problem}.") from problem
    try:
        study = study_from_toml(text, folder=Path(path).resolve().parent, name=Path(path).stem)
    except InputError as problem:
        raise InputError(f"In the study file '{path}': {problem}") from problem
    return replace(study, file=Path(path))


def study_from_toml(text: str, *, folder: Path = Path(), name: str = "study") -> Study:
    """The study written in TOML text.

    >>> study = study_from_toml('''
    ... seeds = 2
    ... [[dataset]]
    ... name = "german"
    ... [[formulation]]
    ... name = "microaggregation"
    ... parameters.k = [3, 5]
    ... [[solver]]
    ... name = "mdav"
    ... ''')
    >>> study.size
    4
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"This is not valid TOML: {problem}.") from problem
    plain = [one.name for one in fields(Study) if one.name not in (*_TABLES.values(), "file")]
    for key in given:
        if key not in (*plain, *_TABLES):
            raise unknown("entry of a study called", key, (*plain, *_TABLES))
    parts: dict[str, Any] = {
        "datasets": [_beside(spec, folder) for spec in _listed(DatasetSpec, "dataset", given)],
        "formulations": _listed(FormulationSpec, "formulation", given),
        "solvers": _listed(SolverSpec, "solver", given),
        "limits": _made(Limits, "[limits]", given.get("limits", {})),
    }
    others = {key: given[key] for key in plain if key in given and key not in parts}
    return Study(**{"name": name, **others, **parts})


def _listed(kind: type[Spec], key: str, given: Mapping[str, Any]) -> list[Spec]:
    tables = given.get(key, [])
    if not isinstance(tables, list):
        raise InputError(f"Write [[{key}]], with two brackets: a study has a list of them.")
    return [_made(kind, f"[[{key}]] number {i + 1}", table) for i, table in enumerate(tables)]


def _made(kind: type[Spec], where: str, table: Any) -> Spec:
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table of entries, not {table!r}.")
    known = [one.name for one in fields(kind)]
    for key, value in table.items():
        if key not in known:
            error = unknown(f"entry of {where} called", key, known)
            raise InputError(f"{error}{_where_settings_go(kind, key)}")
        if key in _SETTINGS and not isinstance(value, dict):
            raise InputError(f"'{key}' of {where} must be a table, such as {key}.name = value, not {value!r}.")
        if key in ("name", "label", "file", "family") and not isinstance(value, str):
            raise InputError(f"'{key}' of {where} must be text, not {value!r}.")
    if "name" not in table and kind in (FormulationSpec, SolverSpec):
        raise InputError(f"{where} has no name.")
    try:
        return kind(**table)
    except InputError as problem:
        raise InputError(f"{where}: {problem}") from problem


def _where_settings_go(kind: type[Any], key: str) -> str:
    """A hint for a parameter or an option written where it does not belong."""
    place = {FormulationSpec: "parameters", SolverSpec: "options", DatasetSpec: "roles"}.get(kind)
    return f" If it is one of its {place}, write {place}.{key}." if place else ""


def _beside(spec: DatasetSpec, folder: Path) -> DatasetSpec:
    """The spec with its files as paths from anywhere."""
    changed = dict(vars(spec))
    if spec.file is not None:
        changed["file"] = folder / spec.file
    if isinstance(spec.roles, str | Path):
        changed["roles"] = folder / spec.roles
    else:
        changed["roles"] = role_entries(spec.roles, folder)
    return DatasetSpec(**changed)
