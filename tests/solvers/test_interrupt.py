"""Ctrl-C keeps the incumbent, also where it strikes inside a compiled call."""

from dataclasses import dataclass

import numpy as np
import pytest

from formulations import Microaggregation
from optmodels.problem import Problem
from optmodels.solver import Run, Solver
from optmodels.testing import small_table


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
