from __future__ import annotations

import re
from inspect import signature
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.datasets import load
from optmodels.errors import InputError
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.role_types import MoreRoles, SomeRoles
from optmodels.table.roles import Roles, given_roles, role_names

finite = st.floats(0, allow_infinity=False)
scalars = st.one_of(st.text(max_size=5), st.integers(), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def all_roles(draw: st.DrawFn) -> Roles:
    names = draw(st.lists(st.text(max_size=6), min_size=4, max_size=9, unique=True))
    numeric, ordinal, sensitive, target, *rest = names
    kinds = st.sampled_from(["numeric", "categorical", "ordinal"])
    quasi = {numeric: "numeric", ordinal: "ordinal"} | {name: draw(kinds) for name in rest[:2]}
    choices = st.one_of(
        st.sampled_from(["error", "keep", "drop"]),
        st.just({name: draw(st.sampled_from(["keep", "drop"])) for name in rest[3:]}),
    )
    bins = st.one_of(st.integers(2, 9), st.lists(finite, min_size=2, unique=True).map(sorted))
    return Roles(
        quasi=quasi,
        sensitive=(sensitive,),
        identifiers=tuple(rest[2:3]),
        target=draw(st.sampled_from([None, target, sensitive])),  # a sensitive attribute may be the target, too
        others=draw(choices),
        missing=draw(st.sampled_from(["error", "category", "drop", "impute"])),
        scaling=draw(st.sampled_from(["none", "standard", "range"])),
        weights={name: draw(finite) for name in quasi},
        gamma=draw(finite),
        bins={sensitive: draw(bins)} if draw(st.booleans()) else {},
        orders={ordinal: draw(st.lists(scalars, min_size=1, max_size=4, unique=True))},
        hierarchies={numeric: Hierarchy.automatic(draw(st.lists(st.integers(), min_size=1, max_size=5)))}
        | {sensitive: Hierarchy.automatic(draw(st.lists(st.text(max_size=3), min_size=1, max_size=5)))},
    )


@settings(deadline=None, max_examples=40)
@given(all_roles())
def test_toml_round_trip(roles: Roles) -> None:
    again = Roles.from_toml(roles.to_toml())
    assert again == roles
    assert list(again.quasi) == list(roles.quasi)


def test_save_and_load(tmp_path: Path) -> None:
    roles = Roles(quasi={"age": "numeric"}, sensitive=("illness",), target="cured", bins={"illness": [0, 1.5]})
    roles.save(tmp_path / "roles.toml")
    assert Roles.load(tmp_path / "roles.toml") == roles
    with pytest.raises(InputError, match="Cannot write"):
        roles.save(tmp_path / "absent" / "roles.toml")


def test_hierarchy_file_beside_the_role_file(tmp_path: Path) -> None:
    (tmp_path / "town.csv").write_text("York;North\nLeeds;North\nBath;South\n")
    (tmp_path / "roles.toml").write_text('quasi = {town = "categorical"}\nhierarchies = {town = "town.csv"}\n')
    assert Roles.load(tmp_path / "roles.toml").hierarchies["town"].n_levels == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("quasi = ", "not valid TOML"),
        ("", "Say which columns are quasi-identifiers"),
        ('quasi = "age"', r"'quasi' must be a table of column names, such as \[quasi\]"),
        ('quasy = {age = "numeric"}', "no entry of a role file called 'quasy'. Did you mean 'quasi'"),
        ('sensitive = 5\nquasi = {age = "numeric"}', "column names as text or a list of texts, not 5"),
        ('target = 5\nquasi = {age = "numeric"}', "Column names are text, not 5"),
        ('quasi = {age = "numeric"}\nhierarchies = {age = 3}', "must be a file name, or have 'values' and 'levels'"),
        ('quasi = {age = "numeric"}\ngamma = "big"', "gamma must be a finite number"),
    ],
)
def test_bad_role_files(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"In the role file .*{complaint}"):
        Roles.load(file)


