"""A front under distinct l: the promise is kept by every point, and by what is released from the folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.optmodels.cli.conftest import ROLES, Run
from tests.optmodels.cli.test_anonymize import document


@pytest.mark.parametrize("algorithm", [("epsilon",), ("nsga2", "--evaluations", 200)], ids=lambda words: words[0])
def test_every_point_keeps_the_promise(run: Run, few: Path, algorithm: tuple[object, ...]) -> None:
    words = ("--k", 2, "--distinct-l", 2, "--solver", *algorithm, "--out", "front", "--json")
    result = run("pareto", few, *ROLES, *words)
    assert result.exit_code == 0, result.output
    record = document(result)
    assert record["parameters"]["distinct_l"] == 2
    classes = pd.read_parquet("front/labels.parquet")
    illnesses = pd.read_csv(few)["illness"]
    for point in classes:
        assert illnesses.groupby(classes[point].to_numpy()).nunique().min() >= 2
    released = run("release", "front", "--point", 0, "--out", "release.csv", "--json")
    assert released.exit_code == 0, released.output
    assert document(released)["audit"]["sensitive"]["illness"]["distinct_l"] >= 2
