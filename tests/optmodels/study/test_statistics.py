"""Figures of textbooks and of papers, by our functions."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from optmodels.errors import InputError
from optmodels.study import statistics
from optmodels.study.figures import critical_difference_figure

# Areas under the curve of four variants of C4.5 on 14 data sets: Demšar 2006, table 6.
DEMSAR = pd.DataFrame(
    {
        "C4.5": [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1.0, 0.940, 0.619, 0.972, 0.957],
        "C4.5+m": [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1.0, 0.962, 0.666, 0.981, 0.978],
        "C4.5+cf": [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1.0, 0.965, 0.614, 0.9751, 0.946],
        "C4.5+m+cf": [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1.0, 0.962, 0.669, 0.975, 0.970],
    }
)


def test_friedman_and_nemenyi_of_demsar() -> None:
    test = statistics.friedman(-DEMSAR)
    assert test.ranks.round(3).to_dict() == {"C4.5+m+cf": 1.964, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5": 3.143}
    assert test.problems == 14
    assert test.critical_difference == pytest.approx(1.25, abs=0.005)
    # The paper's statistic, 9.28, leaves ties out of account: three pairs and a row of four of them.
    assert test.statistic == pytest.approx(9.28 / (1 - (3 * 6 + 60) / (14 * 60)), abs=0.01)
    assert test.p == pytest.approx(stats.chi2.sf(test.statistic, 3))
    # Neighbours within 1.25 of each other: all but the best two against the last.
    assert test.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"),)


@pytest.mark.parametrize(("solvers", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_critical_values_of_nemenyi(solvers: int, q: float) -> None:
    # Demšar 2006, table 5 (a)
    difference = statistics.critical_difference(solvers, 6)
    assert difference / np.sqrt(solvers * (solvers + 1) / 36) == pytest.approx(q, abs=0.001)


def test_wilcoxon_of_demsar() -> None:
    # C4.5 against C4.5+m: R- = 12 of 105, the pairs that tie split between the sides
    statistic, p = statistics.wilcoxon(DEMSAR["C4.5"], DEMSAR["C4.5+m"])
    assert statistic == 12
    assert p < 0.05
    assert statistics.wilcoxon([1, 1], [1, 1]) == (1.5, 1.0)


def test_groups_are_what_the_bars_of_the_diagram_join() -> None:
    ranks = pd.Series({"a": 1.0, "b": 1.8, "c": 2.5, "d": 4.6, "e": 5.0})
    test = statistics.Friedman(0.0, 1.0, ranks, 10, 1.0, 0.05)
    assert test.groups == (("a", "b"), ("b", "c"), ("d", "e"))


def test_lines_to_the_names_of_the_diagram_do_not_cross() -> None:
    ranks = pd.Series({"a": 1.2, "b": 2.0, "c": 3.1, "d": 3.4, "e": 5.3})
    figure = critical_difference_figure(statistics.Friedman(9.0, 0.01, ranks, 10, 1.9, 0.05))
    lines = [trace for trace in figure.data if trace.hovertext]
    assert [trace.hovertext for trace in lines] == [f"{name}: {rank:.2f}" for name, rank in ranks.items()]
    for one, other in itertools.permutations(lines, 2):
        (rank, _, edge), height = one.x, one.y[1]
        is_between = min(rank, edge) <= other.x[0] <= max(rank, edge)
        assert not is_between or other.y[1] > height  # the other's line ends above
    named = [note for note in figure.layout.annotations if note.text.strip() != "critical difference"]
    assert len({(note.x, note.y) for note in named}) == len(ranks)
    assert {note.xanchor for note in named if note.x == 1.0} == {"right"}


def test_mann_whitney_of_the_tortoises_and_hares() -> None:
    # T H H H H H T T T T T H: 11 and 25
    order = "THHHHHTTTTTH"
    tortoises = [place for place, who in enumerate(order) if who == "T"]
    hares = [place for place, who in enumerate(order) if who == "H"]
    assert statistics.mann_whitney(hares, tortoises)[0] == 11
    assert statistics.mann_whitney(tortoises, hares)[0] == 25
    assert statistics.a12(tortoises, hares) == pytest.approx(25 / 36)
    assert statistics.cliffs_delta(tortoises, hares) == pytest.approx((25 - 11) / 36)


def test_corrections_of_benjamini_and_hochberg_1995_and_of_holm() -> None:
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.324,
        0.4262,
        0.5719,
        0.6528,
        0.759,
        1,
    ]
    assert (statistics.corrected(p, "bh") <= 0.05).sum() == 4
    assert (statistics.corrected(p, "holm") <= 0.05).sum() == 3
    assert (statistics.corrected(p, "none") <= 0.05).sum() == 9
    assert statistics.corrected([0.04, 0.01, 0.02, 0.03]).tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    with pytest.raises(InputError, match="Did you mean 'holm'"):
        statistics.corrected(p, "hollm")  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.lists(st.integers(0, 6), min_size=1, max_size=12))
def test_effect_sizes_count_pairs(one: list[int], other: list[int]) -> None:
    pairs = np.subtract.outer(np.array(one), np.array(other))
    assert statistics.a12(one, other) == pytest.approx(((pairs > 0).sum() + 0.5 * (pairs == 0).sum()) / pairs.size)
    assert statistics.cliffs_delta(one, other) == pytest.approx(((pairs > 0).sum() - (pairs < 0).sum()) / pairs.size)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_rejects_more_than_benjamini_and_hochberg(p: list[float]) -> None:
    holm, bh = statistics.corrected(p, "holm"), statistics.corrected(p, "bh")
    assert (holm >= bh - 1e-12).all()
    assert (bh >= np.array(p) - 1e-12).all()
    assert ((holm >= 0) & (holm <= 1)).all()


def test_friedman_of_three_is_that_of_scipy_and_of_two_the_sign_test() -> None:
    costs = pd.DataFrame(np.random.default_rng(1).normal(size=(9, 3)), columns=list("abc"))
    assert statistics.friedman(costs).statistic == pytest.approx(stats.friedmanchisquare(*costs.to_numpy().T).statistic)
    two = costs[["a", "b"]]
    wins = int((two["a"] < two["b"]).sum())
    assert statistics.friedman(two).statistic == pytest.approx((2 * wins - 9) ** 2 / 9)
    with pytest.raises(InputError, match="two problems and two solvers"):
        statistics.friedman(costs[["a"]])


def test_failures_are_worse_than_anything_and_equal_solvers_do_not_differ() -> None:
    costs = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [np.inf, np.inf, 9.0, np.inf], "c": [1.0, 2.0, 3.0, 4.0]})
    pairs = statistics.pairwise(costs).set_index(["one", "other"])
    assert pairs.loc[("a", "b"), ["wins", "losses", "a12"]].tolist() == [4, 0, 0.0]
    assert pairs.loc[("a", "c"), ["wins", "losses", "p", "a12"]].tolist() == [0, 0, 1.0, 0.5]
    assert statistics.friedman(costs).ranks.to_dict() == {"a": 1.5, "c": 1.5, "b": 3.0}
    same = statistics.friedman(pd.DataFrame({name: [1.0, 1.0] for name in "abc"}))
    assert (same.statistic, same.p) == (0.0, 1.0)


def test_who_fails_in_any_repetition_fails_on_the_problem() -> None:
    index = pd.MultiIndex.from_product([["d"], ["m1", "m2"], range(5)], names=["dataset", "model", "repetition"])
    frail = [1.0, 1.0, 1.0, np.inf, np.inf]
    costs = pd.DataFrame({"frail": 2 * frail, "sure": 2.0}, index=index)
    assert statistics.by_problem(costs).to_numpy().tolist() == [[np.inf, 2.0]] * 2
    assert statistics.friedman(statistics.by_problem(costs)).ranks.to_dict() == {"sure": 1.0, "frail": 2.0}
    some = costs.drop(index=4, level="repetition")  # of which one was not made yet
    assert statistics.by_problem(some).to_numpy().tolist() == [[np.inf, 2.0]] * 2


def test_a_pair_is_judged_by_its_own_costs_whoever_else_took_part() -> None:
    draw = np.random.default_rng(3)
    scale = 10.0 ** draw.integers(-3, 4, 12)
    two = pd.DataFrame({"a": scale * draw.uniform(1.0, 2.0, 12), "b": scale * draw.uniform(1.0, 2.0, 12)})
    three = two.assign(c=scale * draw.uniform(0.01, 1.0, 12))
    three.loc[3, "c"] = np.nan  # not run there
    alone, among = statistics.pairwise(two, "none"), statistics.pairwise(three, "none")
    pd.testing.assert_frame_equal(alone, among.head(1))
    least = two.min(axis=1)
    assert alone["p"].iat[0] == statistics.wilcoxon(two["a"] / least, two["b"] / least)[1]
    assert among["problems"].tolist() == [12, 11, 11]


def test_repetitions_are_no_problems_of_their_own() -> None:
    index = pd.MultiIndex.from_product([["d"], ["m1", "m2"], range(3)], names=["dataset", "model", "repetition"])
    costs = pd.DataFrame({"a": [1.0, 2.0, 9.0, 10.0, 10.0, 10.0], "b": [4.0, 4.0, 4.0, 5.0, 5.0, 5.0]}, index=index)
    assert statistics.by_problem(costs).to_numpy().tolist() == [[2.0, 4.0], [10.0, 5.0]]
    each = statistics.on_each_problem(costs)
    assert each["model"].tolist() == ["m1", "m2"]
    assert each["a12"].tolist() == pytest.approx([1 / 3, 1.0])
    assert each["repetitions"].tolist() == [3, 3]
