"""What proves an answer, as a document that a verifier without solvers checks again: data, partition, value, duals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib.metadata import version
from itertools import combinations
from math import comb, inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import count_values, meets
from optmodels.errors import RefusedError
from optmodels.evidence import Evidence
from optmodels.flow import Flow, cheapest_matching
from optmodels.jsonable import plain
from optmodels.partition import Labels, members
from optmodels.problem import Problem
from optmodels.release.promise import asked_of
from optmodels.structures import Assignment, Priced, compiled_price
from optmodels.verifier import certificate as check
from optmodels.verifier import sealed
from optmodels.verifier.class_lists import TooManyError

_MOST_CLASSES = 30_000  # of which a linear program finds duals where no solver has left any
_ROUNDED = 2.0**-46  # of a value, for each record, by which sums of prices may be rounded
_MOST_ARCS = 100_000  # of records to centres, of which a flow finds prices once more

_RESTS_ON = {
    "classes": "duals of records, which no class exceeds but by what the verifier finds again",
    "path": "heights along the one attribute that varies, which no class of neighbours exceeds",
    "centres": "prices of centres, by which no record has a cheaper one",
}


def certified(
    problem: Problem,
    labels: Labels,
    solver: str,
    value: float | None,
    bound: float | None,
    evidence: Evidence | None,
    *,
    sha256: str | None = None,
) -> dict[str, Any]:
    """The certificate of an answer that a solver found, with its value and bound; `sha256` is of the data's file.

    It holds the encoded records, and so is as confidential as they are. Its bound is what can be checked, which may be
    less than the run claims: the document says so, and what the rest is a matter of trust in.

    Raises:
        RefusedError: the value itself is not what a verifier could work out.
    """
    document: dict[str, Any] = {
        "version": version("optmodels"),
        "formulation": problem.formulation.name,
        "parameters": problem.formulation.to_dict(),
        "solver": solver,
        "data": {"records": problem.n, "sha256": sha256},
        "conditions": _conditions(problem),
        "labels": labels,
        "target": problem.target.name,
        "value": value,
        "claimed": bound,
        "bound": None,
        **_proof(problem, labels, bound, evidence),
    }
    document = plain(document)
    if document["kind"] != "partition":
        document["bound"] = _checked(document)
    document["rests_on"] = _said(document)
    return sealed(document, check.FORMAT)


def lacks_certificate(problem: Problem) -> str | None:
    """Why no verifier could check an answer's value and bound without the model, or None."""
    assignment, priced = problem.structure(Assignment), problem.structure(Priced)
    if assignment is not None and assignment.is_target and assignment.centres is not None:
        if assignment.caps or assignment.bounds_at is not None or assignment.beyond_bounds is not None:
            return (
                "there is none where classes around centres have bounds on sensitive values, as prices of centres "
                "alone do not prove those. Ask for k alone, or trust the bound that the run claims."
            )
        return None
    if priced is None or priced.compiled is None:
        return (
            f"there is none of '{problem.target.name}' in '{problem.formulation.name}': it is no sum of prices of "
            "classes, or of distances to fixed centres, that a verifier could add up without the model."
        )
    return None


def _proof(problem: Problem, labels: Labels, bound: float | None, evidence: Evidence | None) -> dict[str, Any]:
    """The kind of certificate, what classes or records cost, and the duals."""
    if (reason := lacks_certificate(problem)) is not None:
        raise RefusedError(f"A certificate cannot be made: {reason}")
    assignment = problem.structure(Assignment)
    if assignment is not None and assignment.is_target and assignment.centres is not None:
        return _of_centres(problem, labels, assignment, assignment.centres, evidence)
    priced = problem.require(Priced)
    price = compiled_price(priced)
    costs = {
        "price": {
            "name": price.name,
            "numeric": price.numeric,
            "codes": price.codes,
            "code_weights": price.code_weights,
            "climbs": price.climbs,
            "scale": priced.scale,
        }
    }
    if bound is None:
        return {"kind": "partition", **costs}
    if evidence is not None and evidence.kind == "path":
        return {"kind": "path", "heights": evidence.numbers, **costs}
    duals = _duals(priced) if evidence is None or evidence.kind != "classes" else evidence.numbers
    return {"kind": "partition", **costs} if duals is None else {"kind": "classes", "duals": duals, **costs}


