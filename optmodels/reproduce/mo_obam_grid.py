"""Tables B2, B3, B5 and B6 and figure 3 of MO-OBAM: risk and loss over numbers of classes, weights of entropy and k."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from formulations import MoObam
from optmodels.datasets import load
from optmodels.partition import Labels
from optmodels.reproduce.mo_obam_points import JUDGED, KS, LINKAGES, point_values
from optmodels.reproduce.report import ClaimVerdict, Comparison, beside, long, published
from optmodels.reproduce.setting import Setting, uninterrupted
from solvers import pareto

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LAMBDAS = (0.0001, 0.001, 0.01, 0.1, 1.0)
KEYS = ["n_clusters", "lam", "k"]
CLASSES = {"german": (*range(2, 31, 2),), "adult": (4, *range(10, 101, 10))}
PRINTED = {"german": (4, 30), "adult": (4, 100)}  # of these, those in tables 5 and 6
EVALUATIONS = {"german": 1000, "adult": 300}

Point = tuple[str, int, float, int]  # dataset, number of classes, lambda, k


def grid(setting: Setting, datasets: tuple[str, ...]) -> tuple[pd.DataFrame, dict[Point, Labels]]:
    """For every number of classes and k one front, and from it the best point for every lambda: measures and labels."""
    small = setting.scale == "miniature"
    work = [
        (name, n_clusters, k)
        for name in datasets
        for n_clusters in (PRINTED[name] if small else CLASSES[name])
        for k in (KS[:1] if small else KS)
    ]
    share = setting.choose(0.1, 1.0, 10.0)
    found = setting.repeat(partial(_front, work=work, share=share, seed=setting.seed), len(work), "appendix B: front")
    rows = [row for part, _ in found for row in part]
    columns = ["dataset", *KEYS, *(name.replace("@", "_") for name in JUDGED)]
    partitions = {point: labels for _, part in found for point, labels in part.items()}
    return pd.DataFrame(rows, columns=columns), partitions


def _front(
    number: int, *, work: list[tuple[str, int, int]], share: float, seed: int
) -> tuple[list[dict[str, object]], dict[Point, Labels]]:
    name, n_clusters, k = work[number]
    problem = MoObam(k=k, n_clusters=n_clusters).build(load(name))
    evaluations = max(50, int(share * EVALUATIONS[name]))
    front = pareto(problem, solver="nsga2", options={"evaluations": evaluations}, seed=seed)
    uninterrupted(front[0])
    rows: list[dict[str, object]] = []
    partitions: dict[Point, Labels] = {}
    for lam in LAMBDAS:
        best = min(front, key=lambda point: point.values["loss"] - lam * point.values["entropy"])
        assert best.labels is not None
        partitions[name, n_clusters, lam, k] = best.labels
        head = {"dataset": name, "n_clusters": n_clusters, "lam": lam, "k": k}
        rows.append({**head, **point_values(problem, best.labels)})
    return rows, partitions


def tables(ours: pd.DataFrame) -> tuple[list[Comparison], list[ClaimVerdict]]:
    """Risks beside the published ones, for every setting that was run."""
    remark = (
        "Ours lie on the front of loss and entropy for exactly so many classes, at the best point in IL - lambda * "
        "entropy. They keep k, so with k = 20 nobody is linkable at 0.05; the published ones do not keep it. The "
        "people at risk are no objective here, neither theirs nor ours: the least loss often has a class just above k: "
        "with a small lambda ours can have a class at risk where the published point, which loses more, has none."
    )
    comparisons = []
    for key, name, metrics in (
        ("table_b2", "german", LINKAGES),
        ("table_b3", "adult", LINKAGES),
        ("table_b5", "german", ["homogeneity"]),
        ("table_b6", "adult", ["homogeneity"]),
    ):
        here = ours[ours["dataset"] == name]
        if here.empty:
            continue
        theirs = long(published(f"mo_obam_{key}"), KEYS, "published")
        joined = beside(theirs, long(here[[*KEYS, *metrics]], KEYS, "ours"), [*KEYS, "metric"]).dropna(subset="ours")
        title = f"Table {key[-2:].upper()}: people at risk in {name}"
        comparisons.append(Comparison(key, title, joined.reset_index(drop=True), remark, shown=False))
    verdicts = [_verdict(one) for one in comparisons]
    return [*comparisons, _whole_grid(ours)] if len(ours) else comparisons, verdicts


def _whole_grid(ours: pd.DataFrame) -> Comparison:
    return Comparison(
        "grid_a1",
        "The grid of table A1: loss, entropy and people at risk in every setting of ours",
        ours.reset_index(drop=True),
        "The data of figures 3 and B1. German n_C = 2 is in the grid of table A1 and in none of the paper's tables.",
        shown=False,
    )


def _verdict(one: Comparison) -> ClaimVerdict:
    differences = one.frame["difference"]
    no_worse, total = int((differences <= 0).sum()), len(differences)
    found = (
        f"{no_worse} of {total} settings; {one.frame['ours'].sum():,.0f} people at risk in all of them together, "
        f"{one.frame['published'].sum():,.0f} published"
    )
    return ClaimVerdict(f"{one.title}: no more than published, in every setting", no_worse == total, found)


def figure_3(here: pd.DataFrame) -> Figure:
    """Loss, linkage at 0.05 and homogeneity over classes and lambda; in the paper of German credit, k = 5."""
    from plotly.subplots import make_subplots

    shown = {"loss": "information loss", "linkage_0.05": "linkable at 0.05", "homogeneity": "homogeneous"}
    figure = make_subplots(rows=1, cols=3, subplot_titles=list(shown.values()))
    for column, measure in enumerate(shown, start=1):
        wide = here.pivot(index="lam", columns="n_clusters", values=measure)
        figure.add_heatmap(
            x=wide.columns.astype(str),
            y=wide.index.astype(str),
            z=wide,
            row=1,
            col=column,
            coloraxis=f"coloraxis{column}",
        )
    for column in (1, 2, 3):
        bar = {"x": column / 3 - 0.03, "len": 0.9, "thickness": 10}
        figure.update_layout({f"coloraxis{column}": {"colorscale": "Blues", "colorbar": bar}})
    return figure.update_layout(template="plotly_white", xaxis_title="classes", yaxis_title="lambda")
