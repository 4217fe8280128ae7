"""Hierarchies said in a line: prefixes of codes, bands of numbers, months and years of dates, trees of words.

A specification holds for any values; the hierarchy is made from it when the values of a column are known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
import pandas as pd

from optmodels.errors import InputError, unknown
from optmodels.table import dates
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.role_checks import is_number

Levels = list[list[str]]

EXAMPLES = {
    "prefix": '{kind = "prefix", keep = [3, 2]}',
    "bands": '{kind = "bands", widths = [5, 10, 20]}',
    "date": '{kind = "date", levels = ["month", "quarter", "year"]}',
    "tree": '{kind = "tree", tree = {north = ["Kiel", "Hamburg"], south = ["Ulm"]}}',
}
_PERIODS: dict[str, Callable[[pd.Timestamp], str]] = {
    "hour": lambda day: f"{day:%Y-%m-%d %H}:00-{day:%H}:59",
    "daypart": lambda day: f"{day:%Y-%m-%d} {_daypart(day)}",
    "day": lambda day: f"{day:%Y-%m-%d}",
    "week": lambda day: f"{day:%G-W%V}",
    "month": lambda day: f"{day:%Y-%m}",
    "quarter": lambda day: f"{day.year}-Q{day.quarter}",
    "year": lambda day: f"{day.year}",
    "decade": lambda day: f"{day.year // 10 * 10}s",
    "century": lambda day: f"{day.year // 100 * 100}-{day.year // 100 * 100 + 99}",
}
_HOURS: dict[str, Callable[[pd.Timestamp], str]] = {  # of times without a day
    "hour": lambda time: f"{time:%H}:00-{time:%H}:59",
    "daypart": lambda time: _daypart(time),
}


@dataclass(frozen=True)
class HierarchySpec:
    """A hierarchy to be made of whatever values a column has.

    - `prefix`: codes by their first characters, as many as `keep` says, ever fewer.
    - `bands`: numbers in bands of `widths`, each a multiple of the last, from `origin` (0) on; those below `bottom` or
      at and above `top` are in a band of their own.
    - `date`: dates by `levels`: hour, daypart (six hours), day, week, month, quarter, year, decade, century; times of
      day by the first two; `format` where they are not plain.
    - `tree`: words by a `tree` of tables, whose ends are lists of values.

    >>> postcodes = HierarchySpec.of({"kind": "prefix", "keep": [3, 2]}, "postcode").build(["01067", "01099", "80331"])
    >>> postcodes.generalise(["01067", "80331"], 1).tolist(), postcodes.generalise(["01099"], 2).tolist()
    (['010**', '803**'], ['01***'])
    >>> born = HierarchySpec.of({"kind": "date", "levels": ["month", "year"]}, "born").build(["1961-05-03"])
    >>> born.generalise(["1961-05-03"], 1).tolist()
    ['1961-05']
    """

    kind: str
    settings: Mapping[str, Any]
    column: str

    @classmethod
    def of(cls, given: Mapping[str, Any], column: str) -> HierarchySpec:
        """The specification as a role file has it, checked as far as it can be without values.

        Raises:
            InputError: its kind is unknown, or its settings are not those of its kind.
        """
        settings = {name: value for name, value in given.items() if name != "kind"}
        kind = str(given.get("kind"))
        if kind not in _BUILDERS:
            raise unknown(f"kind of hierarchy (asked for '{column}')", kind, _BUILDERS)
        needed, optional, _ = _BUILDERS[kind]
        for name in settings:
            if name not in (needed, *optional):
                raise unknown(f"setting of a hierarchy of {kind} (asked for '{column}')", name, (needed, *optional))
        if needed not in settings:
            raise InputError(f"The hierarchy of '{column}' lacks '{needed}', as in {EXAMPLES[kind]}.")
        made = cls(kind, settings, column)
        made._check()
        return made

    def build(self, values: Sequence[object] | pd.Index) -> Hierarchy:
        """The hierarchy of these values.

        Raises:
            InputError: a value does not fit; the message names it.
        """
        leaves = pd.Index(pd.unique(pd.Series(list(values), dtype=object)))
        if leaves.empty:
            raise InputError(f"The hierarchy of '{self.column}' needs values, and there are none.")
        try:
            ordered, levels = _BUILDERS[self.kind][2](leaves, self.settings)
            made = Hierarchy(ordered, list(_telling(ordered, levels)))
        except InputError as problem:
            raise InputError(f"The hierarchy of '{self.column}': {problem}") from problem
        made.spec = self.to_dict()
        return made

    def to_dict(self) -> dict[str, Any]:
        """The specification as a role file has it."""
        return {"kind": self.kind, **self.settings}

    def _check(self) -> None:
        match self.kind:
            case "prefix":
                keep = self.settings["keep"]
                whole = _is_list(keep) and all(isinstance(many, int) and many >= 1 for many in keep)
                if not whole or any(one <= other for one, other in pairwise(keep)):
                    raise self._wrong("keep", "ever fewer characters to keep", keep)
            case "bands":
                widths = self.settings["widths"]
                fine = _is_list(widths) and all(is_number(width) and 0 < width < inf for width in widths)
                if not fine or any(not float(b / a).is_integer() or b <= a for a, b in pairwise(widths)):
                    raise self._wrong("widths", "widths of which each is a multiple of the one before", widths)
                for name in ("origin", "bottom", "top"):
                    if name in self.settings and not is_number(self.settings[name]):
                        raise self._wrong(name, "a number", self.settings[name])
            case "date":
                levels = self.settings["levels"]
                if not _is_list(levels):
                    raise self._wrong("levels", "ever longer periods", levels)
                for level in levels:
                    if level not in _PERIODS:
                        raise unknown(f"period of dates (asked for '{self.column}')", str(level), _PERIODS)
            case "tree":
                if not isinstance(self.settings["tree"], Mapping) or not self.settings["tree"]:
                    raise self._wrong("tree", "tables whose ends are lists of values", self.settings["tree"])

    def _wrong(self, name: str, wanted: str, found: object) -> InputError:
        return InputError(
            f"'{name}' in the hierarchy of '{self.column}' must be {wanted}, as in {EXAMPLES[self.kind]}, "
            f"not {found!r}."
        )


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value)


def _telling(leaves: pd.Index, levels: Levels) -> Iterator[list[str]]:
    """The levels that are not the one below once more, up to the first that says the same of all values."""
    below = [str(leaf) for leaf in leaves]
    for level in levels:
        if level != below:
            yield level
        if len(set(level)) == 1:
            return
        below = level


def _prefixes(leaves: pd.Index, settings: Mapping[str, Any]) -> tuple[pd.Index, Levels]:
    texts = [str(value) for value in leaves]
    alike = len(set(map(len, texts))) == 1

    def cut(text: str, keep: int) -> str:
        gone = len(text) - keep
        return text if gone <= 0 else text[:keep] + "*" * (gone if alike else 1)

    return leaves, [[cut(text, keep) for text in texts] for keep in settings["keep"]]


def _bands(leaves: pd.Index, settings: Mapping[str, Any]) -> tuple[pd.Index, Levels]:
    numbers = pd.to_numeric(leaves.to_series(), errors="coerce").to_numpy(np.float64)
    if np.isnan(numbers).any():
        odd = str(leaves[int(np.isnan(numbers).argmax())])
        raise InputError(f"{odd!r} is no number, and bands are of numbers; read it as missing (clean.unknown).")
    leaves = leaves[np.argsort(numbers, kind="stable")]
    numbers = np.sort(numbers, kind="stable")
    origin, low, high = settings.get("origin", 0), settings.get("bottom", -inf), settings.get("top", inf)

    def band(number: float, width: float) -> str:
        if number < low:
            return f"<{_edge(low)}"
        if number >= high:
            return f">={_edge(high)}"
        start = origin + np.floor((number - origin) / width) * width
        return f"[{_edge(max(start, low))}, {_edge(min(start + width, high))})"

    return leaves, [[band(number, width) for number in numbers.tolist()] for width in settings["widths"]]


def _edge(number: float) -> str:
    tidy = float(f"{number:.12g}")  # 12 digits hide 0.30000000000000004
    return str(int(tidy)) if tidy.is_integer() else str(tidy)


def _periods(leaves: pd.Index, settings: Mapping[str, Any]) -> tuple[pd.Index, Levels]:
    texts = [str(value) for value in leaves]
    form = dates.format_of(texts, settings.get("format"))
    times = dates.read(texts, form)
    order = np.argsort(times.to_numpy(), kind="stable")
    periods = _PERIODS if any(day in form for day in ("%d", "%j")) else _HOURS
    strange = [level for level in settings["levels"] if level not in periods]
    if strange:
        raise InputError(f"times of day have no {strange[0]}: their levels are {' and '.join(_HOURS)}.")
    return leaves[order], [[periods[level](times[place]) for place in order] for level in settings["levels"]]


def _daypart(time: pd.Timestamp) -> str:
    start = time.hour // 6 * 6
    return f"{start:02}:00-{start + 5:02}:59"


def _tree(leaves: pd.Index, settings: Mapping[str, Any]) -> tuple[pd.Index, Levels]:
    listed = list(_paths(settings["tree"], ()))
    paths = dict(listed)
    if len(paths) < len(listed):
        twice = Counter(value for value, _ in listed).most_common(1)[0][0]
        raise InputError(f"the value {twice!r} is in the tree twice; keep one.")
    strangers = [str(value) for value in leaves if str(value) not in paths]
    if strangers:
        shown = ", ".join(map(repr, strangers[:5])) + (f" and {len(strangers) - 5} more" if len(strangers) > 5 else "")
        raise InputError(f"the tree does not have {shown}; add every value of the column to one of its lists.")
    own = {str(leaf): leaf for leaf in leaves}
    values = [value for value in paths if value in own]
    depth = max(len(path) for path in paths.values())
    # a branch that ends early has the same name on the levels where others go on
    full = [(*paths[value], *(paths[value][-1:] * (depth - len(paths[value])))) for value in values]
    return pd.Index([own[value] for value in values]), [[path[at] for path in full] for at in range(depth - 1, -1, -1)]


def _paths(tree: object, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every value of a tree with the names above it, the highest first."""
    match tree:
        case Mapping():
            for name, below in tree.items():
                yield from _paths(below, (*above, str(name)))
        case list() | tuple():
            for value in tree:
                yield str(value), above
        case _:
            raise InputError(f"a tree ends in lists of values, not in {tree!r}, below {' > '.join(above)}.")


# By kind: the setting it must have, those it may have, and how leaves and levels are made.
_BUILDERS: dict[str, tuple[str, tuple[str, ...], Callable[[pd.Index, Mapping[str, Any]], tuple[pd.Index, Levels]]]] = {
    "prefix": ("keep", (), _prefixes),
    "bands": ("widths", ("origin", "bottom", "top"), _bands),
    "date": ("levels", ("format",), _periods),
    "tree": ("tree", (), _tree),
}
