from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.errors import InputError
from optmodels.table.hierarchy import Hierarchy

patient = settings(deadline=None, max_examples=50)
values = st.lists(st.integers(-1000, 1000), min_size=1, max_size=40)
hierarchies = st.one_of(
    st.builds(Hierarchy.automatic, values, fanout=st.integers(2, 5)),
    st.builds(Hierarchy.automatic, st.lists(st.text(max_size=3), min_size=1, max_size=20)),
    st.builds(Hierarchy.intervals, values, widths=st.sampled_from([[5], [5, 10, 30], [0.5, 2, 2]])),
)


@patient
@given(hierarchies)
def test_values_that_have_met_stay_together(tree: Hierarchy) -> None:
    for level in range(tree.n_levels - 1):
        pairs = np.unique(tree.nodes[:, level : level + 2], axis=0)
        assert len(pairs) == len(np.unique(tree.nodes[:, level]))
    assert len(np.unique(tree.nodes[:, -1])) == 1


@patient
@given(hierarchies)
def test_leaf_counts_add_up_on_every_level(tree: Hierarchy) -> None:
    for level in range(tree.n_levels):
        assert tree.leaf_counts[tree.node_levels == level].sum() == len(tree.values)
    inner = tree.parents >= 0
    below = np.bincount(tree.parents[inner], tree.leaf_counts[inner], minlength=len(tree.parents))
    assert (below == tree.leaf_counts)[tree.node_levels > 0].all()


@patient
@given(hierarchies, st.data())
def test_lowest_common_ancestor(tree: Hierarchy, data: st.DataObject) -> None:
    leaf = st.integers(0, len(tree.values) - 1)
    a, b = data.draw(leaf), data.draw(leaf)
    level = tree.lca_level(a, b)
    assert level == tree.lca_level(b, a)
    assert tree.nodes[a, level] == tree.nodes[b, level]
    assert level == 0 or tree.nodes[a, level - 1] != tree.nodes[b, level - 1]
    assert (level == 0) == (a == b)


@patient
@given(hierarchies, st.data())
def test_common_level_is_the_highest_of_all_pairs(tree: Hierarchy, data: st.DataObject) -> None:
    codes = np.array(data.draw(st.lists(st.integers(0, len(tree.values) - 1), min_size=1, max_size=12)))
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=len(codes), max_size=len(codes))))
    found = tree.common_level(labels, codes)
    for label in np.unique(labels):
        members = codes[labels == label]
        assert found[label] == tree.lca_level(members[:, None], members[None, :]).max()


@patient
@given(hierarchies)
def test_frame_round_trip(tree: Hierarchy) -> None:
    assert Hierarchy.from_frame(tree.to_frame()) == tree


@patient
@given(values)
def test_intervals_contain_their_values(numbers: list[int]) -> None:
    tree = Hierarchy.intervals(numbers, widths=[5, 10])
    for number, label in zip(numbers, tree.generalise(numbers, 2), strict=True):
        low, high = (float(edge) for edge in label.strip("[)").split(","))
        assert low <= number < high
        assert high - low == 10


def test_fractional_widths_have_short_labels() -> None:
    assert Hierarchy.intervals([0.25, 0.35], widths=[0.1]).generalise([0.35], 1).tolist() == ["[0.3, 0.4)"]


def test_large_numbers_keep_their_digits() -> None:
    tree = Hierarchy.intervals([1_234_567, 1_234_569], widths=[1])
    assert tree.generalise([1_234_567, 1_234_569], 1).tolist() == ["[1234567, 1234568)", "[1234569, 1234570)"]


def test_a_level_for_each_value() -> None:
    tree = Hierarchy(["a", "b", "c"], [["x", "x", "y"]])
    assert tree.generalise(["a", "a", "a"], np.array([0, 1, 2])).tolist() == ["a", "x", "*"]
    with pytest.raises(InputError, match="levels 0 to 2, not 3"):
        tree.generalise(["a"], 3)


