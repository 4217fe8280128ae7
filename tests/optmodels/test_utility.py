"""Utility: what released cells become, which rows are learned from and asked about, and what the scores say."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from optmodels.errors import InputError
from optmodels.metrics.utility import FeatureSpace, Protocol, available, utility, utility_of_frames, utility_of_method
from optmodels.metrics.utility.cells import covered, middle
from optmodels.metrics.utility.classifiers import pipeline
from optmodels.metrics.utility.scoring import METRICS, Answers, Rows, learn
from optmodels.metrics.utility.targets import Target, encoded_target
from optmodels.recoding import recode
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.values import in_value_order

LEVELS = ["a", "b-c", "d,e", "f"]


def people(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """Age decides illness almost alone, so that everybody can learn it."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    ill = np.where(age + rng.normal(0, 4, n) > 50, "yes", "no")
    return pd.DataFrame({"age": age, "job": rng.choice(LEVELS, n), "height": rng.normal(170, 9, n), "ill": ill})


def table_of(frame: pd.DataFrame) -> Table:
    quasi = {"age": "numeric", "job": "categorical"}
    return Table(frame, quasi=quasi, target="ill", others="keep")


@st.composite
def partitioned(draw: st.DrawFn) -> tuple[Table, np.ndarray]:
    n = draw(st.integers(2, 12))
    number = st.one_of(st.integers(-50, 50), st.floats(-9, 9, allow_nan=False).map(lambda x: round(x, 3)))
    values = draw(st.lists(number, min_size=n, max_size=n))
    frame = pd.DataFrame(
        {
            "x": pd.Series(values, dtype=float if any(isinstance(v, float) for v in values) else int),
            "job": draw(st.lists(st.sampled_from(LEVELS), min_size=n, max_size=n)),
            "size": draw(st.lists(st.sampled_from(["S", "M", "L-XL"]), min_size=n, max_size=n)),
        }
    )
    kinds = {"x": "numeric", "job": "categorical", "size": "ordinal"}
    table = Table(frame, quasi=kinds, orders={"size": ["S", "M", "L-XL"]})
    return table, np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))


@settings(deadline=None, max_examples=60)
@given(partitioned())
def test_intervals_and_sets_lie_in_the_middle_of_what_they_cover(drawn: tuple[Table, np.ndarray]) -> None:
    table, labels = drawn
    space = FeatureSpace.of_table(table)
    before, after = space.encode(table.frame), space.encode(recode(table, labels, "interval"))
    for label in np.unique(labels):
        rows = labels == label
        one = after[rows][0]
        assert (after[rows] == one).all()
        numbers, levels, sizes = before[rows, 0], before[rows, 1:-1], before[rows, -1]
        assert one[0] == pytest.approx((numbers.min() + numbers.max()) / 2)
        covered = levels.max(axis=0)
        assert one[1:-1] == pytest.approx(covered / covered.sum())
        assert one[-1] == pytest.approx((sizes.min() + sizes.max()) / 2)


def test_hierarchy_nodes_cover_their_leaves() -> None:
    jobs = Hierarchy(["cook", "nurse", "doctor"], [["kitchen", "health", "health"]])
    ages = Hierarchy.intervals([20, 22, 27, 41], widths=[10])
    original = pd.DataFrame({"age": [20, 22, 27, 41], "job": ["cook", "nurse", "doctor", "cook"]})
    space = FeatureSpace.of_frame(original, hierarchies={"job": jobs, "age": ages})
    released = pd.DataFrame({"age": ["[20, 30)", "*"], "job": ["health", "*"]})
    assert space.encode(released) == pytest.approx(
        np.array([[23, 0, 0.5, 0.5], [np.mean([20, 22, 27, 41]), 1 / 3, 1 / 3, 1 / 3]])
    )


def test_a_value_nobody_knows_is_named() -> None:
    space = FeatureSpace.of_frame(pd.DataFrame({"job": ["cook"], "age": [3]}))
    with pytest.raises(InputError, match=r"'job'.*'kitchen'.*hierarchy"):
        space.encode(pd.DataFrame({"job": ["kitchen"], "age": [3]}))
    with pytest.raises(InputError, match=r"'age'.*'old'"):
        space.encode(pd.DataFrame({"job": ["cook"], "age": ["old"]}))
    with pytest.raises(InputError, match=r"'age'.*lacks"):
        space.encode(pd.DataFrame({"job": ["cook"]}))


