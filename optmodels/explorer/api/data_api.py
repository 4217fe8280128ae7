"""From a file: its columns, what can be asked for, and a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optmodels.datasets import DATASETS
from optmodels.errors import InputError, unknown, whole
from optmodels.explorer import commands, data_files
from optmodels.explorer.api.job_api import checked_seconds
from optmodels.explorer.workspace import Workspace


def _file(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    return {"id": at["file"], **workspace.seen(at["file"])}


def _choices(_: Workspace, __: Mapping[str, str], ___: Mapping[str, Any]) -> object:
    return data_files.choices()


def _matrix(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    if at["under"] not in ("k", "all"):
        raise unknown("matrix under", at["under"], ("k", "all"))
    return workspace.asides.ask("matrix", "", under=at["under"])


def _run(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    """Start the run that was asked for; what is wrong with the roles is said at once."""
    file = workspace.files[at["file"]]
    known = DATASETS[file.place].roles if file.place in DATASETS else None
    chosen = {str(name): str(role) for name, role in dict(given.get("roles") or {}).items()}
    roles = data_files.roles_of(chosen, str(given.get("missing")), str(given.get("scaling")), known)
    roles.columns_kept([column["name"] for column in workspace.seen(at["file"])["columns"]])
    objectives = [str(name) for name in given.get("objectives") or []]
    if len(objectives) == 1:
        raise InputError(f"A front needs two objectives or more, not '{objectives[0]}' alone.")
    seed = given.get("seed", 0)
    whole("The seed", seed, 0)
    folder = Path(str(given.get("folder") or "")).expanduser()
    if not str(given.get("folder") or "").strip():
        raise InputError("Name the folder in which the front is to be kept.")
    if folder.exists():
        raise InputError(f"'{folder}' exists already: name another folder for the front.")
    request = {
        "data": file.place if file.place in DATASETS else str(Path(file.place).resolve()),
        "formulation": str(given.get("formulation")),
        "parameters": dict(given.get("parameters") or {}),
        "objectives": objectives,
        "solver": str(given.get("solver") or "auto"),
        "options": dict(given.get("options") or {}),
        "allow_unique": [str(name) for name in given.get("allow_unique") or []],
        "time_limit": checked_seconds(given.get("time_limit")),
        "seed": seed,
        "folder": str(folder.resolve()),
    }
    job = workspace.jobs.start("front", f"Front of {file.name}", request, {"roles.toml": roles.save})
    said = commands.front_command(request, "roles.toml", str(folder))
    return {"job": job.number, "command": said}


ROUTES = (
    ("GET", "files/{file}", _file),
    ("GET", "choices", _choices),
    ("GET", "matrix/{under}", _matrix),
    ("POST", "files/{file}/run", _run),
)
