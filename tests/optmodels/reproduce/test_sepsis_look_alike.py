"""The stand-in for the private sepsis table: its shape, its matching, and what is set beside the published tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from optmodels.datasets.synthetic import sepsis_like
from optmodels.datasets.synthetic.sepsis import SEPSIS_RECORDS
from optmodels.metrics import risk
from optmodels.partition import canonical, class_sizes, group_frame, histograms
from optmodels.reproduce import mo_obam_sepsis
from optmodels.reproduce.matching import matched_rows
from optmodels.reproduce.report import published
from optmodels.reproduce.setting import Setting


def test_it_has_the_shape_that_the_paper_tells() -> None:
    table = sepsis_like()
    assert (table.n, len(table.sensitive), len(table.measured), len(table.categorical)) == (SEPSIS_RECORDS, 30, 3, 3)
    assert {"age", "visits", "days", "sex", "race", "ethnicity"} == set(table.quasi)
    assert table.target == "sepsis"
    assert (table.frame["sepsis"] == "yes").mean() == pytest.approx(0.03, abs=0.003)
    assert table.frame["age"].min() >= 18
    baseline = published("mo_obam_table_7").iloc[0]
    labels = canonical(group_frame(table.frame, list(table.quasi)))
    sizes = class_sizes(labels)
    # no figure is aimed at, but a stand-in that is far from these would stand for something else
    assert len(sizes) == pytest.approx(baseline["classes"], rel=0.15)
    assert risk.linkage(sizes, 0.05) == pytest.approx(baseline["linkage_0.05"], rel=0.15)
    found = [histograms(labels, codes) for codes in table.sensitive_codes.T]
    assert risk.homogeneity_of_all(found) == pytest.approx(baseline["homogeneity"], rel=0.25)
    assert risk.homogeneity(dict(zip(table.sensitive, found, strict=True)))["total"] > 0.9 * table.n


def test_matching_is_one_to_one_and_makes_both_groups_alike() -> None:
    frame = sepsis_like(4000, seed=2).frame
    rows = matched_rows(frame, "sepsis", "yes", ["age", "visits", "sex"], seed=1)
    part = frame.iloc[rows]
    assert len(set(rows.tolist())) == len(rows)
    counts = part["sepsis"].value_counts()
    assert counts["yes"] == counts["no"] == (frame["sepsis"] == "yes").sum()
    apart = {
        whole: abs(found.groupby("sepsis")["age"].mean().diff().iloc[-1])
        for whole, found in (("before", frame), ("after", part))
    }
    assert apart["after"] < 0.5 * apart["before"]


def test_matching_takes_whoever_is_left_when_there_are_too_few() -> None:
    frame = pd.DataFrame({"age": [20, 60, 61, 62], "ill": ["no", "yes", "yes", "yes"]})
    assert matched_rows(frame, "ill", "yes", ["age"]).tolist() == [0, 1, 2, 3]


def test_table_7_sets_shares_beside_shares() -> None:
    table = sepsis_like(600, seed=1)
    halves = (np.arange(600) % 2).astype(np.int64)
    found = mo_obam_sepsis.table_7(table, {("k-anonymity", 5): halves}).frame.set_index("model")
    assert found.loc["baseline", "published_homogeneity"] == pytest.approx(14937 / SEPSIS_RECORDS)
    assert found.loc["baseline", "any"] >= found.loc["baseline", "all"] > 0
    assert found.loc["k-anonymity", "classes"] == 2
    assert found.loc["k-anonymity", "linkage_0.05"] == 0
    assert found.loc["k-anonymity", "published_linkage_0.05"] == pytest.approx(53225 / SEPSIS_RECORDS)


def test_the_grid_of_table_a1_and_the_importances_are_run() -> None:
    setting = Setting("miniature", jobs=1)
    table = mo_obam_sepsis.sepsis(setting)
    grid = mo_obam_sepsis.table_b7(setting, table)
    assert grid is not None
    assert set(grid.frame["lam"]) == set(mo_obam_sepsis.LAMBDAS)
    assert (grid.frame["published_homogeneity"] == 0).all()
    assert (grid.frame["any"] >= grid.frame["all"]).all()
    found = mo_obam_sepsis.tables_c10_c11(setting, table, mo_obam_sepsis.matched(table, 0))
    assert found is not None
    assert found.frame["ours"].notna().all()
    assert [mo_obam_sepsis.scaled_classes(c, 20, 400) for c in (4, 40, 3240)] == [4, 20, 11]
