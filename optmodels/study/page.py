"""A study as one page: how far it is, who ranks where, profiles, anytime curves, tables, failures, machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from optmodels.errors import OptmodelsError
from optmodels.markup import Markup, joined, tag
from optmodels.report.bars import Bar, bars
from optmodels.report.line_picture import line_picture
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import number
from optmodels.study import measures, profiles, statistics

if TYPE_CHECKING:
    from optmodels.study.results import Results


_LEAST = 0.01  # per cent; the least excess that a logarithmic axis shows


def page(results: Results, source: Mapping[str, str]) -> str:
    """The report of a study, also of one that is still being run."""
    runs, curves, status = results.runs(), results.curves(), results.status()
    done = int(status["outcomes"].get("done", 0))
    tiles = [
        (f"{done:,} of {status['planned']:,}", "runs are done"),
        (number(runs["solver"].nunique() if len(runs) else 0), "solvers"),
        (
            number(len(runs[["dataset", "model"]].drop_duplicates()) if len(runs) else 0),
            "problems (a dataset and a model)",
        ),
    ]
    sections = [] if not len(runs) else _found(runs, curves)
    failures = results.failures() if len(runs) else pd.DataFrame()
    if len(failures):
        sections.append(("Runs that did not end by themselves", "failures", frame_table(failures)))
    facts: list[tuple[object, object]] = [("study", status["study"])]
    for machine in status["environments"]:
        if machine:
            line = f"{machine['cores']} cores of {machine['cpu']}, optmodels {machine['versions']['optmodels']}"
            facts.append(("runs were made on", line))
    if status["differing"]:
        listed = "; ".join(f"{name} {' and '.join(values)}" for name, values in status["differing"].items())
        facts.append(("made by different machines or code", f"{listed}: compare with care"))
    sections.append(("How it was made", "making", signature(source, list(dict.fromkeys(facts)))))
    lead = [tag("p", "Smaller is better in every cost; values that are to be large are turned round.", class_="soft")]
    return sheet(f"Study: {status['study']}", lead, sections, tiles=tiled(tiles))


def _found(runs: pd.DataFrame, curves: pd.DataFrame) -> list[Section]:
    drawn: list[tuple[str, str, Callable[[], Markup | None]]] = [
        ("Who ranks where", "ranks", lambda: _ranks(runs, curves)),
        ("Profiles", "profiles", lambda: _profiles(runs, curves)),
        ("Against time", "anytime", lambda: _anytime(runs, curves)),
        ("Values", "values", lambda: frame_table(measures.summary(runs, "value", "median").reset_index())),
        ("Seconds", "seconds", lambda: frame_table(measures.summary(runs, "seconds", "median").reset_index())),
        ("Solvers", "solvers", lambda: frame_table(measures.overview(runs).reset_index())),
    ]
    found: list[Section] = []
    for title, key, make in drawn:
        try:
            inside = make()
        except (OptmodelsError, ValueError, KeyError, IndexError):  # a study has too little for it
            continue
        if inside is not None:
            found.append((title, key, inside))
    return found


def _ranks(runs: pd.DataFrame, curves: pd.DataFrame) -> Markup | None:
    costs = statistics.by_problem(measures.costs(runs, curves, "value")).dropna()
    if min(costs.shape) < 2:
        return None
    test = statistics.friedman(costs)
    rows = [Bar(name, (rank / len(test.ranks),), f"{rank:.2f}") for name, rank in test.ranks.items()]
    told = (
        f"Mean ranks of values over {test.problems} problems; 1 is best. Friedman p = {test.p:.3g}; ranks that differ "
        f"by less than {test.critical_difference:.3g} are not told apart (Nemenyi, {test.alpha:g})."
    )
    alike = "; ".join(", ".join(map(str, group)) for group in test.groups)
    return joined(
        (
            tag("p", told),
            bars("", rows, value="mean rank", of="solver"),
            tag("p", f"Not told apart: {alike}.", class_="soft") if alike else None,
        )
    )


def _profiles(runs: pd.DataFrame, curves: pd.DataFrame) -> Markup | None:
    performance = profiles.performance_profile(measures.costs(runs, curves, "value"))
    data = profiles.data_profile(runs, curves)
    pictures = [
        _lines(performance, "ratio", "share", "ratio to the best solver's value", "share of problems", log=True),
        _lines(data, "budget", "share", "seconds to 95% of the known progress", "share of problems", log=False),
    ]
    shown = [one for one in pictures if one is not None]
    note = "The higher a line, the more problems the solver has solved at that ratio, or by that time."
    return joined((tag("p", note, class_="soft"), tag("div", *shown, class_="pictures"))) if shown else None


def _anytime(runs: pd.DataFrame, curves: pd.DataFrame) -> Markup | None:
    found = profiles.anytime(runs, curves)
    excess = found.assign(excess=(100 * found["median"]).clip(lower=_LEAST))
    picture = _lines(excess, "seconds", "excess", "seconds", "median excess, %", log=True, log_up=True)
    note = f"By how much values are worse than the best known one, the median over all runs; {_LEAST}% stands for less."
    return None if picture is None else joined((tag("p", note, class_="soft"), picture))


def _lines(
    frame: pd.DataFrame, x: str, y: str, across: str, up: str, *, log: bool, log_up: bool = False
) -> Markup | None:
    series = {
        str(solver): list(zip(group[x].astype(float), group[y].astype(float), strict=True))
        for solver, group in frame.groupby("solver", sort=False)
    }
    return line_picture(series, across, up, log=log, log_up=log_up) if any(series.values()) else None