def test_thousands_are_numbers_and_not_intervals() -> None:
    original = pd.DataFrame({"income": [900, 1234, 2500000]})
    space = FeatureSpace.of_frame(original)
    printed = pd.DataFrame({"income": [f"{number:,}" for number in original["income"]]})
    assert printed["income"].tolist() == ["900", "1,234", "2,500,000"]
    assert (space.encode(printed) == space.encode(original)).all()
    assert space.encode(pd.DataFrame({"income": ["[1,234]", "1,234.5"]})).ravel().tolist() == [117.5, 1234.5]


@pytest.mark.parametrize(
    "text",
    ["9,999", "20,30", "12,5", "1,2345", "-1,000", "20-30]", "[20-30", "inf", "-inf", "1e400", "nan", "[1-1e400]"],
)
def test_what_is_no_number_of_a_column_is_named(text: str) -> None:
    space = FeatureSpace.of_frame(pd.DataFrame({"age": [20, 1500]}))
    with pytest.raises(InputError, match=r"'age' of the release has the value .* finite number") as caught:
        space.encode(pd.DataFrame({"age": ["20", text]}))
    assert ("in brackets only" in str(caught.value)) == ("," in text)


def test_infinite_numbers_are_refused_in_release_and_original() -> None:
    space = FeatureSpace.of_frame(pd.DataFrame({"age": [20.0, 1500.0]}))
    with pytest.raises(InputError, match=r"'age' of the release has the value '-inf'"):
        space.encode(pd.DataFrame({"age": [20.0, -np.inf]}))
    with pytest.raises(InputError, match=r"'age' of the original has an infinite value"):
        FeatureSpace.of_frame(pd.DataFrame({"age": [20.0, np.inf]}))


def test_a_numeric_hierarchy_has_numbers_or_intervals_below_its_nodes() -> None:
    ages = Hierarchy(["20", "[30-40]", "old"], [["young", "young", "other"]])
    space = FeatureSpace.of_frame(pd.DataFrame({"age": [20, 40, 80]}), hierarchies={"age": ages})
    assert space.encode(pd.DataFrame({"age": ["young"]})).tolist() == [[27.5]]
    with pytest.raises(InputError, match="'age' is numeric, and its hierarchy has 'old' below 'other'"):
        space.encode(pd.DataFrame({"age": ["other"]}))


def test_suppressed_rows_and_absent_columns_are_told() -> None:
    original = people(60)
    release = original.drop(columns="height").astype(object)
    release.loc[:9, ["age", "job", "ill"]] = "*"
    release.loc[10:14, "ill"] = None
    release.loc[15:19, ["age", "job"]] = "*"
    how = Protocol(("nb",), ("accuracy",), tested_on="release", splits=2, jobs=1)
    found = utility_of_frames(original, release, how, target="ill")
    assert found.notes == (
        "Not learned from, because release lacks them: height.",
        "15 of 60 rows of 'release' are left out: their 'ill' is suppressed or missing, so there is nothing to learn "
        "from them.",
    )
    assert found.mean("accuracy") > 0.6
    with pytest.raises(InputError, match="in every row"):
        utility_of_frames(original, release.assign(ill="*"), how, target="ill")


def test_a_release_may_lack_a_level_of_the_target() -> None:
    original = pd.DataFrame({"x": range(60), "kind": ["a", "b", "c"] * 20})
    release = original[original["kind"] != "a"]
    how = Protocol(("nb",), ("recall_macro", "mcc"), splits=2, jobs=1)
    found = utility_of_frames(original, release, how, target="kind")
    assert found.mean("recall_macro") <= 2 / 3


