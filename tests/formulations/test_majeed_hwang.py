"""Usefulness, uncertainty, levels and what is released by them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MajeedHwang
from formulations.majeed_hwang import MajeedHwangProblem
from formulations.majeed_hwang.forest import permutation_ratios, usefulness
from optmodels import Hierarchy, Table
from optmodels.datasets import ADULT_COLUMNS
from optmodels.errors import InputError, RefusedError
from optmodels.partition import canonical, group_frame
from optmodels.testing import small_table

JOBS = Hierarchy(["nurse", "doctor", "cook", "waiter"], [["health", "health", "kitchen", "kitchen"]])
AGES = Hierarchy.intervals([20, 23, 31, 35, 38, 47], widths=[5, 10, 20])


def people(salaries: str = "hlhhhh") -> Table:
    """Six people in the manner of the paper's figure 5: a class of mixed salaries, and one of equal ones."""
    frame = pd.DataFrame(
        {
            "age": [20, 23, 20, 31, 38, 35],
            "job": ["nurse", "nurse", "doctor", "cook", "waiter", "cook"],
            "salary": list(salaries),
        }
    )
    quasi = {"age": "numeric", "job": "categorical"}
    return Table(frame, quasi=quasi, sensitive="salary", hierarchies={"age": AGES, "job": JOBS})


CLASSES = np.array([0, 0, 0, 1, 1, 1])
WEIGHTS = {"age": 20.0, "job": 80.0}


def problem(**parameters: object) -> MajeedHwangProblem:
    return MajeedHwang(**({"k": 3, "weights": WEIGHTS} | parameters)).build(people())  # type: ignore[arg-type]


def test_uncertainty_is_the_entropy_of_the_papers_figure_5() -> None:
    assert problem().uncertainties(CLASSES) == pytest.approx([0.9183, 0.0], abs=5e-5)


def test_a_certain_class_goes_up_and_a_useful_attribute_stays_lower() -> None:
    # age has levels 0 to 4 and is less useful: 2 of them low, 4 high; jobs have 0 to 2: 0 low, 1 high
    assert problem().levels(CLASSES).tolist() == [[2, 1], [4, 1]]  # the first class needs level 1 of the jobs
    assert problem(weights={"age": 80, "job": 20}).levels(CLASSES).tolist() == [[1, 1], [2, 2]]
    assert problem(levels="least").levels(CLASSES).tolist() == [[1, 1], [2, 1]]


def test_distortion_is_equation_18() -> None:
    by_hand = 3 * (20 * 2 / 4 + 80 * 1 / 2) + 3 * (20 * 4 / 4 + 80 * 1 / 2)
    assert problem().evaluate(CLASSES).values["distortion"] == pytest.approx(by_hand)


@pytest.mark.parametrize(("threshold", "low"), [(0.0, [True, False]), (0.9, [True, False]), (0.92, [False, False])])
def test_thresholds_are_in_bits_and_a_class_at_the_threshold_goes_up(threshold: float, low: list[bool]) -> None:
    assert (problem(threshold=threshold).levels(CLASSES)[:, 0] == 2).tolist() == low
    exact = float(problem().uncertainties(CLASSES)[0])
    assert problem(threshold=exact).levels(CLASSES).tolist() == [[4, 1], [4, 1]]


def test_classes_that_are_released_alike_are_one() -> None:
    table = Table(
        pd.DataFrame({"job": ["nurse", "nurse", "doctor", "doctor"], "salary": list("hhll")}),
        quasi={"job": "categorical"},
        sensitive="salary",
        hierarchies={"job": JOBS},
    )
    certain = MajeedHwang(k=2).build(table)
    assert certain.evaluate([0, 0, 1, 1]).values == {"distortion": 200.0, "disclosure": 0.5}  # both are 'health'
    assert certain.release([0, 0, 1, 1]).audit.k == 4
    apart = MajeedHwang(k=2, levels="least").build(table)
    assert apart.evaluate([0, 0, 1, 1]).values == {"distortion": 0.0, "disclosure": 1.0}


