"""What a rank test of so few repetitions can show at all: a verdict that could not have failed is none."""

from __future__ import annotations

from functools import cache
from math import comb

import numpy as np
from scipy.stats import binomtest, mannwhitneyu

SIGNIFICANT = 0.05
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
