"""The sections of a report, each a function of the dossier that is None where there is nothing to tell."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from optmodels.markup import Markup, details, grid, joined, named, names, tag
from optmodels.plot.changes import correlation_change, mean_change
from optmodels.plot.classes import class_size_bands
from optmodels.plot.points import direction, front_points
from optmodels.plot.risks import risk_change
from optmodels.report.bars import Bar, bars
from optmodels.report.dossier import LEAST_LISTED, Dossier
from optmodels.report.front_picture import front_picture
from optmodels.report.limits import not_covered
from optmodels.report.making import columns, making, measures
from optmodels.report.sheet import tiled
from optmodels.report.words import number, percent, promised

_CLOSE = 0.02  # correlations that change by less are not listed
_MOST_ROWS = 40
_MOST_GROUPS = 20_000  # from which correlations are computed; of more a sample


def tiles(dossier: Dossier) -> Markup:
    """What somebody sees who reads nothing else."""
    audit, before = dossier.audit, dossier.before
    shown = [
        (f"{audit.k:,}", f"{'records' if audit.people is None else 'people'} in the smallest group"),
        (
            _change(None if before is None else before.prosecutor, audit.prosecutor),
            "largest chance to pick the record of a known person",
        ),
    ]
    if audit.suppressed:
        shown.append((percent(audit.suppressed_share), f"records left out: {audit.suppressed:,}"))
    if audit.sensitive:
        sure = audit.homogeneity["total"] / max(1, audit.records)
        was = None if before is None else before.homogeneity["total"] / max(1, before.records)
        shown.append((_change(was, sure), "records whose sensitive value is certain once the group is known"))
    if audit.attribute_loss:
        losses = list(audit.attribute_loss.values())
        spread = percent(losses[0]) if len(losses) == 1 else f"{percent(min(losses))} to {percent(max(losses))}"
        shown.append((spread, "lost of each quasi-identifier, where 100% is as much as one group of everybody"))
    return tiled(shown)


def promise(dossier: Dossier) -> Markup | None:
    """What was asked for, in words, and what is."""
    rows = promised(dossier.audit)
    if not rows:
        return None
    told = [
        tag(
            "tr",
            tag("th", row.words, scope="row"),
            tag("td", row.term, data_title="called"),
            tag("td", row.asked, data_title="asked"),
            tag("td", row.achieved if row.kept else tag("strong", row.achieved, " (broken)"), data_title="reached"),
        )
        for row in rows
    ]
    head = tag("tr", *(tag("th", title, scope="col") for title in ("In words", "Called", "Asked", "Reached")))
    what = tag(
        "p",
        "A group is a set of records that are released with the same ",
        names(dossier.audit.quasi),
        ": the columns by which others may recognise a person. ",
        f"The table has {dossier.audit.classes:,} groups of {dossier.audit.average_class_size:.1f} records on average.",
    )
    return joined((what, tag("table", tag("thead", head), tag("tbody", *told), class_="stack")))


def risks(dossier: Dossier) -> Markup:
    """What an attacker can do, before and after."""
    found = risk_change(dossier.before, dossier.audit)
    rows = []
    for risk in found.to_dict("records"):
        was, now = risk["before"], risk["after"]
        both = dossier.before is not None
        text = f"{percent(was)} → {percent(now)}" if both else percent(now)
        rows.append(Bar(risk["meaning"], (was, now) if both else (now,), text, warn=both and now > was))
    legend = ("before", "after") if dossier.before is not None else ()
    note = None
    if any(row.warn for row in rows):
        note = tag("p", "A risk that is marked is larger after than before.", class_="warning")
    return joined((bars("", rows, legend=legend, value="chance or share", of="risk", sentences=True), note))


def not_protected(dossier: Dossier) -> Markup:
    """What the promise does not cover, at these settings."""
    return tag("ul", *not_covered(dossier))


def cost(dossier: Dossier) -> Markup | None:
    """What was lost, attribute by attribute, and of means and correlations."""
    audit = dossier.audit
    if not audit.attribute_loss and not audit.loss:
        return None
    lost = set(audit.all_but_lost)
    rows = [Bar(one, (share,), percent(share), warn=one in lost) for one, share in audit.attribute_loss.items()]
    warning = None
    if lost:
        warning = tag(
            "p",
            names(audit.all_but_lost),
            " is" if len(lost) == 1 else " are",
            " all but lost: little can be learned from what is released of it. Give it more weight, ask for less, or "
            "leave it out.",
            class_="warning",
        )
    totals = [(one.replace("_", " "), number(value)) for one, value in audit.loss.items()]
    return joined(
        (
            bars("", rows, value="lost", of="quasi-identifier") if rows else None,
            tag(
                "p", "100% is what one group of everybody would lose of that column; 0% is the original.", class_="soft"
            )
            if rows
            else None,
            warning,
            grid((), totals, class_="facts") if totals else None,
            _relations(dossier),
        )
    )


def _relations(dossier: Dossier) -> Markup | None:
    recoded = dossier.recoded
    if recoded is None:
        return None
    means = [
        (
            named(row["attribute"]),
            *(number(_short(row[key])) for key in ("mean_before", "mean_after", "sd_before", "sd_after")),
        )
        for row in mean_change(recoded).to_dict("records")
        if row["attribute"] in recoded.quasi
    ]
    sample = recoded.sample(_MOST_GROUPS)
    found = correlation_change(sample)
    changed = found[(found["before"] - found["after"]).abs() >= _CLOSE]
    order = (changed["before"] - changed["after"]).abs().sort_values(ascending=False).index[:_MOST_ROWS]
    related = [
        (
            joined((named(row["one"]), " and ", named(row["other"]))),
            row["measure"],
            f"{row['before']:.2f}",
            f"{row['after']:.2f}",
        )
        for row in changed.loc[order].to_dict("records")
    ]
    same = len(found) - len(changed)
    still = f"{same:,} of {len(found):,} pairs of columns hang together as before, to within {_CLOSE}."
    if sample is not recoded:
        still += f" Computed from {_MOST_GROUPS:,} groups, drawn at random."
    return details(
        "Means, and how columns hang together",
        grid(("column", "mean before", "after", "spread before", "after"), means) if means else None,
        tag("p", still, class_="soft") if len(found) else None,
        grid(("columns", "measure", "before", "after"), related) if related else None,
    )


def distributions(dossier: Dossier) -> Markup | None:
    """How the values of each quasi-identifier are spread, before and after."""
    changes = [(one, dossier.change(one)) for one in dossier.audit.quasi]
    pictures = [_distribution(dossier, one, change) for one, change in changes if change is not None]
    if not pictures:
        return None
    covered = {"interval": "intervals and sets", "hierarchy": "nodes of hierarchies"}.get(dossier.method or "")
    reading = f" After: {covered} stand for all that they cover, evenly." if covered else ""
    note = (
        f"Shares of all records. Of values that fewer than {dossier.least_shown} records had in the original table it "
        f"is told that there were few, so that this page gives nobody away.{reading}"
    )
    return joined((tag("p", note, class_="soft"), tag("div", *pictures, class_="pictures")))


def _distribution(dossier: Dossier, column: str, change: pd.DataFrame) -> Markup:
    before, after = (
        change["before"] / max(1, change["before"].sum()),
        change["after"] / max(1e-9, change["after"].sum()),
    )
    longest = max(float(before.max()), float(after.max()), 1e-9)
    rows = []
    for value, count, was, now in zip(change["value"], change["before"], before, after, strict=True):
        told = count == 0 or count >= dossier.least_shown
        text = f"{was:.0%} → {now:.0%}" if told else f"few → {now:.0%}"
        rows.append(Bar(value, (was / longest if told else None, now / longest), text))
    return bars(named(column), rows, legend=("before", "after"))


def groups(dossier: Dossier) -> Markup | None:
    """How large the groups are, and which give away most."""
    if dossier.sizes is None:
        return None
    found = class_size_bands(dossier.sizes)
    most = max(1, int(found["classes"].max()))
    rows = [
        Bar(row["label"], (row["classes"] / most,), f"{row['classes']:,}")
        for row in found.to_dict("records")
        if row["classes"]
    ]
    picture = bars("", rows, value="groups", of="records in the group")
    return joined((picture, _riskiest(dossier)))


def _riskiest(dossier: Dossier) -> Markup | None:
    audit, found = dossier.audit, dossier.riskiest(5)
    if found is None:
        return None
    rows = []
    for row in found.to_dict("records"):
        listed = [row.get(f"{one} (quasi-identifier)", row.get(one)) for one in audit.quasi]
        if row["size"] < LEAST_LISTED:
            known: Markup = tag("span", f"not told: fewer than {LEAST_LISTED} records", class_="soft")
            guessed = percent(row["guessed"])
        else:
            known = joined(
                (joined((named(one), " ", named(value))) for one, value in zip(audit.quasi, listed, strict=True)), ", "
            )
            guessed = joined((percent(row["guessed"]), " (", named(row["of"]), ")")) if row["of"] else "-"
        rows.append(
            tag(
                "tr",
                tag("th", known, scope="row"),
                tag("td", f"{row['size']:,}", data_title="records"),
                tag("td", percent(row["found"]), data_title="picked"),
                tag("td", guessed, data_title="guessed") if audit.sensitive else None,
            )
        )
    titles = ("group", "records", "record picked", "sensitive value guessed")[: 4 if audit.sensitive else 3]
    head = tag("tr", *(tag("th", title, scope="col") for title in titles))
    return details(
        "The groups that give away most",
        tag("table", tag("thead", head), tag("tbody", *rows), class_="stack"),
    )


def sensitive(dossier: Dossier) -> Markup | None:
    """What a group tells of sensitive values that the whole table does not."""
    audit = dossier.audit
    if not audit.sensitive:
        return None
    pictures = []
    for one in audit.sensitive:
        found = dossier.ranges(one)
        if found is None:
            continue
        rows = [
            Bar(
                row["value"],
                (row["whole"],),
                f"{row['whole']:.0%} ({row['least']:.0%} to {row['most']:.0%})",
                span=(row["least"], row["most"]),
            )
            for row in found.to_dict("records")
        ]
        pictures.append(bars(named(one), rows, value="table (groups)"))
    note = tag(
        "p",
        "The mark is the share of a value in the whole table, the bar reaches from its least to its largest share in a "
        "group. The wider the bar, the more somebody learns who knows the group.",
        class_="soft",
    )
    return joined((note if pictures else None, tag("div", *pictures, class_="pictures"), measures(audit)))


def front(dossier: Dossier) -> Markup | None:
    """The front that the release was chosen from."""
    if dossier.front is None or not len(points := front_points(dossier.front)):
        return None
    objectives = dossier.front.objectives
    chosen = dossier.chosen
    steps = len(objectives) == 2
    pictures = [front_picture(points, objectives[0], one, chosen=chosen, steps=steps) for one in objectives[1:]]
    ways = joined((joined((tag("b", one.name), f" ({direction(one)})")) for one in objectives), ", ")
    which = "" if chosen is None else f" This page describes point {chosen}."
    told = [
        tag("p", f"{len(points):,} releases, none better than another in all of ", ways, f".{which}"),
        *pictures,
    ]
    if points["bound"].notna().any() and steps:
        told.append(tag("p", "Dashed: what is proven; no release lies beyond it.", class_="soft"))
    marked = points[(points["marks"] != "") | (points["number"] == chosen)]
    rows = [
        (
            f"{row['number']}{' (chosen)' if row['number'] == chosen else ''}",
            *(number(row[one.name]) for one in objectives),
            "-" if row["gap"] is None or row["gap"] != row["gap"] else percent(row["gap"]),
            row["marks"],
        )
        for row in marked.to_dict("records")
    ]
    told.append(grid(("point", *(one.name for one in objectives), "gap", "known for"), rows))
    return joined(told)


def _change(before: float | None, after: float) -> str:
    return percent(after) if before is None else f"{percent(before)} → {percent(after)}"


def _short(value: float) -> float:
    return float(f"{value:.4g}")


SECTIONS: tuple[tuple[str, str, Callable[[Dossier], Markup | None]], ...] = (
    ("What was promised, and what is", "promise", promise),
    ("Risk", "risk", risks),
    ("What this does not protect against", "limits", not_protected),
    ("The front it was chosen from", "front", front),
    ("What it costs", "cost", cost),
    ("Values before and after", "values", distributions),
    ("Sensitive values in groups", "sensitive", sensitive),
    ("Groups", "groups", groups),
    ("Columns and records", "columns", columns),
    ("How it was made", "making", making),
)
