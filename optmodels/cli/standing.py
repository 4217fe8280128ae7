"""Commands with a parameter that stands for many options, so that each option is said once for all commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any

Command = Callable[..., None]


def standing_for(
    name: str, options: Mapping[str, Any], gathered: Callable[[dict[str, Any]], Any]
) -> Callable[[Command], Command]:
    """A command whose parameter of this name is made of what was typed for the options, those left out aside.

    Typer reads options off a function's signature, so in the signature they take the place of the parameter.
    """

    def decorated(command: Command) -> Command:
        @wraps(command)
        def run(**given: Any) -> None:
            typed = {option: given.pop(option) for option in options}
            said = {option: value for option, value in typed.items() if value not in (None, [], ())}
            command(**{name: gathered(said)}, **given)

        shown = []
        for parameter in signature(command, eval_str=True).parameters.values():
            if parameter.name != name:
                shown.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))
                continue
            for option, annotation in options.items():
                shown.append(Parameter(option, Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
        run.__signature__ = signature(command).replace(parameters=shown)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown} | {"return": None}
        return run

    return decorated
