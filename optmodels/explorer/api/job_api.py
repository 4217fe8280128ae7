"""Jobs: watched, stopped, and what they leave opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from optmodels.errors import InputError
from optmodels.explorer.data_files import free_folder
from optmodels.explorer.points import checked_number
from optmodels.explorer.reply import Events
from optmodels.explorer.workspace import Workspace

_MOST_SECONDS = 24 * 3600.0


def checked_seconds(given: object) -> float:
    """A time limit that was typed on the page."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given <= _MOST_SECONDS:
        raise InputError(f"The time limit must be a number of seconds above 0 and at most a day, not {given!r}.")
    return float(given)


def _events(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    job = workspace.jobs[at["job"]]

    def stream() -> Iterator[object]:
        for event in job.events():
            if event is not None and "result" in event:
                yield {"result": opened(workspace, event["result"])}
            else:
                yield event

    return Events(stream())


def opened(workspace: Workspace, result: Mapping[str, Any]) -> dict[str, Any]:
    """A job's result, with the front that it left opened under an id."""
    folder = result.get("folder")
    if "error" in result or folder is None or not Path(str(folder)).is_dir():
        return dict(result)
    return {**result, "front": workspace.open(str(folder))[0]["id"]}


def _job(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    return workspace.jobs[at["job"]].document()


def _stop(workspace: Workspace, at: Mapping[str, str], _: Mapping[str, Any]) -> object:
    workspace.jobs[at["job"]].stop()
    return {"stopped": True}


def _wish(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    front = workspace.fronts[at["front"]]
    if front.source is None:
        raise InputError("This front was saved without its data's address, so nothing can be solved for it here.")
    limits = {**dict(given.get("wish") or {}), **dict(given.get("limits") or {})}
    numbers = {str(name): value for name, value in limits.items() if isinstance(value, (int, float))}
    if not numbers:
        raise InputError("Say what you want: a limit or a wish for one objective at least.")
    request = {
        "folder": str(front.folder.resolve()),
        "limits": numbers,
        "seconds": checked_seconds(given.get("seconds")),
        "seed": front.source["seed"],
        "out": str(free_folder(front.folder.resolve().with_name(f"{front.folder.resolve().name}-wish"))),
    }
    wanted = ", ".join(f"{name} {value:g}" for name, value in numbers.items())
    return {"job": workspace.jobs.start("wish", f"Wish: {wanted}", request).number}


def _utility(workspace: Workspace, at: Mapping[str, str], given: Mapping[str, Any]) -> object:
    front = workspace.fronts[at["front"]]
    number = checked_number(front, at["point"])
    request = {
        "folder": str(front.folder.resolve()),
        "point": number,
        "method": given.get("method"),
        "target": given.get("target"),
        "classifiers": list(given.get("classifiers") or ["lr", "rf"]),
        "splits": int(given.get("splits") or 5),
    }
    return {"job": workspace.jobs.start("utility", f"Utility of point {number}", request).number}


ROUTES = (
    ("GET", "jobs/{job}", _job),
    ("GET", "jobs/{job}/events", _events),
    ("POST", "jobs/{job}/stop", _stop),
    ("POST", "fronts/{front}/wish", _wish),
    ("POST", "fronts/{front}/points/{point}/utility", _utility),
)
