from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optmodels.errors import InputError
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.roles import Roles

PEOPLE = pd.DataFrame(
    {
        "name": ["Ann", "Bob", "Cid", "Dee"],
        "age": [31, 45, 31, 60],
        "town": ["York", "Bath", "York", "York"],
        "school": ["low", "high", "mid", "low"],
        "illness": ["flu", "flu", "cold", "gout"],
        "pay": [10.0, 20.0, 30.0, 40.0],
        "cured": [1, 0, 1, 1],
    }
)
ORDER = {"school": ["low", "mid", "high"]}


def people(**changes: Any) -> Table:
    roles: dict[str, Any] = {
        "quasi": {"age": "numeric", "town": "categorical", "school": "ordinal"},
        "sensitive": ["illness", "pay"],
        "identifiers": ["name"],
        "target": "cured",
        "orders": ORDER,
    }
    frame = changes.pop("frame", PEOPLE)
    return Table(frame, **(roles | changes))


def column(values: Any, kind: str = "numeric", **roles: Any) -> Table:
    return Table(pd.DataFrame({"x": values}), quasi={"x": kind}, **roles)  # type: ignore[dict-item]


def test_everything_a_table_holds() -> None:
    table = people(weights={"age": 4.0, "town": 3.0}, gamma=2.0, ordered="pay")
    assert list(table.frame) == ["age", "town", "school", "illness", "pay", "cured"]
    assert (table.n, len(table)) == (4, 4)
    assert table.quasi == ("age", "town", "school")
    assert table.measured == ("age", "school")
    assert table.categorical == ("town",)
    assert table.sensitive == ("illness", "pay")
    assert table.target == "cured"
    assert table.values.tolist() == [[31, 0], [45, 2], [31, 1], [60, 0]]
    assert table.scaled.tolist() == [[62, 0], [90, 2], [62, 1], [120, 0]]
    assert table.codes.tolist() == [[1], [0], [1], [1]]
    assert {name: levels.tolist() for name, levels in table.levels.items()} == {"town": ["Bath", "York"]} | ORDER
    assert table.weights == {"age": 4.0, "town": 3.0, "school": 1.0}
    assert table.mismatch_weights.tolist() == [6.0]
    assert table.sensitive_codes.tolist() == [[1, 0], [1, 1], [0, 2], [2, 3]]
    assert [levels.tolist() for levels in table.sensitive_levels] == [["cold", "flu", "gout"], [10, 20, 30, 40]]
    assert table.sensitive_ordered == (False, True)
    assert table.missing_report == {"policy": "error", "records_dropped": 0, "columns": {}}
    assert table.codes.dtype == table.sensitive_codes.dtype == np.int32
    assert table.scaled.flags.c_contiguous
    assert "4 records" in repr(table)


def test_scalings() -> None:
    standard = people(scaling="standard")
    assert np.allclose(standard.scaled.mean(axis=0), 0)
    assert np.allclose(standard.scaled.std(axis=0, ddof=1), 1)
    ranged = people(scaling="range")
    assert ranged.scaled.min(axis=0).tolist() == [0, 0]
    assert ranged.scaled.max(axis=0).tolist() == [1, 1]
    assert np.allclose(standard.scaled * standard.scales + standard.centres, standard.values)


@pytest.mark.parametrize("scaling", ["none", "standard", "range"])
@pytest.mark.parametrize("values", [[0.1] * 7, [3.0]])
def test_a_constant_column_is_no_error(scaling: Any, values: list[float]) -> None:
    table = column(values, scaling=scaling)
    assert np.ptp(table.scaled) == 0
    assert np.isfinite(table.scaled).all()


def test_the_frame_is_safe_from_its_users() -> None:
    source = PEOPLE.copy()
    table = people(frame=source)
    source.loc[0, "age"] = 99
    handed_out = table.frame
    handed_out.loc[0, "age"] = 98
    handed_out["more"] = 1
    assert table.frame["age"].tolist() == [31, 45, 31, 60]
    assert "more" not in table.frame


