from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.errors import InputError
from optmodels.metrics import loss
from optmodels.partition import canonical
from optmodels.recoding import recode
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

ORDER = ["low", "middle", "high", "top"]
JOBS = Hierarchy(["nurse", "doctor", "cook", "baker"], [["health", "health", "kitchen", "kitchen"]])
AGES = Hierarchy.intervals([20, 30, 40, 50], widths=[20])


@st.composite
def tables(draw, ordinal=True):
    n = draw(st.integers(1, 25))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pd.DataFrame(
        {"age": column([20, 31, 45, 60]), "job": column(["a", "b", "c"]), "grade": column(ORDER), "ill": column("xyz")}
    )
    quasi = {"age": "numeric", "job": "categorical"} | ({"grade": "ordinal"} if ordinal else {})
    table = Table(
        frame if ordinal else frame.drop(columns="grade"),
        quasi=quasi,
        sensitive="ill",
        orders={"grade": ORDER} if ordinal else {},
        scaling=draw(st.sampled_from(["none", "standard", "range"])),
        weights={"age": draw(st.sampled_from([0.5, 1.0, 2.0]))},
        gamma=draw(st.sampled_from([0.5, 1.0])),
    )
    return table, canonical(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))


@settings(max_examples=40)
@given(tables())
def test_one_class_loses_everything_and_own_classes_nothing(case):
    table, _ = case
    varied = any(table.frame[name].nunique() > 1 for name in table.quasi)
    assert loss.information_loss(table, np.zeros(table.n, np.int64)) == pytest.approx(float(varied))
    assert loss.information_loss(table, np.arange(table.n)) == 0
    assert loss.ncp(table, np.arange(table.n)) == 0


@settings(max_examples=40)
@given(tables())
def test_information_loss_is_its_definition(case):
    table, labels = case

    def spread(classes):
        total = 0.0
        for c in np.unique(classes):
            part = table.scaled[classes == c]
            total += ((part - part.mean(axis=0)) ** 2).sum()
            for j, weight in enumerate(table.mismatch_weights):
                codes = table.codes[classes == c, j]
                total += weight * (len(codes) - np.bincount(codes).max())
        return total

    whole = spread(np.zeros(table.n, np.int64))
    assert loss.information_loss(table, labels) == pytest.approx(spread(labels) / whole if whole else 0.0)


@settings(max_examples=40)
@given(tables(ordinal=False))
def test_released_centroids_lose_what_the_partition_loses(case):
    """Or a little more, where means are rounded to the decimals that the column has."""
    whole_numbers, labels = case
    exact = Table.with_roles(whole_numbers.frame.assign(age=whole_numbers.frame["age"] / np.pi), whole_numbers.roles)
    for table in (exact, whole_numbers):
        recoded = recode(table, labels, "centroid")
        released, best = loss.released_information_loss(table, recoded), loss.information_loss(table, labels)
        assert released == pytest.approx(best) if table is exact else released >= best - 1e-12


@settings(max_examples=40)
@given(tables())
def test_a_released_level_is_never_closer_than_the_mean_rank(case):
    table, labels = case
    recoded = recode(table, labels, "centroid")
    assert loss.released_information_loss(table, recoded) >= loss.information_loss(table, labels) - 1e-12


@settings(max_examples=40)
@given(tables())
def test_merging_classes_never_costs_less(case):
    table, labels = case
    merged = canonical(np.where(labels == labels.max(), 0, labels))
    for measure in (loss.information_loss, loss.loss_metric, loss.ncp, loss.general_loss_metric, loss.gcp):
        assert measure(table, merged) >= measure(table, labels) - 1e-12


@settings(max_examples=40)
@given(tables())
def test_loss_metric_is_its_definition_cell_by_cell(case):
    table, labels = case
    total = 0.0
    for name in table.quasi:
        column = table.frame[name]
        if table.kinds[name] == "ordinal":
            column = column.map({level: rank for rank, level in enumerate(ORDER)}).astype(int)
        for i in range(table.n):
            cells = column[labels == labels[i]]
            if table.kinds[name] == "categorical":
                part, whole = cells.nunique() - 1, column.nunique() - 1
            else:
                part, whole = cells.max() - cells.min(), column.max() - column.min()
            total += table.weights[name] * (part / whole if whole else 0.0)
    assert loss.loss_metric(table, labels) == pytest.approx(total)
    weights = sum(table.weights.values())
    assert loss.general_loss_metric(table, labels) == pytest.approx(total / (table.n * weights))


@pytest.fixture
def staff():
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["nurse", "doctor", "cook", "nurse"]})
    return Table(
        frame,
        quasi={"age": "numeric", "job": "categorical"},
        hierarchies={"job": JOBS, "age": AGES},
        weights={"job": 3.0},
    )


