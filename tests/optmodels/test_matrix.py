"""The matrix of what goes with what: third parties' rows, broken ones among them, and the claims of solvers."""

from __future__ import annotations

from pathlib import Path

import pytest

from formulations import MajeedHwang, Microaggregation, MoObam
from optmodels import matrix, registry
from optmodels.errors import RefusedError
from optmodels.price import PlainPrice
from optmodels.problem import PricedProblem
from optmodels.testing import small_table
from solvers import Columns, Epsilon, Generalise, Milp, pareto, solve

PLUG_INS = """
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from optmodels.objectives import Objective
from optmodels.problem import Formulation, Problem
from optmodels.solver import Solver

class Roughness(Problem):
    objectives = (Objective("roughness", "min", "the largest class"),)
    def values(self, labels):
        return {"roughness": float(np.bincount(labels).max())}

@dataclass(frozen=True)
class Rough(Formulation):
    name: ClassVar[str] = "rough"
    summary: ClassVar[str] = "a stranger's"
    k: int
    def build(self, table, seed=0):
        return Roughness(table, self, self.conditions(self.k))

@dataclass(frozen=True)
class Needy(Rough):
    name: ClassVar[str] = "needy"
    column: str = None
    def build(self, table, seed=0):
        raise KeyError("it needs a column")

@dataclass(frozen=True)
class Moody(Solver):
    name: ClassVar[str] = "moody"
    summary: ClassVar[str] = "fails when asked"
    def cannot(self, problem): return 1 / 0
    def search(self, problem, run): pass
"""
ENTRIES = """[optmodels.formulations]
rough = matrix_strangers:Rough
needy = matrix_strangers:Needy
gone = matrix_strangers:Gone

[optmodels.solvers]
moody = matrix_strangers:Moody
absent = matrix_strangers.nowhere:Absent
"""


@pytest.fixture
def strangers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another distribution, of which little works."""
    info = tmp_path / "matrix_strangers-1.0.dist-info"
    info.mkdir()
    (tmp_path / "matrix_strangers.py").write_text(PLUG_INS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: matrix-strangers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("strangers")
def test_strangers_have_rows_like_ours_and_broken_ones_their_reason() -> None:
    cells = list(matrix.cells(conditions=["k", "delta"]))
    reasons = {(cell.formulation, cell.solver): cell.reason for cell in cells if cell.task == "solve"}
    assert reasons["rough", "mdav"] is None
    assert reasons["rough", "nsga2"] is None
    assert "'rough' lacks that" in str(reasons["rough", "columns"])
    assert "it needs a column" in str(reasons["needy", "mdav"])
    assert "cannot be loaded" in str(reasons["gone", "mdav"])
    assert "cannot be loaded" in str(reasons["microaggregation", "absent"])
    assert "ZeroDivisionError" in str(reasons["microaggregation", "moody"])
    working = [cell for cell in cells if cell.formulation == "rough" and cell.works]
    assert len({cell.solver for cell in working}) >= 15
    assert {cell.task for cell in working} == {"solve", "pareto"}


@pytest.mark.usefixtures("strangers")
def test_a_refusal_names_those_that_can_whatever_else_is_broken() -> None:
    problem = registry.formulation("rough")(k=4).build(matrix.mixed_table())  # type: ignore[call-arg]
    with pytest.raises(RefusedError, match=r"Solvers that can: .*'mdav'") as refusal:
        solve(problem, solver="columns")
    assert "absent" not in str(refusal.value)
    assert "moody" not in str(refusal.value)
    with pytest.raises(RefusedError, match="'nsga2'"):
        pareto(problem.with_objectives("roughness", "linkage"), solver="mdav")


def test_what_is_proven_depends_on_the_problem() -> None:
    few, many = small_table(8), small_table(26)
    for table, listed in ((few, True), (many, False)):
        model = Microaggregation(k=2)
        price = PlainPrice(lambda rows: float(len(rows)), table.n)
        assert Columns().proves(PricedProblem(table, model, model.conditions(2), price)) == listed
    problem = MoObam(k=2).build(few)
    assert Columns().proves(problem)
    assert not Columns().proves(problem, front=True)
    assert Epsilon().proves(problem, front=True)
    assert not Milp().proves(problem, front=True)
    least = MajeedHwang(k=2, levels="least", trees=2)
    assert Generalise().proves(least.build(few), front=True)
    assert not Generalise().proves(least.build(few))
    assert not Generalise().proves(least.build(many), front=True)
    auto = registry.solver("auto")()
    assert auto.proves(problem, front=True)
    assert auto.proves(Microaggregation(k=2).build(many))
    assert not auto.proves(MoObam(k=2).build(many), front=True)
    assert not auto.proves(Microaggregation(k=2).build(many).with_objectives("linkage", "loss"), front=True)
