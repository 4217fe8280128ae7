"""Tables 5 and 6 of MO-OBAM: every published point beside a point of ours that is at least as good in everything."""

from __future__ import annotations

from functools import partial

import pandas as pd

from formulations import MoObam
from optmodels.audit import audit
from optmodels.datasets import load
from optmodels.partition import Labels
from optmodels.problem import Problem
from optmodels.reproduce.report import ClaimVerdict, Comparison, beside, long, published
from optmodels.reproduce.setting import Setting, uninterrupted
from optmodels.table import Table
from solvers import pareto

KS = (5, 10, 15, 20)
TAUS = (0.05, 0.075, 0.1)
LINKAGES = [f"linkage_{tau:g}" for tau in TAUS]
MEASURES = ["loss", *LINKAGES, "homogeneity"]
JUDGED = ("loss", "entropy", *(f"linkage@{tau:g}" for tau in TAUS), "homogeneity", "classes")
OBJECTIVES = ("loss", "linkage@0.05", "homogeneity")
ROUNDING = 0.5e-4  # published losses have four digits: half a unit of the last is theirs
SHOWN = ("loss", "linkage_0.05", "homogeneity")  # the measures that fit on a terminal


def point_values(problem: Problem, labels: Labels | None) -> dict[str, float]:
    """A partition as the tables measure it; it must keep its k."""
    assert labels is not None
    evaluation = problem.with_objectives(*JUDGED).evaluate(labels)
    assert evaluation.feasible, evaluation.violations
    return {name.replace("@", "_"): value for name, value in evaluation.values.items()}