def test_a_release_of_one_level_ranks_nobody() -> None:
    """Whoever knows one level says it always: no better than a coin, and that counts instead of vanishing."""
    original = people(80)
    how = Protocol(("dt", "lr"), ("auc", "accuracy"), splits=3, jobs=1)
    found = utility_of_frames(original, original[original["ill"] == "no"], how, target="ill")
    rows = found.summary[(found.summary["version"] == "release") & (found.summary["metric"] == "auc")]
    assert rows["mean"].tolist() == [0.5, 0.5]
    assert rows["trials"].tolist() == [3, 3]
    assert (rows["retention"] < 70).all()


def test_auc_where_rows_asked_about_lack_a_level() -> None:
    sure = np.array([[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.4, 0.3, 0.3], [0.1, 0.6, 0.3]])
    of_two = Answers(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), sure, levels=3, positive=1)
    # level 0 ranks 3 of 4 pairs right, so does level 1; nobody has level 2
    assert of_two.auc() == 0.75
    assert np.isnan(Answers(np.zeros(4, int), np.zeros(4, int), sure, levels=3, positive=1).auc())


def test_cells_at_the_edges_of_a_column() -> None:
    assert middle("<10", 20, 99) == 10  # below all that is known: its bound is what is known of it
    assert middle(">120", 20, 99) == 120
    assert middle("<30", 20, 99) == 25
    assert middle("{10<0>20}", 0, 99) == 15
    order = {"low": 0, "mid": 1, "high": 2, "hi": 3}
    assert covered("[high-low]", order) is None
    assert covered("{low, high}", order) == [0, 2]
    assert covered("h*", order) == [3]  # each star hides one letter
    assert covered("h***", order) == [2]
    assert covered("h**", order) is None


def test_levels_in_their_order_and_gaps() -> None:
    sizes = pd.Series(pd.Categorical(["S", "L", "M"], ["S", "M", "L"], ordered=True))
    space = FeatureSpace.of_frame(pd.DataFrame({"size": sizes, "mixed": [2, "a", 1], "age": [20, 30, 40]}))
    assert [feature.kind for feature in space.features] == ["ordinal", "categorical", "numeric"]
    assert space.features[1].levels == ("1", "2", "a")
    assert space.encode(pd.DataFrame({"size": ["L", "*"], "mixed": ["a", "1"], "age": [30, 20]})).tolist() == [
        [2, 0, 0, 1, 30],
        [1, 1, 0, 0, 20],
    ]
    gaps = space.encode(pd.DataFrame({"size": ["L", None], "mixed": [None, "a"], "age": ["*", None]}))
    assert np.isnan(gaps).tolist() == [[False, True, True, True, False], [True, False, False, False, True]]
    assert gaps[0, -1] == 30  # the middle of 20 to 40


def test_too_many_levels_are_named() -> None:
    many = pd.DataFrame({"name": [f"person {number}" for number in range(1001)]})
    with pytest.raises(InputError, match=r"'name' has 1,001 values.*'codes'"):
        FeatureSpace.of_frame(many)
    assert FeatureSpace.of_frame(many, categories="codes").encode(many).shape == (1001, 1)


def test_a_node_is_the_mean_of_what_occurs_below_it() -> None:
    ages = Hierarchy(["20", "30", "90"], [["young", "young", "young"]])
    space = FeatureSpace.of_frame(pd.DataFrame({"age": [20, 40]}), hierarchies={"age": ages})
    assert space.encode(pd.DataFrame({"age": ["young"]})).tolist() == [[25.0]]


def test_averages_over_levels_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(5)
    truth, guess = rng.choice(3, 90, p=[0.6, 0.3, 0.1]), rng.choice(3, 90, p=[0.5, 0.2, 0.3])
    answers = Answers(truth, guess, None, levels=3, positive=1)
    for average in ("macro", "weighted"):
        assert METRICS[f"f1_{average}"](answers) == sklearn.metrics.f1_score(truth, guess, average=average)
    assert METRICS["recall_macro"](answers) == sklearn.metrics.recall_score(truth, guess, average="macro")
    for name, score in (("recall", sklearn.metrics.recall_score), ("precision", sklearn.metrics.precision_score)):
        assert METRICS[name](answers) == score(truth, guess, average="macro")


