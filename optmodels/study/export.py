"""A study's results as files for other programs: CSV, Parquet, LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError, unknown
from optmodels.files import write_whole
from optmodels.study.measures import INSTANCE, summary, to_be_large
from optmodels.study.results import Results

Format = Literal["csv", "parquet", "latex"]
What = Literal["runs", "curves", "points", "summary"]


def export(
    results: Results, path: str | Path, form: Format, what: What | None = None, *, measure: str = "value"
) -> int:
    """Write runs, curves, points or the summary of a measure; the number of rows. LaTeX is for the summary."""
    if form not in get_args(Format):
        raise unknown("format", form, get_args(Format))
    chosen = what or ("summary" if form == "latex" else "runs")
    if chosen not in get_args(What):
        raise unknown("part of a study", chosen, get_args(What))
    if form == "latex" and chosen != "summary":
        raise InputError(f"LaTeX is for the summary, not for {chosen}: use csv or parquet.")
    runs = results.runs()
    if not len(runs):
        raise InputError(f"The study in '{results.path}' has no finished run yet.")
    match chosen:
        case "runs":
            found = runs
        case "curves":
            found = results.curves()
        case "points":
            found = results.points()
        case "summary":
            found = summary(runs, measure).reset_index()
    if form == "latex":
        table = summary(runs, measure)
        large = to_be_large(runs).groupby([runs[name] for name in INSTANCE]).any()
        text = latex(table, large=large.reindex(table.index).to_numpy() if measure == "value" else None)
        write_whole(path, lambda file: file.write_text(text, encoding="utf-8"))
    elif form == "parquet":
        write_whole(path, lambda file: found.to_parquet(file, index=False))
    else:
        write_whole(path, lambda file: found.to_csv(file, index=False))
    return len(found)


def latex(table: pd.DataFrame, *, large: Sequence[bool] | NDArray[np.bool_] | None = None) -> str:
    r"""A table of problems and solvers for the package booktabs, the best of every row in bold.

    `large` says of each row whether its numbers are to be large; by default all are to be small.

    >>> print(latex(pd.DataFrame({"a": [1.0], "b": [2.0]}, index=pd.Index(["k_3"], name="problem"))))
    \begin{tabular}{lrr}
    \toprule
    problem & a & b \\
    \midrule
    k\_3 & \textbf{1} & 2 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    names = [str(name) for name in table.index.names]
    lines = [
        f"\\begin{{tabular}}{{{'l' * len(names)}{'r' * table.shape[1]}}}",
        "\\toprule",
        " & ".join([*map(_escaped, names), *(_escaped(str(column)) for column in table.columns)]) + " \\\\",
        "\\midrule",
    ]
    senses = [False] * len(table) if large is None else large
    for place, row, is_large in zip(table.index, table.to_numpy(float), senses, strict=True):
        labels = place if isinstance(place, tuple) else (place,)
        values = pd.Series(row)
        best = values.max() if is_large else values.min()
        cells = [_cell(value, is_best=bool(value == best)) for value in row]
        lines.append(" & ".join([*(_escaped(str(label)) for label in labels), *cells]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _cell(value: float, *, is_best: bool) -> str:
    if pd.isna(value):
        return "--"
    return f"\\textbf{{{value:.4g}}}" if is_best else f"{value:.4g}"


def _escaped(text: str) -> str:
    text = " ".join(text.split()).replace("\\", "\\textbackslash ")  # an empty line would end the table
    for sign in "&%$#_{}":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("~", "\\textasciitilde ").replace("^", "\\textasciicircum ")
