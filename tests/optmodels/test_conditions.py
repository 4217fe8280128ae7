from math import exp, log
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels import Conditions, Hierarchy, Table
from optmodels.conditions import CONDITIONS, count_values, fewest_values, meets
from optmodels.errors import BrokenPromiseError, InputError
from optmodels.partition import canonical
from optmodels.release import release
from optmodels.testing import small_table


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 1}, "k must be a whole number of at least 2, not 1"),
        ({"k": 2.5}, "not 2.5"),
        ({"k": True}, "not True"),
        ({"k": 3, "distinct_l": 0}, "distinct_l"),
        ({"k": 3, "entropy_l": 0.5}, "entropy_l"),
        ({"k": 3, "t": -0.1}, "t must be a distance"),
        ({"k": 3, "t": float("nan")}, "t must be a distance"),
        ({"k": 3, "t": float("inf")}, "t must be a distance"),
        ({"k": 3, "t": 20}, "from 0 where they are equal to 1 where they have nothing in common, not 20"),
        ({"k": 3, "t": 1.5}, "not 1.5"),
        ({"k": 3, "t": 2.5, "t_distance": "variational"}, "to 2 where they have nothing in common, not 2.5"),
        ({"k": 3, "t": {"pay": 3}}, "t of 'pay' must be a distance"),
        ({"k": 3, "t": {}}, "t names no attribute"),
        ({"k": 3, "t_distance": "emdd"}, "Did you mean 'emd'"),
        ({"k": 3, "t": 0.3, "t_distance": {"pay": "emdd"}}, "no t_distance of 'pay' 'emdd'. Did you mean 'emd'"),
        ({"k": 3, "recursive": 3}, r"recursive must be a pair \(c, l\)"),
        ({"k": 3, "recursive": (0, 2)}, "c of recursive must be positive"),
        ({"k": 3, "recursive": {"pay": (3, 1.5)}}, "l of recursive of 'pay' must be a whole number"),
        ({"k": 3, "most_share": 0}, "most_share must be positive"),
        ({"k": 3, "most_share": 1.1}, "above 0 and at most 1, not 1.1"),
        ({"k": 3, "beta": -1}, "beta must not be negative"),
        ({"k": 3, "beta": 1, "beta_kind": "enhance"}, "Did you mean 'enhanced'"),
        ({"k": 3, "delta": 0}, "delta must be positive"),
    ],
)
def test_wrong_parameters_are_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Conditions(**wrong)  # type: ignore[arg-type]


def test_k_beyond_the_table_and_no_sensitive_attribute() -> None:
    with pytest.raises(InputError, match="k=9 is more than the table's 8 records"):
        Conditions(k=9).compile(small_table(8))
    with pytest.raises(InputError, match="the table has none: name at least one column as sensitive"):
        Conditions(k=2, distinct_l=2).compile(small_table(8, sensitive=0))


def test_what_cannot_hold_is_said_beforehand() -> None:
    table = small_table(8, values=2)
    assert "only 2 distinct values" in str(Conditions(k=2, distinct_l=3).impossible(table))
    assert "in the whole table" in str(Conditions(k=2, entropy_l=2.5).impossible(table))
    assert Conditions(k=2, distinct_l=2, t=0.0).impossible(table) is None


KINDS = st.sampled_from(
    [
        {"distinct_l": 2},
        {"distinct_l": 3},
        {"entropy_l": 1.5},
        {"entropy_l": 2.2},
        {"recursive": (0.7, 1)},
        {"recursive": (2, 2)},
        {"recursive": (1.5, 3)},
        {"recursive": (3.0, 3)},
        {"most_share": 0.5},
        {"most_share": 0.7},
        {"beta": 0.4},
        {"beta": 1.5},
        {"beta": 0.8, "beta_kind": "enhanced"},
        {"beta": 5.0, "beta_kind": "enhanced"},
        {"delta": 0.5},
        {"delta": log(2)},
        {"delta": 1.5},
        {"t": 0.2},
        {"t": 0.3, "t_distance": "equal"},
        {"t": 0.5, "t_distance": "variational"},
        {"t": 0.2, "t_distance": "ordered"},
        {"t": 0.25, "t_distance": "hierarchical"},
    ]
)
TREE = Hierarchy("uvwx", [["uv", "uv", "wx", "wx"], ["*"] * 4])


