"""Records left out of all classes: judged, released, audited, and found by solvers that know nothing of them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels.audit import audit
from optmodels.conditions import Conditions
from optmodels.errors import BrokenPromiseError, InputError
from optmodels.partition import LEFT_OUT
from optmodels.price import PlainPrice, spread
from optmodels.suppressed_rows import with_suppressed, without_suppressed
from optmodels.suppression import left_out, savings, without
from optmodels.table import Table
from optmodels.testing.partitions import brute_force, partitions
from solvers import Mdav, Mondrian

PEOPLE = pd.DataFrame(
    {
        "age": [20, 21, 22, 23, 24, 60, 61, 95],
        "town": ["a", "a", "b", "b", "a", "c", "c", "a"],
        "illness": ["flu", "cold", "flu", "cold", "flu", "cold", "flu", "cold"],
    }
)


def table(frame=PEOPLE, **more):
    roles = {"quasi": {"age": "numeric", "town": "categorical"}, "sensitive": "illness", "scaling": "range"}
    return Table(frame, **(roles | more))


MODELS = [
    Microaggregation(k=2, suppress=0.25),
    LiangSamavi(k=2, suppress=0.25),
    MoObam(k=2, suppress=0.25),
    MoObam(k=2, suppress=0.25, objective="lambda", lam=0.1),
    MajeedHwang(k=2, suppress=0.25, levels="least", weights={"age": 1, "town": 1}),
    Mass(k=2, suppress=0.25, classifiers=()),
    Aminifar(k=2, suppress=0.25),
    Aminifar(k=2, suppress=0.25, centres="free"),
]


def test_a_record_left_out_costs_what_an_average_one_costs_in_one_class():
    problem = LiangSamavi(k=2, suppress=0.25).build(table())
    assert problem.suppression.most == 2
    assert problem.left_out_price == pytest.approx(2.0)  # both of its cells count 1
    inside = problem.evaluate([0, 0, 0, 0, 0, 1, 1, 0]).values["loss"]
    outside = problem.evaluate([0, 0, 0, 0, 0, 1, 1, LEFT_OUT]).values["loss"]
    assert inside - outside == pytest.approx(6 * (75 / 75) + 6 * 0.5 - 5 * (4 / 75) - 5 * 0.5 - 2.0)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {getattr(model, 'objective', '')}")
def test_the_judge_counts_classes_of_those_inside_and_a_price_for_the_others(model):
    problem = model.build(table())
    labels = np.array([0, 0, 0, 1, 1, 1, LEFT_OUT, LEFT_OUT])
    found = problem.evaluate(labels)
    assert found.violations["suppressed"] == 0
    dearer = type(model)(**{**model.to_dict(), "suppression_price": problem.left_out_price + 1}).build(table())
    assert dearer.evaluate(labels).values[problem.target.name] > found.values[problem.target.name]
    too_many = np.array([0, 0, 0, 0, 0, LEFT_OUT, LEFT_OUT, LEFT_OUT])
    assert problem.evaluate(too_many).violations["suppressed"] == 1
    everyone = problem.evaluate(np.zeros(8, np.int64)).values
    assert type(model)(**{**model.to_dict(), "suppress": 0.0}).build(table()).evaluate(
        np.zeros(8, np.int64)
    ).values == pytest.approx(everyone)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model.name} {getattr(model, 'objective', '')}")
@pytest.mark.parametrize("way", ["drop", "star"])
def test_a_release_says_nothing_of_those_left_out_and_its_audit_agrees(model, way):
    problem = model.build(table())
    best = next(labels for labels in partitions(8, 2, 2) if left_out(labels) == 2 and problem.evaluate(labels).feasible)
    release = problem.release(best, suppressed=way)
    assert release.audit.suppressed == 2
    assert release.audit.suppressed_share == 0.25
    assert len(release.frame) == (6 if way == "drop" else 8)
    again = audit(release.frame, quasi=["age", "town"], sensitive="illness")
    assert (again.k, again.classes, again.records) == (release.audit.k, release.audit.classes, 6)
    assert again.suppressed == (0 if way == "drop" else 2)
    assert not release.audit.check(problem.conditions)
    assert release.audit.check(Conditions(k=2, suppress=0.2))
    if way == "star":
        silent = release.frame.tail(2)
        assert all(pd.isna(cell) or cell == "*" for row in silent.to_numpy().tolist() for cell in row)


def test_what_is_left_out_without_leave_is_a_broken_promise():
    problem = Microaggregation(k=2).build(table())
    labels = np.array([0, 0, 0, 0, 0, 1, 1, LEFT_OUT])
    assert problem.evaluate(labels).violations["suppressed"] == 1
    with pytest.raises(BrokenPromiseError, match="1 records are left out, and none may be"):
        problem.release(labels)


def test_nobody_can_be_left_with_everybody_left_out():
    with pytest.raises(InputError, match="below 1"):
        Microaggregation(k=2, suppress=1.0)
    with pytest.raises(InputError, match="All records are left out"):
        Aminifar(k=2, suppress=0.25).build(table()).evaluate(np.full(8, LEFT_OUT))


@pytest.mark.parametrize("share", [float("nan"), -0.1, 2, "a"])
def test_a_share_that_makes_no_sense_is_refused(share):
    with pytest.raises(InputError, match="suppress"):
        LiangSamavi(k=2, suppress=share)


def test_t_is_measured_from_the_whole_table_whoever_is_left_out():
    people = PEOPLE.assign(illness=["flu"] * 5 + ["cold"] * 3)
    problem = Microaggregation(k=2, suppress=0.25, t=0.2, t_distance="equal").build(table(people))
    labels = np.array([0, 0, 0, LEFT_OUT, LEFT_OUT, 0, 0, 0])
    assert problem.evaluate(labels).feasible
    found = problem.release(labels).audit.sensitive["illness"]
    assert found.t_equal == pytest.approx(5 / 8 - 3 / 6)
    alone = audit(problem.release(labels).frame, quasi=["age", "town"], sensitive="illness")
    assert alone.sensitive["illness"].t_equal == 0
    compared = audit(problem.release(labels).frame, quasi=["age", "town"], sensitive="illness", original=people)
    assert compared.sensitive["illness"].t_equal == found.t_equal


def test_conditions_that_only_hold_without_some_are_not_called_impossible():
    people = PEOPLE.assign(illness=["flu"] * 5 + ["cold"] * 3)
    assert Microaggregation(k=2, most_share=0.5).build(table(people)).impossible()
    assert Microaggregation(k=2, most_share=0.5, suppress=0.25).build(table(people)).impossible() is None
    assert "left out help" in Microaggregation(k=2, distinct_l=3, suppress=0.25).build(table(people)).impossible()
    solution = Mdav().solve(Microaggregation(k=2, most_share=0.5, suppress=0.25).build(table(people)))
    assert left_out(solution.require()) == 2


@pytest.mark.parametrize("solver", [Mdav(), Mondrian()])
def test_a_solver_that_knows_nothing_of_it_leaves_out_who_pays(solver):
    ages = table(quasi={"age": "numeric"}, others="drop")
    problem = Microaggregation(k=2, suppress=0.2, suppression_price=0.01).build(ages)
    solution = solver.solve(problem)
    assert solution.require()[7] == LEFT_OUT
    everyone = solver.solve(Microaggregation(k=2).build(ages))
    assert solution.value < everyone.value
    assert solution.bound is None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 4), st.booleans())
def test_savings_are_what_the_price_says(seed, most, whole):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": draw.integers(0, 50, 12), "town": draw.choice(list("abc"), 12)})
    frame["illness"] = draw.choice(["flu", "cold"], 12)
    people = table(frame)
    price, test = spread(people), Conditions(k=2).compile(people)
    plain = PlainPrice(price.of, 12)
    labels = np.repeat([0, 1, 2], 4)
    found = list(savings(price, test, labels, most, whole=whole))
    saved = sum(one.each * len(one.rows) for one in found)
    assert price.total(labels) - price.total(without(labels, found)) == pytest.approx(saved)
    assert left_out(without(labels, found)) <= most
    same = list(savings(plain, test, labels, most, whole=whole))
    assert sum(one.each * len(one.rows) for one in same) == pytest.approx(saved)


values = st.one_of(st.integers(-5, 5), st.floats(-2, 2), st.text("ab*", max_size=2), st.booleans(), st.none())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.text("ab", min_size=1, max_size=2), values), min_size=1, max_size=8),
    st.integers(1, 4),
)
def test_rows_that_say_nothing_are_told_from_all_others(rows, count):
    frame = pd.DataFrame(rows, columns=["age", "town", "other"])
    longer = with_suppressed(frame, count)
    kept, found = without_suppressed(longer)
    assert found == count
    assert (
        kept.astype(object).where(kept.notna(), None).to_numpy().tolist()
        == frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    )


def test_brute_force_leaves_out_the_outlier():
    labels, found = brute_force(Microaggregation(k=2, suppress=0.2, suppression_price=0.01).build(table()))
    assert labels.tolist()[7] == LEFT_OUT
    assert found.feasible
