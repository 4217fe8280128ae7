"""Formulations and solvers by name, ours and third parties' alike, found lazily through entry points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from optmodels.errors import InputError, MissingDependencyError, unknown
from optmodels.problem import Formulation
from optmodels.solver import SOLVERS, Solver, installed, solvers_for

FORMULATIONS = "optmodels.formulations"

__all__ = [
    "FORMULATIONS",
    "SOLVERS",
    "check_names",
    "configured",
    "formulation",
    "formulation_names",
    "solver",
    "solver_names",
    "solvers_for",
]

Configurable = TypeVar("Configurable", bound="Formulation | Solver")


def formulation_names() -> tuple[str, ...]:
    """The names of all formulations, without importing any."""
    return tuple(installed(FORMULATIONS))


def solver_names() -> tuple[str, ...]:
    """The names of all solvers, without importing any."""
    return tuple(installed(SOLVERS))


def formulation(name: str) -> type[Formulation]:
    """The formulation's class.

    >>> formulation("microaggregation").name
    'microaggregation'
    """
    return _load(FORMULATIONS, "formulation", name, Formulation)  # type: ignore[type-abstract]


def solver(name: str) -> type[Solver]:
    """The solver's class.

    >>> solver("mdav").name
    'mdav'
    """
    return _load(SOLVERS, "solver", name, Solver)  # type: ignore[type-abstract]


def configured(kind: type[Configurable], options: Mapping[str, Any]) -> Configurable:
    """An instance with these parameters or options; a name that does not exist is an error, not a shrug.

    >>> configured(solver("mdav"), {"nosuch": 1})
    Traceback (most recent call last):
    optmodels.errors.InputError: There is no option of 'mdav' named 'nosuch'. ...
    """
    check_names(kind, options)
    return kind(**options)


def check_names(kind: type[Configurable], options: Iterable[str]) -> None:
    """Nothing if the formulation has parameters, or the solver options, of these names."""
    known = kind.parameters() if issubclass(kind, Formulation) else kind.options()
    what = "parameter" if issubclass(kind, Formulation) else "option"
    for name in options:
        if name not in known:
            error = unknown(what, name, known)
            listing = str(error).split(".", 1)[1]
            raise InputError(f"There is no {what} of '{kind.name}' named '{name}'.{listing}")


def _load(group: str, what: str, name: str, base: type[Configurable]) -> type[Configurable]:
    found = installed(group)
    if name not in found:
        raise unknown(what, name, found)
    try:
        loaded = found[name].load()
    except (ImportError, AttributeError) as error:
        raise MissingDependencyError(f"The {what} '{name}' cannot be loaded: {error}.") from error
    if not (isinstance(loaded, type) and issubclass(loaded, base)):
        raise InputError(f"The entry point of the {what} '{name}' names {loaded!r}, which is no {base.__name__}.")
    return loaded
