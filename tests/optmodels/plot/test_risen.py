"""A risk that rises is told, and none that falls or stays."""

from __future__ import annotations

import pandas as pd
import pytest

import optmodels as om
from formulations import Microaggregation
from optmodels.audit import audit_table
from optmodels.cli import show
from optmodels.plot.risks import risen
from solvers import Mdav


def table(ages: list[int], illnesses: str) -> om.Table:
    frame = pd.DataFrame({"age": ages, "illness": list(illnesses)})
    return om.Table(frame, quasi={"age": "numeric"}, sensitive="illness")


MIXED, TOLD_APART = table([30] * 8, "fcfcfcfc"), table([30] * 4 + [31] * 4, "ffffcccc")


def test_classes_of_one_value_each_are_worse_than_a_class_of_both() -> None:
    worse = risen(audit_table(MIXED), audit_table(TOLD_APART))
    assert "records whose sensitive value is certain once the group is known: 0.0% before, 100.0% after" in worse
    assert any(one.startswith("largest chance to guess 'illness'") and "50.0% before" in one for one in worse)


def test_what_falls_or_stays_is_not_told() -> None:
    assert risen(audit_table(TOLD_APART), audit_table(MIXED)) == ()
    assert risen(audit_table(MIXED), audit_table(MIXED)) == ()


def test_the_terminal_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    solution = Mdav().solve(Microaggregation(k=4).build(TOLD_APART))
    show.before_and_after(MIXED, solution.release(), solution)
    assert "Risks that rose" in capsys.readouterr().out
    show.before_and_after(TOLD_APART, solution.release(), solution)
    assert "Risks that rose" not in capsys.readouterr().out
