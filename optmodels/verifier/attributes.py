"""One sensitive attribute: its values as they are compared, their shares in the whole, and what was promised of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.verifier import definitions
from optmodels.verifier.cells import MISSING, Cells
from optmodels.verifier.check import Check
from optmodels.verifier.definitions import Mix

Counts = Mapping[str, int]  # how many records have a text
_HAIR = 1e-8  # sums of shares and of logarithms differ in their last bits
_COMPARED = ("beta", "delta", "t")  # with the whole


def counted(cells: Cells, into: Counts | None = None) -> Counts:
    """How many rows have each text, added to what was counted before."""
    found = dict(into or {})
    for text, count in cells.counts().items():
        found[text] = found.get(text, 0) + count
    return found


@dataclass(frozen=True, eq=False)
class Attribute:
    """The values of an attribute by number, their shares in the whole and, where they have any, their nodes."""

    asked: Mapping[str, Any]
    numbers: Mapping[object, int]
    q: NDArray[np.float64]
    decimal: str
    nodes: NDArray[np.int64] | None = None
    strange: str | None = None  # a value that the order or the hierarchy of the promise does not have

    @classmethod
    def of(cls, asked: Mapping[str, Any], released: Counts, whole: Counts | None, decimal: str) -> Attribute:
        """The attribute from how often its values are in the release and, if that is known, in the whole."""
        totals: dict[object, int] = {}
        for text, count in (released if whole is None else whole).items():
            value = _value(text, asked, decimal)
            totals[value] = totals.get(value, 0) + count
        for text in released:
            totals.setdefault(_value(text, asked, decimal), 0)
        order, strange = asked.get("order"), None
        if order == "numbers":
            values = sorted(
                totals, key=lambda value: (not isinstance(value, Decimal), value if isinstance(value, Decimal) else 0)
            )
        elif order is not None:
            values = [
                _value(text, asked, decimal) if text is not None else (place,) for place, text in enumerate(order)
            ]
            last = [value for value in totals if value not in set(values)]
            strange = str(last[0]) if last and last != [""] else None
            values += last
        else:
            values = list(totals)
        numbers = {value: number for number, value in enumerate(values)}
        counts = np.array([totals.get(value, 0) for value in values], np.float64)
        nodes = None
        if "hierarchy" in asked:
            paths = {_value(text, asked, decimal): path for text, path in asked["hierarchy"].items()}
            strange = strange or next((str(value) for value in totals if value not in paths), None)
            nodes = _nodes(values, paths)
        return cls(asked, numbers, counts / counts.sum(), decimal, nodes, strange)

    def mix(self, labels: NDArray[np.int64], cells: Cells) -> Mix:
        """The values of the classes of these rows."""
        places = np.array(
            [self.numbers.get(_value(text, self.asked, self.decimal), -1) for text in cells.texts], np.int64
        )
        return Mix.of(labels, places[cells.codes], self.q)

    def checks(self, name: str, mixes: Sequence[Mix], reason: str | None) -> Iterator[Check]:
        """Every promise about it; `reason` says why its shares in the whole are not known, if they are not."""
        for condition in (one for one in _FOUND if self.asked.get(one) is not None):
            bound = self.asked[condition]
            what, promised = f"{condition} of '{name}'", _WORDS[condition].format(bound, how=self._how(condition))
            if condition in _COMPARED and reason is not None:
                yield Check(what, promised, reason, None)
            elif (
                condition == "t"
                and self.strange is not None
                and self.asked["t_distance"] in ("ordered", "hierarchical")
            ):
                yield Check(what, promised, f"the promise does not say where its value '{self.strange}' belongs", None)
            elif condition == "recursive":
                kept = all(definitions.recursive(mix, bound[0], bound[1]) for mix in mixes)
                yield Check(what, promised, "so in every class" if kept else "otherwise in some class", kept)
            else:
                found = [_FOUND[condition](self, mix) for mix in mixes]
                worst = min(found) if condition in ("distinct_l", "entropy_l") else max(found)
                yield Check(what, promised, f"{worst:.6g}", _kept(condition, worst, bound))

    def _how(self, condition: str) -> str:
        return str(self.asked.get({"beta": "beta_kind", "t": "t_distance"}.get(condition, ""), ""))

    def distance(self, mix: Mix) -> float:
        """The largest distance of a class from the whole."""
        match self.asked["t_distance"]:
            case "ordered":
                return float(definitions.ordered(mix).max())
            case "hierarchical" if self.nodes is not None:
                return float(definitions.hierarchical(mix, self.nodes).max())
            case "variational":
                return float(definitions.variational(mix).max())
            case "equal":
                return float(definitions.variational(mix).max()) / 2
        raise KeyError(self.asked["t_distance"])


_FOUND: Mapping[str, Callable[[Attribute, Mix], float]] = {
    "distinct_l": lambda _, mix: float(definitions.distinct_l(mix)),
    "entropy_l": lambda _, mix: definitions.entropy_l(mix),
    "recursive": lambda _, mix: 0.0,
    "most_share": lambda _, mix: definitions.largest_share(mix),
    "beta": lambda attribute, mix: definitions.beta(mix, attribute.asked["beta_kind"]),
    "delta": lambda _, mix: definitions.delta(mix),
    "t": lambda attribute, mix: attribute.distance(mix),
}
_WORDS = {
    "distinct_l": "at least {:g}",
    "entropy_l": "at least {:g}",
    "recursive": "{}",
    "most_share": "at most {:g}",
    "beta": "at most {:g} ({how})",
    "delta": "less than {:g}",
    "t": "at most {:g} ({how})",
}


def _kept(condition: str, found: float, bound: float) -> bool:
    if condition in ("distinct_l", "entropy_l"):
        return found >= bound * (1 - _HAIR)
    return found < bound if condition == "delta" else found <= bound + _HAIR


def _value(text: str, asked: Mapping[str, Any], decimal: str) -> object:
    """What a text stands for: of numbers 2.50 is 2.5."""
    if text == MISSING:
        return ""
    if asked.get("numbers") and text:
        try:
            return Decimal(text.replace(decimal, "."))
        except InvalidOperation:
            return text
    return text


def _nodes(values: Sequence[object], paths: Mapping[object, Sequence[str]]) -> NDArray[np.int64]:
    """(values, levels) the node of each value on each level; one that is in no tree is a tree of its own."""
    height = max(map(len, paths.values()), default=1)
    nodes = np.zeros((len(values), height + 1), np.int64)
    nodes[:, 0] = np.arange(len(values))
    known: dict[tuple[int, str], int] = {}
    for row, value in enumerate(values):
        for level, label in enumerate(paths.get(value, [str(value)] * height), start=1):
            nodes[row, level] = known.setdefault((level, label), len(known))
    return nodes
