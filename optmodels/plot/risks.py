"""The data of pictures of risk: what an attacker can do to a table, and to its release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from optmodels.audit.findings import Findings


_ROUNDING = 1e-9


def risk_change(before: Findings | None, after: Findings) -> pd.DataFrame:
    """Risks of a table before and after it was recoded, all of them shares: risk, meaning, before, after.

    Without an audit of what was before, that column is empty.
    """
    rows = [
        (risk, meaning, None if before is None else _value(before, risk), _value(after, risk))
        for risk, meaning in _meanings(after).items()
    ]
    found = pd.DataFrame(rows, columns=["risk", "meaning", "before", "after"])
    return found.astype({"before": "float64", "after": "float64"})


def risen(before: Findings, after: Findings) -> tuple[str, ...]:
    """The risks that are larger after a table was recoded than before, each in a sentence's part with both shares."""
    found = risk_change(before, after)
    worse = found[found["after"] > found["before"] + _ROUNDING]
    return tuple(
        f"{meaning}: {was:.1%} before, {now:.1%} after"
        for meaning, was, now in zip(worse["meaning"], worse["before"], worse["after"], strict=True)
    )


def _meanings(audit: Findings) -> dict[str, str]:
    meanings = {
        "prosecutor": "largest chance to pick the record of a person known to be in the table",
        "marketer": "share of all people whose record is picked rightly, on average",
    }
    for tau in audit.linkage:
        meanings[f"linkage@{tau}"] = f"records that are picked with a chance above {float(tau):g}"
    if audit.sensitive:
        meanings["homogeneity"] = "records whose sensitive value is certain once the group is known"
    for name in audit.sensitive:
        meanings[f"alpha@{name}"] = f"largest chance to guess '{name}' once the group is known"
        meanings[f"skewness@{name}"] = f"records whose '{name}' is much more likely in their group than in the table"
        meanings[f"similarity@{name}"] = f"records whose group has nearly one and the same '{name}'"
    return meanings


def _value(audit: Findings, risk: str) -> float | None:
    kind, _, which = risk.partition("@")
    match kind:
        case "prosecutor":
            return audit.prosecutor
        case "marketer":
            return audit.marketer
        case "linkage":
            return audit.linkage[which] / max(1, audit.records) if which in audit.linkage else None
        case "homogeneity":
            return audit.homogeneity["total"] / max(1, audit.records) if audit.sensitive else None
    if which not in audit.sensitive:
        return None
    levels = audit.sensitive[which]
    return (
        levels.alpha
        if kind == "alpha"
        else (levels.skewed if kind == "skewness" else levels.alike) / max(1, audit.records)
    )
