"""The baselines that Majeed and Hwang's method is set beside are the best of their kind, by brute force."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formulations.generalisation.full_domain import FullDomainProblem
from optmodels import Status
from optmodels.reproduce import majeed_hwang
from optmodels.reproduce.majeed_hwang_verdicts import CONDITIONS, ONE_LEVEL
from optmodels.reproduce.setting import Setting
from optmodels.table import Table
from solvers import solve

WEIGHTS = {"age": 2.0, "race": 20.0, "sex": 8.0, "native_country": 70.0}


def _least(table: Table, k: int, diverse: int | None, t: float | None) -> float:
    """The least distortion of all combinations of levels on which every group keeps the conditions."""
    written = {
        name: [pd.factorize(table.hierarchy(name).generalise(table.frame[name], level))[0] for level in levels]
        for name in table.quasi
        for levels in [range(table.hierarchy(name).n_levels)]
    }
    rich = (table.frame["salary"] == ">50K").to_numpy()
    least = np.inf
    for levels in product(*(range(len(columns)) for columns in written.values())):
        columns = [one[level] for one, level in zip(written.values(), levels, strict=True)]
        group = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()
        sizes, many = np.bincount(group), np.bincount(group, rich)
        kept = bool((sizes >= k).all())
        kept &= diverse is None or bool(((many > 0) & (many < sizes)).all())
        kept &= t is None or bool((np.abs(many / sizes - rich.mean()) <= t).all())
        if kept:
            tops = [len(one) - 1 for one in written.values()]
            shares = [WEIGHTS[name] * level / top for name, level, top in zip(written, levels, tops, strict=True)]
            least = min(least, sum(shares))
    return least


@pytest.mark.parametrize(("name", "asked"), CONDITIONS.items())
def test_no_levels_for_everybody_distort_less(
    stand_ins: Path, monkeypatch: pytest.MonkeyPatch, name: str, asked: tuple[int | None, float | None]
) -> None:
    monkeypatch.setenv("OPTMODELS_DATA", str(stand_ins))
    table = majeed_hwang.adult(Setting("miniature"))
    problem = majeed_hwang._on_one_level(5, WEIGHTS)[f"{name}{ONE_LEVEL}"].build(table)
    assert isinstance(problem, FullDomainProblem)
    found = solve(problem, solver="lattice")
    assert found.labels is not None
    assert found.status is Status.OPTIMAL
    tops = [table.hierarchy(one).n_levels - 1 for one in table.quasi]
    levels = np.ravel(problem.levels(found.labels))
    ours = sum(WEIGHTS[one] * level / top for one, level, top in zip(table.quasi, levels, tops, strict=True))
    least = _least(table, 5, *asked)
    assert 0 < least < sum(WEIGHTS.values())
    assert ours == pytest.approx(least)
