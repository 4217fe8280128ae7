"""MASS: strata dealt in proportion, distances and losses as defined, candidates, recall, the answers of its solver."""

from __future__ import annotations

import numpy as np
import ot
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from formulations import Mass
from formulations.mass.candidate_builder import CandidateBuilder
from formulations.mass.dealing import deal
from formulations.mass.get_anonymized import GetAnonymized
from formulations.mass.optimizer import Optimizer
from formulations.mass.sensitive_mix import SensitiveMix
from formulations.mass.similar_order import similar_order
from optmodels import Table
from optmodels.datasets.synthetic import health_like
from optmodels.errors import InputError, RefusedError
from optmodels.metrics.loss import general_loss_metric
from optmodels.partition import class_sizes
from optmodels.recoding import recode
from optmodels.testing import check_formulation, check_solution, small_table
from solvers import pareto, solve
from solvers.mass import Mass as MassSolver

WITHOUT_RECALL = Mass(classifiers=())


@st.composite
def dealt(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int]:
    """Strata of very different sizes, the classes they were dealt to, and k."""
    n = draw(st.integers(1, 120))
    k = draw(st.integers(1, n))
    n_strata = draw(st.integers(1, min(n, 40)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chances = random.dirichlet(np.full(n_strata, draw(st.sampled_from([0.1, 1.0, 100.0]))))
    strata = np.unique(random.choice(n_strata, n, p=chances), return_inverse=True)[1]
    codes = random.integers(0, 3, (int(strata.max()) + 1, 2)) + np.array([0, 3])
    together = draw(st.booleans())  # strata far apart along the order are the hard case
    order = np.argsort(strata, kind="stable") if together else random.permutation(n)
    shares = np.bincount(codes[strata].ravel(), minlength=6) / n
    reach, floors = draw(st.sampled_from([0.5, 1.0, 2.0, 10.0])), draw(st.sampled_from(["near", "present", "full"]))
    return strata, deal(order, strata, codes, shares, k, reach, floors=floors).labels, k


@settings(max_examples=300, deadline=None)
@given(dealt())
def test_every_class_gets_its_share_of_every_stratum(found: tuple[np.ndarray, np.ndarray, int]) -> None:
    strata, labels, k = found
    e = len(strata) // k
    assert set(labels) == set(range(e))
    sizes = class_sizes(labels)
    assert sizes.min() >= k
    assert sizes.max() - sizes.min() <= 1
    counts = np.zeros((int(strata.max()) + 1, e), int)
    np.add.at(counts, (strata, labels), 1)
    exact = class_sizes(strata)[:, None] / e
    assert (counts >= np.floor(exact)).all()
    assert (counts <= np.ceil(exact)).all()


def test_a_stratum_is_dealt_in_its_own_order() -> None:
    """Contiguous: whoever comes first in the order is in no later class than whoever follows."""
    random = np.random.default_rng(3)
    strata, order = random.integers(0, 4, 200), random.permutation(200)
    codes = np.arange(4)[:, None]
    labels = deal(order, strata, codes, np.bincount(strata) / 200, 7, 2.0).labels
    for stratum in range(4):
        along = labels[order][strata[order] == stratum]
        assert (np.diff(along) >= 0).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_privacy_loss_is_the_mean_earth_movers_distance(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 30
    frame = pd.DataFrame(
        {
            "age": random.integers(20, 90, n),
            "illness": random.choice(list("abcd"), n),
            "bill": random.integers(0, 40, n),
            "grade": random.integers(1, 4, n),
        }
    )
    table = Table(frame, quasi={"age": "numeric"}, sensitive=["illness", "bill", "grade"])
    mix = SensitiveMix(table, bins=4)
    labels = np.unique(random.integers(0, 5, n), return_inverse=True)[1]
    distances, distinct = [], []
    for j, size in enumerate(mix.sizes):
        codes = mix.codes[:, j]
        for c in range(int(labels.max()) + 1):
            inside = codes[labels == c]
            distinct.append(len(set(inside.tolist())))
            if mix.names[j] == "illness":  # all values equally far apart
                p, q = (np.bincount(x, minlength=size) / len(x) for x in (inside, codes))
                distances.append(ot.emd2(p, q, 1.0 - np.eye(size)))
            else:
                distances.append(wasserstein_distance(inside, codes) / (size - 1))
    found = mix.of(labels)
    assert found.privacy_loss == pytest.approx(np.mean(distances), abs=1e-9)
    assert found.t == pytest.approx(np.max(distances), abs=1e-9)
    assert found.l == min(distinct)


def test_numbers_are_binned_and_what_is_released_is_not() -> None:
    table = health_like(400, l_v=7)
    raw = Table(
        table.frame.assign(total_bill=np.arange(400) * 10),
        quasi=table.kinds,
        sensitive=["diagnosis", "total_bill"],
        others="drop",
    )
    problem = Mass(k=5, bins=3, classifiers=()).build(raw)
    assert problem.anonymize.mix.sizes == [7, 3]
    assert problem.l_v == 7
    assert solve(problem).release().frame["total_bill"].nunique() == 400


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["auto", "snake", "hilbert", "cosine"]))
def test_loss_is_that_of_the_release_and_k_is_kept(seed: int, order: str) -> None:
    random = np.random.default_rng(seed)
    table = small_table(int(random.integers(6, 60)), seed=int(random.integers(1000)), sensitive=2)
    k = int(random.integers(2, table.n + 1))
    found = GetAnonymized(table, order=order)(k)
    assert class_sizes(found.labels).min() >= k
    assert sorted(similar_order(table, order)[1].tolist()) == list(range(table.n))
    released = recode(table, found.labels, "interval")
    cells = []
    for name in table.quasi:
        original = table.frame[name]
        for text in released[name].astype(str):
            if table.kinds[name] == "categorical":
                cells.append((len(text.strip("{}").split(",")) - 1) / max(original.nunique() - 1, 1))
            else:
                same = original[released[name].astype(str) == text]
                cells.append((same.max() - same.min()) / np.ptp(original))
    assert found.loss == pytest.approx(np.mean(cells))
    assert found.loss == general_loss_metric(table, found.labels)


def test_neighbours_in_line_lose_less_than_strangers() -> None:
    table = health_like(2000, l_v=7)
    losses = {}
    for order in ("snake", "hilbert", "cosine", "auto"):
        _, rows = similar_order(table, order)
        labels = np.empty(table.n, np.int64)
        labels[rows] = np.arange(table.n) // 5
        losses[order] = general_loss_metric(table, labels)
    strangers = general_loss_metric(table, np.random.default_rng(0).permutation(table.n) // 5)
    assert losses["auto"] == min(losses["snake"], losses["hilbert"])
    assert 3 * losses["auto"] < losses["cosine"] < strangers


@pytest.mark.parametrize("order", ["snake", "hilbert"])
@pytest.mark.parametrize("shape", [(16,), (8, 8), (4, 4, 4)])
def test_who_follows_in_line_lives_next_door(order: str, shape: tuple[int, ...]) -> None:
    """Through a full grid both orders go step by step, whatever order the records come in."""
    cells = np.random.default_rng(0).permutation(np.indices(shape).reshape(len(shape), -1).T)
    frame = pd.DataFrame(cells, columns=[f"q{j}" for j in range(len(shape))]).assign(ill="flu")
    table = Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="ill")
    steps = np.abs(np.diff(cells[similar_order(table, order)[1]], axis=0)).sum(axis=1)  # type: ignore[arg-type]
    assert (steps == 1).all()


def test_reach_trades_information_for_privacy() -> None:
    table = health_like(2000, l_v=7)
    near, far = (GetAnonymized(table, order="snake", reach=reach)(10) for reach in (1.0, 4.0))
    assert far.privacy_loss < near.privacy_loss
    assert near.loss < far.loss


@pytest.mark.parametrize(
    "formulation", [WITHOUT_RECALL, Mass(k=3, classifiers=("lr",)), Mass(k=2, classifiers=("nb", "dt"), splits=2)]
)
def test_contract(formulation: Mass) -> None:
    check_formulation(formulation, small_table(60, sensitive=2, values=2))


def test_candidates_follow_the_data() -> None:
    table = health_like(300, l_v=7)
    assert WITHOUT_RECALL.build(table).levels == range(2, 29)
    assert Mass(k=9, classifiers=()).build(table).levels == range(9, 29)
    assert Mass(k=50, classifiers=()).build(table).levels == range(50, 51)
    assert WITHOUT_RECALL.build(table.take(np.arange(10))).levels == range(2, 11)
    builder = CandidateBuilder(GetAnonymized(table), levels=[3, 8])
    assert [(c.k, class_sizes(c.labels).min() >= c.k) for c in builder] == [(3, True), (8, True)]


def test_no_candidate_claims_a_k_that_it_cannot_keep() -> None:
    anonymize = GetAnonymized(health_like(30, l_v=7))
    assert class_sizes(anonymize(30).labels).tolist() == [30]
    with pytest.raises(InputError, match="k=31 is more than the table's 30 records"):
        anonymize(31)
    with pytest.raises(InputError, match="k=31 is more than"):
        list(CandidateBuilder(anonymize, levels=[3, 31]))
    with pytest.raises(InputError, match="k must be a whole number of at least 1"):
        anonymize.dealt(0)
    assert list(WITHOUT_RECALL.build(health_like(30, l_v=7)).candidates([])) == []


def test_optimizer_takes_the_least_cost_per_recall() -> None:
    omega = [(k, {"privacy_loss": 1 / k, "loss": k / 20, "recall": r}) for k, r in ((2, 0.9), (4, 0.9), (9, 0.9))]
    assert Optimizer.best(omega) == 4
    assert Optimizer.score({"privacy_loss": 0.2, "loss": 0.1, "recall": 0.5}) == pytest.approx(0.6)
    assert Optimizer.score({"privacy_loss": 0.2, "loss": 0.1}) == pytest.approx(0.3)
    assert Optimizer.score({"privacy_loss": 0.2, "loss": 0.1, "recall": 0.0}) == np.inf


def test_one_k_is_answered_with_its_own_partition() -> None:
    problem = Mass(k=6, floors="full", classifiers=()).build(health_like(600, l_v=7))
    solution = solve(problem)
    check_solution(solution)
    assert solution.solver == "mass"
    assert solution.details["k"] == 6
    assert len(class_sizes(solution.labels)) == 100
    audit = solution.release().audit
    assert audit.k >= 6
    assert solution.values["l"] == min(levels.distinct_l for levels in audit.sensitive.values())
    assert solution.values["t"] == pytest.approx(max(levels.t_emd for levels in audit.sensitive.values()))


def test_without_k_the_best_of_all_is_taken_and_the_front_marks_it() -> None:
    problem = WITHOUT_RECALL.build(health_like(800, l_v=7))
    front, best = pareto(problem), solve(problem)
    tried = {one["k"]: one for one in front.details["candidates"]}
    assert list(tried) == list(range(2, 29))
    assert best.details["k"] == min(tried, key=lambda k: tried[k]["score"]) == front.details["optimum"]["k"]
    marked = front[front.details["optimum"]["point"]]
    assert marked.values == best.values
    assert marked.details["k"] == best.details["k"]
    assert 2 < best.details["k"] < 28  # as in the paper the optimum is interior
    losses = np.array([[one["privacy_loss"], one["loss"]] for one in tried.values()])
    assert losses[0, 0] > 3 * losses[-1, 0]  # privacy loss falls with k,
    assert losses[-1, 1] > 3 * losses[0, 1]  # information loss rises
    for point in front:
        check_solution(point)


def test_recall_is_measured_on_people_who_were_not_learned_from() -> None:
    table = health_like(1500, l_v=7)
    model = Mass(k=4, predict="high_risk", positive="yes", classifiers=("lr", "dt", "nb"), splits=2, sample=1000)
    problem = model.build(table, seed=1)
    assert problem.recall is not None
    assert len(problem.recall.rows) == 1000
    screen = problem.recall.screen.set_index("classifier")
    assert not screen.loc["dt", "passes"]  # it learns by heart
    assert problem.recall.ensemble == ("lr", "nb")
    apart = problem.evaluate(np.arange(table.n))  # everyone alone: the release is the original
    assert apart.values["recall"] == pytest.approx(problem.recall.baseline)
    solution = solve(problem)
    values = solution.values
    assert values["recall_loss"] == pytest.approx(1 - values["recall"])
    assert values["score"] == pytest.approx((values["privacy_loss"] + values["loss"]) / values["recall"])
    again = model.build(table, seed=1).evaluate(solution.labels)
    assert again.values == values
    everyone = problem.evaluate(np.zeros(table.n, int)).values
    assert everyone["loss"] == 1
    assert everyone["privacy_loss"] == pytest.approx(0)


def test_what_is_predicted() -> None:
    table = health_like(300, l_v=7)
    quick = {"classifiers": ("nb",), "k": 3}
    assert Mass(**quick).build(table).recall.predict == "high_risk"  # of fewest values
    with_target = Table(table.frame, quasi=table.kinds, sensitive="diagnosis", target="high_risk", others="drop")
    assert Mass(**quick).build(with_target).recall.predict == "high_risk"
    assert Mass(**quick, predict="symptoms").build(table).recall.predict == "symptoms"
    with pytest.raises(InputError, match="high_risk"):
        Mass(**quick, predict="high_rsk").build(table)
    with pytest.raises(InputError, match="yess"):
        Mass(**quick, predict="high_risk", positive="yess").build(table)
    with pytest.raises(InputError, match="quasi-identifier"):
        Mass(**quick, predict="age").build(table)


def test_other_objectives_leave_the_candidates_alone() -> None:
    problem = WITHOUT_RECALL.build(health_like(300, l_v=7)).with_objectives("loss", "closeness", "linkage")
    front = pareto(problem)
    assert front.names == ["loss", "closeness", "linkage"]
    assert front.details["solver"] == "mass"
    assert len(front.details["candidates"]) == 27


def test_labels_of_any_solver_are_judged() -> None:
    from formulations import LiangSamavi

    table = health_like(200, l_v=7)
    problem = Mass(k=5, classifiers=()).build(table)
    intervals = solve(LiangSamavi(k=5).build(table), solver="mondrian")
    judged = problem.evaluate(intervals.labels)
    assert judged.feasible
    assert judged.values["loss"] == pytest.approx(intervals.values["loss"] / (table.n * len(table.quasi)))


def test_small_and_uniform_tables() -> None:
    one_value = Table(pd.DataFrame({"age": range(20), "ill": ["flu"] * 20}), quasi={"age": "numeric"}, sensitive="ill")
    problem = Mass().build(one_value)
    assert problem.recall is None
    assert [o.name for o in problem.objectives] == ["privacy_loss", "loss"]
    solution = solve(problem)
    check_solution(solution)
    assert solution.values["privacy_loss"] == 0
    twins = Table(pd.DataFrame({"age": [5] * 6, "ill": list("ababab")}), quasi={"age": "numeric"}, sensitive="ill")
    assert solve(Mass(k=2).build(twins)).values["privacy_loss"] == 0
    with pytest.raises(InputError, match="k=30"):
        Mass(k=30).build(one_value)


def test_thirty_sensitive_attributes() -> None:
    table = small_table(200, sensitive=30, values=2)
    solution = solve(Mass(k=5, classifiers=()).build(table))
    check_solution(solution)
    assert solution.details["strata"] == 200


def test_missing_sensitive_numbers_are_an_error_that_names_the_column() -> None:
    frame = pd.DataFrame({"age": range(10), "bill": [1.0, np.nan] * 5})
    with pytest.raises(InputError, match="bill"):
        Table(frame, quasi={"age": "numeric"}, sensitive="bill")
    table = Table(frame, quasi={"age": "numeric"}, sensitive="bill", missing="impute")
    check_solution(solve(Mass(k=2, classifiers=()).build(table)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"order": "hilbertt"}, "hilbert"),
        ({"reach": -1.0}, "reach"),
        ({"floors": "ful"}, "full"),
        ({"bins": 1}, "bins"),
        ({"bins": "many"}, "bins must be a whole number"),
        ({"positive": "yess"}, "yess"),
        ({"k": 1}, "k must"),
        ({"classifiers": ("lg",)}, "lg"),
        ({"classifiers": "nb"}, r"Give a list of classifiers, such as \['nb'\]"),
        ({"splits": 0}, "splits"),
        ({"sample": 3}, "sample"),
    ],
)
def test_wrong_parameters(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Mass(**wrong).build(health_like(100, l_v=7))


def test_without_sensitive_attributes_there_is_nothing_to_deal_by() -> None:
    table = Table(pd.DataFrame({"age": range(10)}), quasi={"age": "numeric"})
    with pytest.raises(InputError, match="sensitive"):
        Mass(k=2).build(table)


def test_other_models_are_refused() -> None:
    from formulations import Microaggregation

    with pytest.raises(RefusedError, match="mass"):
        solve(Microaggregation(k=2).build(small_table(8)), solver="mass")


def test_a_hurried_answer_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("formulations.mass.dealing.CLASSES_AT_ONCE", 7)
    solution = solve(Mass(k=4, classifiers=()).build(health_like(500, l_v=7)), time_limit=1e-9)
    assert solution.stop == "time"
    assert solution.labels is not None
    assert "6% of the classes of k=4 dealt" in solution.details["remark"]


def test_a_time_limit_and_ctrl_c_leave_what_there_is() -> None:
    problem = WITHOUT_RECALL.build(health_like(500, l_v=7))
    assert solve(problem, time_limit=1e-9).stop == "time"
    assert len(pareto(problem, time_limit=1e-9).details["candidates"]) == 1
    seen = []

    def interrupt(state: object) -> None:
        seen.append(state)
        if len(seen) == 3:
            raise KeyboardInterrupt

    solution = MassSolver().solve(problem, on_progress=interrupt)
    assert solution.stop == "interrupted"
    check_solution(solution)
    seen.clear()
    front = MassSolver().pareto(problem, on_progress=interrupt)
    assert front.details["stop"] == "interrupted"
    assert len(front.details["candidates"]) == 3


def test_too_few_records_to_learn_from() -> None:
    with pytest.raises(InputError, match="20 records"):
        Mass(k=2, predict="secret_0").build(small_table(12))
    assert Mass(k=2).build(small_table(12)).recall is None


def test_the_score_is_an_objective_by_name() -> None:
    problem = WITHOUT_RECALL.build(health_like(300, l_v=7))
    front = pareto(problem.with_objectives("score", "linkage"))
    assert front.names == ["score", "linkage"]
    assert front[0].values["score"] == solve(problem).values["score"]
    with pytest.raises(InputError, match="Did you mean 'score'"):
        problem.with_objectives("scor")


@pytest.mark.parametrize("n_quasi", [1, 70])
@pytest.mark.parametrize("order", ["snake", "hilbert", "cosine"])
def test_one_or_many_quasi_identifiers(n_quasi: int, order: str) -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{j}": random.integers(0, 2 + j % 3, 40) for j in range(n_quasi)})
    table = Table(
        frame.assign(same="x", ill=random.choice(list("ab"), 40)),
        quasi=dict.fromkeys([*frame.columns, "same"], "categorical"),
        sensitive="ill",
    )
    check_solution(solve(Mass(k=4, order=order, classifiers=()).build(table)))


def test_a_sensitive_number_with_a_value_for_everyone_is_quick() -> None:
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"age": random.integers(18, 90, 60_000), "bill": random.random(60_000)})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="bill")
    solution = solve(Mass(k=3, classifiers=()).build(table))
    assert solution.details["strata"] == 5
    assert solution.values["privacy_loss"] < 0.5


