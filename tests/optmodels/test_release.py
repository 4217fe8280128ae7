from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.audit import audit
from optmodels.conditions import Conditions
from optmodels.errors import BrokenPromiseError, InputError
from optmodels.partition import canonical, group_frame
from optmodels.release import recode, release
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.reading import read_frame
from optmodels.values import in_value_order

ORDER = ["low", "middle", "high", "top"]
METHODS = ["centroid", "interval", "hierarchy"]
HIERARCHIES = {
    "age": Hierarchy.automatic(range(20, 70)),
    "job": Hierarchy.automatic(["nurse", "cook", "smith", "clerk"]),
    "grade": Hierarchy(ORDER, [["lower", "lower", "upper", "upper"]]),
}


def staff_table(frame):
    return Table(
        frame,
        quasi={"age": "numeric", "job": "categorical", "grade": "ordinal"},
        sensitive=("illness", "cost"),
        identifiers=("name",),
        target="stays",
        orders={"grade": ORDER},
        bins={"cost": [0, 50, 100]},
        hierarchies=HIERARCHIES,
    )


@st.composite
def staff_frames(draw):
    n = draw(st.integers(4, 24))
    columns = {
        "age": st.integers(20, 69),
        "job": st.sampled_from(["nurse", "cook", "smith", "clerk"]),
        "grade": st.sampled_from(ORDER),
        "illness": st.sampled_from(["flu", "cold", "none"]),
        "cost": st.floats(0, 100),
        "stays": st.booleans(),
    }
    frame = pd.DataFrame({name: draw(st.lists(cell, min_size=n, max_size=n)) for name, cell in columns.items()})
    return frame.assign(name=[f"person {i}" for i in range(n)])


@st.composite
def pairs(draw):
    """A frame and a partition of it into classes of at least two."""
    frame = draw(staff_frames())
    order = draw(st.permutations(range(len(frame))))
    return frame, np.argsort(order) // 2 - (np.argsort(order) == len(frame) - 1) * (len(frame) % 2)


@pytest.fixture
def staff():
    frame = pd.DataFrame(
        {
            "name": list("abcdef"),
            "age": [20, 22, 30, 31, 33, 33],
            "job": ["nurse", "cook", "cook", "cook", "smith", "smith"],
            "grade": ["low", "high", "low", "middle", "high", "high"],
            "illness": ["flu", "cold", "flu", "none", "flu", "cold"],
            "cost": [1.0, 60.0, 50.0, 2.0, 99.0, 3.0],
            "stays": [True, False, True, True, False, True],
        }
    )
    return staff_table(frame)


PARTITION = np.array([0, 0, 1, 1, 2, 2])


def test_centroids_are_means_modes_and_middle_levels(staff):
    recoded = recode(staff, PARTITION, "centroid")
    assert recoded["age"].tolist() == [21, 21, 30, 30, 33, 33]  # whole numbers, as the column has
    assert recoded["age"].dtype == staff.frame["age"].dtype
    assert recoded["job"].tolist() == ["cook", "cook", "cook", "cook", "smith", "smith"]
    assert recoded["grade"].tolist() == ["low", "low", "low", "low", "high", "high"]
    assert "name" not in recoded
    whole = recode(staff, np.zeros(6, int), "centroid")
    assert whole["job"].unique().tolist() == ["cook"]
    assert whole["grade"].unique().tolist() == ["middle"]


def test_intervals_and_sets_leave_single_values_alone(staff):
    recoded = recode(staff, PARTITION, "interval")
    assert recoded["age"].tolist() == ["[20-22]", "[20-22]", "[30-31]", "[30-31]", "33", "33"]
    assert recoded["job"].tolist() == ["{cook,nurse}"] * 2 + ["cook"] * 2 + ["smith"] * 2
    assert recoded["grade"].tolist() == ["[low-high]"] * 2 + ["[low-middle]"] * 2 + ["high"] * 2


def test_hierarchies_climb_no_higher_than_needed(staff):
    recoded = recode(staff, PARTITION, "hierarchy")
    assert recoded["age"].tolist() == ["[20, 23]"] * 2 + ["[30, 31]"] * 2 + ["33"] * 2
    assert recoded["job"].tolist() == ["*"] * 2 + ["cook"] * 2 + ["smith"] * 2
    assert recoded["grade"].tolist() == ["*"] * 2 + ["lower"] * 2 + ["high"] * 2