def test_the_positive_level_is_the_one_ranked() -> None:
    truth = np.array([0, 0, 1, 1])
    sure = np.array([[0.9, 0.3], [0.2, 0.1], [0.4, 0.2], [0.3, 0.4]])  # margins need not sum to one
    assert Answers(truth, truth, sure, levels=2, positive=1).auc() == 0.75
    assert Answers(truth, truth, sure, levels=2, positive=0).auc() == 0.5


@pytest.mark.parametrize("positive", [0, 1])
def test_margins_rank_as_confidence_does(positive: int) -> None:
    target = np.array([0, 1] * 30)
    rows = Rows(target[:, None] + np.random.default_rng(0).normal(0, 0.3, (60, 1)), target)
    found = learn("svm-large", rows, rows, metrics=["auc", "accuracy"], levels=2, positive=positive)
    assert found.scores["auc"] > 0.9
    assert found.train_accuracy == found.scores["accuracy"] > 0.9


def test_seed_and_scale_reach_the_classifier() -> None:
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(120, 4)) * [1, 1, 1, 1000], rng.integers(0, 2, 120))
    known, asked = rows.take(np.arange(80)), rows.take(np.arange(80, 120))
    forests = [learn("ert", known, asked, metrics=["auc"], levels=2, seed=seed).scores for seed in (1, 1, 2)]
    assert forests[0] == forests[1] != forests[2]
    near = [learn("knn", known, asked, metrics=["auc"], levels=2, scale=scale).scores for scale in (True, False)]
    assert near[0] != near[1]


def test_the_rarer_level_counts_as_found() -> None:
    def target_of_levels(levels: list[object], positive: object = None) -> Target:
        return encoded_target(pd.DataFrame({"ill": levels}), "ill", Protocol(positive=positive))[0]

    assert target_of_levels(["no", "yes", "no"]) == Target("ill", ("no", "yes"), 1)
    assert target_of_levels(["no", "yes", "yes"]).positive == 0
    assert target_of_levels(["no", "yes"]).positive == 1  # of two as rare, the later one
    assert target_of_levels(["no", "yes", "yes"], positive="yes").positive == 1
    assert target_of_levels([10, 9, 9]) == Target("ill", ("9", "10"), 1)


def test_folds_need_a_row_of_each_level_each() -> None:
    with pytest.raises(InputError, match="The level 'rare' of the target has 3 rows only"):
        list(Protocol(folds=4).rows(np.array([0] * 20 + [1] * 3), ("often", "rare")))


def test_codes_put_a_set_in_the_middle_of_its_levels() -> None:
    space = FeatureSpace.of_frame(pd.DataFrame({"job": ["a", "b", "c"]}), categories="codes")
    assert space.encode(pd.DataFrame({"job": ["c", "{a,c}"]})).ravel().tolist() == [2.0, 1.0]


def test_metrics_by_hand() -> None:
    # 3 found of 4 positives, 1 false alarm among 6 negatives
    truth = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    guess = np.array([1, 1, 1, 0, 1, 0, 0, 0, 0, 0])
    sure = np.column_stack([1 - guess, guess]).astype(float)
    answers = Answers(truth, guess, sure, levels=2, positive=1)
    assert answers.recall() == 0.75
    assert answers.precision() == 0.75
    assert answers.f1() == 0.75
    assert answers.accuracy() == 0.8
    assert answers.mcc() == pytest.approx((3 * 5 - 1 * 1) / np.sqrt(4 * 4 * 6 * 6))
    assert answers.auc() == pytest.approx((0.75 + 5 / 6) / 2)
    assert Answers(truth, guess, None, levels=2, positive=0).recall() == pytest.approx(5 / 6)


@pytest.mark.parametrize("name", available())
def test_every_classifier_learns(name: str) -> None:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(150, 3))
    features[::10, 1] = np.nan
    rows = Rows(features, (features[:, 0] > 0).astype(np.int64) * 2)  # level 1 is known but does not occur
    found = learn(name, rows.take(np.arange(100)), rows.take(np.arange(100, 150)), metrics=["accuracy"], levels=3)
    assert found.scores["accuracy"] > 0.75
    if found.importances is not None:
        assert found.importances.sum() == pytest.approx(1)
        assert found.importances.argmax() == 0


