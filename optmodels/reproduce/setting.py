"""How much of a study is run again, from which seed, on how many cores, and who is told how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from optmodels.errors import whole
from optmodels.parallel import in_parallel

Scale = Literal["miniature", "quick", "full"]
OnStep = Callable[[int, int, str], object]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Setting:
    """`quick` fits in ten minutes on two cores, `full` repeats as often as the paper, `miniature` only shows it runs.

    `rounds` replaces the number of repetitions; `data` is a file of the user's own, where a study takes one.
    """

    scale: Scale = "quick"
    seed: int = 0
    rounds: int | None = None
    jobs: int | None = None
    data: Path | None = None
    on_step: OnStep = field(default=lambda done, total, what: None, repr=False)

    def __post_init__(self) -> None:
        if self.rounds is not None:
            whole("rounds", self.rounds, 1)

    def choose(self, miniature: Found, quick: Found, full: Found) -> Found:
        """What belongs to the scale."""
        return {"miniature": miniature, "quick": quick, "full": full}[self.scale]

    def repeat(
        self, work: Callable[[int], Found], rounds: int, what: str, *, fewer_will_do: bool = False
    ) -> Sequence[Found]:
        """The results of so many rounds, several at a time; where fewer will do, Ctrl-C leaves those that are done."""
        found: list[Found] = []
        try:
            for one in in_parallel(work, rounds, self.jobs):
                found.append(one)
                self.on_step(len(found), rounds, what)
        except KeyboardInterrupt:
            if not found or not fewer_will_do:
                raise
        return found
