"""What so few repetitions can show at all: a verdict that could not have failed is none."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
import pandas as pd
from scipy.stats import binomtest, mannwhitneyu, t

SIGNIFICANT = 0.05
FEWEST = 5  # points of a trend: four in order are no rarer than one time in twelve by chance
_DRAWS = 2000  # simulated comparisons behind a power


def least_p(repetitions: int) -> float:
    """The smallest p that Mann and Whitney's two-sided test can give for so many repetitions on either side.

    >>> round(least_p(2), 2), round(least_p(4), 3)
    (0.33, 0.029)
    """
    return 2 / comb(2 * repetitions, repetitions)


@cache
def power(repetitions: int, shift: float = 1.0) -> float:
    """How often the test finds a shift of so many standard deviations at 5%, with so many repetitions on either side.

    >>> power(2), power(100)
    (0.0, 1.0)
    >>> 0.4 < power(10) < 0.7
    True
    """
    if least_p(repetitions) >= SIGNIFICANT:
        return 0.0
    draw = np.random.default_rng(0)
    first, second = draw.normal(0.0, 1.0, (_DRAWS, repetitions)), draw.normal(shift, 1.0, (_DRAWS, repetitions))
    return float((mannwhitneyu(first, second, axis=1).pvalue < SIGNIFICANT).mean())


def said(repetitions: int) -> str:
    """In words, what so many repetitions can show."""
    if least_p(repetitions) >= SIGNIFICANT:
        return f"with {repetitions} splits no p can be below {least_p(repetitions):.2f}"
    return f"{repetitions} splits find a loss of one standard deviation in {power(repetitions):.0%} of cases"


def least_sign_p(pairs: int) -> float:
    """The smallest p of a two-sided sign test of so many pairs.

    >>> least_sign_p(5), least_sign_p(6)
    (0.0625, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - pairs))


def sign_p(higher: int, pairs: int) -> float:
    """How often chance alone makes so many of the pairs, or a count as far from half of them, the higher ones.

    >>> sign_p(6, 6), sign_p(0, 0)
    (0.03125, 1.0)
    """
    return float(binomtest(higher, pairs).pvalue) if pairs else 1.0


def needed(pairs: int) -> int:
    """How many of the pairs must be the higher ones to be significantly more; one more than there are of too few.

    >>> needed(17), needed(6), needed(5)
    (13, 6, 6)
    """
    return next((many for many in range(pairs // 2 + 1, pairs + 1) if sign_p(many, pairs) < SIGNIFICANT), pairs + 1)


def at_most(value: float, bound: float, error: float, repetitions: int = 1000) -> bool | None:
    """Whether a measured value is at most the bound.

    None where two standard errors are more than the bound itself, unless the value lies beyond it by more than that;
    with few repetitions, of which the standard error is hardly known itself, more than two by Student's t.

    >>> at_most(0.01, 0.025, 0.004), at_most(0.03, 0.025, 0.004), at_most(0.3, 0.025, 0.1), at_most(0.01, 0.025, 0.02)
    (True, False, False, None)
    >>> at_most(0.3, 0.025, 0.1, repetitions=2) is None
    True
    """
    if repetitions < 2:
        return None
    unsure = float(t.ppf(1 - SIGNIFICANT / 2, repetitions - 1)) * error
    if value - unsure > bound:
        return False
    return bool(value <= bound) if unsure <= bound else None


def seen_share(rounds: int) -> float:
    """What must happen in a larger share of rounds than this one to be seen in 95% of studies of so many rounds.

    >>> round(seen_share(100), 3), round(seen_share(1000), 4)
    (0.03, 0.003)
    """
    return float(1 - SIGNIFICANT ** (1 / rounds))


def rank_correlation(values: pd.Series, by: pd.Series) -> float:
    """Spearman's, 0 where nothing moves.

    >>> ks = pd.Series([5, 10, 20])
    >>> rank_correlation(pd.Series([3, 2, 1]), ks), rank_correlation(pd.Series([1, 1, 1]), ks)
    (-1.0, 0.0)
    """
    return 0.0 if values.nunique() < 2 else float(values.corr(by, method="spearman"))


def least_correlation(points: int) -> float:
    """The rank correlation that chance alone exceeds, up or down, one time in twenty; 1 where any may be chance.

    >>> least_correlation(4), round(least_correlation(5), 2), round(least_correlation(17), 2)
    (1.0, 0.88, 0.48)
    """
    if points < FEWEST:
        return 1.0
    ratio = float(t.ppf(1 - SIGNIFICANT / 2, points - 2))
    return float(ratio / np.sqrt(points - 2 + ratio**2))


def trend(values: pd.Series, by: pd.Series, *, rises: bool) -> tuple[bool | None, str]:
    """Whether values rise (or fall) further than chance would have them, and in words; None of too few.

    >>> trend(pd.Series([1, 2, 3, 5, 8]), pd.Series([5, 10, 15, 20, 25]), rises=True)
    (True, 'rank correlation 1.00 of 5, chance alone stays below 0.88')
    >>> trend(pd.Series([1, 2, 3]), pd.Series([5, 10, 15]), rises=True)
    (None, 'rank correlation 1.00 of 3, which are too few to tell')
    """
    found, points = rank_correlation(values, by), len(values)
    words = f"rank correlation {found:.2f} of {points}"
    if points < FEWEST:
        return None, f"{words}, which are too few to tell"
    least = least_correlation(points)
    return bool(found >= least if rises else found <= -least), f"{words}, chance alone stays below {least:.2f}"