def test_categories_with_a_hierarchy_lose_the_leaves_below_their_common_ancestor(staff):
    """Nurse and doctor meet in a node of 2 of 4 leaves; cook and nurse only in the root of all 4."""
    labels = np.array([0, 0, 1, 1])
    assert loss.cell_losses(staff, labels).tolist() == [[1 / 3, 1 / 3], [1 / 3, 1.0]]
    assert loss.ncp(staff, labels) == pytest.approx(4 * (1 / 3) + 2 * (1 / 3) + 2 * 1)
    assert loss.gcp(staff, labels) == pytest.approx(0.5)
    assert loss.loss_metric(staff, labels) == pytest.approx(4 / 3 + 3 * (2 / 3 + 2))
    assert loss.general_loss_metric(staff, labels) == pytest.approx((4 / 3 + 8) / 16)


def test_distortion_counts_the_levels_used(staff):
    """Ages 20 and 30 share [20, 40) on level 1 of 2, 40 and 50 share [40, 60); jobs need levels 1 and 2 of 2."""
    labels = np.array([0, 0, 1, 1])
    assert loss.generalisation_levels(staff, labels).tolist() == [[1, 1], [1, 2]]
    assert loss.distortion(staff, labels) == pytest.approx(4 * 0.5 + 3 * (2 * 0.5 + 2 * 1.0))
    assert loss.distortion(staff, labels, weights={"age": 1, "job": 0}) == pytest.approx(2.0)
    suppressed = np.full((2, 2), 2)
    assert loss.distortion(staff, labels, levels=suppressed, weights={"age": 1, "job": 1}) == pytest.approx(8)
    assert loss.distortion(staff, np.arange(4)) == 0


def test_distortion_without_a_hierarchy_names_the_column():
    table = Table(pd.DataFrame({"age": [1, 2]}), quasi={"age": "numeric"})
    with pytest.raises(InputError, match=r"'age' has no hierarchy.*Hierarchy\.automatic"):
        loss.distortion(table, np.array([0, 0]))


def test_constant_columns_lose_nothing():
    table = Table(pd.DataFrame({"age": [5, 5], "job": ["a", "a"]}), quasi={"age": "numeric", "job": "categorical"})
    assert loss.information_loss(table, np.array([0, 0])) == 0
    assert loss.gcp(table, np.array([0, 0])) == 0


def test_a_constant_column_among_others_and_an_empty_list_of_classes():
    table = Table(pd.DataFrame({"age": [5, 5, 5], "pay": [1, 2, 4]}), quasi={"age": "numeric", "pay": "numeric"})
    labels = np.array([0, 0, 1])
    assert loss.cell_losses(table, labels).tolist() == [[0.0, 1 / 3], [0.0, 0.0]]
    assert loss.general_loss_metric(table, labels) == pytest.approx(2 / 3 / 6)
    assert loss.average_class_size(np.zeros(0, np.int64)) == 0


def test_a_released_loss_is_relative_to_the_whole_where_that_is_given():
    people = pd.DataFrame({"age": [10, 20, 30, 90], "job": list("aabb")})
    table = Table(people, quasi={"age": "numeric", "job": "categorical"}, scaling="none", gamma=2.0)
    part, labels = table.part(np.array([0, 1, 2])), np.array([0, 0, 0])
    recoded = recode(part, labels, "centroid")
    squares = sum((age - int(recoded["age"].iloc[0])) ** 2 for age in (10, 20, 30))
    whole = sum((age - 37.5) ** 2 for age in (10, 20, 30, 90))
    mismatch = float(table.mismatch_weights[0])
    alone = loss.released_information_loss(part, recoded)
    among = loss.released_information_loss(part, recoded, of=table)
    assert among == pytest.approx((squares + mismatch) / (whole + 2 * mismatch))
    assert alone == pytest.approx(1.0)


def test_many_records_are_measured_two_attributes_at_a_time(monkeypatch):
    frame = pd.DataFrame({"age": [20, 30, 40, 50], "job": list("abab"), "pay": [1, 2, 3, 9]})
    table = Table(frame, quasi={"age": "numeric", "job": "categorical", "pay": "numeric"})
    labels = np.array([0, 0, 1, 1])
    expected = loss.cell_losses(table, labels)
    monkeypatch.setattr(loss, "_SHARED_OUT", 4)
    assert loss.cell_losses(table, labels).tolist() == expected.tolist()
    assert expected.tolist() == [[1 / 3, 1.0, 1 / 8], [1 / 3, 1.0, 6 / 8]]


def test_class_sizes_alone():
    sizes = np.array([3, 4, 5])
    assert loss.discernibility(sizes) == 50
    assert loss.average_class_size(sizes) == 4
