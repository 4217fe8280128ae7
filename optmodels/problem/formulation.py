"""A published model with its parameters: what poses a problem for a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, ClassVar

from optmodels.table import Table

if TYPE_CHECKING:
    from optmodels.problem._problem import Problem


class Formulation(ABC):
    """A published model with its parameters; subclasses are frozen dataclasses without hidden state."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def build(self, table: Table, seed: int = 0) -> Problem:
        """The problem this model poses for a table; `seed` matters only where the model draws centres."""

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the model's parameters."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, object]:
        """The parameters by name, for provenance."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]
