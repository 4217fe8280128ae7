"""The command and the Python that do what was done on the page."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optmodels import front_folder
from optmodels.conditions import CONDITIONS, HOW
from optmodels.explorer.fronts import SavedFront

_WHERE = "optmodels"


def release_command(front: SavedFront, number: int, method: str | None = None) -> str:
    """The command line that releases a point."""
    recode = ["--recode", method] if method else []
    return shlex.join(
        [
            _WHERE,
            "release",
            str(front.folder),
            "--point",
            str(number),
            *recode,
            "--out",
            "release.csv",
            "--report",
            "audit.html",
        ]
    )


def release_python(front: SavedFront, number: int, method: str | None = None) -> str:
    """The Python that releases a point."""
    how = f"method={method!r}" if method else ""
    return "\n".join(
        (
            "from pathlib import Path",
            "from optmodels.front_folder import reopened",
            "",
            f"front = reopened(Path({str(front.folder)!r}), None)",
            f"release = front.judged({number}).release({how})",
            'release.to_csv("release.csv")  # raises, and writes nothing, if the promise is not kept',
            "print(release.audit)",
        )
    )


def front_command(request: Mapping[str, Any], roles: str, out: str) -> str:
    """The command line that finds a front as a request of the page asks for."""
    words = [_WHERE, "pareto", str(request["data"]), "--roles", roles, "--formulation", str(request["formulation"])]
    parameters = dict(request["parameters"])
    for name in ("k", *CONDITIONS, *HOW.values()):
        if (value := parameters.pop(name, None)) is not None:
            words += [f"--{name.replace('_', '-')}", _typed(value)]
    for name, value in parameters.items():
        words += ["--param", f"{name}={json.dumps(value) if not isinstance(value, str) else value}"]
    words += ["--objectives", ",".join(request["objectives"])]
    if request["solver"] != "auto":
        words += ["--solver", str(request["solver"])]
    for name, value in request.get("options", {}).items():
        words += ["--option", f"{name}={value}"]
    if kept := request.get("allow_unique"):
        words += ["--allow-unique", ",".join(kept)]
    return shlex.join(
        [*words, "--time-limit", f"{request['time_limit']:g}", "--seed", str(request["seed"]), "--out", out]
    )


def found_by(front: SavedFront) -> str | None:
    """The command line that found a front, where the folder says so."""
    known = front.source or {}
    asked = known.get("asked")
    if not isinstance(asked, Mapping) or "wish" in known:  # a wish adds what no command alone finds
        return None
    return front_command(asked, str(Path(front.folder) / front_folder.ROLES), f"{front.folder}-again")


def _typed(value: Any) -> str:
    """A condition's value as it is typed: one for all attributes, a pair, or one for each attribute that is named."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_typed(one)}" for name, one in value.items())
    if isinstance(value, (list, tuple)):
        return ",".join(map(_typed, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
