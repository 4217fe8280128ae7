"""The sections of a report for whoever checks or repeats it: columns, records, all levels, the run and its versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optmodels.markup import Markup, details, grid, joined, named, tag
from optmodels.report.dossier import Dossier
from optmodels.report.sheet import signature
from optmodels.report.words import number, percent, plain, proven

if TYPE_CHECKING:
    from optmodels.audit.findings import Findings

_LEVELS = (
    ("distinct_l", "distinct l", "fewest different values in a group"),
    ("entropy_l", "entropy l", "effective number of values in the least mixed group"),
    ("recursive_c", "recursive c", "most frequent value against the rarest that l counts"),
    ("alpha", "alpha", "largest share of one value in a group"),
    ("t_emd", "t", "largest distance of a group's mix from the whole table's, by the ground below"),
    ("t_equal", "t, equal ground", "the same where every two values are equally far apart"),
    ("t_variational", "variational", "the same as the sum of all differences between shares"),
    ("basic_beta", "basic beta", "largest relative gain in confidence about a value"),
    ("enhanced_beta", "enhanced beta", "the same, bounded for frequent values"),
    ("delta_disclosure", "delta", "largest change, in logarithms, of a value's frequency"),
    (
        "skewed",
        "open to skewness",
        "records in a group where some value is more than twice as frequent as in the table",
    ),
    ("alike", "open to similarity", "records in a group whose values are no further apart than half of all there are"),
)
_ROLES = {"numeric": "a number", "categorical": "a category", "ordinal": "a value with an order"}
_MISSING = {
    "error": "none: they would have been refused",
    "category": "counted as a value like any other",
    "drop": "records with a missing value were dropped",
    "impute": "filled in: the mean, or the most frequent value",
}
_RECODED = {
    "centroid": "released as the mean, middle or most frequent value of the group",
    "interval": "released as the interval or set of the group's values",
    "hierarchy": "released as the node of its hierarchy that covers the group",
}


def measures(audit: Findings) -> Markup:
    """Every level that is measured of every sensitive attribute."""
    titles = ("measure", *(named(one) for one in audit.sensitive))
    rows: list[tuple[object, ...]] = [
        (
            joined((tag("b", title), " ", tag("span", meaning, class_="soft"))),
            *(number(getattr(levels, key)) for levels in audit.sensitive.values()),
        )
        for key, title, meaning in _LEVELS
    ]
    grounds = (tag("b", "ground of t"), *(levels.t_ground for levels in audit.sensitive.values()))
    return details("All measures, in the worst group", grid(titles, [*rows, grounds]))


def columns(dossier: Dossier) -> Markup | None:
    """What became of every column, and of records that were left out."""
    recoded, audit = dossier.recoded, dossier.audit
    how = _RECODED.get(dossier.method or "", "compared as it is")
    kinds = dossier.kinds
    rows: list[tuple[object, object]] = [
        (named(one), f"quasi-identifier ({_ROLES[kinds[one]]}), {how}" if one in kinds else "quasi-identifier")
        for one in audit.quasi
    ]
    rows += [(named(one), "sensitive: protected by the promise, released as it is") for one in audit.sensitive]
    if recoded is not None:
        roles = recoded.original.roles
        if roles.target is not None and roles.target not in audit.sensitive:
            rows.append((named(roles.target), "target: released as it is"))
        rows += [(named(one), "identifier: dropped") for one in roles.identifiers]
        said = dict.fromkeys((*audit.quasi, *audit.sensitive, *roles.identifiers, roles.target or ""))
        rows += [
            (named(one), "kept as it is, and covered by no promise")
            for one in recoded.original.frame.columns
            if one not in said
        ]
        rows += [(named(one), "dropped") for one in recoded.original.dropped if one not in said]
    elif dossier.described is not None:
        rows += [(named(one), "dropped") for one in dossier.described.dropped]
    told = grid(("column", "what it is and what became of it"), rows, class_="roles")
    return joined((told, _records(dossier)))


def _records(dossier: Dossier) -> Markup | None:
    missing: Mapping[str, Any] = dict(dossier.audit.missing or {})
    facts: list[tuple[object, object]] = [("records in this table", f"{dossier.audit.records:,}")]
    if dossier.before is not None:
        facts.append(("records before", f"{dossier.before.records:,}"))
    audit = dossier.audit
    if audit.people is not None:
        facts.append(("people", f"{audit.people.people:,}, with {audit.people.most_records:,} records at most"))
    if dossier.is_release or audit.suppressed:
        left_out = f"{audit.suppressed:,} ({percent(audit.suppressed_share)})" if audit.suppressed else "none"
        facts.append(("records left out (suppressed)", left_out))
    if missing:
        policy = str(missing.get("policy"))
        facts.append(("missing values", _MISSING.get(policy, policy)))
        if missing.get("records_dropped"):
            facts.append(("records dropped for missing values", f"{missing['records_dropped']:,}"))
    for step, changed in ({} if dossier.recoded is None else dossier.recoded.original.cleaning_report).items():
        facts.append((joined(("cleaned: ", named(step))), plain(changed)))
    return grid((), facts, class_="facts")


def making(dossier: Dossier) -> Markup:
    """Model, solver, what is proven, data, versions, date and command."""
    record = dossier.provenance
    facts: list[tuple[object, object]] = []
    if dossier.is_release:
        facts.append(("how good it is", proven(record)))
    for key, title in (
        ("formulation", "model"),
        ("parameters", "parameters"),
        ("solver", "solver"),
        ("status", "status"),
        ("stop", "stopped"),
        ("values", "values"),
        ("bound", "proven bound"),
        ("gap", "gap"),
        ("seed", "seed"),
        ("seconds", "seconds"),
    ):
        value = _without_nothing(record.get(key))
        if value not in (None, {}, ""):
            facts.append((title, f"{value:.3%}" if key == "gap" else plain(value)))
    further = _without_nothing(dict(record.get("details") or {}))
    further = {key: value for key, value in further.items() if record.get(key) != value}  # what was told above
    facts += [(named(key.replace("_", " ")), plain(value)) for key, value in further.items()]
    return signature(dossier.source, facts, dossier.made)


def _without_nothing(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: inner for key, inner in value.items() if inner is not None and inner != ""}
    return value