def test_other_columns() -> None:
    assert "cured" in people(target=None, others="keep").frame
    assert "cured" not in people(target=None, others="drop").frame
    with pytest.raises(InputError, match="no role: cured"):
        people(target=None)
    with pytest.raises(InputError, match=r"no column 'twn' \(named as quasi-identifier\). Did you mean 'town'"):
        people(quasi={"twn": "categorical", "school": "ordinal"})
    with pytest.raises(InputError, match="'age' has two roles, quasi-identifier and target"):
        people(target="age", others="drop")
    with pytest.raises(InputError, match="'age' appears more than once"):
        people(frame=pd.concat([PEOPLE, PEOPLE[["age"]]], axis=1))


def test_no_records() -> None:
    with pytest.raises(InputError, match="no records"):
        people(frame=PEOPLE.head(0))


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([1, 2, 2], dtype="int8"),
        pd.Series([1, 2, 2], dtype="uint64"),
        pd.Series([1, 2, 2], dtype="Int64"),
        pd.Series([1, 2, 2], dtype="Float32"),
        pd.Series([1, 2, 2], dtype="int64[pyarrow]"),
        pd.Series([1, 2, 2], dtype=object),
        pd.Series([1, 2, 2], dtype="category"),
        pd.Series([1, 2, 2], dtype=pd.SparseDtype("int64")),
        pd.Series(["1", "2", " 2 "]),
        pd.Series(["1", "2", "2.0"], dtype="category"),
        pd.Series(["1", "2", "2"], dtype="string[pyarrow]"),
    ],
    ids=lambda values: str(values.dtype),
)
def test_what_counts_as_numbers(values: pd.Series) -> None:
    table = column(values)
    assert table.values.ravel().tolist() == [1, 2, 2]
    assert table.frame["x"].dtype.kind in "iuf"


def test_booleans_with_gaps_stay_words() -> None:
    frame = pd.DataFrame({"smokes": pd.array([True, None, False] * 2, dtype="boolean")})
    table = Table(frame, quasi={"smokes": "categorical"}, missing="category")
    assert table.frame["smokes"].tolist() == ["True", "missing", "False"] * 2


def test_booleans_are_numbers_too() -> None:
    assert column([True, False]).values.ravel().tolist() == [1, 0]
    assert column([True, False], "categorical").levels["x"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (["1", "two", "3", "four", "?", "five"], "text in row 2 ('two'), row 4 ('four'), row 5 ('?') and 1 more"),
        (pd.Series(["1", "two"], dtype="category"), "text in row 2 ('two')"),
        ([1, "two"], "text in row 2 ('two')"),
        (["x" * 99], "..."),
        ([1.0, np.inf, -np.inf], "infinity in row 2 (inf), row 3 (-inf)"),
        (["1", "inf"], "infinity in row 2 (inf)"),
        ([1.0, -1e300], "'x' has numbers beyond 1e+140 in row 2 (-1e+300)"),
        ([1.0, np.nan], "missing values in 'x' (1, first in row 2). Choose what to do with them: missing='drop'"),
        ([None, None], "missing values in 'x' (2, first in row 1)"),
        (pd.to_datetime(["2020-01-01"]), "'x' holds dates"),
        (pd.Series(pd.to_datetime(["2020-01-01"])).astype("category"), "'x' holds dates"),
        ([datetime.date(2020, 1, 1)], "'x' holds dates"),
        (pd.to_timedelta([1, 2]), "'x' holds dates"),
        ([1j], "not a plain number"),
        ([[1], [2]], "cannot be compared"),
    ],
)
def test_what_is_no_number(values: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=re.escape(complaint)):
        column(values)


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (pd.Series(["b", "a", "b"], dtype=object), ["a", "b"]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"]),
        (pd.Series(pd.Categorical(["b", "a"], categories=["z", "b", "a"])), ["a", "b"]),
        (pd.Series(["b", "a"], dtype="string[pyarrow]"), ["a", "b"]),
        (pd.Series(["b", "a"], dtype=pd.ArrowDtype(pa.string())), ["a", "b"]),
        (pd.Series([10, 9], dtype="Int8"), [9, 10]),
        ([10, 9], [9, 10]),
        ([1, "a", 1], [1, "a"]),
        (pd.to_datetime(["2021-05-01", "2020-01-01"]), ["2020-01-01 00:00:00", "2021-05-01 00:00:00"]),
        ([datetime.date(2021, 5, 1), datetime.date(2020, 1, 1)], ["2020-01-01", "2021-05-01"]),
        (pd.cut(pd.Series([15, 5]), [0, 10, 20]), ["(0, 10]", "(10, 20]"]),
    ],
)
def test_levels_of_categorical_columns(values: Any, levels: list[object]) -> None:
    table = column(values, "categorical")
    assert table.levels["x"].tolist() == levels
    again = table.levels["x"].to_numpy(object)[table.codes[:, 0]]
    assert again.tolist() == table.frame["x"].tolist()


