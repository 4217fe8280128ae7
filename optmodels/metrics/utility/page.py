"""What classifiers still learn from a release, as a page for people who do not train any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from optmodels.markup import joined, named, tag
from optmodels.metrics.utility.protocol import Protocol
from optmodels.report.bars import Bar, bars
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import number

_SHOWN = ["version", "classifier", "metric", "original", "mean", "std", "retention", "p", "p_resampled", "trials"]
_TITLES = {"version": "release", "mean": "of the release", "std": "deviation", "retention": "kept, %"}


def page(
    summary: pd.DataFrame,
    protocol: Protocol,
    predicted: str,
    asked: tuple[str, str],
    notes: Sequence[str],
    source: Mapping[str, str],
) -> str:
    """The scores of releases beside those of the original, what was done, and what a reader must know.

    `asked` says which rows the models of the original and those of a release were asked about.
    """
    rows = summary[summary["version"] != "original"]
    tiles = []
    for version, group in rows.groupby("version", sort=False):
        kept = group["retention"].dropna()
        if len(kept):
            spread = f"{kept.min():.0f}% to {kept.max():.0f}%" if len(kept) > 1 else f"{kept.iloc[0]:.0f}%"
            tiles.append((spread, joined(("of the original's scores are kept by ", named(version)))))
    target = joined(
        (
            "Models that predict ",
            named(predicted),
            f" learned from each release and from the original. Those of the original were asked about "
            f"{asked[0]} rows, those of a release about {asked[1]} rows.",
        )
    )
    pictures = []
    for (of, metric), group in rows.groupby(["version", "metric"], sort=False):
        longest = max(float(group[["original", "mean"]].max().max()), 1e-9)
        drawn = [
            Bar(
                row["classifier"],
                (row["original"] / longest, row["mean"] / longest),
                f"{row['original']:.3f} → {row['mean']:.3f}",
                warn=bool(row["retention"] < 90),
            )
            for row in group.dropna(subset=["original", "mean"]).to_dict("records")
        ]
        pictures.append(bars(joined((named(of), ": ", named(metric))), drawn, legend=("original", "release")))
    reading = tag(
        "p",
        "A model that keeps 100% predicts as well as one that has seen the original. Less than 90% is marked. Scores "
        "of different metrics cannot be compared with each other.",
        class_="soft",
    )
    shown = rows[[name for name in _SHOWN if name in rows.columns]].rename(columns=_TITLES)
    sections: list[Section] = [
        ("What is kept", "kept", joined((reading, tag("div", *pictures, class_="pictures")))),
        ("All scores", "scores", frame_table(shown)),
    ]
    if notes:
        sections.append(("What a reader must know", "notes", tag("ul", *(tag("li", note) for note in notes))))
    facts = [("protocol", protocol.describe()), ("seed", number(protocol.seed))]
    sections.append(("How it was made", "making", signature(source, facts)))
    lead = [tag("p", target, class_="soft")]
    return sheet("What can still be learned from the release", lead, sections, tiles=tiled(tiles) if tiles else None)
