"""Files that say they are larger than memory are refused before they are read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from optmodels.errors import InputError
from optmodels.table.reading import read_frame
from optmodels.verifier.cells import read_cells


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.parquet"
    pd.DataFrame({"age": [30] * 1000, "illness": ["flu"] * 1000}).to_parquet(path)  # in far fewer bytes than in memory
    return path


def test_a_file_that_does_not_fit_is_refused(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=35_999))
    with pytest.raises(InputError, match="1,000 records, which do not fit"):
        read_frame(many)
    with pytest.raises(InputError, match="1,000 records, which do not fit"):
        read_frame(many.parent)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=15_999))
    with pytest.raises(InputError, match="1,000 rows, more than fit"):
        read_cells(many)
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=16_000))
    assert len(read_cells(many)) == 2


def test_fewer_columns_may_fit(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=24_000))
    assert len(read_frame(many, columns=["age"])) == 1000
