"""The problems of the library, built from recipes: data by name or drawn by a seed, a model and its parameters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from optmodels import registry
from optmodels.datasets import DATASETS, load
from optmodels.datasets.synthetic.health import health_like
from optmodels.errors import InputError, unknown
from optmodels.jsonable import with_tuples
from optmodels.problem import Problem
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

_CENTRES = 12  # of the clusters that numbers are drawn around


class MissingDataError(InputError):
    """The data of an instance are not on this machine."""


def problem_of(recipe: Mapping[str, Any], formulation: str, parameters: Mapping[str, Any]) -> Problem:
    """The problem of a recipe.

    Raises:
        MissingDataError: its data are not on this machine, nor bundled.

    >>> problem_of({"data": "german", "first": 40}, "microaggregation", {"k": 5}).n
    40
    """
    table, further = _table_of(recipe)
    settings = with_tuples(parameters) | further
    return registry.configured(registry.formulation(formulation), settings).build(table)


def _table_of(recipe: Mapping[str, Any]) -> tuple[Table, dict[str, Any]]:
    """The table, and what else of the model comes with the data."""
    name = recipe["data"]
    if name == "aminifar":
        return _published_centres(recipe)
    if name in DATASETS and name != "health":
        table = _there(lambda: load(name))
    else:
        made = {"clustered": _clustered, "health": _health, "adult-hierarchies": _adult}
        if name not in made:
            raise unknown("instance's data", name, {*DATASETS, *made, "aminifar"})
        table = made[name](recipe)
    if "first" in recipe:
        table = table.take(np.arange(recipe["first"]))
    return (table.rescaled(scaling=recipe["scaling"]) if "scaling" in recipe else table), {}


def _there(read: Callable[[], Table]) -> Table:
    try:
        return read()
    except InputError as problem:
        raise MissingDataError(str(problem)) from problem


def _file(name: str) -> Path:
    path = Path(os.environ.get("OPTMODELS_DATA", "")) / name
    if not path.is_file():
        raise MissingDataError(f"OPTMODELS_DATA names no folder with '{name}'.")
    return path


def _clustered(recipe: Mapping[str, Any]) -> Table:
    """Skewed numbers around a few centres, of the shape that is asked for (EIA's is 4,092 by 11)."""
    n, d = recipe["records"], recipe["attributes"]
    draw = np.random.default_rng(recipe["seed"])
    centres = draw.normal(0.0, 3.0, (_CENTRES, d))
    numbers = centres[draw.integers(_CENTRES, size=n)] + draw.normal(0.0, 1.0, (n, d))
    frame = pd.DataFrame(np.exp(0.3 * numbers).round(3)).rename(columns="x{}".format)
    return Table(frame, quasi=dict.fromkeys(frame.columns, "numeric"))


def _health(recipe: Mapping[str, Any]) -> Table:
    return health_like(recipe["records"], seed=recipe["seed"])


def _adult(_: Mapping[str, Any]) -> Table:
    """Adult's complete training records with a hierarchy for each of eight columns, as ARX distributes them."""
    frame = pd.read_csv(_file("arx/adult/data.csv"), sep=";", dtype=str).iloc[:, :8]
    trees = {name: Hierarchy.from_csv(_file(f"adult_hierarchies/{name}.csv")) for name in frame.columns}
    return Table(frame, quasi=dict.fromkeys(frame.columns, "categorical"), hierarchies=trees)


def _published_centres(recipe: Mapping[str, Any]) -> tuple[Table, dict[str, Any]]:
    """The records and centres of Aminifar et al., with their cap on flags in a class where one is asked for."""
    data = np.load(_file("aminifar_instance.npz"))
    frame = pd.DataFrame(data["X"]).rename(columns="x{}".format).assign(flag=data["S"].astype(int))
    m, cap = recipe["centres"], recipe.get("cap")
    further = {"n_clusters": m, "centres": data[f"centres{m}"]}
    if cap is not None:
        further["alpha"] = cap * m / data["S"].sum()
    return Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="flag"), further
