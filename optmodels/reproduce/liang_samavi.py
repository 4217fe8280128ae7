"""Liang and Samavi 2020: generalisation intervals under k-anonymity, on their data and in their measure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from formulations import LiangSamavi
from optmodels import registry
from optmodels.datasets import load
from optmodels.reproduce.report import ClaimVerdict, Comparison, Report, published
from optmodels.reproduce.setting import Setting, uninterrupted
from solvers import solve

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SOURCE = "Liang and Samavi 2020, Optimization-based k-anonymity algorithms"
EXACT = "columns"
REHEARSED = 12  # records of a solve beforehand, so that compilation is not timed
THEIR_ALGORITHMS = {"liang-split": "split", "liang-greedy": "greedy"}


def run(setting: Setting) -> Report:
    """Our optimum or incumbent with its proven bound, and their own algorithms here, beside what theirs found."""
    theirs = published("liang_samavi")
    seconds = setting.choose(60.0, 60.0, 600.0)  # the first instance takes a fraction of a second
    instances = theirs[["dataset", "rows", "k"]].drop_duplicates()
    chosen = instances.head(1) if setting.scale == "miniature" else instances
    available = [name for name in THEIR_ALGORITHMS if name in registry.solver_names()]
    work = [(row, solver) for row in chosen.to_dict("records") for solver in (EXACT, *available)]
    solved = partial(_solved, work=work, seconds=seconds, seed=setting.seed)
    ours = pd.DataFrame(setting.repeat(solved, len(work), "solve"))
    table = _beside_published(theirs, ours)
    return Report(
        name="liang-samavi",
        source=SOURCE,
        scale=setting.scale,
        protocol=(
            "Sum over records and attributes of interval width over the attribute's range, all weights 1; person20, "
            "the first 200 records of census_20k, ipums_1k_8attr; k = 3.",
            f"At most {seconds:g} s each, from nothing; {EXACT} with a proven bound; seed {setting.seed}.",
        ),
        comparisons=(
            Comparison(
                "losses",
                "Total loss",
                table,
                "Ours are lower where theirs is a heuristic: splitting the sorted records into blocks loses whatever "
                "classes across blocks would save, and the greedy walk never takes a choice back. Column generation "
                "over all classes has neither limit; where its bound meets its value that value is the optimum. The "
                "subproblems of liang-split have several optima, and the one taken decides what the next gets: so ours "
                "may differ from theirs. Figures of the greedy walk agree to the digits given.",
            ),
        ),
        verdicts=() if setting.interruption.where else _verdicts(ours, theirs),
        figures={"losses": _figure(table)},
    )


def _solved(
    number: int, *, work: Sequence[tuple[dict[Hashable, object], str]], seconds: float, seed: int
) -> dict[Hashable, object]:
    instance, solver = work[number]
    table = load(str(instance["dataset"]))
    part = table.take(range(int(str(instance["rows"]))))
    model = LiangSamavi(k=int(str(instance["k"])))
    problem = model.build(part)
    solve(model.build(part.take(range(REHEARSED))), solver=solver, time_limit=seconds)
    found = uninterrupted(solve(problem, solver=solver, time_limit=seconds, seed=seed))
    return {
        **instance,
        "solver": solver,
        "ours": found.values["loss"],
        "bound": found.bound,
        "status": str(found.status.value),
        "seconds": found.seconds,
    }


def _beside_published(theirs: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    keys = ["dataset", "rows", "k"]
    joined = theirs.merge(ours, on=keys)
    same = joined["solver"].map(THEIR_ALGORITHMS).fillna(joined["method"]) == joined["method"]
    return joined[same].assign(difference=joined["ours"] - joined["published"]).reset_index(drop=True)


def _verdicts(ours: pd.DataFrame, theirs: pd.DataFrame) -> tuple[ClaimVerdict, ...]:
    exact = ours[ours["solver"] == EXACT]
    best = theirs.groupby(["dataset", "rows", "k"])["published"].min().reset_index()
    joined = exact.merge(best, on=["dataset", "rows", "k"])
    small = joined[joined["dataset"] == "person20"].iloc[0]
    optimal = small["status"] == "optimal" and abs(small["ours"] - small["published"]) < 1e-5
    gaps = 1 - joined["bound"] / joined["ours"]
    return (
        ClaimVerdict(
            "The 20 people have the optimum 19.266129, proven", bool(optimal), f"{small['ours']:.6f}, {small['status']}"
        ),
        ClaimVerdict(
            "On every instance ours loses no more than theirs",
            bool((joined["ours"] <= joined["published"] + 1e-6).all()),
            ", ".join(f"{row.ours:.4f} for {row.published:g}" for row in joined.itertuples()),
        ),
        ClaimVerdict(
            "Every answer comes with a gap of at most 2%", bool((gaps <= 0.02).all()), f"largest {gaps.max():.2%}"
        ),
    )


def _figure(table: pd.DataFrame) -> Figure:
    import plotly.express as px

    # one bar for each instance and whose it is: bars of one colour at one place would be stacked
    instance = table["dataset"] + ", " + table["rows"].astype(str) + " rows"
    theirs = pd.DataFrame({"instance": instance, "whose": "published " + table["method"], "loss": table["published"]})
    ours = pd.DataFrame({"instance": instance, "whose": "our " + table["solver"], "loss": table["ours"]})
    bars = pd.concat([theirs, ours]).drop_duplicates(["instance", "whose"])
    figure = px.bar(bars, x="instance", y="loss", color="whose", barmode="group")
    return figure.update_layout(yaxis={"type": "log", "title": "total loss"}, xaxis_title="", template="plotly_white")
