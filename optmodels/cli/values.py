"""What people type after an option, as values: lists of names, key=value pairs, literals."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from optmodels.errors import InputError, unknown

Choice = TypeVar("Choice", bound=str)

# How people write what JSON spells differently.
SPELLINGS = {"none": None, "true": True, "false": False}


def names(option: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The names in comma-separated lists; a name that holds a comma is put in double quotes.

    >>> names("--quasi", ["age, sex", "job"])
    ('age', 'sex', 'job')
    """
    found = [name.strip() for text in texts for row in csv.reader([text], skipinitialspace=True) for name in row]
    if "" in found:
        raise InputError(f"{option} has an empty name in '{','.join(texts)}': write it as {option} a,b,c.")
    for place, name in enumerate(found):
        if name in found[:place]:
            raise InputError(f"{option} names '{name}' twice.")
    return tuple(found)


def pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """The key=value pairs of a repeated option.

    >>> pairs("--param", ["gamma=0.5", "scale=[1, 2]"])
    {'gamma': '0.5', 'scale': '[1, 2]'}
    """
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise InputError(f"{option} takes key=value, not '{text}'.")
        if key in found:
            raise InputError(f"{option} gives '{key}' twice: '{found[key]}' and '{value.strip()}'.")
        found[key] = value.strip()
    return found


def numbers(option: str, text: str) -> dict[str, float]:
    """The numbers of a list of name=number pairs.

    >>> numbers("--wish", "loss=0.01, entropy=1.2")
    {'loss': 0.01, 'entropy': 1.2}
    """
    found: dict[str, float] = {}
    for name, value in pairs(option, [one for one in text.split(",") if one.strip()]).items():
        try:
            found[name] = float(value)
        except ValueError:
            raise InputError(f"{option} takes numbers, and '{name}' is given '{value}'.") from None
    if not found:
        raise InputError(f"{option} is empty: write it as {option} loss=0.01,entropy=1.2.")
    return found


def chosen(option: str, text: str, choices: Sequence[Choice]) -> Choice:
    """The choice that was typed, or the error with the nearest one.

    >>> chosen("--scaling", "standart", ("none", "standard"))
    Traceback (most recent call last):
    optmodels.errors.InputError: There is no --scaling 'standart'. Did you mean 'standard'? Known: none, standard.
    """
    for choice in choices:
        if choice == text:
            return choice
    raise unknown(option, text, choices)


def literal(text: str) -> Any:
    """A number, true, false, none or a list where the text is one; the text itself otherwise.

    >>> [literal(text) for text in ("5", "1e-3", "true", "None", "[1, 2]", "ward")]
    [5, 0.001, True, None, [1, 2], 'ward']
    """
    if text.lower() in SPELLINGS:
        return SPELLINGS[text.lower()]
    try:
        return json.loads(text)
    except ValueError:
        return text


def typed(option: str, owner: type, settings: Mapping[str, str]) -> dict[str, Any]:
    """The settings as values of the types that the owner, a dataclass, declares for them.

    Names that the owner does not have pass through: the registry names the nearest one.
    """
    hints = get_type_hints(owner)
    declared = {field.name: hints[field.name] for field in fields(owner)}
    return {key: _converted(option, key, text, declared.get(key, Any)) for key, text in settings.items()}


def _converted(option: str, key: str, text: str, annotation: Any) -> Any:
    for value in (literal(text), text):
        if _fits(value, annotation):
            return tuple(value) if isinstance(value, list) else value
    raise InputError(f"{option} {key}={text} does not fit: '{key}' takes {spelled(annotation)}.")


def _fits(value: Any, annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in get_args(annotation))
    if origin is Literal:
        return value in get_args(annotation)
    if annotation in (None, NoneType):
        return value is None
    if annotation is bool:
        return isinstance(value, bool)
    if annotation in (int, float):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (annotation is float and isinstance(value, float))
    if annotation in (str, Path):
        return isinstance(value, str)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(_fits(item, get_args(annotation)[1]) for item in value.values())
    if isinstance(origin, type) and issubclass(origin, Sequence):
        parts = [part for part in get_args(annotation) if part is not Ellipsis]
        return isinstance(value, list) and all(any(_fits(item, part) for part in parts) for item in value)
    return True  # a type that no command line can check; its owner does


def spelled(annotation: Any) -> str:
    """What an option of a type takes, in words.

    >>> spelled(int | None), spelled(Literal["a", "b"])
    ('a whole number or none', "'a' or 'b'")
    """
    origin = get_origin(annotation)
    if origin in (Union, UnionType):
        return " or ".join(spelled(part) for part in get_args(annotation))
    if origin is Literal:
        return " or ".join(repr(choice) for choice in get_args(annotation))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return 'names and values such as {"age": 2, "sex": 1}'
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return "a list such as " + ('["a", "b"]' if str in get_args(annotation) else "[1, 2]")
    plain = {int: "a whole number", float: "a number", bool: "true or false", str: "text", NoneType: "none"}
    if annotation in plain:
        return plain[annotation]
    return str(annotation).replace("typing.", "")
