"""CandidateBuilder, the second module of MASS: a partition for every k of a range that the data itself sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from formulations.mass.get_anonymized import GetAnonymized
from optmodels.structures import Candidate

STEPS = 4  # the range of k ends at this many times the largest number of sensitive values


class CandidateBuilder:
    """Candidates for k = 2 .. 4 * l_v, one after the other, each made when it is asked for.

    What a candidate is worth (PL, IL and R) is for the problem to judge.

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
    ) -> None:
        self.anonymize = anonymize
        self.halted = halted
        self.levels = levels_of(anonymize) if levels is None else levels

    def __len__(self) -> int:
        return len(self.levels)

    def __iter__(self) -> Iterator[Candidate]:
        for k in self.levels:
            dealt = self.anonymize.dealt(k, self.halted)
            yield Candidate(k, dealt.labels, dealt.classes / (int(dealt.labels.max()) + 1))


def levels_of(anonymize: GetAnonymized, least: int = 2) -> range:
    """The values of k to be tried: from the least that is allowed to 4 * l_v, and no more than there are records."""
    most = max(STEPS * anonymize.mix.l_v, least)
    return range(least, min(most, anonymize.table.n) + 1)
