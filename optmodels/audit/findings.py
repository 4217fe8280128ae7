"""What an audit has found, as data: it is compared with a promise, annotated, and written as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from optmodels.audit.kept import Kept
from optmodels.audit.levels import SensitiveLevels, shortfalls
from optmodels.audit.people import People
from optmodels.metrics.loss import all_but_lost

if TYPE_CHECKING:
    from optmodels.conditions import Conditions


_HAIR = 1e-6  # of a record: a share of them that is a whole number but for rounding


@dataclass(frozen=True)
class Findings:
    """Privacy levels and risks of a table whose classes are its groups of equal quasi-identifiers, as plain data."""

    records: int
    classes: int
    k: int
    average_class_size: float
    linkage: Mapping[str, int]
    homogeneity: Mapping[str, int]
    prosecutor: float
    journalist: float
    marketer: float
    discernibility: int
    quasi: tuple[str, ...]
    sensitive: Mapping[str, SensitiveLevels]
    promise: Mapping[str, object] | None = None
    missing: Mapping[str, object] | None = None
    loss: Mapping[str, float] = field(default_factory=dict)
    attribute_loss: Mapping[str, float] = field(default_factory=dict)  # of what one class of everybody would lose
    kept: Mapping[str, object] | None = None
    suppressed: int = 0  # records that are in no class: rows that say nothing, or what its maker says was dropped
    people: People | None = None  # where k and risks count people and not records

    @property
    def suppressed_share(self) -> float:
        """The share of all records, released or not, that are suppressed."""
        return self.suppressed / max(1, self.records + self.suppressed)

    def check(self, promise: Conditions) -> list[str]:
        """Every way in which this table falls short of a promise; nothing if it is kept."""
        who = "" if self.people is None else " people"
        broken = [f"k is {self.k}{who}, less than {promise.k}"] if self.k < promise.k else []
        allowed = promise.suppress * (self.records + self.suppressed) + _HAIR
        # without a word about suppression, rows that say nothing are a class like others, if there are enough of them
        if self.suppressed > allowed and (promise.suppress or self.suppressed < promise.k):
            broken.append(f"{self.suppressed_share:.4g} of the records are suppressed, more than {promise.suppress:g}")
        if not self.sensitive and promise.needs_sensitive:
            broken.append("there is no sensitive attribute to be diverse or close")
        strangers = [name for name in promise.attributes if name not in self.sensitive] if self.sensitive else []
        broken += [f"'{name}', of which something is promised, is not audited as sensitive" for name in strangers]
        for name, levels in self.sensitive.items():
            broken += shortfalls(name, levels, promise.of(name))
        return broken

    def short_by_people(self, promise: Conditions) -> list[str]:
        """Where a promise about sensitive values, kept of records, is not if a person counts once per value."""
        found = {} if self.people is None else self.people.sensitive
        return [short for name, levels in found.items() for short in shortfalls(name, levels, promise.of(name))]

    def annotated(
        self,
        *,
        promise: Mapping[str, object] | None = None,
        missing: Mapping[str, object] | None = None,
        loss: Mapping[str, float] | None = None,
        attribute_loss: Mapping[str, float] | None = None,
        kept: Kept | None = None,
    ) -> Self:
        """The same audit with what only the maker of a release knows: promise, missing values, losses, columns kept."""
        return replace(
            self,
            promise=promise,
            missing=missing,
            loss=dict(loss or {}),
            attribute_loss=dict(attribute_loss or {}),
            kept=self.kept if kept is None else kept.to_dict(),
        )

    @property
    def all_but_lost(self) -> tuple[str, ...]:
        """The quasi-identifiers of which so much is lost that little can be learned from what is released of them."""
        return all_but_lost(self.attribute_loss)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for strict JSON: an infinite level is None."""
        plain: dict[str, Any] = _strict({**asdict(self), "all_but_lost": self.all_but_lost})
        return plain

    def to_json(self) -> str:
        """The audit as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)


def _strict(value: object) -> Any:
    match value:
        case Mapping():
            return {str(name): _strict(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_strict(inner) for inner in value]
        case np.generic():
            return _strict(value.item())
        case float():
            return value if isfinite(value) else None
    return value
