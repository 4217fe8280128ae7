"""What a promise does not protect against, at what was reached, in words for people who answer for data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from optmodels.markup import Markup, joined, named, names, tag
from optmodels.report.words import GROUNDS, number, percent

if TYPE_CHECKING:
    from optmodels.audit.findings import Findings
    from optmodels.report.dossier import Dossier


def not_covered(dossier: Dossier) -> Iterator[Markup]:
    """What the promise does not protect against, at what was reached here."""
    audit, promise = dossier.audit, dossier.promise
    yield from _of_guessing(audit, promise)
    yield from _of_columns(dossier)
    yield _point(
        "Knowing that somebody is in the table.",
        "Groups hide which record is whose. They do not hide that a person's record is there at all, nor what is true "
        "of a whole group.",
    )
    yield _point(
        "Further knowledge.",
        "Whoever knows more about a person than the quasi-identifiers, such as an illness they do not have, can rule "
        "out records of a group. Columns that others may know belong among the quasi-identifiers.",
    )
    yield _point(
        "Several releases.",
        "The promise holds for this table alone. Another release of the same people, grouped otherwise, can be "
        "intersected with it.",
    )
    if audit.people is None:
        repeated = {} if dossier.recoded is None else dossier.recoded.original.repeated_identifiers
        yield _point(
            "People with several records.",
            joined(
                (
                    "Groups are counted in records. Where one person has several, a group of k records protects fewer "
                    "than k people.",
                    joined((" Here people repeat in ", names(repeated), ": name it with --person."))
                    if repeated
                    else "",
                )
            ),
            serious=bool(repeated),
        )
    yield _point("Guarantees against any attacker.", "This is no differential privacy: nothing random was added.")


def _of_guessing(audit: Findings, promise: Mapping[str, Any]) -> Iterator[Markup]:
    if not audit.sensitive:
        yield _point(
            "Learning something sensitive.",
            "No column was named as sensitive, so nothing is known about what a group gives away besides its values.",
        )
    for attribute, levels in audit.sensitive.items():
        sure = audit.homogeneity.get(attribute, 0) if attribute != "total" else audit.homogeneity["total"]
        if sure:
            share = percent(sure / max(1, audit.records))
            yield _point(
                joined(("Certainty about ", named(attribute), ".")),
                f"{sure:,} records ({share}) are in groups in which all have the same value: who knows that a person "
                "is in such a group knows the value, however large it is. Ask for diversity (distinct l, 2 or more).",
                serious=True,
            )
        bounded = any(_asked(promise, condition, attribute) for condition in ("most_share", "beta", "t", "delta"))
        if levels.alpha < 1 and not sure:
            how = "No promise bounds this. " if not bounded else ""
            yield _point(
                joined(("Guessing ", named(attribute), ".")),
                f"In the least mixed group {percent(levels.alpha)} of the records have the same value: a guess is "
                f"right that often. {how}Two values that mean the same to a reader (two cancers) count as different.",
                serious=not bounded and levels.alpha > 0.5,
            )
        if _asked(promise, "t", attribute) is None:
            yield _point(
                joined(("Groups that differ from the rest in ", named(attribute), ".")),
                f"The mix in some group differs from the whole table's by {number(levels.t_emd)} (0 is the same mix, 1 "
                f"is nothing in common; {GROUNDS[levels.t_ground]}), which no promise (t) bounds.",
            )
        elif levels.t_ground != "equal" and levels.t_equal > 2 * levels.t_emd:
            yield _point(
                joined(("What t means for ", named(attribute), ".")),
                f"It is measured with a ground on which {GROUNDS[levels.t_ground]}, and reaches "
                f"{number(levels.t_emd)}. Where all values count as equally different, the same groups differ by "
                f"{number(levels.t_equal)}.",
            )


def _of_columns(dossier: Dossier) -> Iterator[Markup]:
    kept: Mapping[str, Any] | None = dossier.audit.kept
    if kept:
        columns: Mapping[str, float] = kept["columns"]
        together = percent(float(kept["alone_with_quasi_and_kept"]))
        alone = [joined((named(one), f" ({percent(share)} alone with their value)")) for one, share in columns.items()]
        text = (
            "Released unchanged and covered by no promise: ",
            joined(alone, ", "),
            f". With these and the quasi-identifiers together {together} of the records are alone. Drop them, or name "
            "them as quasi-identifiers, if anybody may know them.",
        )
        yield _point("Columns that are kept as they are.", joined(text), serious=True)
    if dossier.audit.sensitive:
        yield _point(
            "Somebody who knows a sensitive value.",
            joined(
                (
                    "Released as they are: ",
                    names(dossier.audit.sensitive),
                    ". Who knows a person's value already can look for it among all records that have it.",
                )
            ),
        )


def _asked(promise: Mapping[str, Any], condition: str, attribute: str) -> Any:
    given = promise.get(condition)
    return given.get(attribute) if isinstance(given, Mapping) else given


def _point(title: object, text: object, *, serious: bool = False) -> Markup:
    return tag("li", tag("strong", title), " ", text, class_="serious" if serious else "")
