"""What a published model was told: what a problem remembers of the formulation that it was posed by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import ClassVar

from optmodels.conditions import Conditions, SensitiveConditions
from optmodels.errors import finite
from optmodels.table import Table


@dataclass(frozen=True, kw_only=True)
class Parameters(SensitiveConditions):
    """The parameters of a published model, and those that all models take.

    Every model takes the conditions on sensitive attributes by keyword; what it has to do for them is to hand
    `conditions(k)` to its problem. Every model also lets records be left out: `suppress` is the largest share of them,
    and each adds `suppression_price` to what is optimised, by default what a record costs on average where everybody is
    in one class.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    suppress: float = 0.0
    suppression_price: float | None = None

    def __post_init__(self) -> None:
        """Say at once what makes no sense; a model that checks parameters of its own calls this as well."""
        self.conditions(2)
        if self.suppression_price is not None:
            finite("suppression_price", self.suppression_price, "it is what leaving out a record adds to the target")

    def conditions(self, k: int, *, least_entropies: Mapping[str, float] | None = None) -> Conditions:
        """Classes of at least k records under the conditions that were asked for.

        `least_entropies` are entropy l's that the model has of its own, one for each sensitive attribute; where
        `entropy_l` is asked for as well, the stricter counts.

        Raises:
            InputError: something that was asked for makes no sense.
        """
        asked = {field.name: getattr(self, field.name) for field in fields(SensitiveConditions)}
        asked["suppress"] = self.suppress
        conditions = Conditions(k, **asked)
        if least_entropies is None:
            return conditions
        least = {name: max(l_, conditions.of(name).entropy_l or 1.0) for name, l_ in least_entropies.items()}
        alike = len(set(least.values())) == 1
        return Conditions(k, **(asked | {"entropy_l": next(iter(least.values())) if alike else least}))

    def caution(self, table: Table) -> str:
        """What whoever releases an answer of the model with these parameters should know; mostly nothing."""
        return ""

    @classmethod
    def parameters(cls) -> tuple[str, ...]:
        """The names of the model's parameters, its own before the conditions that all models take."""
        return tuple(field.name for field in sorted(fields(cls), key=lambda field: bool(field.kw_only)))

    def to_dict(self) -> dict[str, object]:
        """The parameters by name, for provenance."""
        given = asdict(self)
        return {name: given[name] for name in self.parameters()}