@pytest.mark.parametrize("name", ["nb", "knn", "svm", "svm-large"])
def test_metrics_of_three_levels_are_those_of_scikit_learn(name: str) -> None:
    rng = np.random.default_rng(2)
    target = rng.integers(0, 3, 240)
    rows = Rows(rng.normal(size=(240, 3)) + np.eye(3)[target], target)
    known, asked = rows.take(np.arange(160)), rows.take(np.arange(160, 240))
    metrics = ["auc", "mcc", "f1", "recall"]
    found = learn(name, known, asked, metrics=metrics, levels=3).scores
    model = pipeline(name, 0).fit(known.features, known.target)
    guess = model.predict(asked.features)
    assert found["mcc"] == pytest.approx(sklearn.metrics.matthews_corrcoef(asked.target, guess))
    assert found["f1"] == pytest.approx(sklearn.metrics.f1_score(asked.target, guess, average="macro"))
    assert found["recall"] == pytest.approx(sklearn.metrics.balanced_accuracy_score(asked.target, guess))
    if hasattr(model, "predict_proba"):
        sure = model.predict_proba(asked.features)
        assert found["auc"] == pytest.approx(sklearn.metrics.roc_auc_score(asked.target, sure, multi_class="ovr"))
    assert 0.6 < found["auc"] < 1.0


def test_nothing_lost_is_everything_kept() -> None:
    table = table_of(people())
    how = Protocol(("dt", "lr"), ("f1", "accuracy", "auc"), splits=3, jobs=1)
    found = utility(table, np.arange(table.n), how)
    assert found.summary["retention"].to_numpy() == pytest.approx(100)
    assert found.shifts["shift"].to_numpy() == pytest.approx(0)
    assert (found.summary.loc[found.summary["version"] == "release", "p"] > 0.5).all()