def test_absent_role_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read the role file"):
        Roles.load(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"quasi": {}}, "Say which columns are quasi-identifiers"),
        ({"quasi": ["age"]}, "Say which columns are quasi-identifiers"),
        ({"quasi": {"age": "numerical"}}, "(asked for 'age') 'numerical'. Did you mean 'numeric'"),
        ({"missing": "dropp"}, "no missing-value policy 'dropp'. Did you mean 'drop'"),
        ({"scaling": "standart"}, "no scaling 'standart'. Did you mean 'standard'"),
        ({"others": "kep"}, "no choice for other columns 'kep'. Did you mean 'keep'"),
        ({"others": {"x": "error"}}, "no choice for the other column 'x' 'error'"),
        ({"sensitive": ("age",)}, "Column 'age' has two roles, quasi-identifier and sensitive"),
        ({"identifiers": ("s",), "target": "s"}, "Column 's' has two roles, identifier and target"),
        ({"sensitive": ("s", "s"), "target": "s"}, "Column 's' has two roles, sensitive and sensitive"),
        ({"sensitive": ("s", "s")}, "Column 's' has two roles, sensitive and sensitive"),
        ({"weights": {"agee": 1}}, "weights= names 'agee', but it is for quasi-identifiers only (age). Did you"),
        ({"weights": {"age": -1}}, "weight of 'age' must be a finite number of at least 0, not -1"),
        ({"weights": {"age": float("inf")}}, "must be a finite number"),
        ({"gamma": True}, "gamma must be a finite number"),
        ({"bins": {"age": 3}}, "bins= names 'age', but it is for sensitive attributes only (there are none)"),
        ({"sensitive": ("s",), "bins": {"s": 1}}, "bins of 's' must be a number of quantiles"),
        ({"sensitive": ("s",), "bins": {"s": [2, 1]}}, "rising edges"),
        ({"sensitive": ("s",), "bins": {"s": "3"}}, "rising edges"),
        ({"orders": {"age": [1]}}, "orders= names 'age'"),
        ({"sensitive": ("s",), "orders": {"s": [1, 1]}}, "each of its values once"),
        ({"sensitive": ("s",), "orders": {"s": "abc"}}, "from lowest to highest"),
        ({"sensitive": ("s",), "orders": {"s": [None]}}, "only text and numbers"),
        ({"sensitive": ("s",), "orders": {"s": [1]}, "bins": {"s": 2}}, "both bins and an order"),
    ],
)
def test_bad_roles(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)):
        Roles(**({"quasi": {"age": "numeric"}} | given))


def test_columns_kept() -> None:
    roles = Roles(quasi={"age": "numeric"}, sensitive=("s",), identifiers=("id",), others="keep")
    assert roles.columns_kept(["id", "note", "s", "age"]) == ("note", "s", "age")
    assert roles.revised(others="drop").columns_kept(["id", "note", "s", "age"]) == ("s", "age")
    one_by_one = roles.revised(others={"note": "keep", "memo": "drop"})
    assert one_by_one.columns_kept(["id", "note", "memo", "s", "age"]) == ("note", "s", "age")
    with pytest.raises(InputError, match="no role: more"):
        one_by_one.columns_kept(["id", "note", "memo", "s", "age", "more"])


def test_a_column_without_a_role_names_every_way_out() -> None:
    with pytest.raises(InputError) as caught:
        Roles(quasi={"age": "numeric"}).columns_kept(["age", "town", "name"])
    for part in ("no role: town, name.", "others='drop'", "others='keep'", "identifiers=", "sensitive=", "target="):
        assert part in str(caught.value)


