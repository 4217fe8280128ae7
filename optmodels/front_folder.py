"""The folder of a front: its points, what to see them by, and all that is needed to release one of them later.

The folder holds the class of every original record, so it is for whoever holds the data, not for publication.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from optmodels import registry
from optmodels.datasets import DATASETS, frame, locate
from optmodels.errors import InputError
from optmodels.front import ParetoFront
from optmodels.jsonable import plain, with_tuples
from optmodels.table import Table
from optmodels.table.roles import Roles

Writer = Callable[[Path], object]

SOURCE = "source.json"
ROLES = "roles.toml"
CSV = "front.csv"
PAGE = "front.html"
NAMES = ("front.parquet", "labels.parquet", "front.json", SOURCE, ROLES, CSV, PAGE)


def source_of(data: str, seed: int) -> dict[str, Any]:
    """What is written down about the data: where it is, what it contained, and the seed that a model draws by."""
    path = None if data in DATASETS else str(Path(data).resolve())
    return {"data": data, "path": path, "sha256": fingerprint(data), "seed": seed}


def fingerprint(data: str) -> str:
    """The SHA-256 of a file, or of a dataset's files one after the other."""
    files = [locate(one) for one in DATASETS[data].sources] if data in DATASETS else [Path(data)]
    digest = hashlib.sha256()
    try:
        for file in files:
            with open(file, "rb") as opened:
                while chunk := opened.read(1 << 20):
                    digest.update(chunk)
    except OSError as problem:
        raise InputError(f"Cannot read '{data}': {problem.strerror}.") from problem
    return digest.hexdigest()


def writers(front: ParetoFront, source: Mapping[str, Any], roles: Roles) -> dict[str, Writer]:
    """Every file of the folder by its name."""
    page, text = front.plot(), json.dumps(plain(source), indent=2, allow_nan=False)
    return {
        **front.files(),
        SOURCE: lambda file: file.write_text(text + "\n", encoding="utf-8"),
        ROLES: roles.save,
        CSV: lambda file: front.frame().rename_axis("point").to_csv(file),
        PAGE: lambda file: page.write_html(file, include_plotlyjs=True),
    }


def reopened(folder: Path, data: str | None) -> ParetoFront:
    """The front in a folder, on its data read again; `data` says where that is now, if it was moved.

    Its points are as they were saved: judge the one that matters.

    Raises:
        InputError: the folder is not of `optmodels pareto`, or the data is gone or not what it was.
    """
    record, source = ParetoFront.record(folder), source_in(folder)
    place = _place(folder, source, data)
    if fingerprint(place) != source["sha256"]:
        raise InputError(
            f"'{place}' is not what it was when the front in '{folder}' was found: its SHA-256 differs. Name the "
            "original file with --data, or find the front again with 'optmodels pareto'."
        )
    table = _table(place, Roles.load(folder / ROLES))
    try:
        parameters = with_tuples(record["parameters"])
        model = registry.configured(registry.formulation(record["formulation"]), parameters)
        problem = model.build(table, source["seed"]).with_objectives(*record["objectives"])
        return ParetoFront.load(folder, problem, judge=False)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError, AssertionError) as problem_met:
        raise InputError(
            f"The front in '{folder}' cannot be made again from its front.json and {SOURCE}, which are not as "
            f"'optmodels pareto' wrote them ({type(problem_met).__name__}: {problem_met}): put them back as they were, "
            "or find the front again."
        ) from problem_met


def _table(place: str, roles: Roles) -> Table:
    return Table.with_roles(frame(place), roles) if place in DATASETS else Table.from_file(place, roles=roles)


def source_in(folder: Path) -> dict[str, Any]:
    """What a folder says about the data of its front: data, path, sha256 and seed."""
    path = folder / SOURCE
    try:
        source: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {key: source[key] for key in ("data", "path", "sha256", "seed")}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(
            f"'{path}' is missing or damaged, and without it nothing is known of the front's data: "
            "only folders that 'optmodels pareto' wrote can be released from."
        ) from problem


def _place(folder: Path, source: Mapping[str, Any], data: str | None) -> str:
    """Where the data is now."""
    given = str(source["data"])
    candidates = [data] if data is not None else [source["path"] or given, given]
    for place in candidates:
        if place in DATASETS or Path(place).is_file():
            return str(place)
    if data is not None:
        raise InputError(f"--data '{data}' is no file.")
    raise InputError(
        f"The data of the front in '{folder}' is no longer at '{source['path']}': say where it is now with --data."
    )
