"""Why a folder's release does not say what seams cost: for want of time only where time was limited."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from formulations import Microaggregation
from optmodels.folders.anonymize import anonymize_folder
from solvers.blocks import Blocks
from solvers.blocks.work import median_cuts
from tests.optmodels.folders.test_folders import ROLES, people, write


def test_want_of_time_is_no_reason_where_there_is_no_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solvers.blocks.work.solve_block", lambda part, *_: median_cuts(part))  # finds nothing itself
    found = anonymize_folder(
        write(tmp_path / "in", people(120)),
        tmp_path / "out",
        roles=ROLES,
        formulation=Microaggregation(k=3),
        solver=Blocks(inner="mdav", block_size=40, workers=1),
    )
    details: Any = found.provenance["details"]
    assert "in which nothing else was found, were cut at medians" in details["one_block"]
