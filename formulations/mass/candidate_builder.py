"""CandidateBuilder, the second module of MASS: a partition for every k of a range that the data itself sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from formulations.mass.dealing import DealtStrata
from formulations.mass.get_anonymized import GetAnonymized
from optmodels.conditions import ClassTest
from optmodels.structures import Candidate

LARGER = 4  # beyond the last k, sizes grow by this part of themselves
STEPS = 4  # the range of k ends at this many times the largest number of sensitive values


class CandidateBuilder:
    """Candidates for k = 2 .. 4 * l_v, one after the other, each made when it is asked for.

    What a candidate is worth (PL, IL and R) is for the problem to judge. Given a `test`, all of them meet its
    conditions if one class of everybody does.

    >>> from optmodels.datasets.synthetic import health_like
    >>> anonymize = GetAnonymized(health_like(500, l_v=7))
    >>> [candidate.k for candidate in CandidateBuilder(anonymize)][-3:]
    [26, 27, 28]
    """

    def __init__(
        self,
        anonymize: GetAnonymized,
        levels: Sequence[int] | None = None,
        halted: Callable[[], bool] = lambda: False,
        test: ClassTest | None = None,
    ) -> None:
        self.anonymize = anonymize
        self.halted = halted
        self.test = test
        self.levels = levels_of(anonymize) if levels is None else levels

    def __len__(self) -> int:
        return len(self.levels)

    def __iter__(self) -> Iterator[Candidate]:
        for number, k in enumerate(self.levels, start=1):
            dealt = self.anonymize.dealt(k, self.halted, self.test)
            if number == len(self.levels) and self.test is not None and not self.test.only_size:
                dealt = self._dealt_larger(k, dealt)
            yield Candidate(k, dealt.labels, dealt.classes / dealt.wanted)

    def _dealt_larger(self, k: int, best: DealtStrata) -> DealtStrata:
        """Where conditions made classes join, larger ones dealt at once may be more: a union mirrors the table less."""
        size = k
        while not self.halted():
            size += max(size // LARGER, 1)
            if self.anonymize.table.n // size <= n_classes(best):
                break
            other = self.anonymize.dealt(size, self.halted, self.test)
            if n_classes(other) > n_classes(best):
                best = other
        return best


def n_classes(dealt: DealtStrata) -> int:
    """How many classes there are after some were joined."""
    return int(dealt.labels.max()) + 1


def levels_of(anonymize: GetAnonymized, least: int = 2) -> range:
    """The values of k to be tried: from the least that is allowed to 4 * l_v, and no more than there are records."""
    most = max(STEPS * anonymize.mix.l_v, least)
    return range(least, min(most, anonymize.table.n) + 1)