def test_infinity_among_levels() -> None:
    with pytest.raises(InputError, match="infinity"):
        column([1.0, np.inf], "categorical")


def test_ordinal_columns() -> None:
    assert column([30, 10, 20], "ordinal").values.ravel().tolist() == [2, 0, 1]
    ordered = pd.Series(pd.Categorical(["low", "high"], categories=["low", "mid", "high"], ordered=True))
    table = column(ordered, "ordinal")
    assert table.values.ravel().tolist() == [0, 2]
    assert table.roles.orders == {"x": ("low", "mid", "high")}
    with pytest.raises(InputError, match=r"holds text, whose order cannot be guessed.*Values found: low, high"):
        column(["low", "high"], "ordinal")
    with pytest.raises(InputError, match=r"order does not list, in row 2 \('hihg'\); the order is low, high"):
        column(["low", "hihg"], "ordinal", orders={"x": ["low", "high"]})


def test_bins_of_sensitive_numbers() -> None:
    by_count = people(bins={"pay": 2})
    assert by_count.sensitive_levels[1].tolist() == ["[10, 25)", "[25, 40]"]
    assert by_count.sensitive_codes[:, 1].tolist() == [0, 0, 1, 1]
    assert by_count.frame["pay"].tolist() == ["[10, 25)", "[10, 25)", "[25, 40]", "[25, 40]"]
    by_edges = people(bins={"pay": [0, 10, 20.5, 30, 40]})
    assert by_edges.sensitive_codes[:, 1].tolist() == [1, 1, 3, 3]
    assert by_edges.sensitive_levels[1].tolist() == ["[0, 10)", "[10, 20.5)", "[20.5, 30)", "[30, 40]"]
    assert by_edges.sensitive_ordered == (False, True)
    with pytest.raises(InputError, match=r"outside its bins 0 to 35, in row 4 \(40.0\)"):
        people(bins={"pay": [0, 35]})
    with pytest.raises(InputError, match=r"'illness' is to be numeric but has text in row 1 \('flu'\)"):
        people(bins={"illness": 2})


def test_edges_of_quantiles_are_written_without_the_digits_of_their_rounding() -> None:
    """Of these the third fifth ends at 396.40000000000015, as floating point has it."""
    frame = pd.DataFrame({"x": range(7), "pay": [30, 200, 210, 220, 514, 900, 1750]})
    table = Table(frame, quasi={"x": "numeric"}, sensitive="pay", bins={"pay": 5})
    assert table.sensitive_levels[0].tolist() == [
        "[30, 202)",
        "[202, 214)",
        "[214, 396.4)",
        "[396.4, 822.8)",
        "[822.8, 1750]",
    ]
    close = frame.assign(pay=1 + np.arange(7) * 1e-14)  # told apart by those very digits
    table = Table(close, quasi={"x": "numeric"}, sensitive="pay", bins={"pay": 3})
    assert np.bincount(table.sensitive_codes[:, 0]).tolist() == [2, 2, 3]


def test_bins_of_a_constant_attribute() -> None:
    table = Table(pd.DataFrame({"x": [1, 2], "s": [7, 7]}), quasi={"x": "numeric"}, sensitive="s", bins={"s": 3})
    assert table.sensitive_levels[0].tolist() == ["7"]
    assert table.sensitive_codes.tolist() == [[0], [0]]


def test_ordered_sensitive_attributes() -> None:
    table = people(orders=ORDER | {"illness": ["cold", "flu", "gout", "plague"]}, ordered="pay")
    assert table.sensitive_ordered == (True, True)
    assert table.sensitive_levels[0].tolist() == ["cold", "flu", "gout", "plague"]
    with pytest.raises(InputError, match="'illness' has a value that its order does not list"):
        people(orders=ORDER | {"illness": ["cold", "flu"]})


