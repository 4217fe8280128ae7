"""What a job tells while it works: lines of JSON in its folder, not more often than a page can show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from optmodels.explorer.jobs import PROGRESS
from optmodels.jsonable import plain

_SECONDS = 0.25


class Teller:
    """Writes lines; `due` says whether one that is told now would be written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / PROGRESS
        self._last = float("-inf")

    @property
    def due(self) -> bool:
        """Whether the last line is old enough."""
        return monotonic() - self._last >= _SECONDS

    def __call__(self, document: Mapping[str, Any], *, always: bool = False) -> None:
        """Tell where the job is."""
        if always or self.due:
            self._last = monotonic()
            with open(self._path, "ab") as file:
                file.write(json.dumps(plain(document), allow_nan=False).encode() + b"\n")
