"""Roles that fit columns, each with its reason: proposals to be read and corrected, no more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from optmodels.inspection.columns import Column
from optmodels.inspection.vocabulary import (
    KNOWN_TO_OTHERS,
    MAY_NAME_A_PERSON,
    NAMES_A_PERSON,
    PEOPLE,
    SENSITIVE,
    said_by,
    words,
)
from optmodels.table.role_types import Kind

ProposedRole = Literal["identifier", "person", "quasi", "sensitive", "drop"]

_UNIQUE_TEXT = 0.5  # the share of records alone with their text from which on the text is rather a name or a note
_MANY_IDS = 0.1  # values per record from which on an `id` rather names records than groups of them
_LONG_TEXT = 40  # characters of an average value, from which on it is a note
_FEW_VALUES = 30  # of an attribute whose values are worth protecting


@dataclass(frozen=True)
class Proposal:
    """A role for a column, with the kind if it is a quasi-identifier, and why."""

    role: ProposedRole
    reason: str
    kind: Kind | None = None


def proposals(columns: Sequence[Column], repeating: Collection[str]) -> dict[str, Proposal]:
    """A role for every column; `repeating` are those with values that several records have which are not the same."""
    found = {column.name: _proposal(column) for column in columns}
    naming = [column for column in columns if found[column.name].role == "identifier" and column.repeats]
    if naming:
        # records entered twice make no person of what numbers them, unless there is nothing else
        person = max([column for column in naming if column.name in repeating] or naming, key=_says_who)
        reason = f"{found[person.name].reason}; {len(person.repeats):,} with several records: k must count people"
        found[person.name] = Proposal("person", reason)
    return found


def _says_who(column: Column) -> int:
    """How well the name of an identifier says that it is people who have it."""
    return 2 * bool(said_by(column.name, PEOPLE)) + bool(said_by(column.name, MAY_NAME_A_PERSON))


def _proposal(column: Column) -> Proposal:
    if not column.distinct or (column.distinct == 1 and not column.missing):
        return Proposal("drop", "the same in every record: it tells nothing")
    return _identifier(column) or _sensitive(column) or _note(column) or _quasi(column)


def _identifier(column: Column) -> Proposal | None:
    name, spread = column.name, _spread(column)
    if word := said_by(name, NAMES_A_PERSON):
        return Proposal("identifier", f"'{word}' names a person; {spread}")
    if name.lower() in PEOPLE and column.type != "date" and column.distinction >= _MANY_IDS:
        return Proposal("identifier", f"a {name.lower()} is a person; {spread}")
    weak = said_by(name, MAY_NAME_A_PERSON)
    if weak and column.type != "date" and (said_by(name, PEOPLE) or name.lower() == weak):
        if column.distinction >= _MANY_IDS:
            return Proposal("identifier", f"'{' '.join(words(name))}' names a person; {spread}")
    elif weak and column.unique_share >= _UNIQUE_TEXT and column.type in ("text", "code"):
        return Proposal("identifier", f"'{weak}' with nearly as many values as records; {spread}")
    if said_by(name, KNOWN_TO_OTHERS):
        return None
    whole = column.type == "number" and column.distinct == column.records and column.records > 2
    if whole and column.numbers.size == column.records and column.numbers[-1] - column.numbers[0] == column.records - 1:
        return Proposal("identifier", "whole numbers in a row, one for each record: it numbers the records")
    if column.type in ("text", "code") and column.records > 2 and column.distinct == column.records:
        return Proposal("identifier", "every record has a value of its own")
    return None


def _note(column: Column) -> Proposal | None:
    if column.type != "text" or said_by(column.name, KNOWN_TO_OTHERS):
        return None
    length = sum(map(len, column.known)) / len(column.known)
    if column.unique_share >= _UNIQUE_TEXT or (length >= _LONG_TEXT and column.distinct > _FEW_VALUES):
        return Proposal("drop", f"free text, which may say anything about a person; {_spread(column)}")
    return None


def _sensitive(column: Column) -> Proposal | None:
    word = said_by(column.name, SENSITIVE)
    if not word or said_by(column.name, KNOWN_TO_OTHERS):
        return None
    more = "; a number with so many values needs bins" if column.type == "number" and column.distinct > 20 else ""
    return Proposal("sensitive", f"'{word}' is what nobody should learn about a person; {_spread(column)}{more}")


def _quasi(column: Column) -> Proposal:
    word = said_by(column.name, KNOWN_TO_OTHERS)
    why = f"'{word}' may be known to others" if word else "tells records apart"
    fit = not word and column.type in ("text", "boolean") and 2 <= column.distinct <= _FEW_VALUES
    doubt = "; or sensitive, if others do not know it but should not learn it" if fit else ""
    return Proposal("quasi", f"{why}: {_spread(column)}{doubt}", _kind(column))


def _kind(column: Column) -> Kind:
    if column.type == "date" and (column.mixed_dates or len(column.date_formats) == 1):
        return "date"
    return "numeric" if column.type == "number" and column.distinct > 2 else "categorical"


def _spread(column: Column) -> str:
    """How a column tells records apart, in words."""
    apart = f"{column.distinct:,} values that tell {column.separation:.1%} of pairs apart"
    return apart + (f", {column.unique_share:.0%} of records alone" if column.unique_share >= 0.005 else "")
