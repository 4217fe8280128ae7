"""What the page can ask for: a pattern of the address, and the function that answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from optmodels.explorer.api import data_api, front_api, job_api, point_api, study_api
from optmodels.explorer.reply import Events, Reply, json_reply
from optmodels.explorer.workspace import Workspace

Answer = Callable[[Workspace, Mapping[str, str], Mapping[str, Any]], object]

_ROUTES: tuple[tuple[str, re.Pattern[str], Answer], ...] = tuple(
    (method, re.compile("api/" + re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern)), function)
    for routes in (front_api.ROUTES, job_api.ROUTES, point_api.ROUTES, data_api.ROUTES, study_api.ROUTES)
    for method, pattern, function in routes
)


def answer(workspace: Workspace, method: str, place: str, given: Mapping[str, Any]) -> Reply | Events | None:
    """The answer to a request that was let in, or None where there is nothing at the place."""
    for allowed, pattern, function in _ROUTES:
        if allowed == method and (match := pattern.fullmatch(place)):
            found = function(workspace, match.groupdict(), given)
            return found if isinstance(found, Reply | Events) else json_reply(found)
    return None
