"""What is promised with a release, written beside it, and kept by the very file: a verifier reads it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import BrokenPromiseError
from optmodels.jsonable import plain
from optmodels.table.spelling import is_number_type
from optmodels.verifier import Cells, fingerprint, read_cells, sealed, verify

if TYPE_CHECKING:
    from optmodels.conditions import Asked, Conditions
    from optmodels.recoding import Method
    from optmodels.suppressed_rows import Suppressed
    from optmodels.table import Table
    from optmodels.table.hierarchy import Hierarchy

__all__ = ["Terms", "asked_of", "promise_writer"]


@dataclass(frozen=True, eq=False)
class Terms:
    """All that a promise is made of but the file: it knows the original table, and so stays in memory.

    Attributes:
        table: the original.
        conditions: what is promised of every class.
        method: the recoding.
        suppressed: how records that are left out are released, of which there are `left_out`.
        measured: the released rows of records in classes, in the file's order, sensitive attributes as they are
            measured.
        people: whose each of these rows is, where that is known.
    """

    table: Table
    conditions: Conditions
    method: Method
    suppressed: Suppressed
    left_out: int
    measured: pd.DataFrame
    people: NDArray[np.integer] | None

    def vouched(self, file: Path, written: Mapping[str, Any], sha256: str | None) -> dict[str, Any]:
        """The promise of a file that was written, after the verifier found that the file keeps it.

        Raises:
            BrokenPromiseError: it does not.
        """
        cells = read_cells(file, written.get("separator", ","))
        document = self._document(cells, written, sha256)
        texts = _LevelTexts(self, cells)
        known = {**document, "conditions": self._asked(texts, everything=True)}
        whole = texts.whole_counts() if self.left_out else None
        if broken := verify(file, known, people=self.people, whole=whole).broken:
            raise BrokenPromiseError(
                f"The release does not keep its promise, as it would be written: {'; '.join(broken)}. Nothing was "
                "written."
            )
        return sealed({**document, "conditions": self._asked(texts, everything=False)})

    def _document(self, cells: Mapping[str, Cells], written: Mapping[str, Any], sha256: str | None) -> dict[str, Any]:
        table, roles = self.table, self.table.roles
        gaps = table.missing_report["columns"].items()
        filled = [name for name, told in gaps if "filled_with" in told]
        changed = {*roles.bins, *table.cleaning_report, *filled}
        rows = len(self.measured)
        quasi = [cells[name].codes[:rows] for name in table.quasi]
        return {
            "version": version("optmodels"),
            "file": dict(written),
            "columns": list(cells),
            "rows": rows + (self.left_out if self.suppressed == "star" else 0),
            "classes": int(pd.DataFrame(dict(enumerate(quasi))).drop_duplicates().shape[0]),
            "fingerprint": fingerprint(cells),
            "quasi": dict(roles.quasi),
            "sensitive": list(table.sensitive),
            "person": roles.person,
            "as_is": []
            if written.get("escaped")
            else [name for name in cells if name not in table.quasi and name not in changed],
            "dropped": list(table.dropped),
            "missing": roles.missing,
            "recoding": self.method,
            "suppressed": {"how": self.suppressed, "records": self.left_out, "most": self.conditions.suppress},
            "said": self.conditions.describe(),
            "data": {"records": table.n, "sha256": sha256},
        }

    def _asked(self, texts: _LevelTexts, *, everything: bool) -> dict[str, Any]:
        """The conditions attribute by attribute, with the ground of every distance.

        Values that only records left out have are in none of what is published, but with `everything`.
        """
        asked = {}
        for place, name in enumerate(self.table.sensitive):
            asked[name] = asked_of(
                self.conditions.of(name),
                self.table.sensitive_levels[place],
                ordered=self.table.sensitive_ordered[place],
                hierarchy=self.table.hierarchies.get(name),
                texts=partial(texts.all if everything else texts.released, place),
                by_rank=partial(self._by_rank, texts, place),
            )
        return {"k": int(self.conditions.k), "person": self.table.roles.person, "sensitive": asked}

    def _by_rank(self, texts: _LevelTexts, place: int) -> bool:
        return bool(self.left_out) or len(texts.released(place)) == len(self.table.sensitive_levels[place])


def asked_of(
    own: Asked,
    levels: pd.Index,
    *,
    ordered: bool,
    hierarchy: Hierarchy | None,
    texts: Callable[[], Mapping[int, str]],
    by_rank: Callable[[], bool] = lambda: True,
) -> dict[str, Any]:
    """What is asked of an attribute, with the ground of its distance as the verifier takes it.

    `texts` says how levels are written, by their number. Numbers need no list of them where they are in order and
    `by_rank` says that none is missing between them.
    """
    found = {key: value for key, value in vars(own).items() if value is not None}
    if own.beta is None:
        found.pop("beta_kind")
    numbers = found["numbers"] = is_number_type(levels.dtype)
    if own.t is None:
        found.pop("t_distance")
    elif own.t_distance == "emd":
        found["t_distance"] = "hierarchical" if hierarchy is not None else "ordered" if ordered else "equal"
    ground = found.get("t_distance")
    if ground == "ordered":
        ascending = numbers and bool((np.diff(levels.to_numpy(np.float64)) > 0).all())
        found["order"] = "numbers" if ascending and by_rank() else [texts().get(at) for at in range(len(levels))]
    elif ground == "hierarchical" and hierarchy is not None:
        nodes = hierarchy.nodes[hierarchy.codes(levels)]
        found["hierarchy"] = {
            text: [str(label) for label in hierarchy.labels[nodes[at, 1:]]] for at, text in texts().items()
        }
    checked: dict[str, Any] = plain(found)
    return checked


@dataclass(frozen=True, eq=False)
class _LevelTexts:
    """How the levels of sensitive attributes are written in the file."""

    terms: Terms
    cells: Mapping[str, Cells]

    @cached_property
    def _released(self) -> dict[int, dict[int, str]]:
        return {}

    def released(self, place: int) -> dict[int, str]:
        """The text of every level of an attribute that is in the file, by the level's number."""
        if place not in self._released:
            name = self.terms.table.sensitive[place]
            cells, rows = self.cells[name], len(self.terms.measured)
            codes, first = np.unique(cells.codes[:rows], return_index=True)
            measured = self.terms.measured[name].iloc[first]
            at = self.terms.table.sensitive_levels[place].get_indexer(pd.Index(measured))
            self._released[place] = {
                int(level): cells.texts[code] for level, code in zip(at, codes.tolist(), strict=True) if level >= 0
            }
        return self._released[place]

    def all(self, place: int) -> dict[int, str]:
        """The same with texts for levels that are not in the file; no value of the file reads like these."""
        levels, found = self.terms.table.sensitive_levels[place], self.released(place)
        numbers = is_number_type(levels.dtype)
        return {at: found.get(at, str(level) if numbers else f"\0{at}") for at, level in enumerate(levels.tolist())}

    def whole_counts(self) -> dict[str, dict[str, int]]:
        """How many records of the original have each value, by its text."""
        table = self.terms.table
        counts = {}
        for place, name in enumerate(table.sensitive):
            texts = self.all(place)
            found = np.bincount(table.sensitive_codes[:, place], minlength=len(texts)).tolist()
            counts[name] = {texts[at]: count for at, count in enumerate(found) if count}
        return counts


def promise_writer(document: Mapping[str, Any], file: Path) -> None:
    """Write a promise."""
    file.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n", encoding="ascii")
