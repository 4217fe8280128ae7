from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import optmodels as om
from formulations import Microaggregation, MoObam
from optmodels.errors import InputError, RefusedError
from optmodels.testing import check_solver, small_table
from solvers.evolution.any_pymoo import KNOWN, Pymoo, algorithm_class

OTHER = """
from pymoo.algorithms.moo.nsga2 import NSGA2

class Theirs(NSGA2):
    made = []
    def __init__(self, colour, **kwargs):
        super().__init__(**kwargs)
        Theirs.made.append((colour, self.pop_size))
"""


@pytest.mark.parametrize("which", ["ga", "pso", "de"])
def test_keeps_the_contract_of_solvers(which: str) -> None:
    solver = Pymoo(which=which, evaluations=60, population=8)
    check_solver(solver, lambda seed: Microaggregation(k=2).build(small_table(8, seed=seed)), seeds=range(2))


@pytest.mark.parametrize("which", [name for name, path in KNOWN.items() if ".moo." in path and "age" not in name])
def test_every_front_keeps_k_and_comes_again(which: str) -> None:
    problem = MoObam(k=5).build(om.dataset("german").take(np.arange(60)))
    solver = Pymoo(which=which, evaluations=150, population=20)
    front = solver.pareto(problem, seed=3)
    assert len(front)
    assert all(problem.evaluate(point.labels).feasible for point in front if point.labels is not None)
    assert solver.pareto(problem, seed=3).frame().equals(front.frame())


def test_all_names_are_algorithms() -> None:
    assert {name for name in KNOWN if not isinstance(algorithm_class(name), type)} == set()


def test_an_algorithm_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs.py").write_text(OTHER)
    monkeypatch.syspath_prepend(tmp_path)
    problem = MoObam(k=3).build(small_table(20))
    solver = Pymoo(which="theirs:Theirs", evaluations=50, population=10, arguments={"colour": "red"})
    assert len(solver.pareto(problem))
    assert algorithm_class("theirs:Theirs").made == [("red", 10)]


@pytest.mark.parametrize(
    ("which", "told"),
    [
        ("nsga22", "Did you mean 'nsga2'"),
        ("nosuch.module:X", "There is no algorithm"),
        ("pymoo.algorithms.moo.nsga2:NSGA9", "There is no algorithm"),
        ("collections:OrderedDict", "is no algorithm for pymoo"),
    ],
)
def test_wrong_names_are_told(which: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        Pymoo(which=which)


def test_one_objective_is_not_enough_for_a_front() -> None:
    with pytest.raises(RefusedError, match="'ga' minimises one objective"):
        Pymoo(which="ga").pareto(MoObam(k=3).build(small_table(20)))