def test_the_best_threshold_is_the_smallest_that_discloses_little_enough() -> None:
    # four classes of two: uncertain, certain of h (twice, nurses and doctors), certain of l
    frame = pd.DataFrame({"job": list("nnnnddddcccc"), "salary": list("hlhhhhhhllll")}).replace(
        {"job": {"n": "nurse", "d": "doctor", "c": "cook"}}
    )
    table = Table(frame, quasi={"job": "categorical"}, sensitive="salary", hierarchies={"job": JOBS})
    labels = np.repeat(np.arange(6), 2)
    by_hand = {
        cap: MajeedHwang(k=2, threshold=None, most_disclosure=cap).build(table).threshold(labels)
        for cap in (1.0, 0.91, 0.6)
    }
    assert by_hand[1.0] == -1.0  # nobody has to go up
    asked = MajeedHwang(k=2, threshold=None, most_disclosure=0.6).build(table)
    tried = [MajeedHwang(k=2, threshold=t).build(table).evaluate(labels).values for t in (0.0, 1.0)]
    assert asked.evaluate(labels).values["disclosure"] == min(found["disclosure"] for found in tried)
    assert asked.evaluate(labels).violations["disclosure"] == 1  # not even then


def released_levels(problem: MajeedHwangProblem, frame: pd.DataFrame) -> float:
    """The distortion as whoever has the release and the hierarchies finds it: lowest level with this label."""
    total = 0.0
    for name, costs in zip(problem.table.quasi, problem.level_costs(), strict=True):
        hierarchy = problem.table.hierarchies[name]
        lowest = {str(label): 0 for label in hierarchy.labels[: len(hierarchy.values)]}
        for label, level in zip(hierarchy.labels, hierarchy.node_levels, strict=True):
            lowest.setdefault(str(label), int(level))
        total += sum(costs[lowest[str(value)]] for value in frame[name])
    return total


SEEDS = st.integers(0, 2**32 - 1)


def table_and_weights(
    draw: np.random.Generator, seed: int, *, fewer_than: int, values: int
) -> tuple[Table, dict[str, float]]:
    """A table with attributes of any kind, sensitive ones of so many values at least, and a weight for each."""
    table = small_table(
        int(draw.integers(4, fewer_than)),
        seed=seed,
        numeric=int(draw.integers(0, 3)),
        categorical=int(draw.integers(1, 3)),
        sensitive=int(draw.integers(1, 3)),
        values=int(draw.integers(values, 4)),
        repeated=bool(draw.integers(2)),
    )
    return table, dict(zip(table.quasi, draw.dirichlet(np.ones(len(table.quasi))).tolist(), strict=True))


