"""Ctrl-C keeps the incumbent, also where it strikes inside a compiled call."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from formulations import Microaggregation
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.structures import Priced
from optmodels.table import Table
from optmodels.testing import small_table
from solvers.columns import Columns
from solvers.columns.incumbent import first_partition
from solvers.local_search.descent import Descent


@dataclass(frozen=True)
class Interrupted(Solver):
    name = "interrupted"
    summary = "offers one class, then fails"

    cause: type[BaseException] = KeyboardInterrupt

    def refuses(self, problem: Problem) -> str | None:
        return None

    def search(self, problem: Problem, run: Run) -> None:
        run.offer(np.zeros(problem.n, np.int64))
        # What CPython makes of an exception raised while a compiled function boxes its result.
        raise SystemError("CPUDispatcher returned a result with an exception set") from self.cause()


def test_ctrl_c_inside_a_compiled_call_returns_the_incumbent() -> None:
    solution = Interrupted().solve(Microaggregation(k=2).build(small_table()))
    assert solution.labels is not None
    assert solution.stop == "interrupted"


def test_other_system_errors_are_not_hidden() -> None:
    with pytest.raises(SystemError):
        Interrupted(cause=ValueError).solve(Microaggregation(k=2).build(small_table()))


def test_ctrl_c_during_the_first_local_search_of_columns_keeps_what_it_found(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(draw.normal(size=(200, 2)), columns=["x", "y"])
    problem = Microaggregation(k=3).build(Table(frame, quasi={"x": "numeric", "y": "numeric"}))
    held: list[float] = []
    anneal = Descent.anneal

    def interrupted(descent: Descent, rounds: int, temperature: float) -> None:
        anneal(descent, rounds, temperature)
        held.append(descent.best_price / problem.price_scale)
        if len(held) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(Descent, "anneal", interrupted)
    construction = first_partition(problem.require(Priced))
    assert construction is not None
    solution = Columns().solve(problem, time_limit=60)
    assert solution.stop == "interrupted"
    assert solution.value == pytest.approx(held[-1])
    assert solution.value < problem.evaluate(construction).values["loss"]
    assert len({moment.value for moment in solution.history}) > 2  # offered as found, not only in the end
