"""Verdicts on what MO-OBAM loses and protects: each holds for figures as the paper tells them, and fails for others."""

from __future__ import annotations

import pandas as pd
import pytest

from optmodels.reproduce.mo_obam_alike import ALTERNATIVES, AUTHORS, OURS, RISKS, hypotheses
from optmodels.reproduce.mo_obam_grid import LAMBDAS, figure_3_verdicts, tables
from optmodels.reproduce.mo_obam_points import LINKAGES, dominating, exact
from optmodels.reproduce.mo_obam_sepsis import loss_verdicts
from optmodels.reproduce.report import ClaimVerdict, Comparison

CLASSES = (4, 10, 12, 16, 20, 24, 30)
KS = (5, 10, 15, 20)


def _table() -> pd.DataFrame:
    rows = []
    for k in (5, 10):
        for method in (OURS, AUTHORS, *ALTERNATIVES):
            low = method in (OURS, AUTHORS)
            measures = {"loss": 0.1 if low else 0.2, **dict.fromkeys(RISKS, 0 if low else 10)}
            printed = {f"published_{name}": value for name, value in measures.items()}
            head = {"dataset": "german", "protection": "lower", "k": k, "method": method, "seeds": 20}
            rows.append({**head, **measures, **printed, **{f"{name}_error": 0.0 for name in measures}})
    return pd.DataFrame(rows)


def test_both_hypotheses_hold_where_all_is_lower() -> None:
    found = hypotheses(_table())
    assert len(found) == 8
    assert all(one.holds for one in found)
    assert found[0].found.startswith("in 2 of 2 settings, surely in 2 and surely not in 0")
    assert "one front each against means of 20 runs; published tables: in 2" in found[0].found


@pytest.mark.parametrize("method", [OURS, AUTHORS])
@pytest.mark.parametrize(("column", "turned"), [("loss", "H1"), *((risk, "H2") for risk in RISKS)])
def test_one_higher_figure_turns_its_hypothesis(method: str, column: str, turned: str) -> None:
    table = _table()
    table.loc[(table["method"] == method) & (table["k"] == 10), column] = 1000
    whose = "ours" if method == OURS else "the authors"
    for one in hypotheses(table):
        assert one.holds is not (one.claim.startswith(turned) and f"({whose}" in one.claim), one


@pytest.mark.parametrize(
    ("seeds", "error", "holds"),
    [(20, 0.01, True), (20, 0.1, None), (2, 0.01, None), (1, float("nan"), None)],
)
def test_what_chance_may_have_lowered_is_not_judged(seeds: int, error: float, holds: bool | None) -> None:
    """0.1 against 0.2, and nobody against ten people at risk: with how many runs, and how far apart they are."""
    table = _table().assign(seeds=seeds, loss_error=error)
    table = table.assign(**{f"{name}_error": 100 * error for name in RISKS})
    assert [one.holds for one in hypotheses(table)] == [holds] * 8
    table.loc[table["method"].isin([OURS, AUTHORS]), ["loss", *RISKS]] = 1000.0
    turned = None if seeds == 1 else False
    assert [one.holds for one in hypotheses(table)] == [turned] * 8


def test_our_front_is_one_answer_and_has_no_error() -> None:
    table = _table()
    table.loc[table["method"] == OURS, "seeds"] = 1
    table.loc[table["method"] == OURS, [f"{name}_error" for name in ("loss", *RISKS)]] = float("nan")
    assert all(one.holds for one in hypotheses(table))
    table.loc[table["method"] == OURS, "loss"] = 0.2  # as much is not less
    assert [one.holds for one in hypotheses(table)][:4] == [False, True, False, True]


def _grid() -> pd.DataFrame:
    """As the text reads figure 3: loss falls and risk rises with the number of classes, and a little with lambda."""
    rows = [
        {
            "dataset": "german",
            "n_clusters": count,
            "lam": lam,
            "k": 5,
            "loss": 1 / count,
            **dict.fromkeys(LINKAGES, 0 if count <= 10 else count + place),
            "homogeneity": 0,
        }
        for count in CLASSES
        for place, lam in enumerate(LAMBDAS)
    ]
    return pd.DataFrame(rows)


