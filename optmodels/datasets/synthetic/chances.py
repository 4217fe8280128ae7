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
# Each diagnosis with its usual treatments and symptoms, the most usual first.
_USUAL = {
    "hypertension": ("medication observation diet counselling", "headache dizziness palpitations fatigue"),
    "diabetes": (
        "medication injection diet counselling observation",
        "thirst fatigue blurred_vision numbness dizziness",
    ),
    "asthma": ("inhaler medication observation", "shortness_of_breath cough fatigue insomnia"),
    "arthritis": ("physiotherapy medication injection surgery acupuncture", "pain swelling fatigue numbness"),
    "depression": ("counselling medication observation", "fatigue insomnia weight_loss headache pain"),
    "infection": ("medication infusion observation surgery", "fever cough fatigue pain rash"),
    "heart disease": (
        "medication surgery rehabilitation observation diet",
        "shortness_of_breath palpitations pain swelling fatigue",
    ),
    "back pain": ("physiotherapy medication injection acupuncture surgery", "pain numbness insomnia cramps fatigue"),
    "anaemia": ("medication infusion diet observation", "fatigue dizziness shortness_of_breath palpitations headache"),
    "migraine": ("medication observation injection acupuncture", "headache nausea blurred_vision dizziness pain"),
    "copd": ("inhaler medication rehabilitation observation", "shortness_of_breath cough fatigue weight_loss"),
    "kidney disease": (
        "dialysis medication diet transplant observation",
        "swelling fatigue nausea cramps shortness_of_breath",
    ),
    "allergy": ("medication injection inhaler observation diet", "rash cough swelling shortness_of_breath headache"),
    "cancer": ("surgery infusion radiation medication observation", "pain fatigue weight_loss nausea fever"),
    "stroke": (
        "rehabilitation medication physiotherapy surgery observation",
        "numbness dizziness headache blurred_vision fatigue",
    ),
    "thyroid disease": (
        "medication observation surgery radiation",
        "fatigue palpitations weight_loss insomnia swelling",
    ),
    "obesity": ("diet counselling surgery medication", "fatigue shortness_of_breath pain insomnia swelling"),
    "injury": (
        "surgery physiotherapy observation medication rehabilitation",
        "pain swelling numbness dizziness headache",
    ),
    "liver disease": ("medication diet observation transplant", "fatigue nausea swelling weight_loss pain"),
}
DIAGNOSES = tuple(_USUAL)
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

_RARE = 0.03  # share of treatments and symptoms, and more, that are not usual
_NUMBER = 7  # of the tables below, which are drawn once and are the same for every seed


def diagnoses(size: int) -> Floats:
    """Chances of each diagnosis by age band, gender and body mass, one row a combination in that order."""
    age = (np.arange(AGE_BANDS) - 3.5)[:, None, None, None] / 2
    male = np.arange(2)[None, :, None, None]
    mass = np.arange(-1, BMI_BANDS - 1)[None, None, :, None]
    odds = np.log(_COMMON[:size]) + _BY_AGE[:size] * age + _MALE[:size] * male + _BY_BMI[:size] * mass
    return _cumulative(np.exp(odds).reshape(-1, size))


def treatments(size: int, values: int) -> Floats:
    """Chances of each of the first treatments given one of the first diagnoses."""
    return _consequences([treatments for treatments, _ in _USUAL.values()][:size], TREATMENTS[:values])


def symptoms(size: int, values: int) -> Floats:
    """Chances of each of the first symptoms given one of the first diagnoses."""
    return _consequences([symptoms for _, symptoms in _USUAL.values()][:size], SYMPTOMS[:values])


def _consequences(usual: list[str], values: tuple[str, ...]) -> Floats:
    """Of what is usual and among the values, each is half as likely as the one before; the others are rare."""
    chances = np.full((len(usual), len(values)), _RARE / len(values))
    for row, words in zip(chances, usual, strict=True):
        names = [word.replace("_", " ") for word in words.split()]
        there = [values.index(name) for name in names if name in values]
        row[there] += 0.5 ** np.arange(1, len(there) + 1)
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