def table_of(seed: int, n: int = 14) -> Table:
    """Two sensitive attributes with an order and a hierarchy each."""
    draw = np.random.default_rng(seed)
    secrets = {f"secret_{j}": draw.choice(list("uvwx"), n, p=draw.dirichlet(np.full(4, 2.0))) for j in range(2)}
    frame = pd.DataFrame({"age": range(n), **secrets})
    roles: dict[str, Any] = {
        "orders": {name: list("uvwx") for name in secrets},
        "hierarchies": dict.fromkeys(secrets, TREE),
    }
    return Table(frame, quasi={"age": "numeric"}, sensitive=list(secrets), **roles)


def plainly(asked: dict[str, Any], inside: list[str], whole: list[str]) -> bool:
    """The definitions, written down once more: does a class with these values of one attribute satisfy them?"""
    size, values = len(inside), sorted(set(whole))
    p = {v: inside.count(v) / size for v in values}
    q = {v: whole.count(v) / len(whole) for v in values}
    counts = sorted((inside.count(v) for v in values), reverse=True)
    distances = {
        "variational": sum(abs(p[v] - q[v]) for v in values),
        "equal": sum(abs(p[v] - q[v]) for v in values) / 2,
        "ordered": sum(abs(sum(p.get(v, 0) - q.get(v, 0) for v in "uvwx"[: i + 1])) for i in range(3)) / 3,
        "hierarchical": (
            sum(abs(p[v] - q[v]) for v in values)
            + sum(abs(sum(p.get(v, 0) - q.get(v, 0) for v in pair)) for pair in ("uv", "wx"))
        )
        / 4,
    }
    distances["emd"] = distances["hierarchical"]
    kind = asked.get("beta_kind", "basic")
    tests = {
        "distinct_l": lambda l_: len(set(inside)) >= l_,
        "entropy_l": lambda l_: exp(-sum(x * log(x) for x in p.values() if x)) >= l_ - 1e-9,
        "recursive": lambda pair: counts[0] < pair[0] * sum(counts[pair[1] - 1 :]),
        "most_share": lambda most: all(x <= most + 1e-12 for x in p.values()),
        "beta": lambda beta: all(
            (p[v] - q[v]) / q[v] <= (beta if kind == "basic" else min(beta, -log(q[v]))) + 1e-12 for v in values
        ),
        "delta": lambda delta: all(p[v] > 0 and abs(log(p[v] / q[v])) < delta - 1e-12 for v in values),
        "t": lambda t: distances[asked.get("t_distance", "emd")] <= t + 1e-9,
    }
    return all(test(asked[name]) for name, test in tests.items() if name in asked)


@settings(max_examples=300, deadline=None)
@given(KINDS, st.booleans(), st.integers(0, 10_000), st.integers(2, 14))
def test_compiled_test_agrees_with_the_definitions(asked: dict[str, Any], alone: bool, seed: int, size: int) -> None:
    table = table_of(seed)
    rows = np.random.default_rng(seed).choice(14, size, replace=False)
    given = {name: {"secret_1": value} for name, value in asked.items()} if alone else asked
    conditions = Conditions(k=3, **given)
    test = conditions.compile(table)
    expected = {
        name: plainly(asked, table.frame[name].iloc[rows].tolist(), table.frame[name].tolist())
        for name in table.sensitive
        if name == "secret_1" or not alone
    }
    assert meets(test, count_values(test, rows), size) == (size >= 3 and all(expected.values()))
    labels = np.ones(14, np.int64)
    labels[rows] = 0
    others = np.flatnonzero(labels == 1)
    kept = [all(expected.values())]
    if len(others):
        values = [table.frame[name] for name in expected]
        kept.append(all(plainly(asked, one.iloc[others].tolist(), one.tolist()) for one in values))
    name = next(name for name in asked if name in CONDITIONS)
    assert conditions.violations(test, labels)[name] == kept.count(False)


@settings(max_examples=300, deadline=None)
@given(KINDS, KINDS, st.integers(0, 10_000), st.integers(2, 8))
def test_the_union_of_two_classes_that_meet_conditions_meets_them(
    one: dict[str, Any], other: dict[str, Any], seed: int, size: int
) -> None:
    test = Conditions(k=2, **{**other, **one}).compile(table_of(seed, 60))
    order = np.random.default_rng(seed).permutation(60)
    first, second = order[:size], order[size : 2 * size + 1]
    if all(meets(test, count_values(test, rows), len(rows)) for rows in (first, second)):
        together = np.concatenate([first, second])
        assert meets(test, count_values(test, together), len(together))


