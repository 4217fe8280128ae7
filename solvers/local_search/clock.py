"""The clock of a search, and steps of a length that it can be looked at between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from optmodels.clock import now
from optmodels.partition import Labels

if TYPE_CHECKING:
    from solvers.local_search.improving import Improving

STEP_SECONDS = 0.25
FIRST_ROUNDS = 200
FEW_ROUNDS = 100  # per class: with fewer there is no time to cool
LOOK_SHARE = 0.1  # of the time, at most, for looks at the whole partition


class Clock:
    """Seconds spent of a limit that may be absent; halted, it is over at once."""

    def __init__(self, limit: float | None, halted: Callable[[], bool] = lambda: False) -> None:
        self._began = now()
        self._limit = limit
        self._halted = halted

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return now() - self._began

    @property
    def over(self) -> bool:
        """Whether the limit has passed."""
        return self._halted() or (self._limit is not None and self.spent >= self._limit)


class TimedSteps:
    """Steps of about a quarter of a second, or shorter where asked for, and looks at what they made of the best."""

    def __init__(self, descent: Improving, clock: Clock, on_best: Callable[[Labels], object]) -> None:
        self._descent, self._clock, self._on_best = descent, clock, on_best
        self._rounds = FIRST_ROUNDS  # of a quarter of a second
        self._look_at = 0.0

    def can_cool(self, seconds: float) -> bool:
        """Whether there are rounds enough in so many seconds: if not, what a hot start spoils is not mended again."""
        return self.rounds_in(seconds) / self._descent.n_classes >= FEW_ROUNDS

    def rounds_in(self, seconds: float) -> float:
        """About how many rounds there are in so many seconds."""
        return self._rounds / STEP_SECONDS * seconds

    def step(self, temperature: float, most: int | None = None) -> int:
        """Anneal, and keep what is better unless that would take too large a share of the time; how many rounds."""
        rounds = self._rounds if most is None else min(self._rounds, most)
        before = self._clock.spent
        self._descent.anneal(rounds, temperature)
        after = self._clock.spent
        wanted = rounds * STEP_SECONDS / max(after - before, 1e-4)
        self._rounds = 1 + int(min(4.0 * self._rounds, max(0.25 * self._rounds, wanted)))
        if after >= self._look_at:
            self.keep_better()
        return rounds

    def keep_better(self) -> None:
        """Keep what has become better."""
        before = self._clock.spent
        if self._descent.keep_better():
            self._on_best(self._descent.best)
        self._look_at = self._clock.spent + (self._clock.spent - before) / LOOK_SHARE
