"""Hospital visits in the shape of the sepsis table of Wei et al."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError
from optmodels.table import Table
from optmodels.table.roles import Roles

SEPSIS_RECORDS = 119_871
SEPSIS_CONDITIONS = 30
SEPSIS_SHARE = 0.03  # of visits that end with the diagnosis
_RACES = {"white": 0.66, "black": 0.17, "asian": 0.05, "native": 0.01, "islander": 0.01, "other": 0.1}
_ETHNICITIES = {"not hispanic": 0.86, "hispanic": 0.1, "unknown": 0.04}
_CONDITIONS = tuple(f"condition_{number:02}" for number in range(1, SEPSIS_CONDITIONS + 1))
# What the paper calls Antibiotic_AdminFlag and FluSeasonFlag, of its further columns.
_FURTHER = ("antibiotic", "flu_season")

ROLES = Roles(
    quasi={
        **dict.fromkeys(("age", "visits", "days"), "numeric"),
        **dict.fromkeys(("sex", "race", "ethnicity"), "categorical"),
    },
    sensitive=_CONDITIONS,
    target="sepsis",
    others=dict.fromkeys(_FURTHER, "keep"),
)


def sepsis_like(n: int = SEPSIS_RECORDS, *, seed: int = 0) -> Table:
    """Invented hospital visits in the shape of the sepsis table of Wei et al., which is private.

    3 numeric quasi-identifiers (age, number of visits, days in hospital), 3 categorical ones (sex, race, ethnicity), 30
    binary sensitive conditions known from earlier visits, from rare to common, whose chances rise with age, visits,
    the length of stay and each other, and the flag of sepsis as target: 3% of visits, more after antibiotics, with age
    and with days. Two of the paper's other columns are kept as they are, antibiotics and the season of flu; it has 67
    more. Nothing is drawn from real people, and no figure but these shares and numbers is theirs.

    >>> table = sepsis_like(1000)
    >>> table.n, len(table.sensitive), table.measured, table.categorical
    (1000, 30, ('age', 'visits', 'days'), ('sex', 'race', 'ethnicity'))
    >>> bool(0.01 < (table.frame["sepsis"] == "yes").mean() < 0.05)
    True
    """
    if n < 1:
        raise InputError(f"n must be a whole number of at least 1, not {n!r}.")
    draw = np.random.default_rng(seed)
    age = np.clip(np.rint(18 + 82 * draw.beta(1.6, 1.7, n)), 18, 100)
    frailty = 0.6 * (age - 55) / 18 + draw.normal(size=n)
    visits = np.minimum(draw.geometric(np.clip(0.62 - 0.1 * frailty, 0.2, 0.9)), 40)
    days = np.clip(np.floor(np.exp(0.2 + 0.5 * frailty + 0.6 * draw.normal(size=n))), 0, 60)
    columns: dict[str, object] = {
        "age": age,
        "visits": visits,
        "days": days,
        "sex": draw.choice(["female", "male"], n, p=[0.54, 0.46]),
        "race": draw.choice(list(_RACES), n, p=list(_RACES.values())),
        "ethnicity": draw.choice(list(_ETHNICITIES), n, p=list(_ETHNICITIES.values())),
    }
    burden = 0.7 * frailty + 0.2 * np.log1p(days) + 0.5 * np.log(visits)
    for j, share in enumerate(np.geomspace(0.01, 0.5, SEPSIS_CONDITIONS)):
        logit = np.log(share / (1 - share)) + draw.uniform(0.1, 0.6) * burden
        columns[_CONDITIONS[j]] = _drawn(draw, logit)
    columns["antibiotic"] = _drawn(draw, -0.9 + 0.4 * np.log1p(days) + 0.2 * frailty)
    columns["flu_season"] = np.where(draw.random(n) < 0.4, "yes", "no")
    treated = np.where(columns["antibiotic"] == "yes", 1.0, -1.0)
    logit = 1.3 * treated + 0.4 * frailty + 0.5 * np.log1p(days) + 0.1 * np.log(visits)
    columns["sepsis"] = _drawn(draw, logit + _level(logit, SEPSIS_SHARE))
    return Table.with_roles(pd.DataFrame(columns), ROLES)


def _drawn(draw: np.random.Generator, logit: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.where(draw.random(len(logit)) < 1 / (1 + np.exp(-logit)), "yes", "no")


def _level(logit: NDArray[np.float64], share: float) -> float:
    """What is added to all logits so that the mean chance is this share: halving, since the mean rises with it."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-logit - middle))).mean() < share else (low, middle)
    return low