def test_hierarchies_must_cover_their_column() -> None:
    towns = Hierarchy(["York", "Bath"], [["North", "South"]])
    table = people(hierarchies={"town": towns})
    assert table.leaf_codes("town").tolist() == [0, 1, 0, 0]
    with pytest.raises(InputError, match=r"no hierarchy for the column 'twn'. Did you mean 'town'"):
        table.leaf_codes("twn")
    with pytest.raises(InputError, match="Column 'town': The hierarchy does not cover 'Bath'"):
        people(hierarchies={"town": Hierarchy(["York"], [])})


GAPS = pd.DataFrame(
    {"age": [31, np.nan, 35, 36], "town": ["York", "York", None, "Bath"], "ill": ["flu", "flu", "cold", None]}
)
ROLES: dict[str, Any] = {"quasi": {"age": "numeric", "town": "categorical"}, "sensitive": "ill", "others": "keep"}


def test_missing_error() -> None:
    with pytest.raises(InputError, match=r"'age' \(1, first in row 2\), 'town' \(1, first in row 3\), 'ill'"):
        Table(GAPS, **ROLES)


def test_missing_drop() -> None:
    table = Table(GAPS, **ROLES, missing="drop")
    assert table.frame["age"].tolist() == [31]
    assert table.frame.index.tolist() == [0]
    assert table.missing_report == {
        "policy": "drop",
        "records_dropped": 3,
        "columns": {"age": {"missing": 1}, "town": {"missing": 1}, "ill": {"missing": 1}},
    }
    with pytest.raises(InputError, match="would leave none"):
        Table(GAPS.iloc[1:2], **ROLES, missing="drop")


def test_missing_impute() -> None:
    table = Table(GAPS, **ROLES, missing="impute")
    assert table.frame["age"].tolist() == [31, 34, 35, 36]
    assert table.frame["town"].tolist() == ["York", "York", "York", "Bath"]
    assert table.missing_report["columns"]["ill"] == {"missing": 1, "filled_with": "flu"}
    with pytest.raises(InputError, match="'x' has missing values only"):
        column([None, None], missing="impute")


def test_missing_category() -> None:
    with pytest.raises(InputError, match=r"'age', whose values have an order; use missing='drop' or missing='impute'"):
        Table(GAPS, **ROLES, missing="category")
    table = Table(GAPS.assign(age=1), **ROLES, missing="category")
    assert table.frame["town"].tolist() == ["York", "York", "missing", "Bath"]
    assert table.sensitive_levels[0].tolist() == ["cold", "flu", "missing"]
    assert table.missing_report["columns"]["ill"] == {"missing": 1, "filled_with": "missing"}
    with pytest.raises(InputError, match="'x', whose values have an order"):
        column([1, None], "ordinal", missing="category")
    assert column([1, None], "categorical", missing="category").levels["x"].tolist() == ["1", "missing"]
    taken = column(["missing", None], "categorical", missing="category")
    assert taken.levels["x"].tolist() == ["missing", "missing_"]


def test_kept_columns_may_have_gaps() -> None:
    frame = GAPS.dropna().assign(note=None)
    assert Table(frame, **ROLES).frame["note"].isna().all()


def test_without_sensitive_or_categorical_columns() -> None:
    table = column([1, 2])
    assert table.codes.shape == table.sensitive_codes.shape == (2, 0)
    assert table.sensitive_levels == ()
    assert column(["a", "b"], "categorical").values.shape == (2, 0)


def test_arrow_data() -> None:
    assert people(frame=pa.table(PEOPLE)).values.tolist() == people().values.tolist()


