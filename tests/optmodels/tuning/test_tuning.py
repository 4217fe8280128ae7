"""Parameters by a rule: that each rule picks what it says, weights lead to their points, and choices are told."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from formulations import Microaggregation, MoObam
from optmodels import Table
from optmodels.cli import app
from optmodels.errors import InputError
from optmodels.problem import wished
from optmodels.tuning import tune
from optmodels.tuning.candidates import LADDER, TuningPoint, candidates, ladder, weighed
from optmodels.tuning.rules import Scores, Stakes, chosen, knee, within_one_error


def point(k: int, sizes: list[int], lost: float, entropy: float = 0.0, guessed: float = 0.5) -> TuningPoint:
    classes = np.array(sizes)
    nothing = np.zeros(0, np.int64)
    found = float(len(sizes) / classes.sum())
    return TuningPoint(k, len(sizes), lost, entropy, lost, found, guessed, np.nan, np.nan, classes, nothing)


@pytest.fixture(scope="module")
def people() -> Table:
    draw = np.random.default_rng(5)
    age = draw.integers(20, 60, 60)
    frame = pd.DataFrame(
        {
            "age": age,
            "ill": draw.choice(["a", "b", "c"], 60),
            "ok": np.where(age + draw.normal(0, 5, 60) > 40, "y", "n"),
        }
    )
    return Table(frame, quasi={"age": "numeric"}, sensitive="ill", target="ok")


def test_the_knee_ignores_what_is_dominated() -> None:
    few, knee_point, many = point(2, [2] * 30, 0.0), point(6, [6] * 10, 0.1), point(30, [30, 30], 1.0)
    dominated = point(5, [5] * 12, 0.9)
    assert knee([few, dominated, knee_point, many]) == 2


def test_an_attack_is_only_worth_its_cost_in_small_classes() -> None:
    small, large = point(2, [2] * 30, 0.0), point(20, [20] * 3, 0.3)
    stakes = Stakes(cost=0.1, harm=4.0)
    assert stakes.benefit(small) == pytest.approx(1 - 4 * 30 / 60)
    assert stakes.benefit(large) == pytest.approx(0.7)
    assert chosen("cost", [small, large], stakes, None) == 1
    assert chosen("cost", [small, large], Stakes(cost=0.1, harm=0.1), None) == 0, "little harm is not worth a loss"
    assert chosen("cost", [small, large], Stakes(cost=0.6, harm=9.0), None) == 0, "nobody attacks at that cost"
    # a class of 1 / cost is not attacked: the chance must exceed it
    assert Stakes(cost=0.5, harm=1.0).benefit(small) == 1.0
    with pytest.raises(InputError, match="harm"):
        Stakes(harm=-1)


def test_within_an_error_of_the_best_the_fewest_people_found_win() -> None:
    found = [point(2, [2] * 30, 0.0), point(6, [6] * 10, 0.1), point(30, [30, 30], 1.0)]
    scores = Scores(np.array([0.80, 0.79, 0.60]), np.array([0.02, 0.01, 0.5]))
    assert within_one_error(found, scores) == 1
    assert within_one_error(found, replace(scores, error=np.array([0.001, 0.01, 0.5]))) == 0
    assert within_one_error(found, replace(scores, error=np.array([0.3, 0.01, 0.5]))) == 2
    with pytest.raises(InputError, match="nothing to choose from"):
        chosen("knee", [], Stakes(), None)


def test_every_weight_leads_to_the_point_that_claims_it(people: Table) -> None:
    found = candidates(people, MoObam(k=2), 3, solver="nsga2", evaluations=120, seed=1)
    assert len(found) > 2
    for lam in np.geomspace(1e-5, 10, 60):
        best = min(one.loss - lam * one.entropy for one in found)
        claiming = [one for one in found if one.low <= lam <= one.high]
        assert claiming
        assert all(one.loss - lam * one.entropy == pytest.approx(best) for one in claiming)
    assert [one.high for one in found].count(inf) >= 1
    bent = weighed([point(2, [2], 0.0, 0.0), point(2, [2], 0.9, 0.5), point(2, [2], 1.0, 1.0)])
    assert np.isnan(bent[1].lam)


def test_a_choice_is_one_of_the_candidates_and_its_parameters_build(people: Table) -> None:
    for rule in ("knee", "cost", "one-se"):
        again = int(rule != "one-se")  # classifiers take their time
        found = tune(people, rule=rule, repeats=again, evaluations=30, jobs=1, seed=3)
        assert found.choice.k in set(found.candidates["k"])
        assert (found.choice.sizes >= found.choice.k).all()
        assert len(found.repeated) == again
        assert np.isnan(found.agreement) or 0 <= found.agreement <= 1
        assert MoObam(**found.parameters).build(people).conditions.k == found.choice.k
        assert any("How sure" in line for line in found.lines()) == bool(again)
        json.dumps(found.to_dict(), allow_nan=False)
    assert tune(people, rule="cost", repeats=0, evaluations=40, jobs=1).repeated.empty


def test_neighbours_on_the_ladder_agree(people: Table) -> None:
    found = tune(people, rule="cost", repeats=0, evaluations=30, jobs=1)
    assert np.isnan(found.agreement)
    at = LADDER.index(found.choice.k)
    ks = [found.choice.k, LADDER[at + 1], LADDER[at + 2], LADDER[at + 2]]
    again = pd.DataFrame({"k": ks, "size": 3.0, "lam": 0.1})
    assert replace(found, repeated=again).agreement == 0.5
    assert "1 of 4 repetitions" in replace(found, repeated=again).lines()[-1]


def test_the_same_seed_chooses_the_same(people: Table) -> None:
    one, other = (tune(people, rule="cost", repeats=1, evaluations=40, jobs=1, seed=4) for _ in range(2))
    assert one.to_dict() == other.to_dict()


def test_without_sensitive_attributes_only_k_and_the_classes_are_chosen(people: Table) -> None:
    plain = Table(people.frame[["age"]], quasi={"age": "numeric"})
    found = tune(plain, "microaggregation", rule="cost", cost=0.2, harm=5, repeats=0, evaluations=40, jobs=1)
    assert set(found.parameters) == {"k"}
    assert np.isnan(found.choice.lam)
    assert found.choice.guessed == 0


def test_a_part_stands_for_a_large_table_and_its_classes_are_as_large(people: Table) -> None:
    found = tune(people, rule="cost", repeats=0, evaluations=30, jobs=1, most_records=30)
    assert (found.records, found.whole) == (30, 60)
    assert found.parameters["n_clusters"] == 2 * found.choice.classes
    assert "30 of 60 records" in found.lines()[-1]


def test_what_cannot_be_tuned_is_said(people: Table) -> None:
    with pytest.raises(InputError, match="Did you mean 'knee'"):
        tune(people, rule="kne")
    with pytest.raises(InputError, match="no target is named"):
        tune(Table(people.frame[["age", "ill"]], quasi={"age": "numeric"}, sensitive="ill"), rule="one-se")
    with pytest.raises(InputError, match="made already"):
        tune(people, Microaggregation(k=2), distinct_l=2)
    with pytest.raises(InputError, match="'mdav' finds no front in a number of evaluations"):
        tune(people, solver="mdav")
    with pytest.raises(InputError, match="There is no classifier 'lt'"):
        tune(people, rule="one-se", classifier="lt", repeats=1000)  # before anything is searched
    assert ladder(10) == (2, 3)


def test_what_parameters_alone_do_not_lead_to_is_wished_for(people: Table) -> None:
    found = tune(people, rule="cost", repeats=0, evaluations=40, jobs=1)
    fixed = replace(found, choice=replace(found.choice, low=0.1, high=0.2))
    assert not fixed.wish
    assert not any("wish" in line for line in fixed.lines())
    bent = replace(fixed, choice=replace(fixed.choice, low=float("nan")))
    assert set(bent.wish) == {"loss", "entropy"}
    free = tune(people, "majeed-hwang", rule="cost", repeats=0, evaluations=20, jobs=1, weights={"age": 100.0})
    assert set(free.parameters) == {"k"}
    assert free.wish == pytest.approx({"loss": free.choice.loss, "entropy": free.choice.entropy}, rel=1e-3)
    said = free.lines()
    assert not any("lambda =" in line for line in said), "majeed-hwang has no lambda"
    assert any("a wish for this loss and entropy does" in line for line in said)
    problem = wished(free.model.build(people), free.wish)
    assert "distortion" in problem.evaluate(free.choice.labels).values


def test_the_command_chooses_writes_and_says_what_comes_next(people: Table, tmp_path) -> None:
    file, out = tmp_path / "people.csv", tmp_path / "candidates.csv"
    people.frame.to_csv(file, index=False)
    words = ["tune", str(file), "--numeric", "age", "--sensitive", "ill", "--target", "ok", "--rule", "cost"]
    words += ["--repeats", "1", "--evaluations", "40", "--jobs", "1"]
    shown = CliRunner().invoke(app, [*words, "--out", str(out)])
    assert shown.exit_code == 0, shown.output
    said = " ".join(shown.output.split())
    assert "Rule: cost" in said
    assert "How sure: " in said
    assert f"--formulation mo-obam --k {pd.read_csv(out).sort_values('benefit')['k'].iloc[-1]} " in said
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert found["parameters"]["k"] == found["choice"]["k"]
    refused = CliRunner().invoke(app, [*words, "--k", "5"])
    assert refused.exit_code != 0
    assert "tune chooses" in " ".join(refused.output.split())
