"""What is promised of every class, from what was typed: for all sensitive attributes, or attribute by attribute."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from optmodels.cli.values import literal
from optmodels.conditions import HOW, Conditions, SensitiveConditions
from optmodels.errors import InputError

# The parts of a promise, each an option of its own.
CONDITION_OPTIONS = tuple(field.name for field in fields(SensitiveConditions))
SUPPRESSION_OPTIONS = ("suppress", "suppression_price")
PROMISES = ("k", "scheme", *SUPPRESSION_OPTIONS, *CONDITION_OPTIONS)


def option_of(name: str) -> str:
    """The option that gives a part of the promise.

    >>> option_of("most_share")
    '--most-share'
    """
    return f"--{name.replace('_', '-')}"


def promised(
    *,
    k: int | None = None,
    scheme: str | None = None,
    suppress: float | None = None,
    suppression_price: float | None = None,
    **typed: Sequence[str],
) -> dict[str, Any]:
    """The parts of the promise that were asked for, as a formulation takes them.

    >>> promised(k=5, t=["illness=0.2,pay=0.3"], recursive=["3,2"])
    {'k': 5, 'recursive': (3, 2), 't': {'illness': 0.2, 'pay': 0.3}}
    >>> promised(k=5, t=["20"])
    Traceback (most recent call last):
    optmodels.errors.InputError: --t 20: t must be a distance between distributions, from 0 where they are equal ...
    """
    given = {"k": k, "scheme": scheme, "suppress": suppress, "suppression_price": suppression_price}
    promise: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if suppression_price is not None and not suppress:
        raise InputError(
            "--suppression-price is what leaving out a record costs, and none may be: add --suppress 0.05, or leave it "
            "out."
        )
    for name in CONDITION_OPTIONS:
        if texts := typed.get(name):
            promise[name] = _condition(name, texts)
    ways_first = sorted(promise.keys() - given.keys(), key=lambda name: (name not in HOW.values(), name))
    for name in ways_first:
        alone = {key: promise[key] for key in (name, HOW.get(name, "")) if key in promise}
        try:
            Conditions(**alone)
        except InputError as problem:
            raise InputError(f"{option_of(name)} {' '.join(typed[name])}: {problem}") from problem
    for condition, how in HOW.items():
        if how in promise and condition not in promise:
            raise InputError(
                f"{option_of(how)} says how {option_of(condition)} is meant, which is not given: add it, or leave "
                f"{option_of(how)} out."
            )
    return promise


def _condition(name: str, texts: Sequence[str]) -> Any:
    """One value, or one for each attribute that is named; of a pair (c, l) both numbers."""
    option, parts = option_of(name), [part for text in texts for part in next(csv.reader([text]), [])]
    many = 2 if name == "recursive" else 1
    if not any("=" in part for part in parts):
        return _value(option, parts, texts, many)
    found: dict[str, list[str]] = {}
    for part in parts:
        attribute, equals, value = part.rpartition("=")
        attribute = attribute.strip()
        if not equals and found and many > 1:  # the second number of a pair
            found[next(reversed(found))].append(part)
        elif not equals or not attribute:
            raise InputError(
                f"{option} has '{part}' beside values of single attributes: write {option} A={_EXAMPLES[many]},... for "
                "those that it is about, or one value for all."
            )
        elif attribute in found:
            raise InputError(f"{option} names '{attribute}' twice.")
        else:
            found[attribute] = [value]
    return {attribute: _value(option, values, texts, many) for attribute, values in found.items()}


_EXAMPLES = {1: "0.3", 2: "3,2"}


def _value(option: str, parts: Sequence[str], texts: Sequence[str], many: int) -> Any:
    if len(parts) != many or not all(part.strip() for part in parts):
        takes = "two numbers, c,l, such as 3,2" if many > 1 else "one value, or A=VALUE,... for single attributes"
        raise InputError(f"{option} takes {takes}, not '{' '.join(texts)}'.")
    values = tuple(literal(part.strip()) for part in parts)
    return values if many > 1 else values[0]
