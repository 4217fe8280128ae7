"""Views that take long to build, given up when whoever asked for one has no time left.

A view is written in plain Python, record by record: nothing can stop it from outside. So it asks itself, now and then,
whether it is still wanted.

>>> with as_long_as(lambda: False):
...     still_wanted()
Traceback (most recent call last):
...
optmodels.problem.patience.NoLongerWanted
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class NoLongerWanted(Exception):  # noqa: N818 - nothing is wrong
    """Building has been given up."""


_wanted: ContextVar[Callable[[], bool]] = ContextVar("wanted")


@contextmanager
def as_long_as(wanted: Callable[[], bool]) -> Iterator[None]:
    """Views built in here are given up, by NoLongerWanted, when they are no longer wanted."""
    token = _wanted.set(wanted)
    try:
        yield
    finally:
        _wanted.reset(token)


def still_wanted() -> None:
    """Give up building if nobody waits for it any more; to be called once for every few hundred rows of a model."""
    wanted = _wanted.get(None)
    if wanted is not None and not wanted():
        raise NoLongerWanted