def test_everything_lost_is_noticed() -> None:
    table = table_of(people(200))
    how = Protocol(("lr",), ("accuracy", "mcc"), splits=8, jobs=1)
    found = utility(table, {"fine": table.frame["age"] // 5, "none": np.zeros(table.n, int)}, how, features=["age"])
    by = found.summary.set_index(["version", "metric"])
    assert by.loc[("fine", "accuracy"), "retention"] > 90
    assert by.loc[("none", "mcc"), "mean"] == 0
    assert by.loc[("none", "accuracy"), "p"] < 0.01


def test_who_is_asked_about_was_not_learned_from() -> None:
    """Illness by chance and a feature that tells everyone apart: only those who were learned from can be told."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(20, 80, 300), "unique": rng.permutation(300) / 1.0})
    frame["ill"] = rng.integers(0, 2, 300)
    table = Table(frame, quasi={"age": "numeric"}, target="ill", others="keep")
    labels = frame["age"] // 20
    how = Protocol(("dt",), ("accuracy",), splits=5, jobs=1)
    assert utility(table, labels, how).mean("accuracy") < 0.65
    released = in_value_order(recode(table, labels))
    honest = Protocol(("dt",), ("accuracy",), tested_on="release", splits=5, jobs=1)
    assert utility_of_frames(frame, released, honest, target="ill").mean("accuracy") < 0.65
    leaking = utility_of_frames(frame, released, how, target="ill")
    assert leaking.mean("accuracy") > 0.7
    assert "also learned from" in leaking.notes[0]
    held_out = utility_of_frames(frame[:200], released, how, target="ill", held_out=frame[200:].assign(unique=-1.0))
    assert held_out.mean("accuracy") < 0.65
    assert held_out.notes == ()


def test_linked_frames_are_the_table() -> None:
    frame = people()
    table = table_of(frame)
    labels = frame["age"].to_numpy() // 10
    how = Protocol(("dt",), ("accuracy",), splits=3, jobs=1)
    by_frames = utility_of_frames(frame, recode(table, labels), how, target="ill", linked=True)
    pd.testing.assert_frame_equal(by_frames.scores, utility(table, labels, how).scores)
    with pytest.raises(InputError, match="same order"):
        utility_of_frames(frame, recode(table, labels).iloc[::-1], how, target="ill", linked=True)


def _decades(part: Table, seed: int) -> pd.DataFrame:
    return in_value_order(recode(part, part.frame["age"].to_numpy() // 10, "interval"))


def test_a_method_sees_the_rows_to_learn_from_only() -> None:
    table = table_of(people())
    seen = []

    def method(part: Table, seed: int) -> pd.DataFrame:
        seen.append(len(part))
        return _decades(part, seed)

    found = utility_of_method(table, method, Protocol(("lr",), ("accuracy",), splits=3, jobs=1))
    assert seen == [84, 84, 84]
    assert found.mean("accuracy") > 0.75


def test_jobs_do_not_matter() -> None:
    table = table_of(people())
    alone, together = (Protocol(("rf",), ("accuracy",), splits=2, seed=5, jobs=jobs) for jobs in (1, 2))
    first = utility(table, table.frame["age"] // 10, alone).scores
    second = utility(table, table.frame["age"] // 10, together).scores
    pd.testing.assert_frame_equal(first, second)
    other = utility(table, table.frame["age"] // 10, Protocol(("rf",), ("accuracy",), splits=2, seed=6, jobs=1)).scores
    assert not first.equals(other)


def test_folds_ask_about_everyone_once() -> None:
    target = np.array([0, 1] * 20)
    how = Protocol(folds=4, splits=2)
    splits = list(how.rows(target))
    assert len(splits) == how.trials == 8
    asked = np.concatenate([asked for _, asked in splits[:4]])
    assert sorted(asked.tolist()) == list(range(40))


def test_the_overfit_screen() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(20, 80, 150), "noise": rng.normal(size=150)})
    frame["ill"] = rng.integers(0, 2, 150)
    table = Table(frame, quasi={"age": "numeric"}, target="ill", others="keep")
    found = utility(table, frame["age"] // 10, Protocol(("dt", "nb"), ("recall",), splits=4, jobs=1))
    assert found.screened() == ("nb",)


def test_results_are_frames_figures_and_json() -> None:
    table = om.dataset("german")
    found = utility(table, table.frame["age"] // 10, Protocol(("dt",), ("f1", "auc"), splits=2, jobs=1))
    assert {trace.name for trace in found.figure().data} == {"original", "release"}
    document = found.to_dict()
    assert document["positive"] == "2"  # the rarer of the two: bad credit
    assert len(document["summary"]) == 4
    assert abs(sum(row["original"] for row in document["importance"]) - 1) < 1e-9


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"classifiers": ("forest",)}, "no classifier 'forest'"),
        ({"classifiers": ()}, "at least one classifier"),
        ({"metrics": ("f1", "f1")}, "twice"),
        ({"splits": 0}, "splits"),
        ({"test_share": 1.0}, "test_share"),
        ({"folds": 1}, "folds"),
        ({"tested_on": "releases"}, "Did you mean 'release'"),
    ],
)
def test_wrong_protocols(change: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Protocol(**change)


def test_wrong_targets() -> None:
    frame = people()
    with pytest.raises(InputError, match="needs a column"):
        utility(Table(frame[["age"]], quasi={"age": "numeric"}), np.zeros(120, int))
    with pytest.raises(InputError, match="quasi-identifier"):
        utility(table_of(frame), np.zeros(120, int), target="age")
    with pytest.raises(InputError, match="one value only"):
        utility_of_frames(frame.assign(ill="no"), frame, target="ill")
    with pytest.raises(InputError, match="The level 'once' of the target has 1 row only"):
        utility_of_frames(frame.assign(ill=["once", *frame["ill"][1:]]), frame, target="ill")
    with pytest.raises(InputError, match=r"no column 'il' to be predicted\. Did you mean 'ill'"):
        utility_of_frames(frame, frame, target="il")
    with pytest.raises(InputError, match="no column 'illness'"):
        utility_of_frames(frame, frame, target="illness")
    with pytest.raises(InputError, match="few levels"):
        utility_of_frames(frame, frame, target="height")
    with pytest.raises(InputError, match=r"level of the target 'ill'.*'perhaps'"):
        utility(table_of(frame), np.zeros(120, int), Protocol(positive="perhaps"))
