"""One point: looked into, compared, released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optmodels.errors import InputError
from optmodels.explorer import commands
from optmodels.explorer.fronts import SavedFront
from optmodels.explorer.points import checked_number
from optmodels.explorer.workspace import Workspace


def _asked(workspace: Workspace, at: Mapping[str, str]) -> tuple[SavedFront, int]:
    front = workspace.fronts[at["front"]]
    if front.source is None:
        raise InputError(
            f"The front '{front.name}' was saved without its data's address, so its points cannot be looked into: find "
            "it again with 'optmodels pareto'."
        )
    return front, checked_number(front, at["point"])


def _point(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    return _looked_into(workspace, "point", at, given)


def _commands(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    front, number = _asked(workspace, at)
    method = given.get("method")
    return {
        "found": commands.found_by(front),
        "command": commands.release_command(front, number, method),
        "python": commands.release_python(front, number, method),
    }


def _file(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    """A file of the release, made and audited by the process that looks into this front's points."""
    return _looked_into(workspace, "file", at, given, file=at["file"])


def _looked_into(
    workspace: Workspace, what: str, at: Mapping[str, str], given: Mapping[str, Any], **more: str
) -> object:
    front, number = _asked(workspace, at)
    known = {"name": front.name, "point": str(number), "method": given.get("method"), "id": at["front"]}
    return workspace.asides.ask(what, str(front.folder.resolve()), **known, **more)


ROUTES = (
    ("GET", "fronts/{front}/points/{point}", _point),
    ("POST", "fronts/{front}/points/{point}", _point),
    ("GET", "fronts/{front}/points/{point}/commands", _commands),
    ("POST", "fronts/{front}/points/{point}/commands", _commands),
    ("GET", "fronts/{front}/points/{point}/{file}", _file),
    ("POST", "fronts/{front}/points/{point}/{file}", _file),
)
