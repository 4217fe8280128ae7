"""`--resume`: where a search goes on from, and what is said of that when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from optmodels.cli.show import escaped
from optmodels.errors import InputError
from optmodels.front import ParetoFront
from optmodels.front_folder import ROLES, source_in
from optmodels.problem import Problem
from optmodels.table.roles import Roles


def front_in(folder: Path, problem: Problem, sha256: str) -> ParetoFront:
    """The front that `pareto` left in a folder, if it is of the same problem on the same data.

    Raises:
        InputError: it is not, so that nothing that is proven of it would be true here.
    """
    found = source_in(folder)
    if found["sha256"] != sha256:
        raise InputError(f"The front in '{folder}' is of other data: their SHA-256 differs.")
    if Roles.load(folder / ROLES) != Roles.from_toml(problem.table.roles.to_toml()):
        raise InputError(f"The front in '{folder}' is of the same data with other roles: give those of its {ROLES}.")
    return ParetoFront.load(folder, problem)


def said(kept: Path | None, details: Mapping[str, object]) -> str:
    """What there is to say of a search that was gone on with, or that another may go on with."""
    words: list[str] = []
    before = details.get("resumed")
    if isinstance(before, Mapping):
        words.append(f"It went on from a search of {before['seconds']:.0f} s.")
    if reason := details.get("not_kept"):
        words.append(f"The search is not kept: {reason}")
    elif kept is not None:
        words.append(f"The search is kept in {escaped(kept)}: the same command goes on from there.")
    return " ".join(words)