def front_points(
    table: Table, k: int, seed: int, *, evaluations: int | None = None, seconds: float | None = None
) -> pd.DataFrame:
    """The points of one front of loss, linkage and homogeneity; a few are released, and their audits checked.

    So many evaluations give the same points on any machine; so many seconds do not.
    """
    problem = MoObam(k=k).build(table)
    options = {} if evaluations is None else {"evaluations": evaluations}
    wanted = problem.with_objectives(*OBJECTIVES)
    front = pareto(wanted, solver="nsga2", time_limit=seconds, options=options, seed=seed)
    uninterrupted(front[0])
    rows = [{"k": k, **point_values(problem, point.labels)} for point in front]
    for place in sorted({0, len(front) // 2, len(front) - 1}):
        found = front[place].release().audit  # classes that look the same in the release are one there
        assert found.k >= k
        assert found.homogeneity["total"] <= rows[place]["homogeneity"]
        assert all(linked <= rows[place][f"linkage_{tau}"] for tau, linked in found.linkage.items())
    return pd.DataFrame(rows)


def beside_ours(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Each published row with a point of ours of the same or a larger k: the best that dominates it, or the nearest.

    The best loses least among those at least as good in all else; `by_rounding` marks a loss that is no larger only
    within their four digits. The nearest exceeds the published measures least, each relative to its own size.
    """
    rows: list[dict[str, object]] = []
    for shown in theirs.to_dict("records"):
        limits = pd.Series({name: shown[name] for name in MEASURES})
        limits["loss"] += ROUNDING
        private = ours[ours["k"] >= shown["k"]]
        excess = (private[MEASURES] - limits).clip(lower=0) / limits.where(limits > 0, 1.0)
        enough = private[(excess == 0).all(axis=1)]
        dominated = not enough.empty
        best = enough.loc[enough["loss"].idxmin()] if dominated else private.loc[excess.sum(axis=1).idxmin()]
        row: dict[str, object] = {name: shown[name] for name in ("protection", "model", "k", "l", "classes")}
        row |= {f"our_{name}": best[name] for name in ("k", "classes")}
        for name in MEASURES:
            row |= {name: shown[name], f"our_{name}": best[name], f"{name}_difference": best[name] - shown[name]}
        rows.append({**row, "dominated": dominated, "by_rounding": dominated and best["loss"] > shown["loss"]})
    return pd.DataFrame(rows)


def tables(setting: Setting, datasets: tuple[str, ...]) -> tuple[list[Comparison], list[ClaimVerdict]]:
    """The baselines of the datasets, and their published points beside ours."""
    evaluations = {"german": setting.choose(2000, 8000, 8000), "adult": setting.choose(200, 1500, 1500)}
    theirs = published("mo_obam_tables_5_6")
    work = [(name, k) for name in datasets for k in (KS if setting.scale != "miniature" else KS[-1:])]
    found = setting.repeat(
        partial(_front, work=work, evaluations=evaluations, seed=setting.seed), len(work), "tables 5, 6: front"
    )
    comparisons = [_baselines(datasets)]
    verdicts = [exact(comparisons[0].frame)]
    for name, number in (("german", 5), ("adult", 6)):
        points = [points for (dataset, _), points in zip(work, found, strict=False) if dataset == name]
        if not points:
            continue
        ours = pd.concat(points, ignore_index=True)
        here = theirs[(theirs["dataset"] == name) & (theirs["k"] <= ours["k"].max())]
        table = beside_ours(here, ours)
        title = f"Table {number}: published points of {name} and ours beside them"
        remark = (
            "Published MO-OBAM rows break their own k (people linkable at 0.05 though k = 20); ours keep it. Ours are "
            f"points of one front for each k after {evaluations[name]:,} evaluations: the one that loses least among "
            "those no worse in linkage and homogeneity or, where the front has none by then, the one that exceeds the "
            "published figures least. A smaller loss at less risk is no contradiction: the swarm of the paper is a "
            "heuristic, and so are the constructions it is compared with."
        )
        columns = ("protection", "model", "k", "l", *(f"{a}{b}" for b in SHOWN for a in ("", "our_")), "dominated")
        comparisons.append(Comparison(f"table_{number}", title, table, remark, columns=columns))
        verdicts.append(dominating(number, table, evaluations[name]))
    return comparisons, verdicts


def exact(baselines: pd.DataFrame) -> ClaimVerdict:
    """Whether classes and linkage of the original data are the published ones."""
    rows = baselines[baselines["metric"] != "homogeneity"]
    same = int((rows["difference"] == 0).sum())
    claim = "Classes and linkage of the original data are the published ones exactly"
    return ClaimVerdict(claim, same == len(rows), f"{same} of {len(rows)} are")


def dominating(number: int, table: pd.DataFrame, evaluations: int) -> ClaimVerdict:
    """Whether a point of ours is as good in everything as every published row."""
    return ClaimVerdict(
        f"Every published row of table {number} is equalled or beaten in all five measures",
        bool(table["dominated"].all()),
        f"{table['dominated'].sum()} of {len(table)} by fronts of {evaluations:,} evaluations, "
        f"{table['by_rounding'].sum()} of them by rounding",
    )


def _front(number: int, *, work: list[tuple[str, int]], evaluations: dict[str, int], seed: int) -> pd.DataFrame:
    name, k = work[number]
    return front_points(load(name), k, seed, evaluations=evaluations[name])


def _baselines(datasets: tuple[str, ...]) -> Comparison:
    rows = []
    for name in datasets:
        table = load(name)
        found = audit(table.frame, quasi=table.quasi, sensitive=table.sensitive, taus=TAUS)
        linkage = {f"linkage_{tau}": count for tau, count in found.linkage.items()}
        rows.append({"dataset": name, "classes": found.classes, **linkage, "homogeneity": found.homogeneity["total"]})
    theirs = published("mo_obam_baselines")
    known = theirs[theirs["dataset"].isin(datasets)]
    return Comparison(
        "baselines",
        "Tables 5 and 6: the original data",
        beside(
            long(known, ["dataset"], "published"), long(pd.DataFrame(rows), ["dataset"], "ours"), ["dataset", "metric"]
        ),
        "Homogeneity of German credit: 279 records lie in a class where some sensitive attribute has one value; no "
        "definition that we tried gives the 275 printed."
        if "german" in datasets
        else "",
    )