@pytest.mark.parametrize("method", METHODS)
def test_a_class_of_equal_records_is_released_as_it_is(staff, method):
    recoded = recode(staff, np.arange(6), method)
    pd.testing.assert_frame_equal(recoded, staff.frame)


def test_the_mean_of_equal_numbers_is_that_number():
    table = Table(pd.DataFrame({"dose": [0.1, 0.1, 0.1, 0.7]}), quasi={"dose": "numeric"})
    assert recode(table, [0, 0, 0, 1], "centroid")["dose"].tolist() == [0.1, 0.1, 0.1, 0.7]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([-5, -2, 3, 3], ["[-5..-2]", "[-5..-2]", "3", "3"]),
        ([0.5, 1.0, 2.0, 2.5], ["[0.5-1]", "[0.5-1]", "[2-2.5]", "[2-2.5]"]),
        ([1e-7, 1.0, 2.0, 2.0], ["[1e-07..1]", "[1e-07..1]", "2", "2"]),
    ],
)
def test_intervals_of_awkward_numbers_can_be_read(values, expected):
    table = Table(pd.DataFrame({"x": values}), quasi={"x": "numeric"})
    assert recode(table, [0, 0, 1, 1], "interval")["x"].tolist() == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b", "c"], "{a,b}"),
        (["a", "b", "{a,b}"], "{a;b}"),
        (["a", "b", "a,b"], "{a;b}"),
        (["a", "b", ",;|"], "{a<0>b}"),
        (["a", "b", ",;|<0>"], "{a<1>b}"),
    ],
)
def test_a_set_is_written_like_no_value_and_no_other_set(values, expected):
    table = Table(pd.DataFrame({"v": values}), quasi={"v": "categorical"})
    recoded = recode(table, [0, 0, 1], "interval")["v"]
    assert recoded.tolist() == [expected, expected, values[2]]


def test_a_separator_is_not_read_across_the_end_of_a_level():
    """With two dots between them, "a." to "b" and "a" to ".b" would both be [a...b]."""
    levels = ["a.", "a", "-", "b", ".b"]
    table = Table(pd.DataFrame({"v": ["a.", "b", "a", ".b", "-"]}), quasi={"v": "ordinal"}, orders={"v": levels})
    assert recode(table, [0, 0, 1, 1, 2], "interval")["v"].tolist()[::2] == ["[a. to b]", "[a to .b]", "-"]


awkward_text = st.text(alphabet="ab{},;|<0>", min_size=1, max_size=6)


@given(st.lists(awkward_text, min_size=3, max_size=7, unique=True))
def test_no_two_sets_of_values_are_written_alike(values):
    """Every class holds another subset of the values, so every class must get a text of its own."""
    subsets = [[v for j, v in enumerate(values) if bits >> j & 1] for bits in range(1, 2 ** len(values))]
    labels = np.repeat(np.arange(len(subsets)), [len(subset) for subset in subsets])
    table = Table(pd.DataFrame({"v": [v for subset in subsets for v in subset]}), quasi={"v": "categorical"})
    recoded = recode(table, labels, "interval")["v"]
    assert (group_frame(pd.DataFrame({"v": recoded}), ["v"]) == labels).all()
    for subset, text in zip(subsets, recoded[np.unique(labels, return_index=True)[1]], strict=True):
        assert len(subset) > 1 or text == subset[0]


@given(st.lists(st.text(alphabet="ab[-.]to ", min_size=1, max_size=5), min_size=3, max_size=7, unique=True))
def test_no_two_ranges_of_levels_are_written_alike(levels):
    ends = [(a, b) for a in range(len(levels)) for b in range(a, len(levels))]
    labels = np.repeat(np.arange(len(ends)), 2)
    cells = [levels[end] for pair in ends for end in pair]
    table = Table(pd.DataFrame({"v": cells}), quasi={"v": "ordinal"}, orders={"v": levels})
    assert (group_frame(recode(table, labels, "interval"), ["v"]) == labels).all()


@settings(max_examples=30)
@given(pairs(), st.sampled_from(METHODS))
def test_the_classes_of_a_release_are_unions_of_the_partition(pair, method):
    frame, labels = pair
    table = staff_table(frame)
    groups = group_frame(recode(table, labels, method), table.quasi)
    assert pd.Series(groups).groupby(canonical(labels)).nunique().max() == 1


