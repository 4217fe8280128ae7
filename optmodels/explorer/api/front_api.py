"""What is open, and fronts."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from optmodels.errors import InputError, unknown
from optmodels.explorer.workspace import Workspace


def _workspace(workspace: Workspace, _: Mapping[str, str], __: Mapping[str, Any]) -> object:
    return {**workspace.document(), "version": version("optmodels")}


def _open(workspace: Workspace, _: Mapping[str, str], given: Mapping[str, Any]) -> object:
    place = str(given.get("place") or "").strip()
    if not place:
        raise InputError("Say what to open: the folder of a front, a runs.db, a data file or the name of a dataset.")
    return {"opened": workspace.open(place)}


def _front(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    front = workspace.fronts[at["front"]]
    document = front.document()
    if front.source is not None and at["front"] == "1":  # its points are most likely to be looked into next
        workspace.asides.warm(str(front.folder.resolve()))
    return {"id": at["front"], **document}


def _metric(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    front = workspace.fronts[at["front"]]
    known = front.metrics()
    if at["metric"] not in known:
        raise unknown("metric", at["metric"], known)
    place = str(front.folder.resolve())
    return workspace.asides.ask("metric", place, name=front.name, metric=at["metric"])


ROUTES = (
    ("GET", "workspace", _workspace),
    ("POST", "open", _open),
    ("GET", "fronts/{front}", _front),
    ("GET", "fronts/{front}/metrics/{metric}", _metric),
)
