"""`optmodels list solvers NAME` and `list formulations NAME`: one, with its parameters, their defaults, an example."""

from __future__ import annotations

from dataclasses import MISSING, fields
from inspect import getdoc
from typing import Any, Literal, get_type_hints

from optmodels import registry
from optmodels.cli.promise import CONDITION_OPTIONS, PROMISES, option_of
from optmodels.cli.values import spelled
from optmodels.docstrings import prose, said_about

What = Literal["formulations", "solvers"]


def explained(what: What, name: str) -> dict[str, Any]:
    """What a formulation or a solver is, and of each parameter what it takes, its default and what is said of it.

    >>> explained("solvers", "mdav")["parameters"]
    []
    """
    kind: Any = registry.formulation(name) if what == "formulations" else registry.solver(name)
    said = prose(getdoc(kind) or "")
    hints = get_type_hints(kind)
    own = [one for one in fields(kind) if one.name not in CONDITION_OPTIONS]
    parameters = [
        {
            "name": one.name,
            "typed": _typed(what, one.name, "..."),
            "takes": spelled(hints[one.name]),
            "default": "required" if one.default is one.default_factory is MISSING else one.default,
            "about": said_about(one.name, kind),
        }
        for one in own
    ]
    return {
        "name": name,
        "summary": kind.summary,
        "about": said,
        "parameters": parameters,
        "conditions": [option_of(one) for one in CONDITION_OPTIONS] if what == "formulations" else [],
        "example": _example(what, name, own),
    }


def put(found: dict[str, Any]) -> None:
    """The same for people."""
    from optmodels.cli import show

    show.say(f"[bold]{show.escaped(found['name'])}[/]: {show.escaped(found['summary'])}\n")
    show.say(show.escaped(found["about"]) + "\n")
    if found["parameters"]:
        titles = ("parameter", "takes", "default")
        show.grid(titles, [(one["typed"], one["takes"], _default(one["default"])) for one in found["parameters"]])
    for one in found["parameters"]:
        if one["about"]:
            show.say(f"[bold]{show.escaped(one['name'])}[/]: {show.escaped(one['about'])}")
    if found["conditions"]:
        show.say(f"\nConditions, which every formulation takes: {', '.join(found['conditions'])}.")
    show.say(f"\nExample: {show.escaped(found['example'])}")


def _typed(what: What, name: str, value: str) -> str:
    if what == "solvers":
        return f"--option {name}={value}"
    return f"{option_of(name)} {value}" if name in PROMISES else f"--param {name}={value}"


def _default(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _example(what: What, name: str, own: Any) -> str:
    start = "optmodels anonymize patients.csv --numeric age --categorical postcode --sensitive illness --others drop"
    if what == "formulations":
        needed = [f"--param {one.name}=VALUE" for one in own if one.default is one.default_factory is MISSING]
        needed = [word for word in needed if not word.startswith("--param k=")]
        return " ".join([start, "--k 5", f"--formulation {name}", *needed, "--out release.csv"])
    plain = next((one for one in own if isinstance(one.default, bool | int | float | str)), None)
    option = [] if plain is None else [f"--option {plain.name}={_default(plain.default)}"]
    return " ".join([start, "--k 5", f"--solver {name}", *option, "--out release.csv"])
