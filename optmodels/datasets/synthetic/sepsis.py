"""Hospital stays in the shape of the sepsis table of Wei et al."""

from __future__ import annotations

import numpy as np
import pandas as pd

from optmodels.errors import InputError
from optmodels.table import Table
from optmodels.table.roles import Roles

SEPSIS_RECORDS = 119_871
SEPSIS_CONDITIONS = 30
_RACES = {"white": 0.66, "black": 0.15, "hispanic": 0.11, "asian": 0.04, "native": 0.01, "other": 0.03}
_INSURANCES = {"private": 0.5, "medicaid": 0.3, "none": 0.1, "medicare": 0.1}
_CONDITIONS = tuple(f"condition_{number:02}" for number in range(1, SEPSIS_CONDITIONS + 1))

ROLES = Roles(
    quasi={
        **dict.fromkeys(("age", "days", "income"), "numeric"),
        **dict.fromkeys(("sex", "race", "insurance"), "categorical"),
    },
    sensitive=_CONDITIONS,
)


def sepsis_like(n: int = SEPSIS_RECORDS, *, seed: int = 0) -> Table:
    """Invented hospital stays in the shape of the sepsis table of Wei et al., which is private.

    3 numeric quasi-identifiers (age, days in hospital, income of the neighbourhood in thousands), 3 categorical ones
    (sex, race, insurance) and 30 binary sensitive conditions from rare to common, whose chances rise with age, with
    the length of stay and with each other. Nothing is drawn from real people.

    >>> table = sepsis_like(1000)
    >>> table.n, len(table.sensitive), table.measured, table.categorical
    (1000, 30, ('age', 'days', 'income'), ('sex', 'race', 'insurance'))
    """
    if n < 1:
        raise InputError(f"n must be a whole number of at least 1, not {n!r}.")
    draw = np.random.default_rng(seed)
    age = np.clip(np.rint(18 + 82 * draw.beta(3.2, 1.9, n)), 18, 100)
    frailty = 0.6 * (age - 65) / 15 + draw.normal(size=n)
    days = np.clip(np.rint(np.exp(1.5 + 0.3 * frailty + 0.4 * draw.normal(size=n))), 1, 40)
    income = 15 * np.clip(np.rint(draw.lognormal(1.3, 0.4, n)), 1, 10)
    columns: dict[str, object] = {
        "age": age,
        "days": days,
        "income": income,
        "sex": draw.choice(["female", "male"], n, p=[0.48, 0.52]),
        "race": draw.choice(list(_RACES), n, p=list(_RACES.values())),
        "insurance": np.where(age >= 65, "medicare", draw.choice(list(_INSURANCES), n, p=list(_INSURANCES.values()))),
    }
    burden = 0.7 * frailty + 0.2 * np.log(days)
    for j, share in enumerate(np.geomspace(0.01, 0.5, SEPSIS_CONDITIONS)):
        logit = np.log(share / (1 - share)) + draw.uniform(0.1, 0.6) * burden
        columns[_CONDITIONS[j]] = np.where(draw.random(n) < 1 / (1 + np.exp(-logit)), "yes", "no")
    return Table.with_roles(pd.DataFrame(columns), ROLES)
