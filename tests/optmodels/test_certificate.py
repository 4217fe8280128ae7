"""Certificates: what is true is proven, what was changed is found, and what cannot be proven is said to be so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from formulations import Aminifar, Generalisation, LiangSamavi, Mass, Microaggregation, MoObam
from optmodels import Table, registry
from optmodels.errors import BrokenPromiseError, InputError, RefusedError
from optmodels.problem import Formulation, Problem
from optmodels.solution import Solution
from optmodels.testing import brute_force
from optmodels.verifier import load_certificate, sealed, verify_certificate
from optmodels.verifier.certificate import FORMAT, proven
from solvers import bounded, solve

Document = dict[str, Any]


def problem_of(model: Formulation, n: int, *, one: bool = False, seed: int = 3) -> Problem:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": draw.normal(size=n), "y": draw.integers(0, 30, n), "c": draw.choice(list("abc"), n)})
    quasi = {"x": "numeric", "y": "numeric", "c": "categorical"}
    if one:
        frame, quasi = frame[["x"]], {"x": "numeric"}
    frame = frame.assign(s=draw.choice(list("uvw"), n))
    if n % 2:  # some people have two records
        frame = frame.assign(who=np.arange(n) // 2)
    return model.build(Table(frame, quasi=quasi, sensitive="s", person="who" if n % 2 else None))


def solved(model: Formulation, solver: str, n: int, *, one: bool = False) -> Solution:
    problem = problem_of(model, n, one=one)
    if solver == "bound":
        return bounded(solve(problem, solver="mdav"))
    return registry.solver(solver)().solve(problem, time_limit=20)


MADE: dict[str, Callable[[], Solution]] = {
    "optimal": lambda: solved(Microaggregation(k=3), "columns", 10),
    "larger": lambda: solved(Microaggregation(k=3), "columns", 20),
    "by milp": lambda: solved(Microaggregation(k=2), "milp", 8),
    "diverse": lambda: solved(Microaggregation(k=3, distinct_l=2, t=0.6), "columns", 10),
    "people": lambda: solved(Microaggregation(k=2), "columns", 9),
    "left out": lambda: solved(Microaggregation(k=3, suppress=0.2), "columns", 10),
    "intervals": lambda: solved(LiangSamavi(k=3), "columns", 10),
    "hierarchies": lambda: solved(Generalisation(k=3), "columns", 10),
    "so many classes": lambda: solved(MoObam(k=3, n_clusters=3), "columns", 10),
    "one attribute": lambda: solved(Microaggregation(k=3), "univariate", 24, one=True),
    "any size": lambda: solved(Microaggregation(k=3), "bound", 60),
    "centres": lambda: solved(Aminifar(k=4), "network", 24),
    "centres, left out": lambda: solved(Aminifar(k=4, suppress=0.1), "network", 24),
}


@cache
def made(name: str) -> tuple[Solution, Document]:
    solution = MADE[name]()
    return solution, json.loads(json.dumps(solution.certificate()))


def changed(document: Document, **said: Any) -> Document:
    return sealed({**deepcopy(document), **said}, FORMAT)


def broken(document: Document) -> list[str]:
    """What the verifier finds wrong; a document that is none any more is wrong as well."""
    try:
        return verify_certificate(document).broken
    except InputError as error:
        return [str(error)]


@pytest.mark.parametrize("name", MADE)
def test_what_solvers_claim_is_proven(name: str) -> None:
    solution, document = made(name)
    assert solution.bound is not None
    assert verify_certificate(document).broken == []
    if name == "centres, left out":
        assert document["bound"] is None or document["bound"] <= solution.bound
        return
    assert document["bound"] == pytest.approx(solution.bound, rel=1e-10)
    assert document["bound"] <= solution.bound


@pytest.mark.parametrize("name", MADE)
def test_values_bounds_and_partitions_that_were_changed_are_found(name: str) -> None:
    solution, document = made(name)
    value = document["value"]
    for other in (value * (1 + 1e-9), value * 0.5, -value, 0.0):
        assert broken(changed(document, value=other))
    for other in (value * (1 + 1e-9), value * 2, 1e300):
        assert broken(changed(document, bound=other))
    for moved in moves(document):
        assert broken(changed(document, labels=moved))
    conditions = document["conditions"]
    assert broken(
        changed(document, conditions={**conditions, "k": 1 + int(np.bincount(solution.require() + 1)[1:].max())})
    )
    assert broken(changed(document, labels=document["labels"][:-1]))
    assert broken(changed(document, kind="hope"))


def moves(document: Document) -> Iterator[list[int]]:
    """One record in another class, in a class of its own, or in none where all must be in one."""
    labels = document["labels"]
    for record in range(0, len(labels), 5):
        if labels[record] < 0:
            continue
        others = {(labels[record] + 1) % (max(labels) + 1), max(labels) + 1}
        if not document["conditions"]["left_out"]["most"]:
            others.add(-1)
        for other in others:
            yield [*labels[:record], other, *labels[record + 1 :]]


@pytest.mark.parametrize("name", ["any size", "one attribute", "centres"])
def test_duals_that_were_changed_prove_their_bound_no_longer(name: str) -> None:
    _, document = made(name)
    where = {"any size": "duals", "one attribute": "heights", "centres": "tolls"}[name]
    numbers, height = document[where], max(map(abs, document[where]))
    caught = 0
    places = np.linspace(0, len(numbers) - 1, 6).astype(int).tolist()
    for place in places:
        other = [*numbers[:place], numbers[place] + 0.5 * height, *numbers[place + 1 :]]
        caught += bool(broken(changed(document, **{where: other})))
    # A height that no class ends at proves as much where it is elsewhere, and so does a toll at a centre that is full.
    assert caught == len(places) if where == "duals" else caught >= 2
    assert broken(changed(document, **{where: [2 * number for number in numbers]}))
    assert broken(changed(document, **{where: numbers[:-1]}))
    assert broken(changed(document, **{where: []}))


@pytest.mark.parametrize("name", ["optimal", "by milp", "diverse", "people", "left out", "intervals", "hierarchies"])
def test_whatever_duals_say_no_bound_beyond_the_optimum_passes(name: str) -> None:
    solution, document = made(name)
    best = brute_force(solution.problem)
    assert best is not None
    optimum = best[1].values[solution.problem.target.name]
    draw = np.random.default_rng(11)
    duals, height = np.array(document["duals"]), max(map(abs, document["duals"]))
    for far in (0.0, 1e-6, 0.1, 1.0):
        other = {**document, "duals": (duals + far * height * draw.normal(size=len(duals))).tolist()}
        for beyond in (1e-11, 1e-6, 0.1):
            assert not proven(other, Fraction(optimum * (1 + beyond)))[0]
        if far <= 1e-6 and document["bound"]:  # the verifier finds out itself what poor duals leave open
            assert proven(other, Fraction(0.5 * optimum))[0]


def test_prices_that_were_changed_are_found() -> None:
    _, document = made("optimal")
    for record in range(10):
        numeric = deepcopy(document["price"]["numeric"])
        numeric[record][0] += 0.25
        assert broken(changed(document, price={**document["price"], "numeric": numeric}))
    weights = [2 * weight for weight in document["price"]["code_weights"]]
    assert broken(changed(document, price={**document["price"], "code_weights": weights}))
    assert broken(changed(document, price={**document["price"], "scale": 2 * document["price"]["scale"]}))


def test_files_that_were_edited_are_known_for_it(tmp_path: Path) -> None:
    _, document = made("optimal")
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(document))
    assert load_certificate(path) == document
    raised = deepcopy(document)
    raised["duals"][0] *= 1.01
    path.write_text(json.dumps(raised))
    with pytest.raises(BrokenPromiseError, match="changed after it was written"):
        load_certificate(path)
    for damaged in ("", "{}", "[1]", json.dumps({"format": FORMAT}), json.dumps(document)[:-40]):
        path.write_text(damaged)
        with pytest.raises((InputError, BrokenPromiseError)):
            verify_certificate(load_certificate(path))


def test_a_bound_that_is_no_more_than_a_claim_is_said_to_be_one() -> None:
    solution = solved(Microaggregation(k=3), "mdav", 30)
    document = solution.certificate()
    assert (document["kind"], document["bound"]) == ("partition", None)
    verdict = verify_certificate(document)
    assert verdict.broken == []
    assert "no bound was claimed" in verdict.unchecked[0]


def test_what_no_verifier_could_add_up_is_refused() -> None:
    solution = solved(Mass(k=3), "mass", 24)
    with pytest.raises(RefusedError, match="no sum of prices"):
        solution.certificate()
    with pytest.raises(RefusedError, match="bounds on sensitive values"):
        solved(Aminifar(k=4, alpha=3.0), "network", 24).certificate()


def test_a_certificate_is_exact_where_floats_are_not() -> None:
    """Numbers that differ in their last bits: the value is a sum of fractions, and so is what proves it."""
    frame = pd.DataFrame({"x": 1.0 + np.arange(8) * np.finfo(float).eps * [1, 1, 1, 3, 1, 1, 2, 1]})
    problem = Microaggregation(k=2).build(Table(frame, quasi={"x": "numeric"}))
    document = registry.solver("columns")().solve(problem).certificate()
    assert document["bound"] is not None
    assert broken(document) == []
    exact = Fraction(document["bound"])
    assert broken(changed(document, bound=float(exact * (1 + Fraction(1, 10**9)))))