def _duals(priced: Priced) -> NDArray[np.float64] | None:
    """Duals of few records, by the linear program of all their classes; None where these are many."""
    from scipy.optimize import linprog

    n, test = priced.n, priced.test
    sizes = range(test.k, min(priced.largest or n, n) + 1)
    if sum(comb(n, size) for size in sizes) > _MOST_CLASSES:
        return None
    listed = [np.array(rows) for size in sizes for rows in combinations(range(n), size)]
    listed = [rows for rows in listed if meets(test, count_values(test, rows), len(rows))]
    prices = np.array([priced.price.of(rows) for rows in listed])
    unit = float(prices.max(initial=0.0)) or 1.0
    inside = np.zeros((n, len(listed)))
    for place, rows in enumerate(listed):
        inside[rows, place] = 1.0
    found = linprog(prices / unit, A_eq=inside, b_eq=np.ones(n), method="highs")
    if found.status != 0:
        return np.zeros(n)
    duals: NDArray[np.float64] = found.eqlin.marginals * unit
    return duals


def _of_centres(
    problem: Problem, labels: Labels, assignment: Assignment, centres: NDArray[np.float64], evidence: Evidence | None
) -> dict[str, Any]:
    m = len(assignment.least)
    if labels.max() + 1 != m:
        raise RefusedError("A certificate cannot be made: some centre has no class.")
    order, starts = members(labels)
    columns = np.ascontiguousarray(centres.T)
    found: dict[str, Any] = {
        "centre_of": cheapest_matching(assignment.points, columns, assignment.metric, order, starts)[0],
        "least": assignment.least,
        "most": np.minimum(assignment.most, problem.n),
        "price": {"points": assignment.points, "centres": centres, "metric": assignment.metric},
    }
    tolls = evidence.numbers if evidence is not None and evidence.kind == "centres" else _tolls(problem, assignment)
    return {"kind": "partition", **found} if tolls is None else {"kind": "centres", "tolls": tolls, **found}


def _tolls(problem: Problem, assignment: Assignment) -> NDArray[np.float64] | None:
    """Prices of centres, by a flow, where nobody may be left out and arcs are few; None else."""
    if problem.suppression.most or problem.n * len(assignment.least) > _MOST_ARCS or assignment.centres is None:
        return None
    flow = Flow(assignment.arc_costs(assignment.centres), *assignment.network())
    for _ in flow.steps():
        pass
    return flow.tolls


def _checked(document: Mapping[str, Any]) -> float | None:
    """The best bound that the verifier finds proven: the one that is claimed, or what duals prove without it."""
    claimed = document["claimed"]
    if claimed is None:
        return None
    claimed = min(claimed, document["value"])
    # An optimum is proven by its own value, which is rounded: what is below that may be the optimum itself.
    for bound in (claimed, claimed - abs(claimed) * _ROUNDED * document["data"]["records"]):
        if check.proven(document, Fraction(bound))[0]:
            return float(bound)
    ways = {"classes": check.duals_bound, "path": check.path_bound, "centres": check.centres_bound}
    try:
        reached = ways[document["kind"]](document)
    except TooManyError:
        return None
    bound = float(reached)
    if Fraction(bound) > reached:
        bound = nextafter(bound, -inf)
    return bound if check.proven(document, Fraction(bound))[0] else None


def _said(document: Mapping[str, Any]) -> str:
    bound, claimed = document["bound"], document["claimed"]
    if claimed is None:
        return "nothing: no bound was claimed, and the partition and its value are all there is to check"
    if bound is None:
        return (
            f"trust in '{document['solver']}': its bound of {claimed!r} comes from a search whose steps are not kept, "
            "and no duals prove it that could be checked without repeating it"
        )
    said = _RESTS_ON[document["kind"]]
    if bound >= min(claimed, document["value"]) * (1 - 1e-12):
        return said
    return f"{said}; the run claims {claimed!r}, of which what is beyond {bound!r} rests on its own search, not kept"


def _conditions(problem: Problem) -> dict[str, Any]:
    """What every class must keep, with the sensitive values by number."""
    table, conditions, test = problem.table, problem.conditions, problem.test
    asked, codes = {}, {}
    for place, name in enumerate(table.sensitive if conditions.needs_sensitive else ()):
        levels = table.sensitive_levels[place]
        texts = {at: str(at) for at in range(len(levels))}
        asked[name] = asked_of(
            conditions.of(name),
            levels,
            ordered=table.sensitive_ordered[place],
            hierarchy=table.hierarchies.get(name),
            texts=texts.copy,
            by_rank=lambda: False,
        )
        codes[name] = table.sensitive_codes[:, place]
    people = None if test.people < 0 or table.people is None else np.unique(table.people, return_inverse=True)[1]
    priced = problem.structure(Priced)
    return {
        "k": test.k,
        "people": people,
        "sensitive": asked,
        "codes": codes,
        "left_out": {"most": problem.suppression.most, "price": problem.suppression.price},
        "n_classes": None if priced is None else priced.n_classes,
    }
