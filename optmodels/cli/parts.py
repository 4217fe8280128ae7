"""Formulations and solvers from what was typed: their name and the settings given to them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields
from typing import Any

from optmodels import registry
from optmodels.cli.promise import PROMISES, option_of
from optmodels.cli.values import typed
from optmodels.errors import InputError, OptmodelsError
from optmodels.problem import Formulation
from optmodels.solver import FrontSolver, Solver

# The option by which solvers that count evaluations are limited.
EVALUATIONS = "evaluations"
# The solver of tables of any size.
BLOCKS = "blocks"


def formulation_of(name: str, promise: Mapping[str, Any], parameters: Mapping[str, str]) -> Formulation:
    """The formulation with its promise and its further parameters."""
    kind = registry.formulation(name)
    asked = dict(promise)
    for key in asked:
        if key not in kind.parameters():
            known = ", ".join(kind.parameters())
            raise InputError(f"The formulation '{name}' does not take {_option(key)}: its parameters are {known}.")
        if key in parameters:
            raise InputError(f"'{key}' is given twice: {_option(key)} {asked[key]}, --param {key}={parameters[key]}.")
    asked |= typed("--param", kind, parameters)
    model_fields = fields(kind)
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


def on_dask(name: str, options: Mapping[str, str], address: str | None) -> tuple[str, dict[str, str]]:
    """The solver and its options once --dask is heeded: a cluster is for `blocks`, which solves with any other."""
    if address is None:
        return name, dict(options)
    if name not in ("auto", BLOCKS):
        raise InputError(
            f"--dask is for the solver '{BLOCKS}', which has others solve its blocks: use --solver {BLOCKS} "
            f"--option inner={name}."
        )
    for key in ("backend", "address"):
        if key in options:
            raise InputError(f"--dask {address} says where blocks are solved: leave out --option {key}.")
    return BLOCKS, {**options, "backend": "dask", "address": address}


def front_solver_of(name: str | None, options: Mapping[str, str], evaluations: int | None) -> FrontSolver:
    """The solver of fronts with its options; without a name `auto`, if it finds fronts, or `epsilon`."""
    if name is None:
        name = "auto" if issubclass(registry.solver("auto"), FrontSolver) else "epsilon"
    kind = registry.solver(name)
    if not issubclass(kind, FrontSolver):
        known = ", ".join(found.name for found in _front_solvers())
        raise InputError(
            f"The solver '{name}' answers with one solution, not with a front. These find fronts: {known}."
        )
    if evaluations is not None:
        if EVALUATIONS not in kind.options():
            counting = ", ".join(found.name for found in _front_solvers() if EVALUATIONS in found.options())
            others = f", or choose one that does: {counting}" if counting else ""
            raise InputError(
                f"The solver '{name}' does not count evaluations, so --evaluations {evaluations} cannot stop it: "
                f"use --time-limit{others}."
            )
        if EVALUATIONS in options:
            raise InputError(f"'{EVALUATIONS}' is given twice: with --evaluations and with --option.")
        options = {**options, EVALUATIONS: str(evaluations)}
    solver = solver_of(name, options)
    assert isinstance(solver, FrontSolver)
    return solver


def _front_solvers() -> list[type[FrontSolver]]:
    found = []
    for name in registry.solver_names():
        with suppress(OptmodelsError):  # one that cannot be loaded here is no help
            kind = registry.solver(name)
            if issubclass(kind, FrontSolver):
                found.append(kind)
    return found


def _option(key: str) -> str:
    return option_of(key) if key in PROMISES else f"--param {key}=..."
