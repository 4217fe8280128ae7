"""Numbers far from zero that differ by little, and numbers too near to each other for a computer."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels import Table, registry
from optmodels.errors import InputError
from optmodels.problem import Formulation
from optmodels.solution import Status
from optmodels.testing import check_solution


def table(offset: float, width: float, n: int = 10, seed: int = 0) -> Table:
    # eighths, so that numbers around 1e14 are exactly those around 0, moved
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({name: offset + width * draw.integers(0, 64, n) / 8 for name in "ab"})
    return Table(frame.assign(s=draw.choice(list("xyz"), n)), quasi={"a": "numeric", "b": "numeric"}, sensitive="s")


@cache
def value_around_zero(solver: str, model: Formulation, n: int, seed: int) -> float | None:
    """The same for every place that it is compared with."""
    here = model.build(table(0.0, 1.0, n, seed))
    kind = registry.solver(solver)()
    assert kind.refuses(here) is None
    return kind.solve(here, time_limit=60).value


@pytest.mark.parametrize("model", [Microaggregation(k=3), MoObam(k=3), LiangSamavi(k=3)], ids=lambda model: model.name)
@pytest.mark.parametrize("offset", [1e10, 1e12, -1e14])
@pytest.mark.parametrize("solver", ["columns", "milp", "mdav"])
def test_where_a_table_lies_does_not_matter(solver: str, model: Formulation, offset: float) -> None:
    for seed in range(2):
        n = 8 if solver == "milp" else 10  # a model of pairs takes ten times as long for two records more
        there = model.build(table(offset, 1.0, n, seed))
        kind = registry.solver(solver)()
        found = kind.solve(there, time_limit=60)
        check_solution(found)
        assert found.value == pytest.approx(value_around_zero(solver, model, n, seed), rel=1e-9, abs=1e-12)
        if kind.exact and found.stop == "converged":
            assert found.status is Status.OPTIMAL


def test_values_are_those_of_the_table_as_it_is() -> None:
    here, there = (MoObam(k=3).build(table(place, 1.0)) for place in (0.0, 1e12))
    labels = np.arange(10) % 3
    assert there.values(labels) == pytest.approx(here.values(labels), rel=1e-12)


def test_numbers_whose_squares_are_nothing_are_refused_with_a_remedy() -> None:
    with pytest.raises(InputError, match=r"column 'a' differ by less than 1e-140, row 1 .* smaller units"):
        table(0.0, 1e-200)
    assert table(0.0, 1e-120).n == 10
    constant = pd.DataFrame({"a": [1e-200] * 4})
    assert Table(constant, quasi={"a": "numeric"}).n == 4
