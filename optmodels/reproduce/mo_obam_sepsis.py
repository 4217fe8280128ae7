"""Tables 7, B7, C10 and C11 of MO-OBAM, of a private table: ours on an invented one of its shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from formulations import MoObam
from optmodels.datasets.synthetic import sepsis_like
from optmodels.metrics.utility import Protocol
from optmodels.partition import Labels, group_frame
from optmodels.reproduce.kept_trials import learned
from optmodels.reproduce.matching import matched_rows
from optmodels.reproduce.mo_obam_points import KS, TAUS
from optmodels.reproduce.report import ClaimVerdict, Comparison, beside, published
from optmodels.reproduce.setting import Setting, uninterrupted
from optmodels.table import Table
from solvers import pareto

ROWS = 119_871
CLASSES = (4, 10, 20, 30, 40, 820, 1740, 2310, 3240)  # table A1
LAMBDAS = (0.0001, 0.001, 0.01, 0.1, 1.0)
MATCHED_BY = ("age", "visits", "sex", "race", "ethnicity")
LINKAGES = tuple(f"linkage@{tau:g}" for tau in TAUS)
COUNTED = (*LINKAGES, "homogeneity", "homogeneity-all")

DIFFERENT = (
    "What stays different of the sepsis look-alike: its people are invented. It has the paper's numbers of rows (with "
    "--full), of quasi-identifiers (age, visits, days; sex, race, ethnicity) and of binary conditions, 3% of sepsis "
    "and a match by propensity; how values are distributed and hang together, 67 of the other columns, what the "
    "authors matched by and how many to one are not told. Only directions can be compared, and shares of people."
)


def sepsis(setting: Setting) -> Table:
    """A table like the private one, as large as the scale allows."""
    return sepsis_like(setting.choose(600, 8000, ROWS), seed=setting.seed)


def matched(table: Table, seed: int) -> NDArray[np.int64]:
    """The rows that are learned from: who has sepsis, and as many alike who have not."""
    return matched_rows(table.frame, "sepsis", "yes", MATCHED_BY, seed=seed)


def scaled_classes(n_clusters: float, k: int, rows: int) -> int:
    """As many classes for the number of rows as in the paper, where that is in proportion; few stay as they are.

    >>> scaled_classes(3240, 5, 119_871), scaled_classes(3240, 5, 8000), scaled_classes(40, 5, 8000)
    (3240, 216, 40)
    """
    wanted = n_clusters if n_clusters <= max(CLASSES[:5]) else round(n_clusters * rows / ROWS)
    return max(2, min(rows // k, int(wanted)))


def table_7(table: Table, labels: Mapping[tuple[str, int], Labels]) -> Comparison:
    """People at risk as shares of all, published and ours, by model and k; the original first."""
    known = published("mo_obam_table_7")
    found = {("baseline", 0): group_frame(table.frame, list(table.quasi)), **labels}
    rows = []
    for one in known.to_dict("records"):
        key = (str(one["model"]), 0 if pd.isna(one["k"]) else int(one["k"]))
        if key not in found:
            continue
        ours = _measured(table, found[key])
        row = {"model": key[0], "k": one["k"], "published_classes": one["classes"], "classes": ours["classes"]}
        row |= {"published_loss": one["loss"], "loss": ours["loss"] if key[1] else np.nan}
        for tau in TAUS:
            row |= {
                f"published_linkage_{tau:g}": one[f"linkage_{tau:g}"] / ROWS,
                f"linkage_{tau:g}": ours[f"linkage@{tau:g}"] / table.n,
            }
        row["published_homogeneity"] = one["homogeneity"] / ROWS
        row |= {"any": ours["homogeneity"] / table.n, "all": ours["homogeneity-all"] / table.n}
        rows.append(row)
    shown = ("model", "k", "published_classes", "classes", "published_loss", "loss", "published_linkage_0.05")
    return Comparison(
        "table_7",
        f"Table 7: people at risk as shares of all, published of {ROWS:,} and ours of {table.n:,} invented ones",
        pd.DataFrame(rows),
        "'any' and 'all' are shares of people in a class where some, or every, sensitive attribute has one value. Of "
        "30 conditions, many of them rare, some has one value in almost every small class, so that the published 12% "
        "of the original can only be of all of them, or of people who are alone: see 'any' and 'all' of the baseline. "
        "Zheng et al. with l = 2 is asked here for two values of each of 30 attributes, which needs larger classes.",
        columns=(*shown, "linkage_0.05", "published_homogeneity", "any", "all"),
    )


def loss_verdicts(table_7: Comparison) -> Iterator[ClaimVerdict]:
    """What the paper reads from table 7, on the look-alike: it is another table, so only the direction is asked for."""
    losses = table_7.frame.dropna(subset="k").pivot(index="k", columns="model", values="loss")
    for name in ("k-anonymity", "zheng"):
        if not {"mo-obam", name} <= set(losses.columns):
            continue
        both = losses[["mo-obam", name]].dropna()
        lower = both["mo-obam"] < both[name]
        yield ClaimVerdict(
            f"On the sepsis look-alike MO-OBAM loses less than {name} for every k (table 7: for all four)",
            False if not lower.all() else True if len(both) == len(KS) else None,
            f"for {lower.sum()} of {len(both)}; "
            + ", ".join(f"{ours:.4f} for {other:.4f}" for ours, other in both.to_numpy()),
        )


def _measured(table: Table, labels: Labels) -> dict[str, float]:
    problem = MoObam(k=2).build(table).with_objectives("loss", *COUNTED, "classes")
    return dict(problem.evaluate(labels).values)


def table_b7(setting: Setting, table: Table) -> Comparison | None:
    """Homogeneity over the grid of table A1 on the look-alike; all that can be read of the published table is 0."""
    small = setting.scale == "miniature"
    classes: Sequence[int] = CLASSES[:1] if small else CLASSES
    ks = KS[:1] if setting.scale != "full" else KS
    work = [(scaled_classes(count, k, table.n), count, k) for count in classes for k in ks]
    one = partial(_front, work=work, table=table, evaluations=setting.choose(40, 100, 40), seed=setting.seed)
    rows = [row for part in setting.repeat(one, len(work), "sepsis look-alike: front") for row in part]
    if not rows:
        return None
    frame = pd.DataFrame(rows)
    frame["published_homogeneity"] = np.where(frame["n_clusters"] <= max(CLASSES[:5]), 0.0, np.nan)
    return Comparison(
        "table_b7",
        "Table B7 and the grid of table A1 on the sepsis look-alike: shares of people in homogeneous classes",
        frame,
        "In our copy of the paper table B7 ends with n_C = 40 (a last group is labelled 49, which table A1 does not "
        "have); every number in it is 0. Numbers of classes above 40 are scaled with the rows ('our_classes'). Table "
        "B4, linkage, repeats table B3, so that there is nothing to set beside ours. With --quick k = 5 only.",
        shown=False,
    )


def _front(
    number: int, *, work: list[tuple[int, int, int]], table: Table, evaluations: int, seed: int
) -> list[dict[str, float]]:
    count, n_clusters, k = work[number]
    problem = MoObam(k=k, n_clusters=count).build(table)
    front = pareto(problem, solver="nsga2", options={"evaluations": evaluations, "population": 10}, seed=seed)
    if not len(front):
        return []
    uninterrupted(front[0])
    rows = []
    for lam in LAMBDAS:
        best = min(front, key=lambda point: point.values["loss"] - lam * point.values["entropy"])
        assert best.labels is not None
        found = _measured(table, best.labels)
        row: dict[str, float] = {
            "n_clusters": n_clusters,
            "our_classes": count,
            "lam": lam,
            "k": k,
            "loss": found["loss"],
        }
        row |= {name.replace("@", "_"): found[name] / table.n for name in LINKAGES}
        rows.append({**row, "any": found["homogeneity"] / table.n, "all": found["homogeneity-all"] / table.n})
    return rows


def tables_c10_c11(setting: Setting, table: Table, rows: NDArray[np.int64]) -> Comparison | None:
    """What decision trees rely on before anything is anonymised: on all rows (C10) and on the matched ones (C11)."""
    found = []
    for name, part in (("C10", table), ("C11", table.take(rows))):
        importances = setting.attempt(partial(_importances, part, setting, name), lambda: f"importances of {name}")  # noqa: B023
        if importances is None:
            return None
        found.append(importances.assign(table=name))
    joined = beside(published("mo_obam_tables_c10_c11"), pd.concat(found), ["table", "feature"])
    return Comparison(
        "tables_c10_c11",
        "Tables C10 and C11: importance of features in decision trees, sepsis look-alike",
        joined,
        "Of the original data, and of the features that the look-alike shares with the private table; the paper's "
        "other 67 columns take part of the importance there. Published columns of releases are of a table that nobody "
        "else has; C10(c) is not legible in our copy, nor is C11(c) but for its first column.",
        shown=False,
    )


def _importances(table: Table, setting: Setting, name: str) -> pd.DataFrame:
    protocol = Protocol(
        classifiers=("dt",),
        metrics=("f1",),
        splits=setting.choose(1, 3, 10),
        seed=setting.seed,
        positive="yes",
        categories="codes",
        screen=False,
    )
    one_class = {"one class": np.zeros(table.n, np.int64)}
    found = learned(setting, table, one_class, protocol, f"table {name}: split").importances
    ours = found[found["version"] == "original"]
    return ours[["feature", "importance"]].rename(columns={"importance": "ours"})
