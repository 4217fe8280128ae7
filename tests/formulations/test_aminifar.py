"""Aminifar's model: centres, caps, the judge of labels alone, and the Pyomo view."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from formulations import Aminifar
from formulations.aminifar.caps_together import fits_together
from formulations.aminifar.whole_records import Sizes
from optmodels.errors import InputError, RefusedError
from optmodels.flow import Metric, cheapest_matching, class_distances, matching, nearest, nearest_costs
from optmodels.flow.pricing import ArcCosts
from optmodels.problem import Problem
from optmodels.structures import Assignment
from optmodels.table import Table
from optmodels.testing import brute_force
from optmodels.testing.views import rows_hold


def random_table(n: int, *, seed: int = 0, values: int = 2, sensitive: int = 1, scaling: str = "none") -> Table:
    draw = np.random.default_rng(seed)
    columns = {"a": draw.normal(size=n), "b": draw.integers(0, 5, n)}
    columns |= {f"s{j}": draw.integers(0, values, n) for j in range(sensitive)}
    return Table(
        pd.DataFrame(columns),
        quasi={"a": "numeric", "b": "numeric"},
        sensitive=[f"s{j}" for j in range(sensitive)],
        scaling=scaling,
    )


def flagged(flags: list[object], ages: list[float] | None = None) -> Table:
    frame = pd.DataFrame({"age": ages or [float(i) for i in range(len(flags))], "flag": flags})
    return Table(frame, quasi={"age": "numeric"}, sensitive="flag")


def arc_costs(problem: Problem) -> ArcCosts:
    assignment = problem.require(Assignment)
    assert assignment.centres is not None
    return assignment.arc_costs(assignment.centres)


class TestParameters:
    def test_k_or_number_of_classes_but_not_both(self) -> None:
        with pytest.raises(InputError, match="either k"):
            Aminifar()
        with pytest.raises(InputError, match="either k"):
            Aminifar(k=2, n_clusters=3)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"alpha": 0},
            {"sizes": "exakt"},
            {"metric": "manhatten"},
            {"n_init": 0},
            {"centres": [[np.nan]]},
            {"penalty": -1},
            {"n_clusters": 0, "k": None},
        ],
        ids=str,
    )
    def test_wrong_values_are_named(self, wrong: dict[str, object]) -> None:
        with pytest.raises(InputError):
            Aminifar(**{"k": 2, **wrong})

    def test_misspelt_metric_is_hinted(self) -> None:
        with pytest.raises(InputError, match="Did you mean 'manhattan'"):
            Aminifar(k=2, metric="manhatten")  # type: ignore[arg-type]

    def test_too_many_classes(self) -> None:
        with pytest.raises(InputError, match="lower n_clusters"):
            Aminifar(n_clusters=5).build(random_table(8))

    def test_alpha_without_a_sensitive_attribute(self) -> None:
        table = Table(pd.DataFrame({"age": range(6)}), quasi={"age": "numeric"})
        with pytest.raises(InputError, match="no sensitive attribute"):
            Aminifar(k=2, alpha=1.2).build(table)

    def test_centres_of_the_wrong_shape(self) -> None:
        with pytest.raises(InputError, match="3 rows of 2 numbers"):
            Aminifar(n_clusters=3, centres=((0.0,), (1.0,), (2.0,))).build(random_table(9))

    def test_a_value_that_does_not_occur(self) -> None:
        with pytest.raises(InputError, match="'HIV' does not occur in 'flag'"):
            Aminifar(k=2, alpha=2, sensitive_value="HIV").build(flagged(list("abab")))


class TestCentres:
    def test_seeded(self) -> None:
        table = random_table(40)
        one, other = (Aminifar(k=5, n_init=1).build(table, seed=3).centres for _ in range(2))
        assert np.array_equal(one, other)

    def test_given_centres_are_scaled_like_the_table(self) -> None:
        table = random_table(12, scaling="standard")
        problem = Aminifar(n_clusters=2, centres=tuple(map(tuple, table.values[:2]))).build(table)
        assert np.allclose(arc_costs(problem)(np.arange(2), np.arange(2)).diagonal(), 0)

    def test_scaling_overrides_the_tables(self) -> None:
        table = random_table(12)
        assert np.allclose(Aminifar(k=3, scaling="standard").build(table).points.std(axis=0, ddof=1), 1)

    def test_a_categorical_mismatch_costs_its_weight(self) -> None:
        frame = pd.DataFrame({"age": [0.0, 0.0, 9.0, 9.0], "town": ["x", "x", "y", "y"]})
        table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, gamma=3.0)
        for metric, extra in (("manhattan", 9.0), ("sqeuclidean", 81.0)):
            costs = arc_costs(Aminifar(k=2, metric=metric).build(table))(np.arange(4), np.arange(2))
            assert np.allclose(np.sort(costs, axis=1), [[0.0, extra + 3.0]] * 4)

    def test_fewer_distinct_records_than_centres(self) -> None:
        problem = Aminifar(k=2).build(flagged([0] * 8, ages=[1.0] * 8))
        assert problem.evaluate(np.repeat(np.arange(4), 2)).values == {"distance": 0.0}

    def test_recentred_on_class_means(self) -> None:
        table = random_table(12, scaling="range")
        labels = np.arange(12) % 3
        for metric in ("manhattan", "euclidean"):
            problem = Aminifar(n_clusters=3, metric=metric).build(table)
            moved = problem.recentred(labels)
            assert np.allclose(moved.centres, [problem.points[labels == c].mean(axis=0) for c in range(3)])
            assert np.allclose(moved.formulation.build(table).centres, moved.centres)


class TestJudge:
    @pytest.mark.parametrize("metric", ["manhattan", "euclidean", "sqeuclidean"])
    def test_the_best_way_to_give_classes_their_centres(self, metric: str) -> None:
        table = random_table(9, seed=4)
        problem = Aminifar(n_clusters=3, metric=metric).build(table)
        labels = np.random.default_rng(1).permutation(np.repeat(np.arange(3), 3))
        name = {"manhattan": "cityblock"}.get(metric, metric)
        costs = cdist(table.values, problem.centres, name)
        assert np.allclose(arc_costs(problem)(np.arange(9), np.arange(3)), costs)
        best = min(sum(costs[j, way[labels[j]]] for j in range(9)) for way in permutations(range(3)))
        assert problem.evaluate(labels).values["distance"] == pytest.approx(best)
        assert problem.evaluate(2 - labels).values["distance"] == pytest.approx(best)

    @pytest.mark.parametrize("metric", ["manhattan", "euclidean", "sqeuclidean"])
    def test_sparse_matching_agrees_with_the_dense_one(self, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(matching, "_DENSE", 2)
        for m, spread in ((3, 1.0), (40, 0.0), (200, 3.0)):  # all centres in one place, too
            draw = np.random.default_rng(m)
            starts = np.cumsum([0, *draw.integers(1, 5, m)])
            points = np.round(draw.normal(size=(starts[-1], 3)), 1)  # with ties
            columns = np.round(spread * draw.normal(size=(3, m)) + (spread > 1), 1)
            order = draw.permutation(len(points))
            costs = class_distances(points, columns, metric, order, starts)
            centres, total = cheapest_matching(points, columns, metric, order, starts)
            assert sorted(centres) == list(range(m))
            assert total == pytest.approx(costs[np.arange(m), centres].sum(), rel=1e-12)
            assert total == pytest.approx(costs[linear_sum_assignment(costs)].sum(), rel=1e-12)

    def test_a_matching_that_would_take_too_long_is_some_matching(self, monkeypatch: pytest.MonkeyPatch) -> None:
        draw = np.random.default_rng(7)
        m, points = 300, draw.normal(size=(900, 3))
        classes = draw.permutation(900), np.arange(0, 901, 3)  # of anybody, so that few are near a centre of their own
        columns = draw.normal(size=(3, m))
        costs = class_distances(points, columns, "manhattan", *classes)
        least = costs[linear_sum_assignment(costs)].sum()
        monkeypatch.setattr(matching, "_DENSE", 2)
        for looks in (1, 20_000, 1_000_000, 100_000_000):  # none, some, nearly enough, enough
            monkeypatch.setattr(matching, "_MOST_LOOKS", looks)
            centres, total = cheapest_matching(points, columns, "manhattan", *classes)
            again = cheapest_matching(points, columns, "manhattan", *classes)
            assert sorted(centres) == list(range(m))
            assert total == pytest.approx(costs[np.arange(m), centres].sum(), rel=1e-12)
            assert total >= least * (1 - 1e-12)
            assert (again[0] == centres).all()
            assert again[1] == total
        assert total == pytest.approx(least, rel=1e-12)

    @pytest.mark.parametrize("metric", ["manhattan", "euclidean", "sqeuclidean"])
    def test_nearest_costs_are_the_least_of_all(self, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(nearest, "_FEW", 0)
        draw = np.random.default_rng(3)
        points = np.round(draw.normal(size=(2_400, 3)), 1) + 1000
        columns = np.round(draw.normal(size=(3, 70)), 1) + 1000
        order, starts = draw.permutation(2_400), np.array([0, 1, 4, 300, 1_390, 2_400])
        dense = class_distances(points, columns, metric, order, starts).min(axis=1)
        assert nearest_costs(points, columns, metric, order, starts) == pytest.approx(dense, rel=1e-12)

    def test_violations(self) -> None:
        problem = Aminifar(n_clusters=3, alpha=1).build(flagged([1, 1, 1, 0, 0, 0]))
        assert problem.evaluate([0, 1, 2, 0, 1, 2]).feasible
        assert problem.evaluate([0, 0, 1, 1, 2, 2]).violations == {"k": 0, "classes": 0, "sizes": 0, "cap": 1}
        assert problem.evaluate([0, 0, 0, 1, 1, 1]).violations == {"k": 0, "classes": 1, "sizes": 2, "cap": 1}

    def test_sizes_that_do_not_divide(self) -> None:
        exact = Aminifar(n_clusters=3).build(flagged([0] * 8))
        assert exact.evaluate([0, 0, 1, 1, 1, 2, 2, 2]).feasible
        assert exact.evaluate([0, 0, 1, 1, 2, 2, 2, 2]).violations["sizes"] == 1
        assert Aminifar(k=2, sizes="at-least").build(flagged([0] * 8)).evaluate([0, 0, 1, 1, 2, 2, 3, 3]).feasible
        assert (
            Aminifar(n_clusters=3, sizes="at-least").build(flagged([0] * 8)).evaluate([0, 0, 1, 1, 2, 2, 2, 2]).feasible
        )

    def test_a_soft_margin_pays_a_thousand_for_each_time_the_average(self) -> None:
        table = flagged([1, 1, 1, 0, 0, 0], ages=[0.0] * 6)
        problem = Aminifar(n_clusters=2, soft=True).build(table)
        # The average is 1.5: a class of 3 has margin 1, one of 2 has margin 1/3.
        assert problem.evaluate([0, 0, 0, 1, 1, 1]).values["distance"] == pytest.approx(1000)
        assert problem.evaluate([0, 0, 1, 1, 1, 0]).values["distance"] == pytest.approx(1000 / 3)

    def test_released_values_are_class_means(self) -> None:
        problem = Aminifar(n_clusters=2, centres=((0.0,), (5.0,))).build(
            flagged([0, 1, 0, 1], ages=[0.0, 2.0, 5.0, 9.0])
        )
        assert problem.release([0, 0, 1, 1]).frame["age"].tolist() == [1.0, 1.0, 7.0, 7.0]


class TestCaps:
    def test_the_cap_is_a_whole_number(self) -> None:
        problem = Aminifar(n_clusters=3, alpha=1.2).build(flagged([1] * 5 + [0] * 4))
        assert problem.caps[0].tolist() == [[2, 3]] * 3

    def test_a_product_that_is_whole_is_not_rounded_down(self) -> None:
        assert Aminifar(n_clusters=3, alpha=1.2).build(flagged([1] * 5 + [0] * 7)).caps[0][0, 0] == 2

    def test_flags_cap_ones_and_other_attributes_every_value(self) -> None:
        assert [cap.values for cap in Aminifar(k=2, alpha=2).build(flagged([0, 1, 0, 1])).capped] == [(1,)]
        assert [cap.values for cap in Aminifar(k=2, alpha=2).build(flagged([True, False] * 2)).capped] == [(True,)]
        assert [cap.values for cap in Aminifar(k=2, alpha=2).build(flagged(list("abca"))).capped] == [("a", "b", "c")]
        chosen = Aminifar(k=2, alpha=2, sensitive_value="b").build(flagged(list("abca")))
        assert [cap.values for cap in chosen.capped] == [("b",)]
        by_name = Aminifar(k=2, alpha=2, sensitive_value={"flag": ["a", "c"]}).build(flagged(list("abca")))
        assert [cap.values for cap in by_name.capped] == [("a", "c")]

    @pytest.mark.parametrize("flags", [[1, 1, 1, 0, 0, 0], list("aabbbccd"), [1, 0, 0, 0, 0, 0, 0]], ids=str)
    def test_the_smallest_alpha_that_works_does_and_less_does_not(self, flags: list[object]) -> None:
        table = flagged(flags)
        reason = Aminifar(n_clusters=2, alpha=0.5).build(table).impossible()
        assert reason is not None
        least = float(reason.rstrip(".").rsplit(" ", 1)[1])
        assert Aminifar(n_clusters=2, alpha=least).build(table).impossible() is None
        assert Aminifar(n_clusters=2, alpha=least - 2e-4).build(table).impossible() is not None

    def test_soft_caps_are_never_impossible(self) -> None:
        assert Aminifar(n_clusters=2, alpha=0.5, soft=True).build(flagged([1] * 6)).impossible() is None


class TestPyomo:
    @pytest.mark.parametrize(
        "model",
        [
            Aminifar(n_clusters=2, alpha=1.5),
            Aminifar(n_clusters=2, alpha=1.2, soft=True),
            Aminifar(n_clusters=2, sizes="at-least", alpha=1.6),
            Aminifar(n_clusters=2),
            Aminifar(n_clusters=2, alpha=1.6, floor=0.4),
            Aminifar(n_clusters=2, floor=0.4, soft=True, sizes="at-least"),
            Aminifar(n_clusters=2, t=0.4, distinct_l=2),
            Aminifar(n_clusters=2, sizes="at-least", t=0.3, most_share=0.7),
            Aminifar(n_clusters=2, sizes="at-least", distinct_l=3, beta=0.9),
        ],
        ids=str,
    )
    def test_objective_and_constraints_agree_with_the_judge(self, model: Aminifar) -> None:
        problem = model.build(random_table(6, seed=2, values=3))
        view = problem.to_pyomo()
        assert view.encode is not None
        for labels in product(range(2), repeat=6):
            if len(set(labels)) < 2:
                continue
            found = problem.evaluate(np.array(labels))
            assert view.encode(problem.check(np.array(labels)))
            assert pyo.value(view.native.distance) == pytest.approx(found.values["distance"])
            assert rows_hold(view.native) == found.feasible
            assert problem.evaluate(view.decode(view.native)).values == found.values

    def test_released_means_are_expressions(self) -> None:
        problem = Aminifar(n_clusters=2).build(random_table(6))
        view = problem.to_pyomo()
        assert view.encode is not None
        view.encode(np.array([0, 1, 0, 1, 0, 1]))
        home = view.decode(view.native)
        assert pyo.value(view.native.C[home[0], 0]) == pytest.approx(problem.points[::2, 0].mean())

    @pytest.mark.parametrize("ending", ["lp", "mps"])
    def test_it_can_be_written(self, ending: str, tmp_path: Path) -> None:
        path = tmp_path / f"model.{ending}"
        Aminifar(n_clusters=2, soft=True).build(random_table(6)).to_pyomo().native.write(str(path))
        assert path.stat().st_size > 500

    def test_the_relaxation_is_integral_for_one_capped_attribute(self) -> None:
        view = Aminifar(n_clusters=4, alpha=1.5).build(random_table(40, values=3)).to_pyomo()
        for variable in view.native.B.values():
            variable.domain = pyo.UnitInterval
        pyo.SolverFactory("appsi_highs").solve(view.native)
        values = np.array([pyo.value(variable) for variable in view.native.B.values()])
        assert np.abs(values - values.round()).max() < 1e-7

    def test_too_large_is_refused(self) -> None:
        problem = Aminifar(n_clusters=500, n_init=1, centres=np.zeros((500, 2))).build(random_table(2400))  # type: ignore[arg-type]
        assert problem.lacks_pyomo() is not None
        with pytest.raises(RefusedError, match="binary variables"):
            problem.to_pyomo()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"alpha": float("inf")}, "alpha must be a finite number, not inf"),
        ({"alpha": 0.0}, "alpha must be positive"),
        ({"n_clusters": 2.5}, "n_clusters must be a whole number of at least 1, not 2.5"),
        ({"penalty": float("inf")}, "penalty must be a finite number"),
        ({"n_init": 1.5}, "n_init must be a whole number of at least 1"),
    ],
    ids=str,
)
def test_wrong_parameters(wrong, message):
    with pytest.raises(InputError, match=message):
        Aminifar(**({"n_clusters": 2} | wrong))


class TestThreeCappedAttributes:
    """Any two of four records share one value of one attribute, so that two classes cannot split every pair."""

    def table(self) -> Table:
        secrets = {"a": [0, 0, 1, 1], "b": [1, 0, 0, 1], "c": [0, 1, 0, 1]}
        frame = pd.DataFrame(
            {"x": [1.0, 2.0, 3.0, 4.0]} | {name: list(map("uv".__getitem__, v)) for name, v in secrets.items()}
        )
        return Table(frame, quasi={"x": "numeric"}, sensitive=list(secrets))

    @pytest.mark.parametrize("alpha", [0.5, 1.0, 1.9])
    def test_together_they_need_a_larger_alpha_than_each_alone(self, alpha: float) -> None:
        problem = Aminifar(n_clusters=2, alpha=alpha, centres=((1.0,), (4.0,))).build(self.table())
        assert brute_force(problem) is None
        assert "The smallest alpha that works is 2." in str(problem.impossible())

    def test_the_alpha_that_is_named_works(self) -> None:
        problem = Aminifar(n_clusters=2, alpha=2.0, centres=((1.0,), (4.0,))).build(self.table())
        assert problem.impossible() is None
        assert brute_force(problem) is not None

    def test_what_is_not_settled_is_not_claimed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("formulations.aminifar.caps_together._MOST_VARIABLES", 0)
        model = Aminifar(n_clusters=2, alpha=0.5, centres=((1.0,), (4.0,)))
        assert "No alpha below 1 works." in str(model.build(self.table()).impossible())

    @pytest.mark.parametrize("seed", range(20))
    def test_two_attributes_never_get_in_each_others_way(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        n, m = int(draw.integers(6, 40)), int(draw.integers(2, 4))
        groups = draw.integers(0, 4, (n, 2))
        frame = pd.DataFrame({"x": draw.normal(size=n), "a": groups[:, 0].astype(str), "b": groups[:, 1].astype(str)})
        table = Table(frame, quasi={"x": "numeric"}, sensitive=["a", "b"])
        reason = str(Aminifar(n_clusters=m, alpha=0.01, n_init=1).build(table).impossible())
        least = float(reason.rstrip(".").rsplit(" ", 1)[1])
        problem = Aminifar(n_clusters=m, alpha=least, n_init=1).build(table)
        sizes = Sizes(problem.least, problem.most)
        assert (
            fits_together(
                problem.capped, sizes, [cap.over(int(sizes.least[0]), int(sizes.most[0])) for cap in problem.capped]
            )
            is True
        )
