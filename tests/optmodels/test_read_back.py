"""What is promised is what an independent reader of the written file finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.audit import Audit, audit
from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.partition import group_frame
from optmodels.recoding import Method
from optmodels.release import Release, release
from optmodels.table import Table

METHODS: tuple[Method, ...] = ("centroid", "interval", "hierarchy")


def read_back(made: Release, folder: Path) -> list[Audit]:
    """The audits of the CSV, cell by cell as it is spelled and as pandas reads it, and of the Parquet."""
    text, binary = made.to_csv(folder / "release.csv"), made.to_parquet(folder / "release.parquet")
    frames = [pd.read_csv(text, dtype=str, keep_default_na=False), pd.read_csv(text), pd.read_parquet(binary)]
    return [audit(frame, quasi=made.audit.quasi, sensitive=tuple(made.audit.sensitive)) for frame in frames]


@pytest.mark.parametrize("method", METHODS)
def test_both_zeros_are_one_value(method: Method, tmp_path: Path) -> None:
    frame = pd.DataFrame({"balance": [0.0, -0.0, 0.0, -0.0, 3.5, 3.5], "illness": ["flu", "cold", "flu"] * 2})
    table = Table(frame, quasi={"balance": "numeric"}, sensitive="illness").with_hierarchies()
    made = release(table, [0, 0, 0, 0, 1, 1], promise=Conditions(k=2), method=method)
    assert made.audit.k == 2
    assert [(found.k, found.classes) for found in read_back(made, tmp_path)] == [(2, 2)] * 3


def test_a_sensitive_zero_is_one_value(tmp_path: Path) -> None:
    frame = pd.DataFrame({"town": ["a"] * 4, "balance": [0.0, -0.0, 1.0, 1.0]})
    made = release(
        Table(frame, quasi={"town": "categorical"}, sensitive="balance"), [0] * 4, promise=Conditions(k=2, entropy_l=2)
    )
    for found in read_back(made, tmp_path):
        assert found.sensitive["balance"].entropy_l == pytest.approx(made.audit.sensitive["balance"].entropy_l)


def test_equal_values_of_different_types_are_written_alike(tmp_path: Path) -> None:
    frame = pd.DataFrame({"code": ["a", "a", 1, 1.0, True], "result": pd.Series([1, 1, 1.0, True, "x"], dtype=object)})
    table = Table(frame, quasi={"code": "categorical"}, sensitive="result")
    made = release(table, [0, 0, 1, 1, 1], promise=Conditions(k=2))
    text = pd.read_csv(made.to_csv(tmp_path / "release.csv"), dtype=str)
    assert text["code"].nunique() == 2
    assert text["result"].nunique() == 2 == table.sensitive_codes.max() + 1


@pytest.mark.parametrize("values", [("", "NA", "null"), ("None", "nan"), ("n/a", "NULL")])
def test_values_that_read_back_as_missing_are_not_promised_as_several(values: tuple[str, ...]) -> None:
    frame = pd.DataFrame({"age": [30] * len(values), "illness": values})
    with pytest.raises(InputError, match=r"'illness' has the values .*missing='category'"):
        Table(frame, quasi={"age": "numeric"}, sensitive="illness")


def test_one_such_value_is_one_for_every_reader(tmp_path: Path) -> None:
    frame = pd.DataFrame({"age": [30.0] * 4, "medicine": ["None", "None", "aspirin", "aspirin"]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="medicine")
    made = release(table, [0] * 4, promise=Conditions(k=4, distinct_l=2))
    assert [found.sensitive["medicine"].distinct_l for found in read_back(made, tmp_path)] == [2, 2, 2]


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 0.1, 0.30000000000000004, 0.3, 1e-100, -1e-100, 1e16, 1e16 + 2, 123456789.25]
)
TEXTS = st.sampled_from(
    ["a", "A", " a", "a ", "1", "01", "1.0", "", "NA", 'say "a"', "a,b", "a\nb", "a\rb", "ä", "true"]
)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(NUMBERS, TEXTS, st.sampled_from(["flu", "cold", "NA", "1", "01", 'x"y'])), min_size=4, max_size=12
    ),
    st.sampled_from(METHODS),
    st.integers(0, 1_000),
)
def test_k_and_l_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, str, str]], method: Method, seed: int
) -> None:
    frame = pd.DataFrame(rows, columns=["number", "text", "illness"])
    table = Table(
        frame, quasi={"number": "numeric", "text": "categorical"}, sensitive="illness", missing="category"
    ).with_hierarchies()
    labels = np.random.default_rng(seed).permutation(len(rows)) % 2
    made = release(table, labels, promise=Conditions(k=2), method=method)
    folder = tmp_path_factory.mktemp("release")
    literal = pd.read_csv(made.to_csv(folder / "release.csv"), dtype=str, keep_default_na=False)
    stored = pd.read_parquet(made.to_parquet(folder / "release.parquet"))
    for found in (literal, stored):
        assert group_frame(found, table.quasi).max() + 1 == made.audit.classes
        seen = audit(found, quasi=table.quasi, sensitive="illness")
        assert (seen.k, seen.sensitive["illness"].distinct_l) == (
            made.audit.k,
            made.audit.sensitive["illness"].distinct_l,
        )
    # a reader who guesses types may take classes together, which protects more, and never tells one apart into two
    guessed = audit(pd.read_csv(folder / "release.csv"), quasi=table.quasi, sensitive="illness")
    assert guessed.k >= made.audit.k