def test_columns_that_do_not_fit_the_roles() -> None:
    roles = Roles(quasi={"age": "numeric"}, others="drop")
    with pytest.raises(InputError, match=r"no column 'age' \(named as quasi-identifier\). Did you mean 'agee'\?"):
        roles.columns_kept(["agee", "town"])
    with pytest.raises(InputError, match="'town' appears more than once"):
        roles.columns_kept(["age", "town", "town"])
    with pytest.raises(InputError, match="one is 0"):
        roles.columns_kept([0, "age"])  # type: ignore[list-item]


def test_loose_forms_are_tidied() -> None:
    roles = Roles(quasi={"a": "numeric", "b": "ordinal"}).revised(
        sensitive="s", identifiers=["i"], orders={"b": np.array([1, 2])}, weights={"a": np.float64(2)}
    )
    assert roles.sensitive == ("s",)
    assert roles.identifiers == ("i",)
    assert roles.orders == {"b": (1, 2)}
    assert all(type(value) is int for value in roles.orders["b"])


def test_every_field_is_a_keyword_argument_everywhere() -> None:
    assert set(get_type_hints(SomeRoles)) == set(role_names())
    assert set(role_names()) - set(get_type_hints(MoreRoles)) == {"quasi"}
    for taker in (Table, Table.from_file, load, Roles.revised, Roles.reassigned):
        assert set(role_names()) <= set(signature(taker).parameters), taker


@pytest.mark.parametrize("taker", [given_roles, Roles(quasi={"age": "numeric"}).revised])
def test_a_misspelt_keyword_names_the_nearest(taker: Any) -> None:
    with pytest.raises(InputError, match=r"no role 'hierachies'\. Did you mean 'hierarchies'"):
        taker(hierachies={})


def test_none_is_not_given() -> None:
    roles = Roles(quasi={"age": "numeric"}, sensitive=("s",), target="t")
    assert roles.revised(sensitive=None, target=None) == roles.reassigned(weights=None) == roles


KNOWN = Roles(
    quasi={"age": "numeric", "town": "categorical", "stage": "ordinal"},
    sensitive=("illness", "pay"),
    identifiers=("name",),
    target="cured",
    others={"note": "keep"},
    weights={"age": 2.0, "town": 3.0},
    bins={"pay": 3},
    orders={"stage": ("a", "b")},
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"target": "illness"}, {"target": "illness"}),  # sensitive attributes may be predicted
        ({"sensitive": ("cured",)}, {"sensitive": ("cured",), "bins": {}}),  # and targets be sensitive
        (
            {"target": "town"},
            {"target": "town", "quasi": {"age": "numeric", "stage": "ordinal"}, "weights": {"age": 2.0}},
        ),
        ({"identifiers": ("cured",)}, {"identifiers": ("cured",), "target": None}),
        ({"identifiers": ("pay",)}, {"identifiers": ("pay",), "sensitive": ("illness",), "bins": {}}),
        ({"sensitive": ("note",)}, {"sensitive": ("note",), "others": "error", "bins": {}}),
        ({"others": "drop"}, {"others": "drop"}),
        ({"weights": {"age": 1.0}}, {"weights": {"age": 1.0, "town": 3.0}}),
        ({"quasi": {"stage": "numeric"}}, {"quasi": {"stage": "numeric"}, "weights": {}, "orders": {}}),
        (
            {"sensitive": ("town",)},
            {"sensitive": ("town",), "quasi": {"age": "numeric", "stage": "ordinal"}, "weights": {"age": 2.0}}
            | {"bins": {}},
        ),
    ],
)
def test_a_new_role_takes_a_columns_old_one_away(given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = KNOWN.reassigned(**given)
    assert {name: getattr(found, name) for name in role_names()} == {
        name: expected.get(name, getattr(KNOWN, name)) for name in role_names()
    }


def test_the_columns_that_must_be_complete_are_named_once() -> None:
    roles = Roles(quasi={"age": "numeric"}, sensitive=("pay",), target="pay")
    assert roles.complete == roles.encoded == ("age", "pay")
    assert roles.columns_kept(["pay", "age"]) == ("pay", "age")