@settings(max_examples=30)
@given(pairs(), st.sampled_from(METHODS), st.randoms(use_true_random=False))
def test_a_release_depends_on_the_records_but_not_on_their_order(pair, method, random):
    frame, labels = pair
    order = list(range(len(frame)))
    random.shuffle(order)
    one = release(staff_table(frame), labels, promise=Conditions(k=2), method=method)
    other = release(
        staff_table(frame.iloc[order].reset_index(drop=True)), labels[order], promise=Conditions(k=2), method=method
    )
    pd.testing.assert_frame_equal(one.frame, other.frame, rtol=1e-12)
    assert one.frame.index.equals(pd.RangeIndex(len(frame)))


def test_rows_are_sorted_by_every_value_whatever_its_type():
    frame = pd.DataFrame(
        {
            "mixed": np.array([2, "b", None, 1, "a", 2], object),
            "category": pd.Categorical(["z", "y", "x", "z", "y", "w"], categories=["z", "y", "x", "w"]),
            "number": [1.0, np.nan, 3.0, 2.0, 1.0, 0.0],
        },
        index=[9, 8, 7, 6, 5, 4],
    )
    expected = in_value_order(frame)
    assert expected["mixed"].tolist()[:5] == [1, 2, 2, "a", "b"]
    assert expected["category"].tolist() == ["z", "w", "z", "y", "y", "x"]
    for seed in range(5):
        pd.testing.assert_frame_equal(in_value_order(frame.sample(frac=1, random_state=seed)), expected)


def test_categories_do_not_tell_the_order_they_first_appeared_in():
    one = pd.DataFrame({"x": pd.Categorical(["b", "a"], categories=["b", "a", "never"])})
    other = pd.DataFrame({"x": pd.Categorical(["a", "b"], categories=["a", "b"])})
    pd.testing.assert_frame_equal(in_value_order(one), in_value_order(other))


def test_the_audit_is_of_the_released_frame(staff):
    made = release(staff, PARTITION, promise=Conditions(k=2), method="interval")
    again = audit(made.frame, quasi=staff.quasi, sensitive=staff.sensitive).to_dict()
    noted = made.audit.to_dict()
    assert {name: noted[name] for name in ("records", "classes", "k", "linkage", "homogeneity")} == {
        name: again[name] for name in ("records", "classes", "k", "linkage", "homogeneity")
    }
    assert noted["sensitive"] == again["sensitive"]
    assert noted["sensitive"]["cost"]["t_ground"] == "ordered"
    assert noted["promise"] == {"k": 2}
    assert noted["missing"]["policy"] == "error"
    assert set(made.loss) == {"gcp"}
    assert set(release(staff, PARTITION, promise=Conditions(k=2)).loss) == {"information_loss", "gcp"}


@pytest.mark.parametrize(
    ("promise", "said"),
    [
        (Conditions(k=3), "k is 2, less than 3"),
        (Conditions(k=2, distinct_l=3), "distinct l of 'illness' is 2, less than 3"),
        (Conditions(k=2, entropy_l=2.5), "entropy l of 'illness' is 2, less than 2.5"),
        (Conditions(k=2, t=0.01), "t of 'illness' is 0.3"),
        (Conditions(k=2, t=0.5, t_distance="variational"), r"'illness' is 0.666667 \(variational\), more than 0.5"),
    ],
)
def test_a_broken_promise_is_no_release(staff, promise, said):
    with pytest.raises(BrokenPromiseError, match=said):
        release(staff, PARTITION, promise=promise)


def test_a_promise_just_kept_is_kept(staff):
    """Three classes of two values each: entropy l is 2, and no class is further off than 1/3 in equal EMD."""
    exactly = Conditions(k=2, distinct_l=2, entropy_l=2.0)
    labels = np.array([0, 0, 1, 1, 2, 2])
    frame = staff.frame.assign(cost=[1.0, 60.0] * 3, name="x", illness=["flu", "cold"] * 3)
    assert release(staff_table(frame), labels, promise=exactly).audit.k == 2


