"""The folder of a front: its points, what to see them by, and all that is needed to release one of them later.

The folder holds the class of every original record, so it is for whoever holds the data, not for publication.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from optmodels import registry
from optmodels.datasets import DATASETS, frame, locate
from optmodels.errors import InfeasibleError, InputError, NoSolutionError
from optmodels.front import ParetoFront
from optmodels.jsonable import plain, with_tuples
from optmodels.objectives import OWN
from optmodels.problem import Problem
from optmodels.table import Table
from optmodels.table.roles import Roles

Writer = Callable[[Path], object]

SOURCE = "source.json"
ROLES = "roles.toml"
SORTED = "sorted"  # the order of a file's records that the labels of a front are about
CSV = "front.csv"
PAGE = "front.html"
USUAL = (OWN, "entropy")  # objectives of a front where the model has but one
NAMES = ("front.parquet", "labels.parquet", "front.json", SOURCE, ROLES, CSV, PAGE)


def nothing_to_write(front: ParetoFront) -> InfeasibleError | NoSolutionError:
    """Why a front has no point."""
    if reason := front.details.get("infeasible"):
        return InfeasibleError(str(reason))
    return NoSolutionError(
        f"The solver '{front.details.get('solver')}' stopped ({front.details.get('stop')}) before it had a point of "
        f"the front: nothing was written. {front.details.get('remark', '')}".rstrip()
    )


def source_of(data: str, seed: int) -> dict[str, Any]:
    """What is written down about the data: where it is, what it contained, and the seed that a model draws by."""
    path = None if data in DATASETS else str(Path(data).resolve())
    return {"data": data, "path": path, "sha256": fingerprint(data), "seed": seed, "records": SORTED}


def fingerprint(data: str) -> str:
    """The SHA-256 of a file, or of a dataset's or a folder's files one after the other, in the order of their names."""
    if data in DATASETS:
        files = [locate(one) for one in DATASETS[data].sources]
    else:
        files = sorted(Path(data).rglob("*.parquet")) if Path(data).is_dir() else [Path(data)]
    digest = hashlib.sha256()
    try:
        for file in files:
            with open(file, "rb") as opened:
                while chunk := opened.read(1 << 20):
                    digest.update(chunk)
    except OSError as problem:
        raise InputError(f"Cannot read '{data}': {problem.strerror}.") from problem
    return digest.hexdigest()


def writers(front: ParetoFront, noted: Mapping[str, Any], roles: Roles) -> dict[str, Writer]:
    """Every file of the folder by its name."""
    page, text = front.plot(), json.dumps(plain(noted), indent=2, allow_nan=False)
    return {
        **front.files(),
        SOURCE: lambda file: file.write_text(text + "\n", encoding="utf-8"),
        ROLES: roles.save,
        CSV: lambda file: front.frame().rename_axis("point").to_csv(file),
        PAGE: lambda file: page.write_html(file, include_plotlyjs=True),
    }


def with_objectives(problem: Problem, wanted: Sequence[str] = ()) -> Problem:
    """The problem under the objectives that were named, under its own, or where it has but one under the usual two.

    A front is the same in whatever order its objectives are named. The model's own target comes first, so that solvers
    can make use of all that is known about it, and objectives that are the model's own stay in its own order.
    """
    own = [objective.name for objective in problem.objectives]
    if set(wanted or own) == set(own) and len(own) > 1:
        return problem
    return problem.with_objectives(*sorted(wanted or USUAL, key=lambda name: name not in (own[0], OWN)))


def save(front: ParetoFront, noted: Mapping[str, Any], roles: Roles, folder: Path) -> None:
    """Write the folder, which must not exist yet: it is there with all its files or not at all."""
    if folder.exists():
        raise InputError(f"'{folder}' exists already: name another folder for the front.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as draft:
        whole = Path(draft) / "front"
        whole.mkdir()
        for name, write in writers(front, noted, roles).items():
            write(whole / name)
        whole.rename(folder)


def reopened(folder: Path, data: str | None) -> ParetoFront:
    """The front in a folder, on its data read again; `data` says where that is now, if it was moved.

    Its points are as they were saved: judge the one that matters.

    Raises:
        InputError: the folder is not of `optmodels pareto`, or the data is gone or not what it was.
    """
    record, found = ParetoFront.record(folder), source_in(folder)
    place = _place(folder, found, data)
    if fingerprint(place) != found["sha256"]:
        raise InputError(
            f"'{place}' is not what it was when the front in '{folder}' was found: its SHA-256 differs. Name the "
            "original file with --data, or find the front again with 'optmodels pareto'."
        )
    # in folders of earlier versions classes are those of the records as they came
    table = table_of(place, Roles.load(folder / ROLES), as_it_came=found.get("records") != SORTED)
    try:
        parameters = with_tuples(record["parameters"])
        model = registry.configured(registry.formulation(record["formulation"]), parameters)
        problem = model.build(table, found["seed"]).with_objectives(*record["objectives"])
        return ParetoFront.load(folder, problem, judge=False)
    except (
        TypeError,
        ValueError,
        KeyError,
        AttributeError,
        IndexError,
        AssertionError,
        ArithmeticError,
    ) as problem_met:
        raise InputError(
            f"The front in '{folder}' cannot be made again from its front.json and {SOURCE}, which are not as "
            f"'optmodels pareto' wrote them ({type(problem_met).__name__}: {problem_met}): put them back as they were, "
            "or find the front again."
        ) from problem_met


def table_of(place: str, roles: Roles, *, as_it_came: bool = False) -> Table:
    """The table of a file, its records in the order of their values, or of a dataset by its name."""
    if place in DATASETS:
        return Table.with_roles(frame(place), roles)
    table = Table.from_file(place, roles=roles)
    return table if as_it_came else table.sorted()


def source_in(folder: Path) -> dict[str, Any]:
    """What a folder says of its data.

    Raises:
        InputError: it says nothing, or nothing that can be relied on.
    """
    path = folder / SOURCE
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        said = [found[key] for key in ("data", "path", "sha256")]
        if not all(word is None or isinstance(word, str) for word in said) or not isinstance(found["seed"], int):
            raise TypeError("other types")
        return found
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            f"'{path}' is missing or damaged, and without it nothing is known of the front's data: "
            "only folders that 'optmodels pareto' wrote can be released from."
        ) from problem


def _place(folder: Path, found: Mapping[str, Any], data: str | None) -> str:
    """Where the data is now."""
    given = str(found["data"])
    candidates = [data] if data is not None else [found["path"] or given, given]
    for place in candidates:
        if place in DATASETS or Path(place).is_file():
            return str(place)
    if data is not None:
        raise InputError(f"--data '{data}' is no file.")
    raise InputError(
        f"The data of the front in '{folder}' is no longer at '{found['path']}': say where it is now with --data."
    )
