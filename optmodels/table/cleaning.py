"""Cleaning that is asked for: values that stand for missing, spellings, ends of numbers; each change is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from pandas.api import types

from optmodels.errors import InputError, unknown
from optmodels.table.role_checks import check_word, is_number

Case = Literal["as it is", "lower", "upper"]
Report = dict[str, dict[str, int]]  # how many cells each step changed, by column


@dataclass(frozen=True)
class Cleaning:
    """What is done to the values of columns with a role before anything else; nothing unless asked for.

    Attributes:
        unknown: values, by column, that are read as missing; what becomes of these is then a matter of `missing`.
        replace: values, by column, that are written otherwise.
        trim: take spaces off both ends of text, and make several within it one; of all columns, or of those named.
        case: write text in small ('lower') or capital ('upper') letters, of all columns or by column.
        clip: numbers, by column, below and above which they become these: bottom and top coding.

    >>> Cleaning(unknown={"age": ["-99"]}, clip={"age": [18, 90]}).columns
    ('age',)
    """

    unknown: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    replace: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    trim: bool | tuple[str, ...] = False
    case: Case | Mapping[str, Case] = "as it is"
    clip: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("unknown", "replace", "clip"):
            if not isinstance(getattr(self, name), Mapping):
                raise InputError(f"clean.{name} is by column, such as {_EXAMPLES[name]}, not {getattr(self, name)!r}.")
        object.__setattr__(self, "unknown", {name: _texts(name, some) for name, some in self.unknown.items()})
        object.__setattr__(self, "replace", {name: _pairs(name, some) for name, some in self.replace.items()})
        object.__setattr__(self, "clip", {name: _ends(name, some) for name, some in self.clip.items()})
        if isinstance(self.trim, list | tuple) and all(isinstance(name, str) for name in self.trim):
            object.__setattr__(self, "trim", tuple(self.trim))
        elif not isinstance(self.trim, bool):
            raise InputError(f"clean.trim is true or false or a list of columns, not {self.trim!r}.")
        if isinstance(self.case, Mapping):
            object.__setattr__(self, "case", dict(self.case))
        for name, word in self.case.items() if isinstance(self.case, Mapping) else [("", self.case)]:
            check_word(f"clean.case of '{name}'" if name else "clean.case", word, get_args(Case))

    @classmethod
    def of(cls, given: Cleaning | Mapping[str, Any]) -> Cleaning:
        """Cleaning from keyword arguments as a mapping, as role files have it."""
        if isinstance(given, Cleaning):
            return given
        if not isinstance(given, Mapping):
            raise InputError(f"Cleaning is a table of steps, such as [clean] with trim = true, not {given!r}.")
        steps = [step.name for step in fields(cls)]
        for name in given:
            if name not in steps:
                raise unknown("step of cleaning called", str(name), steps)
        return cls(**given)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are named."""
        trimmed = () if isinstance(self.trim, bool) else self.trim
        lettered = self.case if isinstance(self.case, Mapping) else ()
        return tuple(dict.fromkeys([*self.unknown, *self.replace, *trimmed, *lettered, *self.clip]))

    def trims(self, name: str) -> bool:
        """Whether spaces of this column are taken off."""
        return self.trim if isinstance(self.trim, bool) else name in self.trim

    def case_of(self, name: str) -> Case:
        """The letters that this column is written in."""
        return self.case.get(name, "as it is") if isinstance(self.case, Mapping) else self.case

    def with_more(self, given: Cleaning | Mapping[str, Any]) -> Cleaning:
        """The same steps and others, which go before: a column that both name is cleaned as the others say.

        >>> Cleaning(trim=True).with_more({"clip": {"age": [18, 90]}}).to_dict()
        {'trim': True, 'clip': {'age': (18, 90)}}
        """
        merged = self.to_dict()
        for name, value in Cleaning.of(given).to_dict().items():
            before = merged.get(name)
            merged[name] = {**before, **value} if isinstance(value, dict) and isinstance(before, dict) else value
        return Cleaning(**merged)

    def without(self, columns: set[str]) -> Cleaning:
        """The same steps but for some columns."""

        def kept(by: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in by.items() if name not in columns}

        trim = self.trim if isinstance(self.trim, bool) else tuple(name for name in self.trim if name not in columns)
        case = kept(self.case) if isinstance(self.case, Mapping) else self.case
        return Cleaning(kept(self.unknown), kept(self.replace), trim, case, kept(self.clip))

    def to_dict(self) -> dict[str, Any]:
        """The steps that are asked for, by name."""
        return {
            step.name: value
            for step in fields(self)
            if (value := getattr(self, step.name)) not in ({}, (), False, "as it is")
        }


