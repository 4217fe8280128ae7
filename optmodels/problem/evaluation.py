"""What the judge says of a partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluation:
    """What a partition is worth: objective values by name, and how many classes break each condition."""

    values: Mapping[str, float]
    violations: Mapping[str, int]

    @property
    def feasible(self) -> bool:
        """Whether no condition is broken."""
        return not any(self.violations.values())
