"""Verdicts on losses that are proven or published: microaggregation, Liang and Samavi."""

from __future__ import annotations

import pandas as pd
import pytest

from optmodels.reproduce import liang_samavi, microaggregation
from optmodels.reproduce.report import published


def _losses() -> pd.DataFrame:
    rows = [
        {"dataset": name, "k": k, "method": method, "difference": difference, "ours": 5.0, "bound": bound}
        for name in ("census", "tarragona")
        for k in (3, 5, 10)
        for method, difference, bound in (("mdav", 0.0, None), (microaggregation.RECALLED, -1.0, 4.9))
    ]
    return pd.DataFrame(rows)


def _about_losses(**changed: object) -> list[bool | None]:
    losses = _losses()
    for column, value in changed.items():
        method = "mdav" if column == "mdav" else microaggregation.RECALLED
        row = (losses["dataset"] == "census") & (losses["k"] == 5) & (losses["method"] == method)
        losses.loc[row, "difference" if column == "mdav" else column] = value
    return [one.holds for one in microaggregation._verdicts(losses)]


def test_microaggregation_as_it_should_be() -> None:
    assert _about_losses() == [True, True, True]


@pytest.mark.parametrize(
    ("changed", "holds"),
    [
        ({"mdav": 0.001}, [False, True, True]),
        ({"difference": 0.1}, [True, False, True]),
        ({"bound": 4.0}, [True, True, False]),
        ({"bound": float("nan")}, [True, True, False]),
    ],
)
def test_one_loss_turns_its_verdict(changed: dict[str, object], holds: list[bool]) -> None:
    assert _about_losses(**changed) == holds


def _optima() -> pd.DataFrame:
    best = published("liang_samavi").groupby(["dataset", "rows", "k"], sort=False)["published"].min().reset_index()
    best = best.rename(columns={"published": "ours"})
    return best.assign(solver=liang_samavi.EXACT, bound=best["ours"] * 0.99, status="optimal")


def _about_optima(**changed: object) -> list[bool | None]:
    ours = _optima()
    people = ours["dataset"] == "person20"
    for column, value in changed.items():
        ours.loc[people, column] = value
    return [one.holds for one in liang_samavi._verdicts(ours, published("liang_samavi"))]


def test_liang_and_samavi_as_it_should_be() -> None:
    assert _about_optima() == [True, True, True]


@pytest.mark.parametrize(
    ("changed", "holds"),
    [
        ({"status": "feasible"}, [False, True, True]),
        ({"ours": 19.3}, [False, False, True]),
        ({"bound": 18.0}, [True, True, False]),
        ({"bound": float("nan")}, [True, True, False]),
    ],
)
def test_one_instance_turns_its_verdict(changed: dict[str, object], holds: list[bool]) -> None:
    assert _about_optima(**changed) == holds
