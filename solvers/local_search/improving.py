"""What a schedule asks of a partition under improvement, whatever its classes are told by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from optmodels.halting import Flag
from optmodels.partition import Labels
from optmodels.price import Price


class Improving(Protocol):
    """A partition under improvement, and the best of what it has been."""

    price: Price
    best: Labels
    halt: Flag  # raised, it ends what is being done

    @property
    def total(self) -> float:
        """Price of the current partition."""

    @property
    def best_price(self) -> float:
        """Price of the best partition."""

    @property
    def n_classes(self) -> int:
        """Number of classes now."""

    def keep_better(self) -> bool:
        """Keep of the partition the parts that are the best yet; whether there were any."""

    def back_to_best(self) -> None:
        """Continue from the best partition found."""

    def sweep(self) -> Iterator[float]:
        """One pass over all records; yields the saving of each chunk."""

    def anneal(self, rounds: int, temperature: float) -> None:
        """So many rounds of ruin and recreate at one temperature."""
