"""Skewness and similarity attacks: counted record by record, and shut out by conditions."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from formulations import Microaggregation
from optmodels import Conditions, Table
from optmodels.audit import audit
from optmodels.audit.levels import worse
from optmodels.cli import app
from optmodels.cli.guarding import guarded
from optmodels.conditions import against
from optmodels.conditions.attacks import least_distance
from optmodels.errors import InputError
from optmodels.metrics import risk
from optmodels.metrics.privacy import Transport
from optmodels.objectives import objective_named
from optmodels.partition import canonical, histograms
from optmodels.table.hierarchy import Hierarchy
from optmodels.testing import partitions
from solvers import pareto, solve

DRUGS = Hierarchy(
    ["a1", "a2", "b1", "b2", "b3"], [["A", "A", "B", "B", "B"], ["letters", "letters", "letters", "letters", "letters"]]
)
GROUNDS = ("equal", "ordered", "hierarchical")


def table_of(ground: str, secrets: list[str]) -> Table:
    frame = pd.DataFrame({"age": np.arange(len(secrets)) * 3 % 7, "secret": secrets})
    known = {
        "equal": {},
        "ordered": {"orders": {"secret": ["a1", "a2", "b1", "b2", "b3"]}},
        "hierarchical": {"hierarchies": {"secret": DRUGS}},
    }
    return Table(frame, quasi={"age": "numeric"}, sensitive="secret", **known[ground])  # type: ignore[arg-type]


def distance(table: Table, ground: str, one: str, other: str) -> float:
    """How far apart two values are, from the definition alone."""
    if one == other:
        return 0.0
    if ground == "equal":
        return 1.0
    if ground == "ordered":
        levels = table.sensitive_levels[0].tolist()
        return abs(levels.index(one) - levels.index(other)) / (len(levels) - 1)
    return 0.5 if one[0] == other[0] else 1.0


secret_lists = st.lists(st.sampled_from(["a1", "a2", "b1", "b2", "b3"]), min_size=6, max_size=12)


@settings(max_examples=60, deadline=None)
@given(secret_lists, st.sampled_from(GROUNDS), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.integers(0, 99))
def test_similarity_is_the_definition_pair_by_pair(secrets: list[str], ground: str, apart: float, seed: int) -> None:
    table = table_of(ground, secrets)
    labels = canonical(np.random.default_rng(seed).integers(0, 4, len(secrets)))
    found = objective_named(f"similarity@{apart}", table).measure(labels)  # type: ignore[misc]
    expected = 0
    for c in range(labels.max() + 1):
        inside = [value for value, label in zip(secrets, labels, strict=True) if label == c]
        alike = all(distance(table, ground, one, other) <= apart for one, other in combinations(inside, 2))
        expected += len(inside) * alike
    assert found == expected


@settings(max_examples=60, deadline=None)
@given(secret_lists, st.sampled_from([1.0, 1.5, 2.0, 3.0]), st.integers(0, 99))
def test_skewness_is_the_definition_and_nobody_is_open_where_beta_holds(
    secrets: list[str], factor: float, seed: int
) -> None:
    table = table_of("equal", secrets)
    labels = canonical(np.random.default_rng(seed).integers(0, 3, len(secrets)))
    found = objective_named(f"skewness@{factor}", table).measure(labels)  # type: ignore[misc]
    expected = 0
    for c in range(labels.max() + 1):
        inside = [value for value, label in zip(secrets, labels, strict=True) if label == c]
        more = [inside.count(v) * len(secrets) > factor * secrets.count(v) * len(inside) for v in set(inside)]
        expected += len(inside) * any(more)
    assert found == expected
    kept = Conditions(2, beta=factor - 1)
    assert (found == 0) == (kept.violations(kept.compile(table), labels)["beta"] == 0)


@settings(max_examples=25, deadline=None)
@given(secret_lists, st.sampled_from(GROUNDS), st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 10_000))
def test_a_class_within_alike_values_is_never_nearer_to_the_table_than_the_least_distance(
    secrets: list[str], ground: str, apart: float, seed: int
) -> None:
    table = table_of(ground, secrets)
    transport, shares = Conditions().transport(table, 0), table.sensitive_shares
    least = least_distance(shares, transport, apart)
    levels, draw = table.sensitive_levels[0].tolist(), np.random.default_rng(seed)
    nearest = np.inf
    for many in range(1, len(levels) + 1):
        for chosen in combinations(range(len(levels)), many):
            if any(distance(table, ground, levels[a], levels[b]) > apart for a, b in combinations(chosen, 2)):
                continue
            # all that lies outside goes to the nearest value inside: no distribution over these values is nearer
            near = [min(distance(table, ground, value, levels[c]) for c in chosen) for value in levels]
            nearest = min(nearest, float(shares @ near))
            p = np.zeros(len(levels))
            p[list(chosen)] = draw.dirichlet(np.ones(many))
            prefix = np.concatenate([[0.0], np.cumsum((p - shares)[transport.order])])
            moved = transport.weight @ np.abs(prefix[transport.high] - prefix[transport.low])
            assert moved >= least - 1e-9
    assert least == pytest.approx(nearest)


@pytest.mark.parametrize("ground", GROUNDS)
def test_conditions_against_attacks_leave_nobody_open(ground: str) -> None:
    table = table_of(ground, ["a1", "b1", "a2", "b2", "b3", "a1", "b1"])
    asked = against(table, skewness=2.0, similarity=0.25)
    conditions = Conditions(2, **asked)
    test = conditions.compile(table)
    attacks = [objective_named(name, table).measure for name in ("skewness@2", "similarity@0.25")]
    kept = [labels for labels in partitions(7) if not any(conditions.violations(test, labels).values())]
    assert len(kept) >= 1
    assert all(measure(labels) == 0 for labels in kept for measure in attacks if measure is not None)


def test_solvers_keep_what_is_asked_against_attacks_and_fronts_count_the_people() -> None:
    draw = np.random.default_rng(1)
    table = table_of("ordered", draw.choice(["a1", "a2", "b1", "b2", "b3"], 40).tolist())
    model = guarded(Microaggregation(k=3), table, ["skewness@2.5", "similarity@0.25"])
    problem = model.build(table)
    solution = solve(problem, solver="mondrian")
    assert solution.labels is not None
    for name in ("skewness@2.5", "similarity@0.25"):
        assert objective_named(name, table).measure(solution.labels) == 0  # type: ignore[misc]
    judged = Microaggregation(k=3).build(table).with_objectives("loss", "skewness@2.5", "similarity@0.25")
    front = pareto(judged, solver="nsga2", options={"evaluations": 100}, seed=0)
    for point in front:
        again = judged.evaluate(point.labels).values  # type: ignore[arg-type]
        assert point.values == again
    assert len({point.values["skewness@2.5"] for point in front}) > 1


def test_homogeneity_of_all_attributes_is_not_that_of_any() -> None:
    frame = pd.DataFrame({"age": range(6), "one": list("aabbcc"), "two": list("xyzzyy")})
    table = Table(frame, quasi={"age": "numeric"}, sensitive=["one", "two"])
    labels = np.array([0, 0, 1, 1, 2, 2])
    both = {name: objective_named(name, table).measure(labels) for name in ("homogeneity", "homogeneity-all")}  # type: ignore[misc]
    assert both == {"homogeneity": 6, "homogeneity-all": 4}


def test_what_is_not_said_is_twice_as_frequent_and_half_apart() -> None:
    found = histograms([0] * 4 + [1] * 4, [1, 1, 1, 0, 0, 0, 0, 0])
    for share, open_to_it in ((0.3, 4), (0.4, 0)):  # of all who have the value that 3/4 of the first class have
        assert risk.skewness([found], [np.array([1 - share, share])]) == open_to_it
    pay = histograms([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 3, 4])  # half of an order of five, and all of it
    assert risk.similarity([pay], [Transport.ordered(5)]) == 3
    assert risk.homogeneity_of_all([histograms([0, 0, 1, 1], [2, 2, 0, 1])]) == 2


def test_attacks_are_asked_for_in_words_that_make_sense() -> None:
    table = table_of("ordered", ["a1", "a2", "b1", "b2", "b3"])
    assert against(table, skewness=1.5) == {"beta": 0.5}
    with pytest.raises(InputError, match="at least 1"):
        against(table, skewness=0.5)
    with pytest.raises(InputError, match="from 0 to below 1"):
        against(table, similarity=1.0)
    with pytest.raises(InputError, match="a factor of at least 1"):
        objective_named("skewness@0.5", table)
    with pytest.raises(InputError, match="a distance between 0 and 1"):
        objective_named("similarity@2", table)
    with pytest.raises(InputError, match="Did you mean 'skewness'"):
        guarded(Microaggregation(k=2), table, ["skewnes@2"])
    with pytest.raises(InputError, match="by another"):
        guarded(Microaggregation(k=2, t=0.3, t_distance="equal"), table, ["similarity@0.5"])
    alike = Table(pd.DataFrame({"age": [1, 2], "pay": ["x", "x"]}), quasi={"age": "numeric"}, sensitive="pay")
    with pytest.raises(InputError, match="nothing shuts out"):
        against(alike, similarity=0.5)
    stricter = guarded(Microaggregation(k=2, beta={"secret": 0.2}, t=0.01), table, ["skewness@3", "similarity@0.25"])
    assert stricter.beta == {"secret": 0.2}
    assert stricter.t == {"secret": 0.01}


def test_no_class_is_open_to_anything() -> None:
    nothing = risk.similarity([], []), risk.skewness([], []), risk.homogeneity_of_all([])
    assert nothing == (0, 0, 0)
    with pytest.raises(InputError, match="at least 1"):
        risk.skewness([], [], factor=0.0)
    with pytest.raises(InputError, match="from 0 to 1"):
        risk.similarity([], [], apart=-1)


def test_distances_between_values_are_those_of_moving_all_of_one_to_the_other() -> None:
    for transport in (
        Transport.ordered(5),
        Transport.equal(5),
        Transport.hierarchical(DRUGS, ["b3", "a1", "b1", "a2", "b2"]),
    ):
        for one in range(5):
            for other in range(5):
                mass = np.zeros(5)
                mass[one] += 1.0
                mass[other] -= 1.0
                prefix = np.concatenate([[0.0], np.cumsum(mass[transport.order])])
                moved = float(transport.weight @ np.abs(prefix[transport.high] - prefix[transport.low]))
                assert transport.between(np.array([one]), np.array([other]))[0] == pytest.approx(moved)


def test_the_command_promises_what_shuts_attacks_out(tmp_path: Path) -> None:
    draw = np.random.default_rng(2)
    frame = pd.DataFrame({"age": draw.integers(20, 60, 40), "ill": draw.choice(["a", "b", "c"], 40)})
    frame.to_csv(tmp_path / "people.csv", index=False)
    words = ["anonymize", str(tmp_path / "people.csv"), "--numeric", "age", "--sensitive", "ill", "--k", "3"]
    words += ["--solver", "mondrian", "--json"]
    made = CliRunner().invoke(app, [*words, "--against", "skewness@2,similarity@0.2"])
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)["audit"]
    assert found["promise"]["beta"] == 1.0
    assert found["sensitive"]["ill"]["basic_beta"] <= 1.0 + 1e-8
    assert found["sensitive"]["ill"]["t_equal"] <= found["promise"]["t"]["ill"] + 1e-8
    refused = CliRunner().invoke(app, [*words, "--against", "linkage@0.1"])
    assert refused.exit_code == 1
    assert "skewness" in refused.output


def test_an_audit_counts_them_by_attribute_and_parts_add_up() -> None:
    frame = pd.DataFrame({"age": [1] * 4 + [2] * 4, "pay": ["a", "a", "b", "b", "c", "d", "e", "e"]})
    order = {"pay": ["a", "b", "c", "d", "e"]}
    found = audit(frame, quasi=["age"], sensitive=["pay"], ordered=order)
    assert (found.sensitive["pay"].skewed, found.sensitive["pay"].alike) == (0, 8), "each half holds half of the order"
    wider = audit(
        frame.assign(pay=["a", "a", "b", "e", "c", "d", "e", "a"]), quasi=["age"], sensitive=["pay"], ordered=order
    )
    assert wider.sensitive["pay"].alike == 0
    labels, table = np.array([0] * 4 + [1] * 4), table_of("equal", ["a1"] * 2 + ["b1"] * 2 + ["b2", "b2", "b3", "a2"])
    assert objective_named("skewness@1.9", table).measure(labels) == 8  # type: ignore[misc]
    doubled = worse(found.sensitive["pay"], found.sensitive["pay"])
    assert (doubled.skewed, doubled.alike) == (0, 16)
    assert "8 (100.0%)" in str(found)
