from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from optmodels import partition
from optmodels.errors import InputError
from optmodels.partition import LEFT_OUT, canonical, class_sizes, group_frame, group_rows, histograms, members

small_labels = st.lists(st.integers(0, 6), min_size=1, max_size=60).map(canonical)
AWKWARD = [0.0, -0.0, np.nan, 1.5, -1.5, np.inf, 1e-300, float(2**53)]


@st.composite
def labels_and_codes(draw):
    labels = draw(small_labels)
    codes = draw(arrays.arrays(np.int32, len(labels), elements=st.integers(0, 5)))
    return labels, codes


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 3), max_size=50))
def test_canonical_labels_are_pandas_factorize_of_those_in_a_class(labels):
    given = np.array(labels, np.int64)
    expected = np.full(len(given), LEFT_OUT)
    expected[given != LEFT_OUT] = pd.factorize(given[given != LEFT_OUT])[0]
    assert canonical(given).tolist() == expected.tolist()


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=60).map(canonical))
def test_no_class_counts_a_record_that_is_left_out(labels):
    inside = labels[labels != LEFT_OUT]
    order, starts = members(labels)
    assert sorted(order.tolist()) == np.flatnonzero(labels != LEFT_OUT).tolist()
    assert class_sizes(labels).tolist() == class_sizes(inside).tolist() == np.diff(starts).tolist()
    codes = np.arange(len(labels)) % 3
    found, expected = histograms(labels, codes), histograms(inside, codes[labels != LEFT_OUT])
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))


@given(small_labels)
def test_members_are_the_records_of_each_class_in_order(labels):
    order, starts = members(labels)
    for c, size in enumerate(class_sizes(labels)):
        assert order[starts[c] : starts[c + 1]].tolist() == np.flatnonzero(labels == c).tolist()
        assert starts[c + 1] - starts[c] == size


@given(labels_and_codes())
def test_histograms_are_a_groupby(case):
    labels, codes = case
    found = histograms(labels, codes)
    expected = pd.DataFrame({"c": labels, "v": codes}).groupby(["c", "v"]).size()
    classes = np.repeat(np.arange(len(found.sizes)), np.diff(found.starts))
    assert list(zip(classes.tolist(), found.values.tolist(), strict=True)) == list(expected.index)
    assert found.counts.tolist() == expected.tolist()
    assert found.sizes.tolist() == np.bincount(labels).tolist()


def test_histograms_of_large_classes_with_many_values():
    """Classes above and below the number of values are counted in different ways."""
    random = np.random.default_rng(0)
    labels = canonical(np.repeat([0, 1, 2], [500, 40, 7]))
    codes = random.integers(0, 200, len(labels))
    found = histograms(labels, codes)
    for c in range(3):
        values, counts = np.unique(codes[labels == c], return_counts=True)
        assert found.values[found.starts[c] : found.starts[c + 1]].tolist() == values.tolist()
        assert found.counts[found.starts[c] : found.starts[c + 1]].tolist() == counts.tolist()


def test_histograms_refuse_what_they_would_miscount():
    with pytest.raises(InputError, match="2 labels but 3 value codes"):
        histograms([0, 0], [1, 2, 3])
    with pytest.raises(InputError, match="missing value a code of its own"):
        histograms([0, 0], [1, -1])


def random_column(draw, n):
    kind = draw(st.sampled_from(["float", "float32", "int8", "uint64", "bool", "text", "date"]))
    match kind:
        case "float" | "float32":
            values = draw(st.lists(st.sampled_from(AWKWARD), min_size=n, max_size=n))
            return np.array(values, np.float64 if kind == "float" else np.float32)
        case "int8":
            return np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), np.int8)
        case "uint64":
            return np.array(draw(st.lists(st.sampled_from([0, 2**63, 2**64 - 1]), min_size=n, max_size=n)), np.uint64)
        case "bool":
            return np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
        case "text":
            return np.array(draw(st.lists(st.sampled_from(["a", "b", None, ""]), min_size=n, max_size=n)), object)
        case _:
            days = draw(st.lists(st.sampled_from(["2020-01-01", "2021-01-01", "NaT"]), min_size=n, max_size=n))
            return np.array(days, "datetime64[s]")


@st.composite
def mixed_columns(draw):
    n = draw(st.integers(1, 30))
    return [random_column(draw, n) for _ in range(draw(st.integers(1, 4)))]


@given(mixed_columns())
@settings(max_examples=150)
def test_group_rows_is_pandas_groupby(columns):
    frame = pd.DataFrame(dict(enumerate(columns)))
    expected = frame.groupby(list(frame.columns), sort=False, dropna=False).ngroup().to_numpy()
    assert group_rows(columns).tolist() == pd.factorize(expected)[0].tolist()
    assert group_frame(frame, list(frame.columns)).tolist() == pd.factorize(expected)[0].tolist()


def test_group_rows_of_many_rows_in_parts_and_with_a_growing_table():
    random = np.random.default_rng(1)
    columns = [random.integers(0, 400, 120_000), random.normal(size=50)[random.integers(0, 50, 120_000)]]
    expected = pd.DataFrame(dict(enumerate(columns))).groupby([0, 1], sort=False).ngroup().to_numpy()
    assert expected.max() > 10_000
    assert (group_rows(columns) == expected).all()


def test_every_kind_of_nan_is_the_same():
    other = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    assert np.isnan(other).all()
    assert group_rows([np.array([np.nan, 1.0, *other])]).tolist() == [0, 1, 0, 0]


def test_columns_need_not_be_contiguous():
    block = np.arange(12).reshape(6, 2) // 4
    assert group_rows([block[:, 0], block[:, 1]]).tolist() == [0, 0, 1, 1, 2, 2]


def test_colliding_hashes_are_found_out_and_the_rows_hashed_again(monkeypatch):
    """The first hash maps all rows to one key; only the comparison with the first row can tell."""
    seeds = []
    honest = partition._hash_rows

    def treacherous(columns, seed):
        seeds.append(seed)
        return np.zeros(len(columns[0]), np.uint64) if seed == 0 else honest(columns, seed)

    monkeypatch.setattr(partition, "_hash_rows", treacherous)
    assert group_rows([np.array([5, 6, 5]), np.array([1.0, 1.0, 1.0])]).tolist() == [0, 1, 0]
    assert seeds == [0, 1]


def test_group_frame_of_pandas_types():
    frame = pd.DataFrame(
        {
            "category": pd.Categorical(["x", None, "x", None], categories=["unused", "x"]),
            "nullable": pd.array([1, None, 1, None], dtype="Int64"),
            "text": pd.array(["p", "q", "p", "q"], dtype="str"),
        }
    )
    assert group_frame(frame, ["category", "nullable", "text"]).tolist() == [0, 1, 0, 1]
    assert group_frame(frame, []).tolist() == [0, 0, 0, 0]


def test_group_rows_of_no_rows_and_bad_columns():
    assert group_rows([np.array([], np.float64)]).size == 0
    with pytest.raises(InputError, match="at least one column"):
        group_rows([])
    with pytest.raises(InputError, match="differ in length"):
        group_rows([np.zeros(2), np.zeros(3)])