def test_numbers_match_leaves_read_from_text() -> None:
    tree = Hierarchy(["39", "40", "1.5"], [["old", "old", "young"]])
    assert tree.codes(np.array([40, 39])).tolist() == [1, 0]
    assert tree.codes([40.0, 1.5]).tolist() == [1, 2]
    assert tree.codes(pd.Series([39, 40], dtype="category")).tolist() == [0, 1]


def test_uncovered_values_are_named() -> None:
    tree = Hierarchy(["nurse", "doctor"], [])
    with pytest.raises(InputError, match=r"does not cover 'nurze'. Did you mean 'nurse'\?"):
        tree.codes(["doctor", "nurze"])
    with pytest.raises(InputError, match="missing values"):
        tree.codes(["doctor", None])


def test_one_value_still_has_a_root() -> None:
    tree = Hierarchy(["only"], [])
    assert tree.n_levels == 2
    assert tree.label(1) == "*"
    assert "1 values, 2 levels" in repr(tree)


@pytest.mark.parametrize(
    ("leaves", "levels", "complaint"),
    [
        ([], [], "at least one value"),
        (["a", "a"], [], "lists the value 'a' twice"),
        (["a", None], [], "missing value"),
        (["a", "b"], [["x"]], "1 labels for 2 values"),
        (["a", "b", "c"], [["x", "x", "y"], ["p", "q", "q"]], "not monotone: 'x' on level 1 lies below both"),
    ],
)
def test_what_is_no_hierarchy(leaves: list[str], levels: list[list[str]], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Hierarchy(leaves, levels)


def test_other_refusals() -> None:
    with pytest.raises(InputError, match="25 is not a multiple of 10"):
        Hierarchy.intervals([1, 2], widths=[10, 25])
    with pytest.raises(InputError, match="positive"):
        Hierarchy.intervals([1, 2], widths=[0])
    with pytest.raises(InputError, match="need numbers"):
        Hierarchy.intervals(["a"], widths=[1])
    with pytest.raises(InputError, match="infinity"):
        Hierarchy.intervals([1, np.inf], widths=[1])
    with pytest.raises(InputError, match="fanout=1"):
        Hierarchy.automatic([1, 2], fanout=1)
    with pytest.raises(InputError, match="empty cell in the line of 'b'"):
        Hierarchy.from_frame(pd.DataFrame({"v": ["a", "b"], "w": ["x", None]}))


def test_from_csv(tmp_path: Path) -> None:
    file = tmp_path / "jobs.csv"
    file.write_text("\ufeffnurse;health;*\ncook;kitchen;*\nnurse;health;*\n", encoding="utf-8")
    tree = Hierarchy.from_csv(file)
    assert tree.values.tolist() == ["nurse", "cook"]
    assert tree.n_levels == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty"),
        ("a;x\nb\n", "Line 2 of the hierarchy .* has 1 cells but line 1 has 2"),
        ("a,x,*\nb,y,*\n", r"values without labels, 'a,x,\*' first: .* separated by ';'"),
        ("a;x;*\na;y;*\n", "In the hierarchy .* lists the value 'a' twice"),
    ],
)
def test_bad_csv(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=complaint):
        Hierarchy.from_csv(file)
    with pytest.raises(InputError, match="Cannot read the hierarchy"):
        Hierarchy.from_csv(tmp_path / "absent.csv")


def test_arx_hierarchies_of_adult() -> None:
    folder = Path(os.environ.get("OPTMODELS_DATA", "")) / "adult_hierarchies"
    if not folder.is_dir():
        pytest.skip("OPTMODELS_DATA has no adult_hierarchies")
    trees = {file.stem: Hierarchy.from_csv(file) for file in folder.glob("*.csv")}
    assert {name: tree.n_levels for name, tree in trees.items()} == {
        "age": 5, "education": 4, "marital-status": 3, "native-country": 3, "occupation": 3,
        "race": 2, "salary-class": 2, "sex": 2, "workclass": 3,
    }  # fmt: skip
    assert trees["age"].generalise([17, 39], 2).tolist() == ["10-19", "30-39"]