def _of_figure_3(claim: str, grid: pd.DataFrame) -> ClaimVerdict:
    (one,) = [one for one in figure_3_verdicts(grid) if claim in one.claim]
    return one


def test_all_that_the_text_reads_from_figure_3_holds_where_it_is_so() -> None:
    found = figure_3_verdicts(_grid())
    assert len(found) == 5
    assert all(one.holds for one in found), [one for one in found if not one.holds]
    assert "(in the paper's table B2 at 4 of 10)" in found[2].found


@pytest.mark.parametrize(
    ("claim", "changed"),
    [
        ("Loss falls", {"loss": 0.5}),
        ("People linkable at 0.05 rise", {"linkage_0.05": 7}),
        ("More people are linkable at 0.05 with lambda = 1", {"linkage_0.05": 7}),
        ("Nobody is linkable at 0.05 with 4 to 10", {"linkage_0.05": 7}),
        ("Nobody is homogeneous", {"homogeneity": 1}),
    ],
)
def test_another_figure_3_turns_each(claim: str, changed: dict[str, object]) -> None:
    assert _of_figure_3(claim, _grid().assign(**changed)).holds is False


def test_two_numbers_of_classes_tell_no_trend() -> None:
    few = _grid()[lambda rows: rows["n_clusters"].isin([4, 30])]
    for claim in ("Loss falls", "People linkable at 0.05 rise", "More people are linkable"):
        assert _of_figure_3(claim, few).holds is None


@pytest.mark.parametrize(("measure", "table"), [("linkage_0.05", "Table B2"), ("homogeneity", "Table B5")])
def test_one_setting_with_more_people_turns_its_table(measure: str, table: str) -> None:
    grid = _grid()[lambda rows: rows["n_clusters"] > 4].assign(**dict.fromkeys([*LINKAGES, "homogeneity"], 0))
    _, kept = tables(grid)
    assert all(one.holds for one in kept)
    grid.loc[(grid["n_clusters"] == 20) & (grid["lam"] == 0.1), measure] = 1000
    _, turned = tables(grid)
    assert [one.holds for one in turned] == [table not in one.claim for one in turned]


def test_one_other_count_turns_the_baselines_and_homogeneity_has_no_say() -> None:
    counts = pd.DataFrame({"metric": ["classes", "linkage_0.05", "homogeneity"], "difference": [0, 0, 4]})
    assert exact(counts).holds
    assert exact(counts.assign(difference=[0, 1, 0])).holds is False


def test_one_published_row_that_is_not_beaten_turns_its_table() -> None:
    rows = pd.DataFrame({"dominated": [True, True], "by_rounding": [False, True]})
    held = dominating(5, rows, 2000)
    assert held.holds
    assert held.found == "2 of 2 by fronts of 2,000 evaluations, 1 of them by rounding"
    assert dominating(5, rows.assign(dominated=[True, False]), 2000).holds is False


def _table_7(ours: float, ks: tuple[int, ...] = KS) -> Comparison:
    rows = [
        {"model": model, "k": k, "loss": loss}
        for k in ks
        for model, loss in (("mo-obam", ours), ("k-anonymity", 0.2), ("zheng", 0.3))
    ]
    return Comparison("table_7", "", pd.DataFrame([{"model": "baseline", "k": None, "loss": None}, *rows]))


@pytest.mark.parametrize(("ours", "holds"), [(0.1, [True, True]), (0.25, [False, True]), (0.4, [False, False])])
def test_losses_on_the_look_alike_turn_their_verdicts(ours: float, holds: list[bool]) -> None:
    assert [one.holds for one in loss_verdicts(_table_7(ours))] == holds
    assert [one.holds for one in loss_verdicts(_table_7(ours, ks=(5,)))] == [one and None for one in holds]
