"""How much of a study is run again, from which seed, on how many cores, and who is told how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Literal, TypeVar

from optmodels.errors import OptmodelsError, whole
from optmodels.parallel import in_parallel
from optmodels.reproduce.kept_pieces import FinishedPiece, KeptPieces
from optmodels.solution import Solution, Stop

Scale = Literal["miniature", "quick", "full"]
OnStep = Callable[[int, int, str], object]
Result = TypeVar("Result")


@dataclass
class Interruption:
    """Where Ctrl-C came, empty while nobody has pressed it, and how many pieces of work were done by then."""

    where: str = ""
    done: int = 0
    failure: str = ""  # what went wrong there, if it was that and not Ctrl-C


@dataclass
class Spent:
    """What pieces of one kind took, of the clock and of the processor; `earlier` of them were made by another run."""

    what: str
    wanted: int
    pieces: int = 0
    earlier: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def described(self) -> str:
        """In words.

        >>> Spent("tables 5, 6: front", 8, 6, 2, 61.0, 59.6).described()
        'tables 5, 6: front, 6 of 8 (2 by earlier runs), 61 s, 60 s of CPU'
        """
        earlier = f" ({self.earlier} by earlier runs)" if self.earlier else ""
        return f"{self.what}, {self.pieces} of {self.wanted}{earlier}, {self.seconds:.0f} s, {self.cpu:.0f} s of CPU"


@dataclass(frozen=True)
class Setting:
    """`quick` fits in ten minutes on two cores, `full` repeats as often as the paper, `miniature` only shows it runs.

    `rounds` replaces the number of repetitions; `data` is a file of the user's own, where a study takes one. With
    `kept` every piece of work is kept as soon as it is finished, and what is there already is not done again.
    """

    scale: Scale = "quick"
    seed: int = 0
    rounds: int | None = None
    jobs: int | None = None
    data: Path | None = None
    on_step: OnStep = field(default=lambda done, total, what: None, repr=False)
    kept: KeptPieces | None = field(default=None, repr=False, compare=False)
    spent: dict[str, Spent] = field(init=False, default_factory=dict, repr=False, compare=False)
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

    def repeat(
        self, work: Callable[[int], Result], rounds: int, what: str, at_a_time: int | None = None
    ) -> list[Result]:
        """The results of so many rounds, several at a time, in order; after Ctrl-C those done, and nothing more.

        Where pieces are kept, one that fails keeps the others from nothing: they are finished and kept, and what was
        found until the one that failed is the result.
        """
        found: list[Result] = []
        spent = self.spent.setdefault(what, Spent(what, rounds))
        jobs = self.jobs if at_a_time is None else min(at_a_time, self.jobs or at_a_time)

        def rest() -> None:
            failed: _Failed | None = None
            for number, (made, earlier) in enumerate(self._made(work, rounds, what, jobs)):
                if isinstance(made, _Failed):
                    failed = failed or made
                    continue
                spent.pieces, spent.earlier = spent.pieces + 1, spent.earlier + earlier
                spent.seconds, spent.cpu = spent.seconds + made.seconds, spent.cpu + made.cpu
                if failed is None:
                    found.append(made.result)
                    self.interruption.done += 1
                self.on_step(number + 1, rounds, what)
            if failed is not None:
                self.interruption.failure = failed.why
                raise KeyboardInterrupt

        self.attempt(rest, lambda: f"{what} {len(found)} of {rounds}")
        return found

    def _made(
        self, work: Callable[[int], Result], rounds: int, what: str, jobs: int | None
    ) -> Iterator[tuple[FinishedPiece | _Failed, bool]]:
        """Every piece in order, and whether it was there already."""
        there = {} if self.kept is None else {number: self.kept.get(what, number) for number in range(rounds)}
        missing = [number for number in range(rounds) if there.get(number) is None]
        one = partial(_piece, work=work, numbers=missing, what=what, kept=self.kept)
        fresh = in_parallel(one, len(missing), jobs)
        for number in range(rounds):
            made = there.get(number)
            yield (next(fresh), False) if made is None else (made, True)

    def attempt(self, work: Callable[[], Result], where: Callable[[], str]) -> Result | None:
        """What the work gives; None if Ctrl-C came meanwhile or has come before.

        With nothing done by then there is nothing to report, and Ctrl-C is passed on, or what failed raised.
        """
        if self.interruption.where:
            return None
        try:
            return work()
        except KeyboardInterrupt:
            if not self.interruption.done:
                if self.interruption.failure:
                    raise PieceError(f"{where()}: {self.interruption.failure}") from None
                raise
            self.interruption.where = where()
            return None


class PieceError(OptmodelsError):
    """A piece of a study failed, and no other was there to report."""


@dataclass(frozen=True)
class _Failed:
    """A piece that failed, and why."""

    why: str


def _piece(
    number: int, *, work: Callable[[int], Result], numbers: Sequence[int], what: str, kept: KeptPieces | None
) -> FinishedPiece | _Failed:
    """One piece of those that are missing; kept by the process that made it, so that nothing else can lose it."""
    began, began_cpu = perf_counter(), process_time()
    try:
        result = work(numbers[number])
    except OptmodelsError:
        raise  # wrong for every piece alike: a file that is not there, a package that is not installed
    except Exception as problem:
        if kept is None:
            raise
        return _Failed(f"{type(problem).__name__}: {problem}")
    made = FinishedPiece(result, perf_counter() - began, process_time() - began_cpu)
    if kept is not None:
        kept.put(what, numbers[number], made)
    return made


def uninterrupted(solution: Solution) -> Solution:
    """The solution, unless Ctrl-C cut its search short: then it is not what the setting asks for."""
    if solution.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    return solution
