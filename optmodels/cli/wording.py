"""Messages of the library in the words of the command line: what is typed instead of what a script writes."""

from __future__ import annotations

import re
from collections.abc import Callable

from optmodels.cli.promise import CONDITION_OPTIONS, SUPPRESSION_OPTIONS, option_of

# What scripts call roles, and what is typed instead where that is not the same word.
_ROLES = {
    **{name: name for name in ("missing", "others", "scaling", "gamma", "decimal", "encoding", "sensitive", "target")},
    **{name: name for name in ("ordered", "nominal", "bins")},
    "separator": "sep",
    "identifiers": "identifier",
    "weights": "weight",
    "orders": "order",
    "hierarchies": "hierarchy",
}
_PARAMETERS = ("objective", "levels", "threshold", "least_loss", "n_clusters", "ratio", "most_disclosure", "predict")
_SOLVER_OPTIONS = ("swarm", "backend", "address", "cut", "solver", "faithful", "inner", "iterations", "evaluations")
_PLAIN = ("group_rows", "time_limit")  # keyword arguments whose option is the same word

_NAMES = "|".join(sorted((*CONDITION_OPTIONS, *SUPPRESSION_OPTIONS), key=len, reverse=True))
_UNTYPED = r"(?<![\w.-])(?<!--param )(?<!--option )"  # not a part of something longer, nor of an option
_QUOTED = r"'([^']*)'"


def _any(names: object) -> str:
    return "|".join(sorted(names, key=len, reverse=True))  # type: ignore[call-overload]


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(rf"{_UNTYPED}({_NAMES})='?([\w.,-]*\w)'?"), lambda found: f"{option_of(found[1])} {found[2]}"),
    (
        re.compile(r"\bhierarchies=\{'([^']*)': [^}]*\}(?:, or Hierarchy\.automatic\(values\))?"),
        lambda found: f"--hierarchy {_word(found[1])}=FILE",
    ),
    (re.compile(r"\borders=\{'([^']*)': \[\.\.\.\]\}"), lambda found: f"--order {_word(found[1])}=LOW,...,HIGH"),
    (re.compile(r"\bbins=\{'([^']*)': ([^}]*)\}"), lambda found: f"--bins '{found[1]}={found[2]}'"),
    (re.compile(r"\b(orders|bins)\['([^']*)'\]"), lambda found: f"--{_ROLES[found[1]]} {_word(found[2])}=..."),
    (re.compile(rf"{_UNTYPED}({_any(_ROLES)})={_QUOTED}"), lambda found: f"--{_ROLES[found[1]]} {_word(found[2])}"),
    (re.compile(rf"{_UNTYPED}({_any(_ROLES)})=(?= names)"), lambda found: f"--{_ROLES[found[1]]}"),
    (re.compile(rf"{_UNTYPED}({_any(_PARAMETERS)})={_QUOTED}"), lambda found: f"--param {found[1]}={found[2]}"),
    (re.compile(rf"{_UNTYPED}({_any(_SOLVER_OPTIONS)})={_QUOTED}"), lambda found: f"--option {found[1]}={found[2]}"),
    (re.compile(rf"{_UNTYPED}({_any(_PLAIN)})\b"), lambda found: option_of(found[1])),
)


def _word(text: str) -> str:
    """A value as it is typed: in quotes where a shell would take it apart."""
    return text if re.fullmatch(r"[\w.,/:+-]+", text) else f"'{text}'"


def in_options(message: str) -> str:
    """A message of the library in the words of the command line.

    >>> in_options("most_share=0.4 cannot hold: 'flu' is 0.6 of 'illness' in the whole table.")
    "--most-share 0.4 cannot hold: 'flu' is 0.6 of 'illness' in the whole table."
    >>> in_options("missing='drop' leaves these records out, orders={'stage of illness': [...]} gives an order.")
    "--missing drop leaves these records out, --order 'stage of illness'=LOW,...,HIGH gives an order."
    """
    for pattern, typed in _RULES:
        message = pattern.sub(typed, message)
    return message
