"""Cuts over all classes that can matter: the same optimum as by branching, and bounds that are true on the way."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from formulations import Microaggregation
from optmodels import Conditions, Status, Table
from optmodels.testing import brute_force, small_table
from solvers import Columns, solve
from solvers.columns import finish, pool
from tests.solvers.test_columns import problem_of


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the gap is, and however few classes there are."""
    monkeypatch.setattr(finish, "_CLOSE", np.inf)
    monkeypatch.setattr(pool, "_FEW", 0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("kind", ["spread", "extent"])
@pytest.mark.parametrize("n_classes", [None, 2])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_brute_force(seed: int, n_classes: int | None, kind: str) -> None:
    problem = problem_of(small_table(8, seed=seed, repeated=bool(seed % 2)), Conditions(k=2), kind, n_classes)
    best = brute_force(problem)
    assert best is not None
    found = solve(problem, solver=Columns(cuts_a_round=0))
    assert found.status is Status.OPTIMAL
    assert found.value == pytest.approx(best[1].values["loss"], rel=1e-7, abs=1e-9)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_branching_and_classes_go(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": draw.normal(size=36), "y": draw.normal(size=36)})
    problem = Microaggregation(k=3).build(Table(frame, quasi={"x": "numeric", "y": "numeric"}))
    by_branching = solve(problem, solver=Columns(cuts_a_round=0, enumeration=0))
    bounds: list[float] = []
    proved = finish.Proof.prove
    monkeypatch.setattr(
        finish.Proof, "prove", lambda proof, bound: bounds.append(bound * proof.scale) or proved(proof, bound)
    )
    found = solve(problem, solver=Columns(cuts_a_round=0))
    assert found.status is by_branching.status is Status.OPTIMAL
    assert found.value is not None
    assert found.value == pytest.approx(by_branching.value, rel=1e-9)
    assert max(bounds) <= found.value * (1 + 1e-9)
    if seed == 0:  # the others are settled before
        assert 0 < found.details["left"] < found.details["listed"]  # type: ignore[operator]