def cleaned(columns: Mapping[str, pd.Series], steps: Cleaning, report: Report) -> dict[str, pd.Series]:
    """Columns as written, with other values: what stands for missing, then replacements, spaces, letters.

    >>> report = {}
    >>> cleaned({"sex": pd.Series(["Male", "male ", "?"])}, Cleaning({"sex": ["?"]}, trim=True, case="lower"), report)
    {'sex': 0    male ...
    >>> report
    {'unknown': {'sex': 1}, 'trim': {'sex': 1}, 'case': {'sex': 1}}
    """
    found = dict(columns)
    for name, column in columns.items():
        for step, change in _changes(name, steps):
            column = _changed(column, change, report.setdefault(step, {}), name)
        found[name] = column
    for step in [step for step, by in report.items() if not by]:
        del report[step]
    return found


def clipped(column: pd.Series, name: str, ends: tuple[float, float], report: Report) -> pd.Series:
    """Numbers with those beyond the ends moved to the ends.

    >>> report = {}
    >>> clipped(pd.Series([3, 40, 99]), "age", (18, 90), report).tolist(), report
    ([18, 40, 90], {'clip': {'age': 2}})
    """
    low, high = ends
    moved = int(((column < low) | (column > high)).sum())
    if not moved:
        return column
    report.setdefault("clip", {})[name] = moved
    whole = column.dtype.kind in "iu" and all(np.isinf(end) or float(end).is_integer() for end in ends)
    inside: pd.Series = column.clip(low, high)
    return inside.astype(column.dtype) if whole else inside


_EXAMPLES = {"unknown": '{age = ["-99"]}', "replace": '{sex = {M = "male"}}', "clip": "{age = [18, 90]}"}
_Change = Callable[[str], str | None]


def _changes(name: str, steps: Cleaning) -> list[tuple[str, _Change]]:
    """The steps of one column: what each makes of a text, None for missing."""
    changes: list[tuple[str, _Change]] = []
    if name in steps.unknown:
        gone = {value.strip() for value in steps.unknown[name]}
        changes.append(("unknown", lambda text: None if text.strip() in gone else text))
    if name in steps.replace:
        others = steps.replace[name]
        changes.append(("replace", lambda text: others.get(text, text)))
    if steps.trims(name):
        changes.append(("trim", lambda text: " ".join(text.split())))
    if (case := steps.case_of(name)) != "as it is":
        changes.append(("case", str.lower if case == "lower" else str.upper))
    return changes


def _changed(column: pd.Series, change: _Change, counted: dict[str, int], name: str) -> pd.Series:
    """The column with every value changed that the change makes something else of."""
    codes, values = pd.factorize(column)
    numbers = types.is_numeric_dtype(column.dtype) or types.is_bool_dtype(column.dtype)
    made: list[Any] = list(values)
    altered = np.zeros(len(made), bool)
    for place, value in enumerate(made):
        if isinstance(value, str) or numbers:
            text = value if isinstance(value, str) else _number_text(value)
            new = change(text)
            if new != text:
                made[place], altered[place] = new, True
    if not altered.any():
        return column
    counted[name] = int(altered[codes[codes >= 0]].sum())
    cells = np.array([*made, None], object)[codes]  # where the code -1 of a missing cell points
    kept = pd.Series(cells, column.index, name=column.name)
    if numbers and not any(isinstance(new, str) for new in made):
        return pd.to_numeric(kept)
    return kept.astype("category") if isinstance(column.dtype, pd.CategoricalDtype) else kept


def _number_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, (float, np.floating)) and float(value).is_integer() else str(value)


def _texts(name: str, values: object) -> tuple[str, ...]:
    if isinstance(values, str | int | float):
        return (_number_text(values),)
    if not isinstance(values, Iterable):
        raise InputError(f"clean.unknown lists values of '{name}', such as {_EXAMPLES['unknown']}, not {values!r}.")
    return tuple(_number_text(value) for value in values)


def _pairs(name: str, values: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(values, Mapping) or not all(isinstance(new, str) and new for new in values.values()):
        raise InputError(
            f"clean.replace says of '{name}' which text becomes which, such as {_EXAMPLES['replace']}, not "
            f"{values!r}; what is to be missing goes to clean.unknown."
        )
    return {str(old): new for old, new in values.items()}


def _ends(name: str, ends: Sequence[float]) -> tuple[float, float]:
    fine = isinstance(ends, Sequence) and len(ends) == 2 and all(map(is_number, ends)) and ends[0] <= ends[1]
    if not fine or ends[0] == inf or ends[1] == -inf:
        raise InputError(f"clean.clip gives '{name}' its least and its largest number, such as [18, 90], not {ends!r}.")
    return ends[0], ends[1]