def test_what_was_chosen_and_what_recall_is_about_is_told() -> None:
    problem = Mass(predict="high_risk", positive="yes", classifiers=("nb",)).build(health_like(300, l_v=7))
    best, front = solve(problem), pareto(problem)
    original = f"{problem.recall.baseline:.4g}"
    said = f"Recall is about high_risk = yes, the mean of nb; of the original table it is {original}."
    assert best.details["remark"] == f"k={best.details['k']}. {said}"
    point = front.details["optimum"]["point"]
    assert front.details["remark"] == f"Least score: k={best.details['k']}, point {point}. {said}"
    better = MassSolver().solve(problem, start=np.zeros(300, np.int64), time_limit=1e-9)
    assert better.labels is not None
    assert better.value <= problem.evaluate(np.zeros(300, np.int64)).values["score"]


def test_a_positive_level_is_one_of_two() -> None:
    table = health_like(300, l_v=7)
    many = Mass(k=4, predict="diagnosis", classifiers=("nb",))
    assert "Recall is about diagnosis, the mean of nb" in str(solve(many.build(table)).details["remark"])
    with pytest.raises(InputError, match="'diagnosis' has 7 values, over all of which recall is averaged"):
        Mass(k=4, predict="diagnosis", positive="asthma", classifiers=("nb",)).build(table)
