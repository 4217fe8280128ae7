"""What makes a problem the one it is, in words that can be kept and compared: a proof holds for one problem alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels import jsonable
from optmodels.problem._problem import Problem
from optmodels.problem.wished import WishedProblem
from optmodels.table import Table, role_file

# What is said of columns that a problem may depend on, beyond the data as they are encoded.
_ROLES = ("quasi", "sensitive", "target", "scaling", "weights", "gamma", "orders", "hierarchies", "ordered", "nominal")
_SHOWN = 60  # characters of a value, in the sentence that says what differs


def particulars(problem: Problem) -> dict[str, Any]:
    """Records, data, roles, model, parameters, objectives and wish, as plain values.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22]}), quasi={"age": "numeric"})
    >>> two, three = (particulars(Microaggregation(k=k).build(table)) for k in (2, 3))
    >>> differing(two, two), differing(two, three)
    ('', 'k (2, and now 3)')
    """
    roles = problem.table.roles
    wish = dict(problem.wish.values) if isinstance(problem, WishedProblem) else None
    found: dict[str, Any] = jsonable.plain(
        {
            "records": problem.n,
            "formulation": problem.formulation.name,
            "parameters": problem.formulation.to_dict(),
            "objectives": {objective.name: objective.sense for objective in problem.objectives},
            "wish": wish,
            "roles": {name: _text_digest(role_file.written({name: getattr(roles, name)})) for name in _ROLES},
            "data": _digest(problem.table),
        }
    )
    return found


def differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What differs between a problem's particulars as they were and as they are, or nothing."""
    for name, present in now.items():
        then = before.get(name)
        if then == present:
            continue
        if name == "data":
            return "the data"
        if name in ("roles", "parameters") and isinstance(then, Mapping):
            keys = [key for key in {**present, **then} if then.get(key) != present.get(key)]
            if name == "roles":
                return ", ".join(f"the role '{key}'" for key in keys)
            return ", ".join(_changed(key, then.get(key), present.get(key)) for key in keys)
        return _changed(name, then, present)
    return ""


def _changed(name: str, before: object, now: object) -> str:
    return f"{name} ({_short(before)}, and now {_short(now)})"


def _short(value: object) -> str:
    text = ", ".join(f"{name} {one}" for name, one in value.items()) if isinstance(value, Mapping) else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(table: Table) -> str:
    """The SHA-256 of all that a problem can know of its records, in their order."""
    digest = hashlib.sha256()
    blocks: list[NDArray[Any]] = [table.values, table.codes, table.sensitive_codes, table.ranges]
    blocks += [] if table.people is None else [np.asarray(table.people)]
    for block in blocks:
        digest.update(f"{block.dtype.str} {block.shape} ".encode())
        digest.update(np.ascontiguousarray(block).tobytes())
    target = [] if table.target is None else [pd.Index(table.frame[table.target])]
    for values in [*table.levels.values(), *table.sensitive_levels, *target]:
        for value in values:
            digest.update(f"{value} ".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
