"""One point: looked into, compared, released."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from optmodels.errors import InputError
from optmodels.explorer import commands
from optmodels.explorer.fronts import SavedFront
from optmodels.explorer.points import checked_number
from optmodels.explorer.reply import Reply
from optmodels.explorer.workspace import Workspace
from optmodels.release import Release

_KINDS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet", "json": "application/json"}


def _asked(workspace: Workspace, at: Mapping[str, str]) -> tuple[SavedFront, int]:
    front = workspace.fronts[at["front"]]
    if front.source is None:
        raise InputError(
            f"The front '{front.name}' was saved without its data's address, so its points cannot be looked into: find "
            "it again with 'optmodels pareto'."
        )
    return front, checked_number(front, at["point"])


def _point(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    front, number = _asked(workspace, at)
    return {"id": at["front"], **workspace.points.document(front, number, given.get("method"))}


def _commands(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    front, number = _asked(workspace, at)
    method = given.get("method")
    return {
        "found": commands.found_by(front),
        "command": commands.release_command(front, number, method),
        "python": commands.release_python(front, number, method),
    }


def _file(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    """A file of the release, written by the release itself, so that what is downloaded is what the library writes."""
    front, number = _asked(workspace, at)
    release = workspace.points.made(front, number, given.get("method")).release
    match at["file"]:
        case "release.csv":
            return _written(release, "csv", release.to_csv)
        case "release.parquet":
            return _written(release, "parquet", release.to_parquet)
        case "audit.json":
            return _written(release, "json", release.save_audit)
        case "audit.html":
            return Reply(_report(front, number, release, given).encode(), "application/octet-stream", "audit.html")
    raise InputError(f"There is no file '{at['file'][:40]}' of a release.")


def _report(front: SavedFront, number: int, release: Release, given: Mapping[str, Any]) -> str:
    known = front.source or {}
    command = commands.release_command(front, number, given.get("method"))
    source = {"data": str(known.get("data")), "sha256": str(known.get("sha256")), "command": command}
    return release.to_html(source=source, front=front.front(), chosen=number)


def _written(release: Release, ending: str, write: Callable[[Path], Path]) -> Reply:
    with tempfile.TemporaryDirectory(prefix="optmodels-release-") as folder:
        path = write(Path(folder) / f"release.{ending}")
        return Reply(path.read_bytes(), _KINDS[ending], path.name)


ROUTES = (
    ("GET", "fronts/{front}/points/{point}", _point),
    ("POST", "fronts/{front}/points/{point}", _point),
    ("GET", "fronts/{front}/points/{point}/commands", _commands),
    ("POST", "fronts/{front}/points/{point}/commands", _commands),
    ("GET", "fronts/{front}/points/{point}/{file}", _file),
    ("POST", "fronts/{front}/points/{point}/{file}", _file),
)