def test_from_file(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    PEOPLE.to_csv(file, index=False)
    roles = people().roles
    roles.save(tmp_path / "roles.toml")
    for given_roles in (roles, tmp_path / "roles.toml", str(tmp_path / "roles.toml")):
        table = Table.from_file(file, roles=given_roles)
        assert table.codes.tolist() == people().codes.tolist()
        assert table.sensitive_codes.tolist() == people().sensitive_codes.tolist()
        assert table.values.tolist() == people().values.tolist()
    assert Table.from_file(file, roles=roles, scaling="range").scaled.max() == 1
    assert Table.with_roles(PEOPLE.iloc[1:], tmp_path / "roles.toml").n == 3
    with pytest.raises(InputError, match="Say which columns are quasi-identifiers"):
        Table.from_file(file)
    with pytest.raises(InputError, match="no role: name"):
        Table.from_file(file, quasi={"age": "numeric"})
    with pytest.raises(InputError, match="no file"):
        Table.from_file(tmp_path / "absent.csv", quasi={"age": "numeric"})
    with pytest.raises(InputError, match=r"'town' is to be numeric but has text in row 1 \('York'\)"):
        Table.from_file(file, quasi={"town": "numeric"}, others="drop")


def test_from_file_keeps_leading_zeros_of_categories(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("postcode;age\n01;5\n1;6\n")
    table = Table.from_file(tmp_path / "codes.csv", quasi={"postcode": "categorical", "age": "numeric"})
    assert table.levels["postcode"].tolist() == ["01", "1"]


patient = settings(deadline=None, max_examples=50)  # the first call may compile


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n = draw(st.integers(1, 25))

    def cells(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=n, max_size=n))

    frame = pd.DataFrame(
        {
            "number": cells(st.sampled_from([-1.5, 0.0, -0.0, 2.0])),
            "rank": cells(st.integers(0, 3)),
            "word": cells(st.sampled_from("abc")),
            "ill": cells(st.sampled_from(["flu", "cold"])),
        }
    )
    return Table(
        frame,
        quasi={"number": "numeric", "word": "categorical", "rank": "ordinal"},
        sensitive="ill",
        scaling=draw(st.sampled_from(["none", "standard", "range"])),
        weights={"number": draw(st.sampled_from([0.0, 0.5, 1.0]))},
    )


@patient
@given(tables(), st.booleans())
def test_collapse_and_expand(table: Table, sensitive: bool) -> None:
    small = table.collapse(sensitive=sensitive)
    names = [*table.quasi, *(table.sensitive if sensitive else ())]
    assert small.counts.sum() == table.n
    assert len(small.rows) == len(table.frame[names].drop_duplicates())
    assert (np.diff(small.rows) > 0).all()
    back = table.frame[names].iloc[small.expand(small.rows)].reset_index(drop=True)
    pd.testing.assert_frame_equal(back, table.frame[names])
    assert (small.inverse[small.rows] == np.arange(len(small.rows))).all()


@patient
@given(tables(), st.data())
def test_a_part_keeps_the_encoding_of_the_whole(table: Table, data: st.DataObject) -> None:
    rows = np.array(data.draw(st.lists(st.integers(0, table.n - 1), min_size=1)))
    part = table.take(rows)
    assert part.n == len(rows)
    assert part.roles == table.roles
    for name in ("values", "scaled", "codes", "sensitive_codes"):
        assert (getattr(part, name) == getattr(table, name)[rows]).all()
        assert getattr(part, name).flags.c_contiguous
    assert all(part.levels[name].equals(levels) for name, levels in table.levels.items())
    pd.testing.assert_frame_equal(part.frame, table.frame.iloc[rows].reset_index(drop=True))
    again = part.take([0])
    assert (again.scaled == table.scaled[rows[:1]]).all()


@patient
@given(tables())
def test_decoding_gives_back_the_values(table: Table) -> None:
    words = table.levels["word"].to_numpy()[table.codes[:, 0]]
    assert words.tolist() == table.frame["word"].tolist()
    ranks = table.levels["rank"].to_numpy()[table.values[:, 1].astype(int)]
    assert ranks.tolist() == table.frame["rank"].tolist()


def test_parts_by_mask_and_bad_parts() -> None:
    table = people()
    assert table.take(table.frame["age"].to_numpy() == 31).n == 2
    with pytest.raises(InputError, match="mask of 2 records was given for a table of 4"):
        table.take([True, False])
    with pytest.raises(InputError, match="at least one"):
        table.take([])
    with pytest.raises(InputError, match="records 0 to 3, not 4"):
        table.take([0, 4])
    with pytest.raises(InputError, match="records 0 to 3, not -1"):
        table.take([-1])


def test_roles_of_a_table_are_all_but_the_data() -> None:
    table = people(scaling="standard", weights={"age": 2.0}, bins={"pay": 2})
    again = Table.with_roles(PEOPLE, Roles.from_toml(table.roles.to_toml()))
    assert again.roles == table.roles
    assert (again.scaled == table.scaled).all()
