"""What a report is made from: an audit, and as much as there is of how its table came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.plot.changes import distribution_change
from optmodels.plot.classes import riskiest_classes, sensitive_range, sizes_of
from optmodels.plot.points import Pictured
from optmodels.plot.readings import Recoded

if TYPE_CHECKING:
    from optmodels.audit.findings import Findings

LEAST_SHOWN = 5  # records of the original table below which a number is not told, unless k asks for more
LEAST_LISTED = 3  # records of a group whose values are listed


@dataclass(frozen=True)
class Described:
    """What was counted of a release that is in no memory, in the place of its table.

    Attributes:
        kinds: of the quasi-identifiers.
        changes: of each quasi-identifier, records in each band before and after.
        sizes: of the classes.
        ranges: of each sensitive attribute, shares of values in the table, and least and most in a class.
        riskiest: the classes that give away most.
        dropped: columns that are not released.
    """

    kinds: Mapping[str, str]
    changes: Mapping[str, pd.DataFrame]
    sizes: NDArray[np.int64]
    ranges: Mapping[str, pd.DataFrame]
    riskiest: pd.DataFrame
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Dossier:
    """All that a page may tell; what is not known is left out of it.

    Attributes:
        audit: of the table that the page is about.
        frame: that table.
        before: the audit of the table that it was made from.
        recoded: that table with its classes; pages show counts and shares of it, never a record.
        described: what was counted where the table is in no memory.
        method: how classes were recoded.
        provenance: model, parameters, solver, status and so on, by the names of a run's record.
        source: where the data comes from, its fingerprint and the command, by name.
        front: the front that the release is a point of, and `chosen` the point's number.
        made: when the page was written.
    """

    audit: Findings
    frame: pd.DataFrame | None = None
    before: Findings | None = None
    recoded: Recoded | None = None
    described: Described | None = None
    method: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, str] = field(default_factory=dict)
    front: Pictured | None = None
    chosen: int | None = None
    made: datetime | None = None

    @property
    def promise(self) -> dict[str, Any]:
        """What was asked for, by name; nothing if nothing was."""
        return dict(self.audit.promise or {})

    @property
    def is_release(self) -> bool:
        """Whether the page is about a release, not about a table as it was found."""
        return self.audit.promise is not None

    @property
    def least_shown(self) -> int:
        """Counts of the original table that are smaller are not told."""
        return max(LEAST_SHOWN, int(self.promise.get("k", 0)))

    @cached_property
    def sizes(self) -> NDArray[np.int64] | None:
        """The sizes of the classes, where they are known."""
        if self.described is not None:
            return self.described.sizes
        return None if self.frame is None else sizes_of(self.frame, self.audit.quasi)

    @property
    def kinds(self) -> Mapping[str, str]:
        """The kinds of the quasi-identifiers, where they are known."""
        if self.described is not None:
            return self.described.kinds
        return {} if self.recoded is None else self.recoded.original.kinds

    def change(self, name: str) -> pd.DataFrame | None:
        """How a quasi-identifier is spread before and after: value, before, after."""
        if self.described is not None:
            return self.described.changes[name]
        return None if self.recoded is None else distribution_change(self.recoded, name)

    def ranges(self, name: str) -> pd.DataFrame | None:
        """The shares of a sensitive attribute's values in the table and in classes."""
        if self.described is not None:
            return self.described.ranges[name]
        if self.frame is None:
            return None
        return sensitive_range(self.frame, self.audit.quasi, name, order=self.order(name))

    def riskiest(self, most: int) -> pd.DataFrame | None:
        """The classes that give away most."""
        if self.described is not None:
            return self.described.riskiest.head(most)
        if self.frame is None:
            return None
        return riskiest_classes(self.frame, self.audit.quasi, tuple(self.audit.sensitive), most=most)

    def order(self, name: str) -> pd.Index | None:
        """The order of a sensitive attribute's values, if they have one."""
        return None if self.recoded is None else self.recoded.original.sensitive_orders.get(name)
