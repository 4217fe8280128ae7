"""What a run has found is written to a file now and then, so that a search that is killed can be gone on with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from optmodels.errors import InputError
from optmodels.kept_search import SoFar, save
from optmodels.parallel import beside
from optmodels.problem import Problem

_FIRST_SECONDS = 2.0
_SECONDS = 10.0  # from one time to the next, at least,
_SHARE = 0.02  # and of the time, at most, that writing may take


@contextmanager
def kept_in(
    path: str | Path | None,
    problem: Problem,
    standing: Callable[[], SoFar],
    details: dict[str, object],
    *,
    front: bool,
) -> Iterator[None]:
    """While it lasts, write where the run stands to the file, if one is named and there is anything new.

    A file that cannot be written to ends no search: the record says so.
    """
    if path is None:
        yield
        return
    over = threading.Event()

    def work() -> None:
        known: object = None
        pause = _FIRST_SECONDS
        while not over.wait(pause):
            found = standing()
            state = _state(found)
            pause = _SECONDS
            if state == known or not (found.points or found.held):
                continue
            began = monotonic()
            try:
                save(path, problem, found, front=front)
            except InputError as error:
                details["not_kept"] = str(error)
                return
            known = state
            pause = max(_SECONDS, (monotonic() - began) / _SHARE)

    with beside(work, over, "keeping"):
        yield


def _state(found: SoFar) -> object:
    """What tells one standing from the next."""
    return [id(labels) for labels in found.held], [(id(point.labels), point.bound) for point in found.points]
