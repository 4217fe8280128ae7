"""One promise and what became of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """What was promised, what was found, and whether that keeps it; None where the files at hand do not tell.

    >>> Check("k", "at least 5 records", "4", False).said
    'k: promised at least 5 records, found 4'
    """

    what: str
    promised: str
    found: str
    kept: bool | None

    @property
    def said(self) -> str:
        """The check in words."""
        found = f"not checked: {self.found}" if self.kept is None else f"found {self.found}"
        return f"{self.what}: promised {self.promised}, {found}"