def test_missing_values_in_a_release_are_equal():
    frame = pd.DataFrame({"job": ["a", None, None, "a"], "ill": ["x", "y", "x", "y"]})
    table = Table(frame, quasi={"job": "categorical"}, sensitive="ill", missing="category")
    made = release(table, [0, 1, 1, 0], promise=Conditions(k=2))
    assert made.audit.classes == 2
    assert made.audit.missing["columns"]["job"]["missing"] == 2


@pytest.mark.parametrize("method", METHODS)
def test_files_read_back_to_the_same_audit(staff, tmp_path, method):
    made = release(staff, PARTITION, promise=Conditions(k=2), method=method, provenance={"formulation": "<none>"})
    made.to_csv(tmp_path / "r.csv")
    made.to_parquet(tmp_path / "r.parquet")
    for read in (pd.read_csv(tmp_path / "r.csv"), pd.read_parquet(tmp_path / "r.parquet")):
        found = audit(read, quasi=staff.quasi, sensitive=staff.sensitive, ordered={"cost": ["[0, 50)", "[50, 100]"]})
        assert found.sensitive == made.audit.sensitive
        assert (found.k, found.classes, found.linkage) == (made.audit.k, made.audit.classes, made.audit.linkage)
    made.save_audit(tmp_path / "r.json")
    made.save_report(tmp_path / "r.html")
    assert "&lt;none&gt;" in (tmp_path / "r.html").read_text()
    assert sorted(os.listdir(tmp_path)) == ["r.csv", "r.html", "r.json", "r.parquet", "r.promise.json"]


def test_provenance_grows(staff):
    made = release(staff, PARTITION, promise=Conditions(k=2), provenance={"formulation": "a"})
    assert made.with_provenance({"solver": "b"}).provenance == {"formulation": "a", "solver": "b"}


def test_what_recode_refuses(staff):
    with pytest.raises(InputError, match=r"no recoding method 'centroids'\. Did you mean 'centroid'"):
        recode(staff, PARTITION, "centroids")
    with pytest.raises(InputError, match="6 records, but 2 class labels"):
        recode(staff, [0, 1])
    bare = Table(pd.DataFrame({"age": [1, 2]}), quasi={"age": "numeric"})
    with pytest.raises(InputError, match="'age' has no hierarchy"):
        recode(bare, [0, 0], "hierarchy", levels=np.ones((1, 1), np.int64))


def test_numbers_without_a_hierarchy_become_intervals_where_levels_are_left_open():
    bare = Table(pd.DataFrame({"age": [1, 2, 7]}), quasi={"age": "numeric"})
    assert recode(bare, [0, 0, 1], "hierarchy")["age"].tolist() == ["[1-2]", "[1-2]", "7"]


def test_a_carriage_return_within_a_value_survives_the_csv(tmp_path):
    frame = pd.DataFrame({"town": ["a\rb", "a\rb", "c", "c"], "illness": ["flu", "x\ry", "flu", "cold"]})
    table = Table(frame, quasi={"town": "categorical"}, sensitive="illness")
    made = release(table, [0, 0, 1, 1], promise=Conditions(k=2, distinct_l=2))
    again = read_frame(made.to_csv(tmp_path / "release.csv"))
    assert again.astype(str).to_numpy().tolist() == made.frame.astype(str).to_numpy().tolist()
    assert audit(again, quasi=["town"], sensitive="illness").check(Conditions(k=2, distinct_l=2)) == []


def test_lists_in_a_column_that_is_kept_do_not_matter(tmp_path):
    frame = pd.DataFrame({"age": [1, 2, 8, 9], "tags": [[2], [1], {"a": 1}, None]})
    table = Table(frame, quasi={"age": "numeric"}, others="keep")
    made = release(table, [0, 0, 1, 1], promise=Conditions(k=2))
    assert made.frame["tags"].tolist()[:2] == [[1], [2]]


def test_equal_values_of_different_types_are_written_alike_by_a_hierarchy(tmp_path):
    frame = pd.DataFrame({"code": pd.Series([1, 1.0, "a", "a"], dtype=object)})
    hierarchies = {"code": Hierarchy([1, "a"], [])}
    table = Table(frame, quasi={"code": "categorical"}, hierarchies=hierarchies)
    made = release(table, [0, 0, 1, 1], promise=Conditions(k=2), method="hierarchy")
    again = read_frame(made.to_csv(tmp_path / "release.csv"), text=["code"])
    assert audit(again, quasi=["code"]).k == 2
