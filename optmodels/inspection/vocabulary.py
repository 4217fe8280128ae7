"""Words: what columns of people are usually called, and what people write where they know nothing."""

from __future__ import annotations

import re
from collections.abc import Collection


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Written where a value is not known.
UNKNOWN_WORDS = _listed(
    """? ?? - -- --- . .. n/a na n.a. n.a #n/a none null nan nil unknown unk unkn missing unspecified undefined refused
    tbd tba xxx"""
) | {"not known", "not available", "not stated", "not specified", "no answer", "no data"}
UNKNOWN_NUMBERS = frozenset(sign * int("9" * many) for many in range(1, 8) for sign in (1, -1)) | {-1, -8, -88, -888}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

NAMES_A_PERSON = _listed(
    """ssn nhs mrn nino passport email mail phone telephone mobile fax iban account uuid guid url ip licence license
    surname firstname lastname forename fullname username login"""
)
MAY_NAME_A_PERSON = _listed("""id identifier name nr no number key code""")
PEOPLE = _listed(
    """patient person subject participant respondent member client customer employee user student pupil citizen
    individual case resident donor worker"""
)
KNOWN_TO_OTHERS = _listed(
    """age birth born birthday birthdate dob yob sex gender zip zipcode postcode postal plz city town village
    municipality region state province county country nationality citizenship race ethnicity ethnic marital married
    education school degree occupation job profession workclass employer language household children height weight
    admission admitted discharge discharged visit visited address street district"""
)
SENSITIVE = _listed(
    """illness disease diagnosis diagnose diag icd icd10 condition symptom symptoms treatment therapy medication drug
    drugs hiv cancer mental disorder disability salary income wage wages pay earnings wealth credit debt loan
    religion belief political party vote union orientation crime offence offense conviction outcome result blood
    genotype pregnancy pregnant smoker alcohol"""
)
CODES = _listed("""zip zipcode postcode postal plz phone telephone mobile icd icd10 code isbn iban account fips""")

# What numbers of such a name can be, beyond which they are wrong.
POSSIBLE: dict[str, tuple[float, float]] = {
    "age": (0, 120),
    "yob": (1880, 2100),
    "year": (1800, 2100),
    "month": (1, 12),
    "hour": (0, 24),
    "percent": (0, 100),
    "percentage": (0, 100),
    "height": (0, 300),
    "weight": (0, 700),
    "children": (0, 30),
    "bmi": (5, 250),
}


def words(name: str) -> tuple[str, ...]:
    """The words that a column's name is made of, in small letters.

    >>> words("PatientID"), words("date_of_birth"), words("icd10")
    (('patient', 'id'), ('date', 'of', 'birth'), ('icd', '10'))
    """
    return tuple(found.lower() for found in _WORD.findall(name))


def said_by(name: str, known: Collection[str]) -> str | None:
    """The word of a name that is among those known, if any.

    >>> said_by("patient_sex", KNOWN_TO_OTHERS), said_by("essex", KNOWN_TO_OTHERS)
    ('sex', None)
    """
    return next((word for word in (*words(name), name.lower()) if word in known), None)