@settings(max_examples=150, deadline=None)
@given(KINDS, st.integers(0, 10_000), st.integers(1, 4))
def test_the_audit_of_a_release_agrees_with_the_judge(asked: dict[str, Any], seed: int, classes: int) -> None:
    table, conditions = table_of(seed), Conditions(k=2, **asked)
    labels = canonical(np.random.default_rng(seed).permutation(np.arange(14) % classes))
    kept = not any(conditions.violations(conditions.compile(table), labels).values())
    if kept:
        made = release(table, labels, promise=conditions, method="interval")
        assert made.audit.promise == conditions.to_dict()
    else:
        with pytest.raises(BrokenPromiseError, match="'secret_"):
            release(table, labels, promise=conditions, method="interval")


@settings(max_examples=150, deadline=None)
@given(KINDS, st.integers(0, 10_000))
def test_what_is_impossible_does_not_hold_for_everyone_together(asked: dict[str, Any], seed: int) -> None:
    table, conditions = table_of(seed), Conditions(k=2, **asked)
    test = conditions.compile(table)
    everyone = bool(meets(test, count_values(test, np.arange(14)), 14))
    assert (conditions.impossible(table) is None) == everyone


@settings(max_examples=100, deadline=None)
@given(KINDS, st.integers(0, 10_000), st.integers(2, 8))
def test_classes_have_as_many_values_as_they_must(asked: dict[str, Any], seed: int, size: int) -> None:
    test = Conditions(k=2, **asked).compile(table_of(seed))
    counts = count_values(test, np.random.default_rng(seed).choice(14, size, replace=False))
    if meets(test, counts, size):
        for j in range(2):
            assert (counts[test.starts[j] : test.starts[j + 1]] > 0).sum() >= fewest_values(test, j)


@pytest.mark.parametrize(("share", "values"), [(1.0, 1), (0.999, 2), (0.5, 2), (0.4999, 3), (1 / 3, 3), (0.26, 4)])
def test_so_many_values_as_their_largest_shares_need(share: float, values: int) -> None:
    test = Conditions(k=2, most_share=share).compile(table_of(0))
    assert [fewest_values(test, j) for j in range(2)] == [values, values]


def test_conditions_of_single_attributes_are_described_and_kept_apart() -> None:
    conditions = Conditions(k=2, t={"pay": 0.2}, t_distance={"pay": "ordered"}, beta=1.0, beta_kind={"pay": "enhanced"})
    assert (
        conditions.describe() == "k >= 2, beta <= 1 (basic), beta <= 1 (enhanced) of 'pay', t <= 0.2 (ordered) of 'pay'"
    )
    assert conditions.to_dict() == {
        "k": 2,
        "beta": 1.0,
        "beta_kind": {"pay": "enhanced"},
        "t": {"pay": 0.2},
        "t_distance": {"pay": "ordered"},
    }
    assert Conditions(k=2, t_distance="ordered").to_dict() == {"k": 2}
    assert (conditions.of("illness").t, conditions.of("pay").beta_kind) == (None, "enhanced")


def test_attributes_and_grounds_that_the_table_does_not_have_are_named() -> None:
    table = small_table(8)
    with pytest.raises(InputError, match=r"no sensitive attribute 'secret'\. Did you mean 'secret_0'"):
        Conditions(k=2, distinct_l={"secret": 2}).compile(table)
    with pytest.raises(InputError, match="needs a hierarchy of 'secret_0' and the table has none"):
        Conditions(k=2, t=0.2, t_distance="hierarchical").compile(table)
    with pytest.raises(InputError, match="needs an order of the values of 'secret_0'"):
        Conditions(k=2, t=0.2, t_distance={"secret_0": "ordered"}).compile(table)


def test_ordered_sensitive_attributes_use_the_ordered_distance() -> None:
    frame = pd.DataFrame({"age": range(6), "pay": [10, 10, 20, 20, 30, 30]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="pay", ordered="pay")
    labels = np.array([0, 0, 0, 1, 1, 1])
    # Class {10, 10, 20}: prefix differences 1/3, 1/3 over m - 1 = 2 steps give 1/3; equal distance gives 1/3 too,
    # but class {10, 10} against the table is 1/2 ordered ((2/3 + 1/3) / 2) and 2/3 equal.
    assert Conditions(k=2, t=0.34).violations(Conditions(k=2, t=0.34).compile(table), labels) == {"k": 0, "t": 0}
    pair = np.array([0, 0, 1, 1, 1, 1])
    for t, broken in ((0.49, 1), (0.51, 0)):
        assert Conditions(k=2, t=t).violations(Conditions(k=2, t=t).compile(table), pair)["t"] == broken
