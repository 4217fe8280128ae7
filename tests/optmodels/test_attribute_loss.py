"""What is lost of each quasi-identifier: one number per attribute, of what one class of everybody would lose."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import MajeedHwang, Microaggregation, MoObam
from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.metrics.loss import all_but_lost, attribute_losses, gcp, information_loss
from optmodels.partition import canonical
from optmodels.release import release
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from solvers.mdav import Mdav

ORDER = ["low", "middle", "high", "top"]


@st.composite
def tables(draw):
    n = draw(st.integers(2, 25))

    def column(values):
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pd.DataFrame({"age": column([20, 31, 45, 60]), "job": column(["a", "b", "c"]), "grade": column(ORDER)})
    quasi = {"age": "numeric", "job": "categorical", "grade": "ordinal"}
    labels = canonical(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    return Table(frame, quasi=quasi, orders={"grade": ORDER}).with_hierarchies(), labels


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from(["centroid", "interval", "hierarchy"]))
def test_everybody_alone_loses_nothing_and_one_class_all_that_there_is(case, method):
    table, labels = case
    alone = attribute_losses(table, np.arange(table.n), method)
    together = attribute_losses(table, np.zeros(table.n, np.int64), method)
    between = attribute_losses(table, labels, method)
    assert alone == dict.fromkeys(table.quasi, 0.0)
    for name in table.quasi:
        varied = table.frame[name].nunique() > 1
        if method == "hierarchy":
            assert together[name] == (1.0 if varied else 0.0) or 0 < together[name] < 1  # a node below the root
        else:
            assert together[name] == pytest.approx(float(varied))
        assert between[name] >= 0


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from(["none", "standard", "range"]), st.floats(0.01, 100))
def test_neither_scaling_nor_weights_change_it(case, scaling, weight):
    table, labels = case
    other = table.rescaled(scaling=scaling, weights={"age": weight}, gamma=weight)
    assert attribute_losses(other, labels) == pytest.approx(attribute_losses(table, labels))


@settings(max_examples=25, deadline=None)
@given(tables(), st.sampled_from(["centroid", "interval", "hierarchy"]), st.data())
def test_parts_add_up_to_the_whole(case, method, data):
    table, labels = case
    classes = int(labels.max()) + 1
    side = np.array(data.draw(st.lists(st.booleans(), min_size=classes, max_size=classes)))[labels]
    parts = [np.flatnonzero(side), np.flatnonzero(~side)]
    found = [attribute_losses(table.part(rows), canonical(labels[rows]), method) for rows in parts if rows.size]
    added = {name: sum(part[name] for part in found) for name in table.quasi}
    assert added == pytest.approx(attribute_losses(table, labels, method))


def test_intervals_lose_on_the_mean_what_gcp_says():
    frame = pd.DataFrame({"age": [1, 2, 8, 9], "job": ["a", "b", "c", "c"]})
    table = Table(frame, quasi={"age": "numeric", "job": "categorical"})
    labels = np.array([0, 0, 1, 1])
    losses = attribute_losses(table, labels, "interval")
    assert losses == pytest.approx({"age": 1 / 8, "job": 1 / 4})
    assert sum(losses.values()) / 2 == pytest.approx(gcp(table, labels))


def test_trees_are_climbed_by_those_who_have_one_and_others_are_intervals():
    """Grades have a tree of four leaves, jobs one of three, and ages none."""
    frame = pd.DataFrame({"age": [1, 2, 8, 9], "job": list("abcc"), "grade": ["low", "middle", "high", "high"]})
    jobs, grades = Hierarchy("abc", [["x", "x", "y"]]), Hierarchy(ORDER, [["l", "l", "h", "h"]])
    quasi = {"age": "numeric", "job": "categorical", "grade": "ordinal"}
    table = Table(frame, quasi=quasi, orders={"grade": ORDER}, hierarchies={"job": jobs, "grade": grades})
    labels = np.array([0, 0, 1, 1])
    shares = {"age": 1 / 8, "job": 1 / 2 / 2, "grade": 1 / 3 / 2}
    assert attribute_losses(table, labels, "hierarchy") == pytest.approx(shares)
    assert gcp(table, labels, method="hierarchy") == pytest.approx(sum(shares.values()) / 3)
    # intervals of grades are ranks, of which only three occur
    of_ranks = attribute_losses(table, labels, "interval")
    assert of_ranks["age"] == pytest.approx(1 / 8)
    assert of_ranks["grade"] == pytest.approx(1 / 2 / 2)
    assert gcp(table, labels) == pytest.approx(sum(of_ranks.values()) / 3)
    with pytest.raises(InputError, match="'age' has no hierarchy"):
        attribute_losses(table, labels, "hierarchy", levels=np.ones((2, 3), np.int64))
    whole = table.with_hierarchies()
    levels = np.array([[0, 2, 1], [0, 0, 2]])
    assert attribute_losses(whole, labels, "hierarchy", levels=levels) == pytest.approx(
        {"age": 0.0, "job": 2 * 1.0 / 4, "grade": (2 * (1 / 3) + 2 * 1.0) / 4}
    )
    assert gcp(whole, labels, levels) == pytest.approx((0.5 + 2 / 3) / 3)


def test_one_number_alone_is_the_information_loss():
    table = Table(pd.DataFrame({"age": [20, 22, 50, 52, 70]}), quasi={"age": "numeric"})
    labels = np.array([0, 0, 1, 1, 1])
    lost = attribute_losses(table.rescaled(scaling="standard"), labels)["age"]
    assert lost == pytest.approx(information_loss(table, labels), rel=0.02)


def test_a_release_tells_what_is_all_but_lost():
    """A number that varies more than others takes all of the classes: the others are lost, and the audit says so."""
    draw = np.random.default_rng(3)
    frame = pd.DataFrame({"income": draw.integers(10_000, 90_000, 60), "age": draw.integers(18, 90, 60)})
    table = Table(frame, quasi={"income": "numeric", "age": "numeric"}, scaling="none")
    best = Mdav().solve(Microaggregation(k=5).build(table))
    audit = best.release().audit
    assert audit.attribute_loss["income"] < 0.1
    assert audit.attribute_loss == pytest.approx(best.attribute_losses)
    spread = release(table, np.zeros(60, np.int64), promise=Conditions(k=2)).audit
    assert spread.all_but_lost == ("income", "age")
    assert "all but lost" in str(spread)
    assert json.loads(spread.to_json())["all_but_lost"] == ["income", "age"]
    assert all_but_lost({"age": 0.89, "sex": 0.9}) == ("sex",)


def test_a_model_with_levels_of_its_own_is_measured_on_them():
    frame = pd.DataFrame({"age": [1, 2, 8, 9], "job": ["a", "b", "a", "b"], "ill": ["x", "y", "x", "y"]})
    table = Table(frame, quasi={"age": "numeric", "job": "categorical"}, sensitive="ill")
    problem = MajeedHwang(k=2).build(table)
    labels = np.array([0, 1, 0, 1])
    assert problem.attribute_losses(labels) == problem.release(labels).audit.attribute_loss
    chosen = MoObam(k=2).build(table).with_objectives("loss", "linkage")
    assert chosen.attribute_losses(labels) == chosen.release(labels).audit.attribute_loss
