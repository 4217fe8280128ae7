"""`optmodels warm-up`: compile the solvers' kernels once, so that no first run has to wait for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from optmodels.problem import Problem
    from optmodels.table import Table

_SECONDS = 0.2  # of solving: what is compiled on the way does not count

# Solvers that share much of their code stand together, so that it is compiled by one process; those of the first and
# third group take about as long as the others.
_GROUPS = (
    ("local_search", "columns", "blocks"),
    ("epsilon", "nsga2", "pso", "mass"),
    ("generalise", "lattice", "liang-split", "liang-greedy", "usefulness", "univariate"),
    ("network", "mdav", "zheng", "mondrian"),
)


_BOUNDED = "mdav"  # whose answers are bounded: `--bound` has kernels of its own, whoever the answer is from

Into = Annotated[Path | None, typer.Option(hidden=True, help="Collect the code here, for a wheel to carry.")]


def warm_up(into: Into = None) -> None:
    """Compile the solvers' kernels, once on a machine and side by side; compiled code is kept beside the package."""
    if into is None:
        _all_compiled()
        return
    from optmodels.shipped_kernels import environment

    into.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as nothing:  # what was compiled for this machine's processor is not for others
        os.environ.update(environment(into), NUMBA_CACHE_DIR=nothing)
        _all_compiled()


def _all_compiled() -> None:
    from optmodels.cli import show
    from optmodels.parallel import cores, in_parallel

    began = perf_counter()
    shares = min(cores(), len(_GROUPS))
    show.say(f"Compiling, in {shares} process{'es' if shares > 1 else ''}; a minute or two, once on a machine.")
    for names in in_parallel(partial(_compile, shares), shares):
        show.say(f"Ready: {', '.join(names)}.")
    show.say(f"Everything is compiled, in {perf_counter() - began:.0f} s.")


def _compile(shares: int, number: int) -> list[str]:
    """Let the solvers of a share answer small problems of every kind, so that all that they call is compiled."""
    from optmodels import registry
    from optmodels.errors import OptmodelsError
    from optmodels.solver import FrontSolver
    from solvers.bound import bounded

    names = [name for group in _GROUPS[number::shares] for name in group]
    for name in names:
        solver = registry.solver(name)()
        for problem in _problems():
            with suppress(OptmodelsError):  # it refuses, or finds nothing in so short a time
                solution = solver.solve(problem, time_limit=_SECONDS)
                solution.release()
                if name == _BOUNDED:
                    bounded(solution, time_limit=_SECONDS)
                if isinstance(solver, FrontSolver):
                    solver.pareto(problem, time_limit=_SECONDS)
    return names


def _problems() -> Iterator[Problem]:
    """Problems that between them have every structure, price and condition that there are kernels for."""
    from optmodels.datasets import load
    from optmodels.testing import small_table

    # What people try first, and the one of these tables that is no small one: rows are grouped in another way.
    yield _problem(load("german"), "microaggregation", k=5)
    people = small_table(30, sensitive=2)
    yield _problem(people, "microaggregation", k=3, distinct_l=2)
    yield _problem(people, "liang-samavi", k=3)
    yield _problem(people, "mo-obam", k=3, n_clusters=2)
    yield _problem(people, "mass", k=3, classifiers=())
    yield _problem(people, "microaggregation", k=3, suppress=0.1)
    yield _problem(people, "generalisation", k=3)
    yield _problem(people, "generalisation", k=3, scheme="full-domain", suppress=0.1)
    # Every class of a table is listed for a front: few records do.
    yield _problem(small_table(8), "mo-obam", k=3)
    yield _problem(small_table(30, categorical=0, values=2), "aminifar", n_clusters=3)
    # One ordered attribute under k alone has an optimal solver of its own.
    yield _problem(small_table(30, numeric=1, categorical=0), "microaggregation", k=3)
    # Levels of hierarchies under k alone, under a least uncertainty, and with too much disclosed.
    flags = small_table(30, values=2)
    yield _problem(flags, "majeed-hwang", k=3, trees=2, levels="least")
    yield _problem(flags, "majeed-hwang", k=3, trees=2, levels="least", threshold=0.3)
    yield _problem(flags, "majeed-hwang", k=3, trees=2, levels="least", most_disclosure=0.6)


def _problem(table: Table, name: str, **parameters: object) -> Problem:
    from optmodels import registry

    return registry.configured(registry.formulation(name), parameters).build(table)
