"""The data behind figures, against examples made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optmodels.audit import audit
from optmodels.metrics.risk import linkage
from optmodels.plot.bands import MISSING, bands_of, round_edges
from optmodels.plot.changes import (
    correlation_change,
    distribution,
    distribution_change,
    distribution_distance,
    mean_change,
    rows_before_and_after,
)
from optmodels.plot.classes import (
    class_size_bands,
    class_size_counts,
    riskiest_classes,
    sensitive_in_classes,
    sensitive_range,
)
from optmodels.plot.readings import Recoded
from optmodels.plot.risks import risk_change
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

PEOPLE = pd.DataFrame(
    {
        "age": [20, 22, 40, 44, 60, 66],
        "town": ["a", "b", "b", "b", "c", "a"],
        "grade": ["low", "high", "low", "low", "middle", "high"],
        "illness": ["flu", "flu", "cold", "flu", "cold", "cold"],
        "cost": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)
ORDER = ["low", "middle", "high"]
LABELS = [0, 0, 1, 1, 2, 2]


def table_of(frame: pd.DataFrame = PEOPLE) -> Table:
    return Table(
        frame,
        quasi={"age": "numeric", "town": "categorical", "grade": "ordinal"},
        sensitive=("illness", "cost"),
        orders={"grade": ORDER},
        hierarchies={
            "age": Hierarchy.intervals(PEOPLE["age"], widths=[30]),
            "town": Hierarchy(["a", "b", "c"], [["north", "north", "south"]]),
            "grade": Hierarchy(ORDER, [["l", "mh", "mh"]]),
        },
    )


def change(method: str, name: str) -> dict[str, tuple[float, float]]:
    found = distribution_change(Recoded(table_of(), LABELS, method), name)  # type: ignore[arg-type]
    return {value: (before, round(after, 9)) for value, before, after in found.itertuples(index=False)}


def rounded(**expected: tuple[float, float]) -> dict[str, tuple[float, float]]:
    return {value: (before, round(after, 9)) for value, (before, after) in expected.items()}


def test_centroids_stand_for_themselves() -> None:
    # few values are shown one by one, and the means 21, 42 and 63 fall to their nearest
    assert change("centroid", "age") == {
        "20": (1, 0),
        "22": (1, 2),
        "40": (1, 0),
        "44": (1, 2),
        "60": (1, 0),
        "66": (1, 2),
    }
    assert change("centroid", "town") == {"b": (3, 2), "a": (2, 4), "c": (1, 0)}
    assert change("centroid", "grade") == {"low": (3, 4), "middle": (1, 2), "high": (2, 0)}


def test_intervals_and_sets_stand_for_all_that_they_cover() -> None:
    assert change("interval", "town") == {"b": (3, 3), "a": (2, 2), "c": (1, 1)}
    # low to high covers the middle, too; the last class is middle to high
    assert change("interval", "grade") == rounded(low=(3, 2 / 3 + 2), middle=(1, 2 / 3 + 1), high=(2, 2 / 3 + 1))


def test_nodes_stand_for_the_values_below_them() -> None:
    assert change("hierarchy", "town") == rounded(b=(3, 3 + 2 / 3), a=(2, 1 + 2 / 3), c=(1, 2 / 3))
    # the first class is at the root: one third of two records for each grade
    assert change("hierarchy", "grade") == rounded(low=(3, 2 / 3 + 2), middle=(1, 2 / 3 + 1), high=(2, 2 / 3 + 1))
    assert change("hierarchy", "age")["20"] == (1, 1)


def test_many_numbers_are_shown_in_round_intervals_and_spread_over_them() -> None:
    table = Table(pd.DataFrame({"age": np.arange(20, 60)}), quasi={"age": "numeric"})
    found = distribution_change(Recoded(table, np.arange(40) // 10, "interval"), "age", most=4)
    assert found.values.tolist() == [[f"{a} to {a + 10}", 10, 10] for a in (20, 30, 40, 50)]
    together = distribution_change(Recoded(table, np.zeros(40, int), "centroid"), "age", most=4)
    assert together["after"].tolist() == [0, 0, 40, 0]  # the mean, 39.5, is released as a whole number
    assert distribution_distance(found) == 0.0
    assert distribution_distance(together) == 0.75


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda number: round(number, 3)), min_size=2, max_size=60),
    st.sampled_from(["centroid", "interval"]),
    st.integers(1, 7),
    st.integers(2, 12),
)
def test_every_record_is_somewhere(numbers: list[float], method: str, size: int, most: int) -> None:
    table = Table(pd.DataFrame({"x": np.array(numbers)}), quasi={"x": "numeric"})
    labels = np.argsort(np.argsort(numbers)) // size
    found = distribution_change(Recoded(table, labels, method), "x", most=most)  # type: ignore[arg-type]
    assert found["before"].sum() == len(numbers)
    assert found["after"].sum() == pytest.approx(len(numbers))
    assert (found["after"] >= -1e-9).all()
    assert len(found) <= most + 2


@given(st.lists(st.one_of(st.text(max_size=3), st.none()), min_size=1, max_size=40), st.integers(2, 5))
def test_bands_of_text(texts: list[str | None], most: int) -> None:
    column = pd.Series(texts, dtype=object)
    bands = bands_of(column, most=most)
    places = bands.of(column)
    assert places.min() >= 0
    assert places.max() < len(bands)
    assert len(bands) <= most + 1
    for text, place in zip(texts, places, strict=True):
        if text is None:
            assert bands.labels[place] == MISSING
        elif column.nunique() <= most:
            assert bands.labels[place] == text


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9), st.integers(1, 20))
def test_edges_are_around_all_numbers(low: float, reach: float, most: int) -> None:
    edges = round_edges(low, low + reach, most)
    assert edges[0] <= low
    assert edges[-1] > low + reach or edges[-1] == pytest.approx(low + reach)
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= most + 3


def test_left_out_records_are_before_and_not_after() -> None:
    found = distribution_change(Recoded(table_of(), [0, 0, 1, 1, -1, -1], "interval"), "town")
    assert found.set_index("value").to_dict() == {
        "before": {"b": 3, "a": 2, "c": 1},
        "after": {"b": 3.0, "a": 1.0, "c": 0.0},
    }
    assert distribution_change(Recoded(table_of(), [0, 0, 1, 1, -1, -1], "interval"), "illness")["after"].sum() == 4


def test_means_are_kept_by_centroids_and_spread_is_not() -> None:
    found = mean_change(Recoded(table_of(), LABELS, "centroid")).set_index("attribute")
    assert found.index.tolist() == ["age", "cost"]
    assert found.loc["age", "mean_before"] == found.loc["age", "mean_after"] == 42
    assert found.loc["age", "sd_after"] < found.loc["age", "sd_before"]
    assert found.loc["cost", "sd_after"] == found.loc["cost", "sd_before"] == pytest.approx(PEOPLE["cost"].std(ddof=0))


def test_correlations_before_are_those_of_pandas() -> None:
    for method in ("centroid", "interval", "hierarchy"):
        found = correlation_change(Recoded(table_of(), LABELS, method)).set_index(["one", "other"])
        assert found.loc[("age", "cost"), "before"] == pytest.approx(PEOPLE["age"].corr(PEOPLE["cost"]))
        assert found.loc[("age", "town"), "measure"] == "Cramér's V"
        untouched = found.loc[("illness", "cost")]  # both released as they are
        assert untouched["after"] == pytest.approx(untouched["before"])
        assert found["after"].dropna().between(-1 - 1e-9, 1 + 1e-9).all()
    own = correlation_change(Recoded(table_of(), range(6), "centroid"))
    assert own["after"].to_numpy() == pytest.approx(own["before"].to_numpy(), nan_ok=True)


def test_a_sample_shows_rows_twice() -> None:
    recoded = Recoded(table_of(), LABELS, "interval")
    found = rows_before_and_after(recoded, rows=3, seed=1)
    assert len(found) == 3
    assert found.columns.tolist()[:2] == [("age", "before"), ("age", "after")]
    for age, released in zip(found["age", "before"], found["age", "after"], strict=True):
        low, high = str(released).strip("[]").split("-")
        assert int(low) <= age <= int(high)


def test_sizes_and_their_bands() -> None:
    sizes = np.array([3, 3, 5, 900])
    assert class_size_counts(sizes).values.tolist() == [[3, 2, 6], [5, 1, 5], [900, 1, 900]]
    bands = class_size_bands(sizes)
    assert bands["classes"].sum() == 4
    assert bands["records"].sum() == sizes.sum()
    assert (bands["low"].to_numpy()[1:] == bands["high"].to_numpy()[:-1] + 1).all()
    assert len(bands) <= 14
    assert class_size_bands(np.zeros(0, np.int64)).empty


def test_sensitive_values_of_classes_against_the_table() -> None:
    frame = PEOPLE.assign(age=[1, 1, 2, 2, 3, 3])
    found = sensitive_in_classes(frame, ["age"], "illness")
    assert found.groupby("class")["share"].sum().tolist() == [1, 1, 1]
    ranges = sensitive_range(frame, ["age"], "illness").set_index("value")
    assert ranges.loc["flu"].tolist() == [0.5, 0.0, 1.0, 1]
    assert ranges.loc["cold"].tolist() == [0.5, 0.0, 1.0, 1]


def test_riskiest_first() -> None:
    frame = pd.DataFrame({"size": ["x"] * 4 + ["y"] * 2 + ["z"] * 2, "ill": list("aaab") + list("ab") + [None, None]})
    found = riskiest_classes(frame, ["size"], ["ill"], most=2)
    assert found[["size", "guessed", "of", "size (quasi-identifier)"]].values.tolist() == [
        [2, 1.0, "ill: nan", "z"],
        [4, 0.75, "ill: a", "x"],
    ]
    assert riskiest_classes(frame, ["size"])["size"].tolist() == [2, 2, 4]


def test_risks_are_those_of_the_audits() -> None:
    frame = PEOPLE.assign(age=[1, 1, 2, 2, 3, 3])
    before = audit(PEOPLE, quasi=["age"], sensitive=["illness"], taus=(0.4,))
    after = audit(frame, quasi=["age"], sensitive=["illness"], taus=(0.4,))
    found = risk_change(before, after).set_index("risk")
    assert found.loc["prosecutor", ["before", "after"]].tolist() == [1.0, 0.5]
    assert found.loc["linkage@0.4", "after"] == linkage(np.array([2, 2, 2]), 0.4) / 6 == 1.0
    assert found.loc["homogeneity", "after"] == after.homogeneity["total"] / 6
    assert found.loc["alpha@illness", "after"] == after.sensitive["illness"].alpha
    assert risk_change(None, after)["before"].isna().all()


def test_a_table_s_own_distribution() -> None:
    assert distribution(table_of(), "grade").values.tolist() == [["low", 3], ["middle", 1], ["high", 2]]


@pytest.mark.parametrize("method", ["centroid", "interval", "hierarchy"])
def test_a_sample_has_whole_classes(method: str) -> None:
    recoded = Recoded(table_of(), LABELS, method)  # type: ignore[arg-type]
    sample = recoded.sample(2)
    assert sample.sizes.tolist() == [2, 2]
    assert sample.frame.isin(recoded.frame.to_numpy().ravel().tolist()).all(axis=None)
    assert recoded.sample(3) is recoded


def test_sets_of_many_values_take_no_more_room_than_they_need() -> None:
    n = 30_000  # classes times values would be 1.2 GB
    table = Table(pd.DataFrame({"id": [f"v{i}" for i in range(n)]}), quasi={"id": "categorical"})
    found = distribution_change(Recoded(table, np.arange(n) // 2, "interval"), "id")
    assert found["after"].sum() == pytest.approx(n)
    assert found["after"].tolist() == pytest.approx(found["before"].tolist())
