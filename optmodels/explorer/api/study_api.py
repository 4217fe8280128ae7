"""Studies: all of one, one of its runs, the fronts of one problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optmodels.explorer.workspace import Workspace


def _study(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    return {"id": at["study"], **workspace.studies[at["study"]].document()}


def _run(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    return workspace.studies[at["study"]].run(at["run"])


def _attainment(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    return workspace.studies[at["study"]].attainment(str(given.get("dataset")), str(given.get("model")))


ROUTES = (
    ("GET", "studies/{study}", _study),
    ("GET", "studies/{study}/runs/{run}", _run),
    ("POST", "studies/{study}/attainment", _attainment),
)
