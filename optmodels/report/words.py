"""Promises and what is proven, in words for people who answer for data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from optmodels.markup import Markup, escaped, joined, named, names

if TYPE_CHECKING:
    from optmodels.audit.findings import Findings

_LISTED = 12  # entries of a list that are told
_HAIR = 2e-9  # rounding, where shares and distances are compared
GROUNDS = {
    "equal": "every two values are equally far apart",
    "ordered": "values are as far apart as they are in their order",
    "hierarchical": "values are as far apart as they are in their hierarchy",
    "variational": "the sum of all differences between shares, from 0 to 2",
}


Teller = Callable[["Findings", str, Any, Mapping[str, Any]], "Promised"]


@dataclass(frozen=True)
class Promised:
    """One thing that was promised, in words, with what was asked and what is."""

    words: Markup
    term: str
    asked: str
    achieved: str
    kept: bool


def number(value: float | None) -> str:
    """A number in a few digits.

    >>> number(1234567), number(0.123456), number(2.0), number(float("inf")), number(None)
    ('1,234,567', '0.1235', '2', 'unbounded', '-')
    """
    if value is None:
        return "-"
    if not isfinite(value):
        return "unbounded"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:.4g}"


def percent(share: float | None) -> str:
    """A share as people read it: small ones are not rounded to nothing, nor large ones to all.

    >>> percent(0.25), percent(0.00012), percent(0.9999), percent(1.0), percent(0.0)
    ('25%', '0.012%', '99.99%', '100%', '0%')
    """
    if share is None or not isfinite(share):
        return "-"
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    value = share * 100
    if 1 <= value <= 99:
        return f"{value:.1f}".rstrip("0").rstrip(".") + "%"
    if value > 99:
        return f"{value:.2f}".rstrip("0").rstrip(".") + "%" if value < 99.995 else "almost 100%"
    return f"{value:.2g}%"


def promised(audit: Findings) -> list[Promised]:
    """What was promised, condition by condition, and how the table itself measures up."""
    promise: dict[str, Any] = dict(audit.promise or {})
    rows = []
    if "k" in promise:
        k, who = int(promise["k"]), "records" if audit.people is None else "people"
        words = joined(
            (
                f"Everybody is released with the same {'value' if len(audit.quasi) == 1 else 'values'} of ",
                names(audit.quasi),
                f" as at least {k - 1} others: nobody can be told apart within a group of {k} {who} or more.",
            )
        )
        rows.append(Promised(words, "k-anonymity", f"at least {k}", f"{audit.k:,}", audit.k >= k))
    if promise.get("suppress"):
        most = float(promise["suppress"])
        words = escaped(f"No more than {percent(most)} of the records are left out of the release.")
        kept = audit.suppressed_share <= most + _HAIR
        rows.append(Promised(words, "suppression", f"at most {percent(most)}", percent(audit.suppressed_share), kept))
    for condition in _CONDITIONS:
        given = promise.get(condition)
        if given is None:
            continue
        for attribute in audit.sensitive:
            asked = given.get(attribute) if isinstance(given, Mapping) else given
            if asked is not None:
                rows.append(_promised(_CONDITIONS[condition], audit, attribute, asked, promise))
    return rows


def _promised(tell: Teller, audit: Findings, attribute: str, asked: Any, promise: Mapping[str, Any]) -> Promised:
    """What is reached counting records and, where people are known, counting each of them once as well."""
    by_records = tell(audit, attribute, asked, promise)
    if audit.people is None:
        return by_records
    by_people = tell(replace(audit, sensitive=audit.people.sensitive), attribute, asked, promise)
    less = "" if by_people.kept else ", less than asked: conditions count records"
    return replace(by_records, achieved=f"{by_records.achieved} ({by_people.achieved} counting people once{less})")


def _of(given: Any, attribute: str, usual: str) -> str:
    """How a condition is meant for an attribute."""
    said = given.get(attribute, usual) if isinstance(given, Mapping) else given
    return usual if said is None else str(said)


def _distinct(audit: Findings, attribute: str, asked: Any, _: Mapping[str, Any]) -> Promised:
    found = audit.sensitive[attribute].distinct_l
    words = joined(("In every group there are at least ", str(asked), " different values of ", named(attribute), "."))
    return Promised(words, "distinct l-diversity", f"at least {asked}", f"{found:,}", found >= asked)


def _entropy(audit: Findings, attribute: str, asked: Any, _: Mapping[str, Any]) -> Promised:
    found = audit.sensitive[attribute].entropy_l
    words = joined(
        (
            "The values of ",
            named(attribute),
            " in every group are as hard to guess as if there were at least ",
            f"{asked:g} equally frequent ones.",
        )
    )
    kept = found >= asked * (1 - _HAIR)
    return Promised(words, "entropy l-diversity", f"at least {asked:g}", number(found), kept)


def _recursive(audit: Findings, attribute: str, asked: Any, _: Mapping[str, Any]) -> Promised:
    c, least = asked
    levels = audit.sensitive[attribute].recursive
    found = levels[least - 1] if least <= len(levels) else float("inf")
    words = joined(
        (
            "In every group the most frequent value of ",
            named(attribute),
            f" occurs less than {c:g} times as often as the "
            f"values from the {_ordinal(least)} most frequent on together.",
        )
    )
    return Promised(words, "recursive (c, l)-diversity", f"below {c:g} for l = {least}", number(found), found < c)


def _share(audit: Findings, attribute: str, asked: Any, _: Mapping[str, Any]) -> Promised:
    found = audit.sensitive[attribute].alpha
    words = joined(
        (
            "No value of ",
            named(attribute),
            f" makes up more than {percent(asked)} of a group: whoever guesses is right no more often than that.",
        )
    )
    return Promised(words, "(alpha, k)-anonymity", f"at most {percent(asked)}", percent(found), found <= asked + _HAIR)


def _beta(audit: Findings, attribute: str, asked: Any, promise: Mapping[str, Any]) -> Promised:
    kind = _of(promise.get("beta_kind"), attribute, "basic")
    levels = audit.sensitive[attribute]
    found = levels.enhanced_beta if kind == "enhanced" else levels.basic_beta
    words = joined(
        (
            "Knowing the group raises the confidence in any value of ",
            named(attribute),
            f" by no more than {asked:g} times what it is in the whole table ({kind}).",
        )
    )
    return Promised(words, "beta-likeness", f"at most {asked:g}", number(found), found <= asked + _HAIR)


def _delta(audit: Findings, attribute: str, asked: Any, _: Mapping[str, Any]) -> Promised:
    found = audit.sensitive[attribute].delta_disclosure
    words = joined(
        (
            "Every value of ",
            named(attribute),
            " occurs in every group, neither much more nor much less often than in the "
            "whole table (difference of logarithms).",
        )
    )
    return Promised(words, "delta-disclosure privacy", f"below {asked:g}", number(found), found < asked)


def _closeness(audit: Findings, attribute: str, asked: Any, promise: Mapping[str, Any]) -> Promised:
    distance = _of(promise.get("t_distance"), attribute, "emd")
    levels = audit.sensitive[attribute]
    found = levels.t(distance)  # type: ignore[arg-type]
    ground = levels.t_ground if distance == "emd" else distance
    words = joined(
        (
            "The mix of ",
            named(attribute),
            f" in every group differs from that in the whole table by no more than {asked:g}, where {GROUNDS[ground]}.",
        )
    )
    kept = found is not None and found <= asked + _HAIR
    return Promised(words, f"t-closeness ({ground})", f"at most {asked:g}", number(found), kept)


_CONDITIONS: Mapping[str, Teller] = {
    "distinct_l": _distinct,
    "entropy_l": _entropy,
    "recursive": _recursive,
    "most_share": _share,
    "beta": _beta,
    "delta": _delta,
    "t": _closeness,
}


def proven(provenance: Mapping[str, Any]) -> str:
    """What may be claimed about how good the release is, in one sentence."""
    gap, status = provenance.get("gap"), provenance.get("status")
    if status == "optimal":
        return "Proven: no release by this model and these conditions is better."
    if gap is not None and isfinite(gap):
        return f"Proven: no release by this model and these conditions is better by more than {percent(gap)}."
    return "Found by a heuristic: nothing is proven about how much better a release could be."


def _ordinal(place: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")


def plain(value: object) -> Markup:
    """A parameter or detail as text."""
    if isinstance(value, float):
        return escaped(number(value))
    if isinstance(value, Mapping):
        return joined((joined((named(key), " ", plain(inner))) for key, inner in value.items()), ", ")
    if isinstance(value, (list, tuple)):
        more = f", … ({len(value):,} in all)" if len(value) > _LISTED else ""
        return joined((joined((plain(inner) for inner in value[:_LISTED]), ", "), more))
    return named(value)
