"""How much of a study is run again, from which seed, on how many cores, and who is told how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from optmodels.errors import whole
from optmodels.parallel import in_parallel
from optmodels.solution import Solution, Stop

Scale = Literal["miniature", "quick", "full"]
OnStep = Callable[[int, int, str], object]
Result = TypeVar("Result")


@dataclass
class Interruption:
    """Where Ctrl-C came, empty while nobody has pressed it, and how many pieces of work were done by then."""

    where: str = ""
    done: int = 0


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
    interruption: Interruption = field(init=False, default_factory=Interruption, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.rounds is not None:
            whole("rounds", self.rounds, 1)

    def __reduce__(self) -> tuple[Any, ...]:
        # Who is told of progress stays here: a terminal cannot be sent to another process, and need not be.
        return Setting, (self.scale, self.seed, self.rounds, self.jobs, self.data)

    def choose(self, miniature: Result, quick: Result, full: Result) -> Result:
        """What belongs to the scale."""
        return {"miniature": miniature, "quick": quick, "full": full}[self.scale]

    def repeat(self, work: Callable[[int], Result], rounds: int, what: str) -> list[Result]:
        """The results of so many rounds, several at a time, in order; after Ctrl-C those done, and nothing more."""
        found: list[Result] = []

        def rest() -> None:
            for one in in_parallel(work, rounds, self.jobs):
                found.append(one)
                self.interruption.done += 1
                self.on_step(len(found), rounds, what)

        self.attempt(rest, lambda: f"{what} {len(found)} of {rounds}")
        return found

    def attempt(self, work: Callable[[], Result], where: Callable[[], str]) -> Result | None:
        """What the work gives; None if Ctrl-C came meanwhile or has come before.

        With nothing done by then there is nothing to report, and Ctrl-C is passed on.
        """
        if self.interruption.where:
            return None
        try:
            return work()
        except KeyboardInterrupt:
            if not self.interruption.done:
                raise
            self.interruption.where = where()
            return None


def uninterrupted(solution: Solution) -> Solution:
    """The solution, unless Ctrl-C cut its search short: then it is not what the setting asks for."""
    if solution.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    return solution
