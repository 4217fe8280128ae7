from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optmodels.errors import InputError
from optmodels.metrics import risk
from optmodels.metrics.privacy import Transport
from optmodels.partition import canonical, class_sizes, group_frame, histograms

labels_lists = st.lists(st.integers(0, 8), min_size=1, max_size=80).map(canonical)


def test_linkage_counts_records_strictly_above_tau():
    sizes = np.array([1, 2, 10, 13, 14, 20, 21])
    assert risk.linkage(sizes, 0.05) == 1 + 2 + 10 + 13 + 14
    assert risk.linkage(sizes, 0.075) == 1 + 2 + 10 + 13
    assert risk.linkage(sizes, 0.1) == 1 + 2
    assert risk.linkage(sizes, 1.0) == 0


def test_a_class_of_exactly_one_over_tau_is_not_linked():
    assert [size for size in range(1, 200) if risk.linkage(np.array([size]), 1 / size)] == []


def test_linkage_of_people_is_of_all_their_records():
    assert risk.linkage(np.array([4, 6]), 0.3, people=np.array([2, 6])) == 4


@pytest.mark.parametrize("tau", [5, 1.0001, -0.0001])
def test_linkage_refuses_what_is_no_probability(tau):
    assert risk.linkage(np.array([3]), 0) == 3
    with pytest.raises(InputError, match="between 0 and 1"):
        risk.linkage(np.array([3]), tau)


@given(labels_lists, st.floats(0, 1))
def test_linkage_is_the_definition_record_by_record(labels, tau):
    sizes = class_sizes(labels)
    assert risk.linkage(sizes, tau) == sum(1 / sizes[label] > tau for label in labels)


@given(labels_lists, st.floats(0, 1))
def test_merging_classes_never_raises_linkage(labels, tau):
    merged = canonical(np.where(labels == labels.max(), 0, labels))
    assert risk.linkage(class_sizes(merged), tau) <= risk.linkage(class_sizes(labels), tau)


def test_homogeneity_counts_a_record_once_whatever_attribute_gives_it_away():
    labels = [0, 0, 1, 1, 2, 2, 3]
    found = {
        "illness": histograms(labels, [0, 0, 0, 1, 0, 1, 2]),
        "income": histograms(labels, [1, 1, 1, 1, 0, 1, 2]),
    }
    assert risk.homogeneity(found) == {"total": 5, "illness": 3, "income": 5}
    assert list(risk.homogeneity(found)) == ["total", "illness", "income"]


def test_homogeneity_without_sensitive_attributes_and_with_one_called_total():
    assert risk.homogeneity({}) == {"total": 0}
    both = {"total": histograms([0, 1, 1], [0, 0, 1]), "other": histograms([0, 1, 1], [0, 1, 1])}
    assert risk.homogeneity(both)["total"] == 3


def test_nobody_is_open_to_attacks_where_nothing_is_sensitive():
    assert risk.skewness([], [], 2.0) == risk.similarity([], []) == 0


def test_attacks_of_everybody_and_of_nobody():
    found = histograms([0, 0, 1, 1], [0, 0, 1, 2])
    shares = np.array([0.5, 0.25, 0.25])
    assert risk.skewness([found], [shares], 1.0) == 4  # a value is more frequent in both classes than in the table
    assert risk.skewness([found], [shares], 2.0) == 0  # no value is more than twice as frequent
    assert risk.skewness([found], [shares], 1.99) == 4
    with pytest.raises(InputError, match=r"at least 1, as frequent as in the table, not 0\.999"):
        risk.skewness([found], [shares], 0.999)
    line = Transport.ordered(3)
    assert risk.similarity([found], [line], 0.0) == 2
    assert risk.similarity([found], [line], 0.4999) == 2
    assert risk.similarity([found], [line], 0.5) == 4
    assert risk.similarity([found], [line], 1.0) == 4
    for apart in (-0.001, 1.001):
        with pytest.raises(InputError, match="a distance from 0 to 1"):
            risk.similarity([found], [line], apart)
    other = histograms([0, 0, 1, 1], [0, 1, 1, 1])
    assert risk.similarity([found, other], [line, Transport.equal(2)], 0.0) == 4  # each is given away by one of them
    assert risk.skewness([other, found], [np.array([0.25, 0.75]), shares], 1.5) == 4


labelled = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=30)


@given(labelled)
def test_disclosure_and_homogeneity_are_their_definitions(rows):
    labels = canonical([label for label, _, _ in rows])
    values = [[row[1] for row in rows], [row[2] for row in rows]]
    inside = [[[one[i] for i in np.flatnonzero(labels == c)] for c in range(labels.max() + 1)] for one in values]
    found = [histograms(labels, one) for one in values]
    most = [[max(map(members.count, members)) for members in one] for one in inside]
    assert risk.disclosure(found) == pytest.approx(sum(map(max, zip(*most, strict=True))) / len(rows))
    assert risk.disclosure(found[:1]) == pytest.approx(sum(most[0]) / len(rows))
    single = [[len(set(members)) == 1 for members in one] for one in inside]
    sizes = [len(members) for members in inside[0]]
    both = sum(size for size, *alone in zip(sizes, *single, strict=True) if all(alone))
    either = sum(size for size, *alone in zip(sizes, *single, strict=True) if any(alone))
    assert risk.homogeneity_of_all(found) == both
    assert risk.homogeneity({"a": found[0], "b": found[1]})["total"] == either
    assert risk.homogeneity_of_all([]) == 0


def test_prosecutor_journalist_and_marketer():
    assert risk.prosecutor(np.zeros(0, np.int64)) == risk.marketer(np.zeros(0, np.int64)) == 0
    assert risk.journalist(np.array([2, 3]), np.array([2, 3])) == 1 / 2  # everybody of the population is in the table
    sizes = np.array([2, 3, 5])
    assert risk.prosecutor(sizes) == 1 / 2
    assert risk.marketer(sizes) == pytest.approx(3 / 10)
    assert risk.journalist(sizes) == risk.prosecutor(sizes)
    population = np.array([8, 4, 50])
    assert risk.journalist(sizes, population) == 1 / 4
    assert risk.marketer(sizes, population) == pytest.approx((2 / 8 + 3 / 4 + 5 / 50) / 10)


def test_the_population_is_counted_by_released_values():
    people = pd.DataFrame({"age": [30, 30, 40, 40, 40, 50], "sex": ["f", "f", "m", "m", None, "m"]})
    sample = people.iloc[[4, 0, 2]].reset_index(drop=True)
    labels = group_frame(sample, ["age", "sex"])
    assert risk.population_sizes(sample, labels, people, ["age", "sex"]).tolist() == [1, 2, 2]


def test_a_population_that_does_not_contain_the_release_is_refused():
    sample = pd.DataFrame({"age": [30, 30, 40]})
    with pytest.raises(InputError, match="must contain the released table"):
        risk.population_sizes(sample, np.array([0, 0, 1]), pd.DataFrame({"age": [30, 40]}), ["age"])
    with pytest.raises(InputError, match="no column 'age'"):
        risk.population_sizes(sample, np.array([0, 0, 1]), pd.DataFrame({"years": [30]}), ["age"])
    with pytest.raises(InputError, match="must contain the released table"):
        risk.population_sizes(sample, np.array([0, 0, 1]), pd.DataFrame({"age": [30, 30, 30]}), ["age"])
