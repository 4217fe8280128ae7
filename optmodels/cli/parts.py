"""Formulations and solvers from what was typed: their name and the settings given to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from optmodels import registry
from optmodels.cli.values import typed
from optmodels.errors import InputError
from optmodels.problem import Formulation
from optmodels.solver import Solver

# The parts of a promise that have an option of their own.
PROMISES = ("k", "distinct_l", "entropy_l", "t")


def formulation_of(name: str, promise: Mapping[str, float | None], parameters: Mapping[str, str]) -> Formulation:
    """The formulation with its promise and its further parameters."""
    kind = registry.formulation(name)
    asked: dict[str, Any] = {key: value for key, value in promise.items() if value is not None}
    for key in asked:
        if key not in kind.parameters():
            known = ", ".join(kind.parameters())
            raise InputError(f"The formulation '{name}' does not take {_option(key)}: its parameters are {known}.")
        if key in parameters:
            raise InputError(f"'{key}' is given twice: {_option(key)} {asked[key]}, --param {key}={parameters[key]}.")
    asked |= typed("--param", kind, parameters)
    model_fields = fields(kind)  # type: ignore[arg-type]
    needed = [field.name for field in model_fields if field.default is field.default_factory is MISSING]
    for key in needed:
        if key not in asked:
            raise InputError(f"The formulation '{name}' needs {key}: give it with {_option(key)}.")
    return registry.configured(kind, asked)


def solver_of(name: str, options: Mapping[str, str]) -> Solver:
    """The solver with its options."""
    kind = registry.solver(name)
    if options and not kind.options():
        raise InputError(f"The solver '{name}' has no options, and --option gives it '{next(iter(options))}'.")
    return registry.configured(kind, typed("--option", kind, options))


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}" if key in PROMISES else f"--param {key}=..."
