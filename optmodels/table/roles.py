"""Column roles: what each column of a table is, and how the table is to be read; kept in a TOML file if wanted."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from optmodels.errors import InputError, nearest, unknown
from optmodels.files import write_whole
from optmodels.table.hierarchy import Hierarchy

Kind = Literal["numeric", "categorical", "ordinal"]
Others = Literal["error", "keep", "drop"]
Missing = Literal["error", "category", "drop", "impute"]
Scaling = Literal["none", "standard", "range"]
Bins = int | Sequence[float]


@dataclass(frozen=True)
class Roles:
    """Everything about a table but its data; validated when made, checked against columns by `settle`.

    >>> roles = Roles(quasi={"age": "numeric"}, sensitive=("illness",), identifiers=("name",))
    >>> roles.settle(["name", "age", "illness"])
    ('age', 'illness')
    """

    quasi: Mapping[str, Kind]
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    target: str | None = None
    others: Others | Mapping[str, Literal["keep", "drop"]] = "error"
    missing: Missing = "error"
    scaling: Scaling = "none"
    weights: Mapping[str, float] = field(default_factory=dict)
    gamma: float = 1.0
    bins: Mapping[str, Bins] = field(default_factory=dict)
    orders: Mapping[str, Sequence[object]] = field(default_factory=dict)
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.quasi, Mapping) or not self.quasi:
            raise InputError(
                "Say which columns are quasi-identifiers and of which kind, e.g. quasi={'age': 'numeric', "
                "'postcode': 'categorical'}."
            )
        self._set("quasi", dict(self.quasi))
        self._set("sensitive", _names(self.sensitive))
        self._set("identifiers", _names(self.identifiers))
        if isinstance(self.others, Mapping):
            self._set("others", dict(self.others) or "error")
        self._set("weights", {name: _number(f"weight of '{name}'", w) for name, w in self.weights.items()})
        self._set("gamma", _number("gamma", self.gamma))
        self._set("bins", {name: _bins(name, bins) for name, bins in self.bins.items()})
        self._set("orders", {name: _order(name, order) for name, order in self.orders.items()})
        self._set("hierarchies", dict(self.hierarchies))
        self._check_words()
        self._check_one_role_each()
        self._check_extras()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_words(self) -> None:
        for name, kind in self.quasi.items():
            _check_word(f"kind of quasi-identifier (asked for '{name}')", kind, get_args(Kind))
        _check_word("missing-value policy", self.missing, get_args(Missing))
        _check_word("scaling", self.scaling, get_args(Scaling))
        if isinstance(self.others, dict):
            for name, choice in self.others.items():
                _check_word(f"choice for the other column '{name}'", choice, ("keep", "drop"))
        else:
            _check_word("choice for other columns", self.others, get_args(Others))

    def _check_one_role_each(self) -> None:
        held: dict[str, list[str]] = {}
        for role, names in self._by_role():
            for name in names:
                if not isinstance(name, str):
                    raise InputError(f"Column names are text, not {name!r}; rename the column first.")
                held.setdefault(name, []).append(role)
        for name, roles in held.items():
            if len(roles) > 1:
                raise InputError(f"Column '{name}' has two roles, {' and '.join(roles)}; give it one.")

    def _by_role(self) -> list[tuple[str, Iterable[str]]]:
        return [
            ("quasi-identifier", self.quasi),
            ("sensitive", self.sensitive),
            ("identifier", self.identifiers),
            ("target", () if self.target is None else (self.target,)),
            ("other", self.others if isinstance(self.others, dict) else ()),
        ]

    def _check_extras(self) -> None:
        ordinal = [name for name, kind in self.quasi.items() if kind == "ordinal"]
        _check_given("weights", self.weights, self.quasi, "quasi-identifiers")
        _check_given("bins", self.bins, self.sensitive, "sensitive attributes")
        sensitive = "quasi-identifiers and sensitive attributes"
        _check_given("orders", self.orders, [*ordinal, *self.sensitive], f"ordinal {sensitive}")
        _check_given("hierarchies", self.hierarchies, [*self.quasi, *self.sensitive], sensitive)
        for name in self.bins:
            if name in self.orders:
                raise InputError(f"Column '{name}' has both bins and an order; bins have an order already, keep one.")

    def settle(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns to keep, in their own order, or an error that says which columns are unsettled and how."""
        present = tuple(columns)
        _check_names(present)
        for role, names in self._by_role():
            for name in names:
                if name not in present:
                    raise InputError(
                        f"There is no column '{name}' (named as {role}).{nearest(name, present)} "
                        f"The columns are {', '.join(present)}."
                    )
        given = {name for _, names in self._by_role() for name in names}
        unsettled = [name for name in present if name not in given]
        if unsettled and self.others not in ("keep", "drop"):
            raise InputError(
                f"These columns have no role: {', '.join(unsettled)}. Name them as quasi-identifiers (quasi=), "
                "sensitive=, target= or identifiers= (always dropped), or settle the rest with others='drop' or "
                "others='keep' (kept as they are), or one by one with others={name: 'keep' or 'drop'}."
            )
        left_out = {*self.identifiers, *(unsettled if self.others == "drop" else ())}
        if isinstance(self.others, dict):
            left_out.update(name for name, choice in self.others.items() if choice == "drop")
        return tuple(name for name in present if name not in left_out)

    def revised(
        self,
        *,
        quasi: Mapping[str, Kind] | None = None,
        sensitive: str | Sequence[str] | None = None,
        identifiers: Sequence[str] | None = None,
        target: str | None = None,
        others: Others | Mapping[str, Literal["keep", "drop"]] | None = None,
        missing: Missing | None = None,
        scaling: Scaling | None = None,
        weights: Mapping[str, float] | None = None,
        gamma: float | None = None,
        bins: Mapping[str, Bins] | None = None,
        orders: Mapping[str, Sequence[object]] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
    ) -> Roles:
        """The same roles with some of them replaced; what is not given stays.

        >>> Roles(quasi={"age": "numeric"}).revised(scaling="range").scaling
        'range'
        """
        given = {
            "quasi": quasi,
            "sensitive": None if sensitive is None else _names(sensitive),
            "identifiers": None if identifiers is None else _names(identifiers),
            "target": target,
            "others": others,
            "missing": missing,
            "scaling": scaling,
            "weights": weights,
            "gamma": gamma,
            "bins": bins,
            "orders": orders,
            "hierarchies": hierarchies,
        }
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return replace(self, **changes)

    def save(self, path: str | Path) -> None:
        """Write the roles as TOML, to be reused on new data."""
        text = self.to_toml()
        write_whole(Path(path), lambda file: _write_text(file, text))

    def to_toml(self) -> str:
        """The roles as TOML text.

        >>> print(Roles(quasi={"age": "numeric"}, sensitive=("illness",)).to_toml().splitlines()[0])
        sensitive = ["illness"]
        """
        lines: list[str] = []
        tables: list[str] = []
        for name in (one.name for one in fields(self) if one.name != "hierarchies"):
            value = getattr(self, name)
            if isinstance(value, dict):
                entries = [f"{_toml(key)} = {_toml(entry)}" for key, entry in value.items()]
                tables += ["", f"[{name}]", *entries] if entries else []
            elif value is not None:
                lines.append(f"{name} = {_toml(value)}")
        for name, hierarchy in self.hierarchies.items():
            values, *levels = (column.tolist() for _, column in hierarchy.to_frame().items())
            tables += ["", f"[hierarchies.{_toml(name)}]", f"values = {_toml(values)}", f"levels = {_toml(levels)}"]
        return "\n".join([*lines, *tables]) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Roles:
        """Read roles from TOML; a hierarchy may also be the name of a CSV file beside it."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as problem:
            raise InputError(f"Cannot read the role file '{path}': {problem}.") from problem
        try:
            return cls.from_toml(text, folder=Path(path).parent)
        except InputError as problem:
            raise InputError(f"In the role file '{path}': {problem}") from problem

    @classmethod
    def from_toml(cls, text: str, *, folder: Path = Path()) -> Roles:
        """The roles written in TOML text; hierarchy files are looked for in `folder`."""
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise InputError(f"This is not valid TOML: {problem}.") from problem
        names = [one.name for one in fields(cls)]
        for key, value in given.items():
            if key not in names:
                raise unknown("entry of a role file called", key, names)
            wants_table = key in ("quasi", "weights", "bins", "orders", "hierarchies")
            if wants_table and not isinstance(value, dict):
                raise InputError(f"'{key}' must be a table of column names, such as [{key}], not {value!r}.")
        given["hierarchies"] = {
            name: _hierarchy(name, form, folder) for name, form in given.get("hierarchies", {}).items()
        }
        given.setdefault("quasi", {})
        return cls(**given)


def _check_names(columns: Sequence[str]) -> None:
    for name in columns:
        if not isinstance(name, str):
            raise InputError(
                f"Column names are text, but one is {name!r}; rename it first, e.g. frame.rename(columns=str)."
            )
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise InputError(f"The column '{twice[0]}' appears more than once; rename or remove its copies.")


def _names(names: str | Iterable[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    if not isinstance(names, Iterable):
        raise InputError(f"Give column names as text or a list of texts, not {names!r}.")
    return (names,) if isinstance(names, str) else tuple(names)


def _check_word(what: str, word: object, choices: Sequence[str]) -> None:
    if word not in choices:
        raise unknown(what, str(word), choices)


def _check_given(what: str, given: Iterable[str], allowed: Iterable[str], who: str) -> None:
    known = list(allowed)
    for name in given:
        if name not in known:
            raise InputError(
                f"{what}= names '{name}', but it is for {who} only ({', '.join(known) or 'there are none'})."
                f"{nearest(name, known)}"
            )


def _number(what: str, value: object) -> float:
    if not _is_number(value) or not isfinite(value) or value < 0:
        raise InputError(f"The {what} must be a finite number of at least 0, not {value!r}.")
    return float(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _bins(name: str, bins: Bins) -> Bins:
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if bins >= 2:
            return int(bins)
    elif isinstance(bins, Iterable) and not isinstance(bins, str):
        edges = tuple(bins)
        finite = all(_is_number(edge) and isfinite(edge) for edge in edges)
        if len(edges) >= 2 and finite and all(low < high for low, high in pairwise(edges)):
            return tuple(float(edge) for edge in edges)
    raise InputError(
        f"The bins of '{name}' must be a number of quantiles (2 or more) or rising edges such as [0, 10, 20], "
        f"not {bins!r}."
    )


def _order(name: str, order: Sequence[object]) -> tuple[object, ...]:
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise InputError(f"The order of '{name}' must list its values from lowest to highest, not {order!r}.")
    values = tuple(value.item() if isinstance(value, np.generic) else value for value in order)
    for value in values:
        if not isinstance(value, str | int | float):
            raise InputError(f"The order of '{name}' contains {value!r}; only text and numbers can be ordered here.")
    if not values or len(set(values)) < len(values):
        raise InputError(f"The order of '{name}' must list each of its values once, not {list(values)}.")
    return values


def _hierarchy(name: str, form: object, folder: Path) -> Hierarchy:
    match form:
        case str():
            return Hierarchy.from_csv(folder / form)
        case {"values": list() as values, "levels": list() as levels, **rest} if not rest:
            return Hierarchy(values, levels)
    raise InputError(f"The hierarchy of '{name}' must be a file name, or have 'values' and 'levels'.")


def _toml(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)
        case list() | tuple():
            return "[" + ", ".join(_toml(item) for item in value) + "]"
    raise InputError(f"{value!r} cannot be written to a role file; use text or numbers.")


def _write_text(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8", newline="\n")
