"""Whether a sensitive attribute has an order is said, or guessed on the safe side and told: numbers may be codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from optmodels.audit import audit
from optmodels.conditions import Conditions
from optmodels.errors import BrokenPromiseError, InputError
from optmodels.release import release
from optmodels.table import Table
from optmodels.table.roles import Roles
from optmodels.table.summary import Whole

QUASI = {"age": "numeric"}
# Ten people a class; each class has two diagnoses of its own that nobody else has, next to each other as numbers.
CODES = [400 + 2 * (i // 10) + i % 2 for i in range(40)]
PEOPLE = pd.DataFrame({"age": [20 + i // 10 for i in range(40)], "icd": CODES})
CLASSES = np.arange(40) // 10


def test_codes_next_to_each_other_are_not_close():
    """As an order of numbers the middle classes seem close to the table; as names each is as far as can be."""
    table = Table(PEOPLE, quasi=QUASI, sensitive="icd")
    assert table.sensitive_ordered == (False,)
    assert table.order_guessed == {"icd": False}
    made = release(table, CLASSES, promise=Conditions(k=5))
    levels = made.audit.sensitive["icd"]
    assert levels.t_ground == "equal"
    assert levels.t_emd == levels.t_equal == pytest.approx(0.75)
    as_numbers = Table(PEOPLE, quasi=QUASI, sensitive="icd", ordered="icd")
    assert as_numbers.order_guessed == {}
    ordered = release(as_numbers, CLASSES, promise=Conditions(k=5, t=0.5)).audit.sensitive["icd"]
    assert (ordered.t_ground, ordered.t_ordered) == ("ordered", ordered.t_emd)
    assert ordered.t_emd < 0.45
    with pytest.raises(BrokenPromiseError, match=r"t of 'icd' is 0\.75"):
        release(table, CLASSES, promise=Conditions(k=5, t=0.5))


def test_measurements_have_an_order_unless_they_are_said_to_be_codes():
    frame = PEOPLE.assign(icd=PEOPLE["icd"] / 10)
    assert Table(frame, quasi=QUASI, sensitive="icd").order_guessed == {"icd": True}
    said = Table(frame, quasi=QUASI, sensitive="icd", nominal="icd")
    assert said.sensitive_ordered == (False,)
    assert said.order_guessed == {}
    assert release(said, CLASSES, promise=Conditions(k=5)).audit.sensitive["icd"].t_ground == "equal"


def test_text_and_two_values_are_no_guess():
    frame = PEOPLE.assign(icd=[f"{code:04}" for code in CODES], sex=[i % 2 for i in range(40)])
    table = Table(frame, quasi=QUASI, sensitive=("icd", "sex"))
    assert table.order_guessed == {}
    assert table.sensitive_ordered == (False, False)


def test_text_is_put_in_order_where_it_is_said_to_have_one():
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "stage": ["II 10", "II 9", "I 1", "II 9"]})
    table = Table(frame, quasi=QUASI, sensitive="stage", ordered=["stage"])
    assert table.sensitive_levels[0].tolist() == ["I 1", "II 9", "II 10"]
    assert table.roles.orders["stage"] == ("I 1", "II 9", "II 10")


def test_an_audit_takes_numbers_as_a_table_does():
    by_default = audit(PEOPLE, quasi=["age"], sensitive="icd").sensitive["icd"]
    assert (by_default.t_ground, by_default.t_ordered) == ("equal", None)
    assert audit(PEOPLE, quasi=["age"], sensitive="icd", ordered=["icd"]).sensitive["icd"].t_ground == "ordered"
    decimals = PEOPLE.assign(icd=PEOPLE["icd"] / 10)
    assert audit(decimals, quasi=["age"], sensitive="icd").sensitive["icd"].t_ground == "ordered"
    assert audit(decimals, quasi=["age"], sensitive="icd", nominal=["icd"]).sensitive["icd"].t_ground == "equal"


def test_pieces_of_which_one_has_decimals_are_measurements_together():
    pieces = [Table(PEOPLE.assign(icd=numbers), quasi=QUASI, sensitive="icd").summary for numbers in (CODES, 0.5)]
    assert Whole.all_of(pieces).sensitive_ordered == (True,)


def test_what_is_said_twice_differently_is_an_error():
    with pytest.raises(InputError, match="'icd' is said to be nominal"):
        Roles(quasi=QUASI, sensitive="icd", ordered="icd", nominal="icd")
    with pytest.raises(InputError, match="ordered= names 'age', but it is for sensitive attributes only"):
        Roles(quasi=QUASI, sensitive="icd", ordered="age")
    with pytest.raises(InputError, match="ordered='icd'"):
        Conditions(k=2, t=0.1, t_distance="ordered").compile(Table(PEOPLE, quasi=QUASI, sensitive="icd"))


def test_roles_remember_it(tmp_path):
    roles = Roles(quasi=QUASI, sensitive="icd", ordered="icd", separator=";", decimal=",", encoding="latin-1")
    roles.save(tmp_path / "roles.toml")
    assert Roles.load(tmp_path / "roles.toml") == roles
    assert roles.reassigned(nominal="icd").ordered == ()
    assert roles.reassigned(sensitive="pay").ordered == ()
