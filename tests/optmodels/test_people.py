"""Whose a record is: counted in classes and audits, never released, and missed loudly where it seems to be needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import optmodels as om
from formulations import Microaggregation
from optmodels.audit import audit
from optmodels.errors import InputError
from solvers import solve

VISITS = pd.DataFrame(
    {
        "patient": ["p1", "p1", "p1", "p2", "p3", "p4", "p5", "p5"],
        "age": [30, 30, 31, 30, 50, 51, 52, 52],
        "ill": ["flu", "flu", "flu", "hiv", "flu", "hiv", "cold", "flu"],
    }
)


def table(**more: object) -> om.Table:
    return om.Table(VISITS, quasi={"age": "numeric"}, sensitive="ill", person="patient", **more)  # type: ignore[arg-type]


def test_people_of_classes() -> None:
    visits = table()
    assert visits.n_people == 5
    assert visits.people_in([0, 0, 0, 0, 1, 1, 1, 1]).tolist() == [2, 3]
    assert visits.take([0, 1, 3]).n_people == 2
    assert "patient" not in visits.frame.columns


def test_people_where_nothing_is_sensitive() -> None:
    plain = om.Table(VISITS.drop(columns="ill"), quasi={"age": "numeric"}, person="patient")
    test = om.Conditions(k=2).compile(plain)
    assert test.entropies.size == 0  # people are no sensitive attribute
    assert (test.people, test.codes.shape) == (0, (8, 1))
    assert (test.of_records.people, test.of_records.codes.shape) == (-1, (8, 0))
    assert test.take(np.array([0, 3])).with_k(3).distinct_l.tolist() == [3]


def test_a_class_of_one_person_is_not_enough() -> None:
    problem = Microaggregation(k=2).build(table())
    one_person = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    assert problem.evaluate(one_person).violations["k"] == 1
    found = solve(problem)
    assert found.labels is not None
    assert table().people_in(found.labels).min() >= 2


def test_too_few_people_is_said_beforehand() -> None:
    problem = Microaggregation(k=6).build(table())
    assert problem.impossible() is not None
    assert "only 5 people ('patient')" in str(problem.impossible())
    assert solve(problem).status == "infeasible"
    assert Microaggregation(k=5).build(table()).impossible() is None


def test_where_everyone_has_one_record_nothing_changes() -> None:
    once = VISITS.drop_duplicates("patient")
    plain = om.Table(once.drop(columns="patient"), quasi={"age": "numeric"}, sensitive="ill")
    named = om.Table(once, quasi={"age": "numeric"}, sensitive="ill", person="patient")
    assert om.Conditions(k=2).compile(named).only_size
    assert solve(Microaggregation(k=2).build(named)).values == solve(Microaggregation(k=2).build(plain)).values


def test_an_audit_counts_people() -> None:
    found = audit(VISITS.assign(age="*"), quasi=["age"], sensitive="ill", person="patient")
    assert (found.records, found.k, found.prosecutor) == (8, 5, 1 / 5)
    assert found.people is not None
    assert (found.people.people, found.people.most_records) == (5, 3)
    # of six pairs of a person and a value three are flu: of eight records it is five
    assert found.sensitive["ill"].alpha == 5 / 8
    assert found.people.sensitive["ill"].alpha == 3 / 6


def test_what_a_persons_many_records_hide_is_told() -> None:
    hidden = pd.DataFrame({"who": ["a"] * 6 + ["b", "c"], "age": 1, "ill": ["flu"] * 6 + ["hiv", "hiv"]})
    found = audit(hidden, quasi=["age"], sensitive="ill", person="who")
    promise = om.Conditions(k=3, most_share={"ill": 0.75})
    assert found.check(promise) == []
    assert found.short_by_people(om.Conditions(k=3, most_share={"ill": 0.6})) != []


def test_an_audit_says_which_row_does_not_say_whose_it_is() -> None:
    with pytest.raises(InputError, match="Row 2 does not say whose"):
        audit(VISITS.assign(patient=["p1", None] + ["p2"] * 6), quasi=["age"], person="patient")


def test_a_repeated_identifier_is_told_unless_people_are_counted(tmp_path: Path) -> None:
    VISITS.to_csv(tmp_path / "visits.csv", index=False)
    known = {"quasi": {"age": "numeric"}, "sensitive": "ill"}
    plain = om.Table.from_file(tmp_path / "visits.csv", identifiers="patient", **known)  # type: ignore[arg-type]
    assert plain.repeated_identifiers == {"patient": 2}
    counted = om.Table.from_file(tmp_path / "visits.csv", identifiers="patient", person="patient", **known)  # type: ignore[arg-type]
    assert counted.repeated_identifiers == {}
    assert counted.n_people == 5


@pytest.mark.parametrize(("missing", "message"), [("error", "missing values in 'patient'"), ("impute", "whose record")])
def test_a_record_of_nobody(missing: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        om.Table(
            VISITS.assign(patient=[None] + ["p"] * 7),
            quasi={"age": "numeric"},
            others="drop",
            person="patient",
            missing=missing,  # type: ignore[arg-type]
        )


def test_a_record_of_nobody_can_be_left_out() -> None:
    left = om.Table(
        VISITS.assign(patient=[None] + ["p"] * 7),
        quasi={"age": "numeric"},
        others="drop",
        person="patient",
        missing="drop",
    )
    assert (left.n, left.n_people) == (7, 1)


def test_roles_have_the_person(tmp_path: Path) -> None:
    roles = om.Roles(quasi={"age": "numeric"}, identifiers=("patient",), person="patient", others="drop")
    roles.save(tmp_path / "roles.toml")
    assert om.Roles.load(tmp_path / "roles.toml") == roles
    with pytest.raises(InputError, match="two roles"):
        om.Roles(quasi={"age": "numeric"}, person="age")
