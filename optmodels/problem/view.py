"""A problem as a model of another library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from optmodels.partition import Labels

Native = TypeVar("Native")


@dataclass(frozen=True)
class View(Generic[Native]):
    """A native model of another library, and the way back from its solution to class labels.

    `encode` writes a partition into the model's variables, as a warm start, and says whether the model has a
    place for it (a model that leaves out classes never needed has none for some). `cuts` is for models that
    are completed lazily: it adds what the model's present values violate and says how much that was, so
    the model is solved when it has been solved to a solution at which `cuts` returns 0.
    """

    native: Native
    decode: Callable[[Any], Labels]
    encode: Callable[[Labels], bool] | None = None
    cuts: Callable[[Any], int] | None = None
