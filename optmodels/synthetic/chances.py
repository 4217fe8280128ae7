"""What the synthetic health records are drawn by: values, how common they are, and what they depend on.

The figures are invented; they are of a plausible size, and connected as one would expect, so that classifiers have
something to learn and sensitive values are unevenly spread over quasi-identifiers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GENDERS = ("female", "male")
RACES = ("white", "hispanic", "black", "asian", "two or more", "native")
ZIPS = tuple(f"{code:05}" for code in range(5401, 5496))
OCCUPATIONS = (
    *("retired", "student", "office", "teacher", "nurse", "sales", "driver", "builder", "cook", "cleaner"),
    *("engineer", "farmer", "manager", "technician", "unemployed"),
)
DIAGNOSES = (
    *("hypertension", "diabetes", "asthma", "arthritis", "depression", "infection", "heart disease"),
    *("back pain", "anaemia", "migraine", "copd", "kidney disease", "allergy", "cancer", "stroke", "thyroid disease"),
    *("obesity", "injury", "liver disease"),
)
TREATMENTS = (
    *("medication", "physiotherapy", "surgery", "observation", "counselling", "diet", "infusion", "inhaler"),
    *("rehabilitation", "dialysis", "radiation", "transplant", "injection", "acupuncture"),
)
SYMPTOMS = (
    *("pain", "fatigue", "cough", "dizziness", "fever", "shortness of breath", "nausea", "headache"),
    *("numbness", "swelling", "rash", "insomnia", "weight loss", "palpitations", "cramps", "thirst", "blurred vision"),
)
MOST_VALUES = len(DIAGNOSES)

AGE_BANDS = 8  # ten years each, from 18
BMI_BANDS = 3
# Per diagnosis: how common it is, and how its log-odds move with age (per 20 years), body mass and being male.
_COMMON = np.array([17, 11, 8, 9, 9, 10, 6, 9, 4, 5, 4, 3, 6, 3, 2, 4, 5, 6, 2], float)
_BY_AGE = np.array([0.5, 0.4, -0.3, 0.6, -0.2, -0.3, 0.8, 0, -0.1, -0.5, 0.5, 0.6, -0.5, 0.6, 0.9, 0.2, 0, -0.4, 0.2])
_BY_BMI = np.array([0.3, 0.5, 0.1, 0.2, 0, -0.1, 0.2, 0.1, -0.2, 0, -0.1, 0.1, 0, -0.2, 0.1, 0, 1.2, -0.1, 0.1])
_MALE = np.array([0.1, 0.1, -0.1, -0.2, -0.4, 0, 0.3, 0, -0.6, -0.6, 0.2, 0.1, 0, 0, 0.1, -0.8, 0, 0.4, 0.3])
# How ill someone with it is, how much systolic pressure and temperature it adds.
SEVERITY = np.array([0.2, 0.5, -0.4, -0.3, -0.3, 0.0, 1.4, -0.7, 0, -0.8, 0.9, 1.1, -1, 1.3, 1.5, -0.5, 0.1, -0.3, 1])
PRESSURE = np.array([16, 4, 0, 0, 0, -2, 7, 0, -4, 0, 1, 8, 0, -2, 9, 1, 5, -1, -1], float)
FEVER = np.array([0, 0, 0, 0.1, 0, 1.2, 0, 0, 0, 0, 0.1, 0, 0, 0.3, 0, 0, 0, 0.2, 0.1], float)
# Dollars that a treatment costs, before everything else.
COSTS = np.array([240, 420, 9_000, 150, 350, 120, 1_900, 180, 3_200, 5_200, 7_800, 30_000, 260, 200], float)

_NUMBER = 7  # of the tables below, which are drawn once and are the same for every seed


def diagnoses(size: int) -> Floats:
    """Chances of each diagnosis by age band, gender and body mass, one row a combination in that order."""
    age = (np.arange(AGE_BANDS) - 3.5)[:, None, None, None] / 2
    male = np.arange(2)[None, :, None, None]
    mass = np.arange(-1, BMI_BANDS - 1)[None, None, :, None]
    odds = np.log(_COMMON[:size]) + _BY_AGE[:size] * age + _MALE[:size] * male + _BY_BMI[:size] * mass
    return _cumulative(np.exp(odds).reshape(-1, size))


def consequences(size: int, values: int) -> Floats:
    """Chances of each of some values given one of `size` diagnoses: a few are usual, the others are rare."""
    draw = np.random.default_rng(_NUMBER + values)
    usual = np.array([0.5, 0.25, 0.13, 0.06, 0.03])[:values]
    chances = np.full((size, values), 0.03 / values)
    for row in chances:
        row[draw.permutation(values)[: len(usual)]] += usual
    return _cumulative(chances)


def occupations() -> Floats:
    """Chances of each occupation by age band: the young study and the old are retired."""
    draw = np.random.default_rng(_NUMBER)
    at_work = draw.uniform(0.5, 1.5, len(OCCUPATIONS))
    retired = np.array([0, 0, 0, 0.02, 0.15, 0.75, 0.95, 0.99])
    student = np.array([0.6, 0.08, 0.02, 0.01, 0, 0, 0, 0])
    chances = np.tile(at_work / at_work[2:].sum(), (AGE_BANDS, 1)) * (1 - retired - student)[:, None]
    chances[:, 0], chances[:, 1] = retired, student
    return _cumulative(chances)


def races() -> Floats:
    """Chances of each race by zip code."""
    draw = np.random.default_rng(_NUMBER)
    return _cumulative(draw.dirichlet(8 * np.array([0.6, 0.17, 0.12, 0.06, 0.035, 0.015]) + 0.05, len(ZIPS)))


def zips() -> Floats:
    """Chances of each zip code: towns differ in size."""
    return _cumulative(np.random.default_rng(_NUMBER).gamma(2.0, size=(1, len(ZIPS))))


def affluence() -> Floats:
    """How well off people of each zip code are, around 0."""
    return np.random.default_rng(_NUMBER).normal(0, 0.5, len(ZIPS))


def _cumulative(chances: Floats) -> Floats:
    sums = np.cumsum(chances, axis=1)
    return np.ascontiguousarray(sums / sums[:, -1:])
