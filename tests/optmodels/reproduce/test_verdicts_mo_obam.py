"""H1 and H2 of MO-OBAM hold where its figures are lower than the alternatives', and fail where one is not."""

from __future__ import annotations

import pandas as pd
import pytest

from optmodels.reproduce.mo_obam_alike import ALTERNATIVES, AUTHORS, OURS, RISKS, hypotheses


def _table() -> pd.DataFrame:
    rows = []
    for k in (5, 10):
        for method in (OURS, AUTHORS, *ALTERNATIVES):
            low = method in (OURS, AUTHORS)
            measures = {"loss": 0.1 if low else 0.2, **dict.fromkeys(RISKS, 0 if low else 10)}
            printed = {f"published_{name}": value for name, value in measures.items()}
            rows.append({"dataset": "german", "protection": "lower", "k": k, "method": method, **measures, **printed})
    return pd.DataFrame(rows)


def test_both_hold_where_all_is_lower() -> None:
    found = hypotheses(_table())
    assert len(found) == 8
    assert all(one.holds for one in found)
    assert "in 2 of 2 settings (published tables: in 2)" in found[0].found


@pytest.mark.parametrize("method", [OURS, AUTHORS])
@pytest.mark.parametrize(("column", "turned"), [("loss", "H1"), *((risk, "H2") for risk in RISKS)])
def test_one_higher_figure_turns_its_hypothesis(method: str, column: str, turned: str) -> None:
    table = _table()
    table.loc[(table["method"] == method) & (table["k"] == 10), column] = 1000
    whose = "ours" if method == OURS else "the authors"
    for one in hypotheses(table):
        assert one.holds is not (one.claim.startswith(turned) and f"({whose}" in one.claim), one