def drawn(seed: int) -> tuple[MajeedHwangProblem, np.ndarray]:
    draw = np.random.default_rng(seed)
    table, weights = table_and_weights(draw, seed, fewer_than=30, values=1)
    k = int(draw.integers(2, 4))
    rule = (
        {"threshold": float(draw.uniform(0, 1.5))},
        {"levels": "least"},
        {"threshold": None, "most_disclosure": 0.7},
    )
    model = MajeedHwang(k=k, weights=weights, **rule[draw.integers(3)])
    n_classes = max(1, table.n // k)
    return model.build(table), draw.permutation(np.minimum(np.arange(table.n) // k, n_classes - 1))


@settings(max_examples=60)
@given(SEEDS)
def test_releases_keep_k_are_equal_in_classes_and_tell_what_the_judge_says(seed: int) -> None:
    problem, labels = drawn(seed)
    found = problem.evaluate(labels)
    release = problem.release(labels)
    classes = canonical(labels)
    levels = problem.levels(classes)
    assert release.audit.k >= problem.conditions.k
    assert 0 < found.values["disclosure"] <= 1
    assert 0 <= found.values["distortion"] <= 100 * problem.n * (1 + 1e-12)
    assert release.loss["disclosure"] == found.values["disclosure"]
    # the disclosure again, from the released table alone
    alike = group_frame(release.frame, problem.table.quasi)
    largest = [
        max(group[name].value_counts().max() for name in problem.table.sensitive)
        for _, group in release.frame.groupby(alike)
    ]
    assert found.values["disclosure"] == pytest.approx(sum(largest) / problem.n)
    if problem.least_levels:
        assert released_levels(problem, release.frame) == pytest.approx(found.values["distortion"])
    else:  # a label may stand on several levels, of which the release shows the lowest
        assert released_levels(problem, release.frame) <= found.values["distortion"] * (1 + 1e-9) + 1e-9
    assert (levels >= problem._common_levels(classes)).all()


@settings(max_examples=20)
@given(SEEDS)
def test_distortion_never_falls_as_the_threshold_rises(seed: int) -> None:
    problem, labels = drawn(seed)
    weights = problem.usefulness
    found = [
        MajeedHwang(k=2, threshold=bits, weights=weights).build(problem.table).values(canonical(labels))["distortion"]
        for bits in (0.0, 0.5, 1.0, 2.0)
    ]
    assert found == sorted(found)


def test_weights_sum_to_100_and_order_by_what_a_shuffle_hurts() -> None:
    draw = np.random.default_rng(1)
    telling, other = draw.integers(0, 4, 600), draw.integers(0, 4, 600)
    frame = pd.DataFrame({"telling": telling, "other": other, "flag": (telling > 1) ^ (draw.random(600) < 0.1)})
    table = Table(frame, quasi={"telling": "numeric", "other": "numeric"}, sensitive="flag")
    weights = usefulness(table, trees=30, seed=0)
    assert weights.sum() == pytest.approx(100)
    assert weights[1] > weights[0] > 0, "who may be shuffled without harm is the more useful"
    assert (usefulness(table, trees=30, seed=0) == weights).all(), "one seed, one forest"


@pytest.mark.parametrize(("scale", "offset"), [(1e60, 0.0), (1.0, 1.7e9), (1e-60, 0.0)])
def test_usefulness_does_not_depend_on_the_unit_of_numbers(scale: float, offset: float) -> None:
    """Seconds since 1970 are all one number in single precision, and 1e60 is none."""
    draw = np.random.default_rng(1)
    telling, other = draw.integers(0, 4, 300), draw.integers(0, 4, 300)
    flag = (telling > 1) ^ (draw.random(300) < 0.1)

    def weights(telling: np.ndarray) -> list[float]:
        frame = pd.DataFrame({"telling": telling, "other": other, "flag": flag})
        table = Table(frame, quasi={"telling": "numeric", "other": "numeric"}, sensitive="flag")
        return usefulness(table, trees=10, seed=0).tolist()

    assert weights(offset + scale * telling) == weights(telling)


def test_trees_try_a_few_features_at_each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of a random forest do: of nine features that tell the same, every one is used by some."""
    from sklearn.tree import DecisionTreeClassifier

    used: list[int] = []
    known = DecisionTreeClassifier.fit

    def noted(tree: DecisionTreeClassifier, *data: np.ndarray, **weights: np.ndarray) -> DecisionTreeClassifier:
        known(tree, *data, **weights)
        used.append(int((tree.feature_importances_ > 0).sum()))
        return tree

    monkeypatch.setattr(DecisionTreeClassifier, "fit", noted)
    draw = np.random.default_rng(0)
    features = draw.normal(size=(60, 9)).astype(np.float32)
    permutation_ratios(features, (features[:, 0] > 0).astype(np.int32), 5, draw)
    assert len(used) == 5
    assert max(used) > 1, "a tree that tries them all needs the first alone"


@pytest.mark.filterwarnings("error")
def test_a_sensitive_number_of_many_values_is_learnt_in_bins() -> None:
    draw = np.random.default_rng(0)
    telling = draw.permutation(200)
    frame = pd.DataFrame({"telling": telling, "noise": draw.permutation(200), "pay": telling * 10.0})
    table = Table(frame, quasi={"telling": "numeric", "noise": "numeric"}, sensitive="pay")
    telling_weight, noise_weight = usefulness(table, trees=10, seed=0)
    assert telling_weight < noise_weight, "shuffling what tells the bin hurts, so it is the less useful one"


def test_a_sensitive_attribute_with_one_value_finds_all_equally_useful() -> None:
    ratios = permutation_ratios(
        np.arange(20.0, dtype=np.float32).reshape(10, 2), np.zeros(10, np.int32), 5, np.random.default_rng(0)
    )
    assert ratios.tolist() == [0.0, 0.0]
    table = Table(pd.DataFrame({"a": [1, 2, 3], "s": "x"}), quasi={"a": "numeric"}, sensitive="s")
    same = MajeedHwang(k=2, trees=3).build(table)
    assert same.usefulness == {"a": 100.0}
    assert same.evaluate([0, 0, 0]).values["disclosure"] == 1.0


def test_adult_order_is_country_race_gender_age() -> None:
    path = Path(os.environ.get("OPTMODELS_DATA", "")) / "adult.data"
    if not path.is_file():
        pytest.skip("OPTMODELS_DATA names no folder with adult.data")
    frame = pd.read_csv(path, names=ADULT_COLUMNS, skipinitialspace=True)
    quasi = {"age": "numeric", "race": "categorical", "sex": "categorical", "native_country": "categorical"}
    table = Table(frame, quasi=quasi, sensitive="salary", others="drop")
    weights = MajeedHwang(k=5, trees=40).build(table, seed=3).usefulness
    assert sorted(weights, key=lambda name: -weights[name]) == ["native_country", "race", "sex", "age"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"levels": "flexibel"}, "Did you mean 'flexible'"),
        ({"threshold": -0.1}, "threshold must not be negative"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
        ({"threshold": None}, "give most_disclosure"),
        ({"threshold": None, "most_disclosure": 0.9, "levels": "least"}, "threshold=None asks for"),
        ({"most_disclosure": -1}, "most_disclosure must not be negative"),
        ({"most_disclosure": 1.5}, "at most 1, not 1.5"),
        ({"trees": 1}, "trees must be a whole number of at least 2"),
        ({"weights": {"age": 1, "jbo": 1}}, "There is no quasi-identifier 'jbo'. Did you mean 'job'"),
        ({"weights": {"age": 1}}, "none for the quasi-identifier 'job'"),
        ({"weights": {"age": 0, "job": 0}}, "All weights are 0"),
        ({"weights": {"age": -1, "job": 2}}, "The weight of 'age' must not be negative"),
        ({"k": 7}, "k=7 is more than the table's 6 records"),
        ({"k": 1}, "a class of one is a person"),
    ],
)
def test_wrong_parameters_are_told(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        problem(**parameters)


def test_a_table_without_a_secret_is_refused() -> None:
    with pytest.raises(InputError, match="name at least one column as sensitive"):
        MajeedHwang(k=2).build(Table(pd.DataFrame({"a": [1, 2]}), quasi={"a": "numeric"}))


def test_a_disclosure_below_the_whole_tables_is_impossible() -> None:
    found = problem(most_disclosure=0.8)
    assert "still right for 0.833333 of all records" in str(found.impossible())
    assert problem(most_disclosure=0.84).impossible() is None


def test_other_recodings_still_work_and_missing_hierarchies_are_built() -> None:
    frame = people().frame
    plain = Table(frame, quasi={"age": "numeric", "job": "categorical"}, sensitive="salary")
    problem = MajeedHwang(k=3, weights=WEIGHTS).build(plain)
    assert set(problem.release(CLASSES).frame["job"]) == {"*"}
    assert set(problem.release(CLASSES, method="interval").frame["age"]) == {"[20-23]", "[31-38]"}
    assert problem.release(CLASSES).provenance["usefulness"] == WEIGHTS


def test_the_published_rule_has_no_pyomo_view() -> None:
    with pytest.raises(RefusedError, match="use levels='least'"):
        problem().to_pyomo()


def test_labels_on_two_levels_forbid_a_linear_disclosure() -> None:
    twice = Hierarchy(["nurse", "doctor", "cook"], [["staff", "staff", "cook"], ["all", "all", "all"]])
    astray = Hierarchy(["nurse", "doctor", "cook"], [["cook", "cook", "x"]])
    frame = pd.DataFrame({"job": ["nurse", "doctor", "cook"], "salary": list("hlh")})

    def lacks(hierarchy: Hierarchy) -> str | None:
        table = Table(frame, quasi={"job": "categorical"}, sensitive="salary", hierarchies={"job": hierarchy})
        return MajeedHwang(k=2, levels="least", most_disclosure=0.9).build(table).lacks_pyomo()

    assert lacks(twice) is None, "a cook alone on two levels is one and the same node"
    assert "one label" in str(lacks(astray))


def test_more_bits_than_there_are_numbers_for_are_impossible_and_no_error() -> None:
    assert problem(threshold=1e9, levels="least").impossible()
    assert problem(threshold=1e9).levels(CLASSES).tolist() == [[4, 1], [4, 1]]


def test_unordered_values_of_which_most_occur_once_are_learnt_in_silence(recwarn: pytest.WarningsRecorder) -> None:
    frame = pd.DataFrame({"age": range(40), "name": [f"n{i}" for i in range(40)]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="name")
    assert sum(MajeedHwang(k=2, trees=3).build(table).usefulness.values()) == pytest.approx(100)
    assert not recwarn.list


def test_a_forest_that_is_grown_again_on_shuffled_values_finds_what_tells() -> None:
    draw = np.random.default_rng(0)
    features = draw.integers(0, 5, (300, 3)).astype(np.float32)
    secret = (features[:, 0] > 2).astype(np.int32)
    for rebuilt in (False, True):
        ratios = permutation_ratios(features, secret, 8, np.random.default_rng(1), tried=3, rebuilt=rebuilt)
        assert ratios.argmin() == 0, "shuffling what tells hurts most"
    with pytest.raises(InputError, match="tried"):
        MajeedHwang(k=2, tried=0)
