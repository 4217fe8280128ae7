"""What is not anonymised comes out as it went in: through every reader and every writer, cell by cell."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation
from optmodels.conditions import Conditions
from optmodels.errors import InputError
from optmodels.folders.anonymize import anonymize_folder
from optmodels.release import release
from optmodels.table import Table
from optmodels.table.roles import Roles
from solvers.blocks import Blocks

AWKWARD = {
    "leading zeros": ["0051", "002", "01", "01139"],
    "truth": ["false", "True", "FALSE", "true"],
    "trailing zeros": ["2.50", "2.5", "10.00", "-0.0"],
    "gaps": ["", "NA", "null", "x"],
    "numbers and gaps": ["01139", "", "7", "NaN"],
    "quotes": ['say "a"', "a,b", "a;b", "'"],
    "spaces": [" a", "a ", "a  b", "\ta"],
    "lines": ["a\nb", "a\r\nb", "c", "d"],
    "unicode": ["Köln", "Ko\u0308ln", "東京", "\u202eabc"],
    "huge": ["12345678901234567890123", "12345678901234567890124", "-1", "0"],
    "dates": ["2020-01-31", "31.1.2020", "2020-01-31T10:00:00Z", "20200131"],
    "exponents": ["1e5", "1E+05", "100000", "+100000"],
    "hexadecimal": ["0x1F", "1_000", "1,000.5", "%"],
    "signs": ["-0", "+0", "0", "00"],
}
CALM = {name: values for name, values in AWKWARD.items() if name not in ("gaps", "numbers and gaps")}


def cells(path: Path, column: str) -> Counter[str]:
    """A column's cells as they are written, with a reader that guesses nothing."""
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))
    return Counter(row[column] for row in rows)


def write(path: Path, columns: dict[str, list[str]], separator: str = ",", encoding: str = "utf-8") -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def people(values: list[str], n: int = 40) -> dict[str, list[str]]:
    return {"age": [str(20 + i % 30) for i in range(n)], "it": [values[i % len(values)] for i in range(n)]}


def halves(n: int) -> np.ndarray:
    return np.arange(n) % 4 // 2 if n > 4 else np.zeros(n, np.int64)


@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("method", ["centroid", "interval"])
def test_a_kept_column_of_a_csv(kind: str, method, tmp_path: Path) -> None:
    file = write(tmp_path / "in.csv", people(AWKWARD[kind]))
    table = Table.from_file(file, quasi={"age": "numeric"}, others="keep")
    made = release(table, halves(40), promise=Conditions(k=5), method=method)
    assert cells(made.to_csv(tmp_path / "out.csv"), "it") == cells(file, "it")
    written = pq.read_table(made.to_parquet(tmp_path / "out.parquet"))["it"].to_pylist()
    assert Counter(written) == cells(file, "it")


@pytest.mark.parametrize("kind", CALM)
@pytest.mark.parametrize("role", ["sensitive", "target"])
def test_a_sensitive_column_and_a_target_of_a_csv(kind: str, role: str, tmp_path: Path) -> None:
    file = write(tmp_path / "in.csv", people(CALM[kind]))
    table = Table.from_file(file, quasi={"age": "numeric"}, **{role: "it"})
    made = release(table, halves(40), promise=Conditions(k=5))
    assert cells(made.to_csv(tmp_path / "out.csv"), "it") == cells(file, "it")


texts = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.lists(texts | st.sampled_from([v for vs in AWKWARD.values() for v in vs]), min_size=4, max_size=12))
def test_any_text_at_all(tmp_path_factory, values: list[str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    file = write(folder / "in.csv", {"age": [str(i) for i in range(len(values))], "it": values})
    table = Table.from_file(file, quasi={"age": "numeric"}, others="keep", separator=",", encoding="utf-8")
    made = release(table, halves(len(values)), promise=Conditions(k=2))
    assert cells(made.to_csv(folder / "out.csv"), "it") == Counter(values)


def test_equal_numbers_are_one_sensitive_value_however_they_are_written(tmp_path: Path) -> None:
    """2.5 and 2.50 protect nobody from each other: the promise counts numbers, the file keeps the words."""
    file = write(tmp_path / "in.csv", {"age": ["1", "2", "3", "4"], "dose": ["2.5", "2.50", "+2.5", "7"]})
    table = Table.from_file(file, quasi={"age": "numeric"}, sensitive="dose")
    made = release(table, [0, 0, 0, 0], promise=Conditions(k=2))
    assert made.audit.sensitive["dose"].distinct_l == 2
    assert made.frame["dose"].tolist() == ["+2.5", "2.5", "2.50", "7"]
    codes = write(tmp_path / "codes.csv", {"age": ["1", "2"], "icd": ["01", "1"]})
    assert Table.from_file(codes, quasi={"age": "numeric"}, sensitive="icd").sensitive_levels[0].tolist() == ["01", "1"]


def test_gaps_that_are_filled_are_filled_in_the_release(tmp_path: Path) -> None:
    columns = {"age": ["1", "2", "3", ""], "dose": ["2.50", "", "2.50", "7"], "code": ["01", "NA", "01", "02"]}
    file = write(tmp_path / "in.csv", columns)
    given = {"quasi": {"age": "numeric"}, "sensitive": ("dose", "code")}
    table = Table.from_file(file, missing="impute", **given)
    made = release(table, [0] * 4, promise=Conditions(k=2))
    assert made.frame["dose"].tolist() == ["2.5", "2.50", "2.50", "7"]
    assert made.frame["code"].tolist() == ["01", "01", "01", "02"]
    assert table.frame["age"].tolist() == [1, 2, 3, 2]
    assert table.frame["age"].dtype == np.int64
    left = release(Table.from_file(file, missing="drop", **given), [0] * 2, promise=Conditions(k=2))
    assert left.frame["dose"].tolist() == ["2.50", "2.50"]


def test_a_filled_gap_has_no_decimals_of_its_own(tmp_path: Path) -> None:
    file = write(tmp_path / "in.csv", {"tall": ["1.5", "2.5", "", "4.1"], "age": ["20", "", "31", "45"]})
    table = Table.from_file(file, quasi={"tall": "numeric", "age": "numeric"}, missing="impute")
    assert table.decimals == {"tall": 1, "age": 0}
    released = release(table, [0, 0, 1, 1], promise=Conditions(k=2)).frame
    assert released["tall"].tolist() == [2.0, 2.0, 3.4, 3.4]
    assert released["age"].tolist() == [26, 26, 38, 38]


def test_whole_numbers_are_released_as_such_whatever_fills_their_gaps(tmp_path: Path) -> None:
    file = write(tmp_path / "in.csv", {"age": ["20", "", "", "31", "45", "50"], "illness": list("ababab")})
    table = Table.from_file(file, quasi={"age": "numeric"}, sensitive="illness", missing="impute")
    made = release(table, [0, 1, 1, 0, 2, 2], promise=Conditions(k=2))
    assert cells(made.to_csv(tmp_path / "out.csv"), "age") == Counter({"26": 2, "36": 2, "48": 2})


STORED = {
    "small": pa.array([1, 2, None, 4] * 10, pa.int8()),
    "huge": pa.array([2**62 + 1, None, 2**62 + 3, -1] * 10, pa.int64()),
    "unsigned": pa.array([2**63 + 5, 1, 2, 3] * 10, pa.uint64()),
    "single": pa.array([0.1, 2.5, None, 1e-30] * 10, pa.float32()),
    "truth": pa.array([True, False, None, True] * 10, pa.bool_()),
    "text": pa.array(["01", "", None, "NA"] * 10, pa.string()),
    "category": pa.array(["b", "a", None, "b"] * 10).dictionary_encode(),
    "day": pa.array([datetime.date(2020, 1, 31), None, datetime.date(1, 1, 1), datetime.date(9999, 1, 1)] * 10),
    "moment": pa.array([datetime.datetime(2020, 1, 31, 10, 0, 0, 7), None] * 20, pa.timestamp("us", "UTC")),
    "clock": pa.array([datetime.time(10, 0, 1), None] * 20, pa.time64("us")),
    "money": pa.array([decimal.Decimal("2.50"), None, decimal.Decimal("10.00"), None] * 10, pa.decimal128(12, 2)),
    "bytes": pa.array([b"\x00\xff", None] * 20, pa.binary()),
    "list": pa.array([[1, 2], [], None, [3]] * 10, pa.list_(pa.int32())),
}


def stored(folder: Path, columns: dict[str, pa.Array]) -> pa.Table:
    table = pa.table({"age": pa.array([20 + i % 30 for i in range(40)], pa.int16()), **columns})
    pq.write_table(table.slice(0, 20), folder / "a.parquet")
    pq.write_table(table.slice(20), folder / "b.parquet")
    return pq.read_table(folder)


def held(column: pa.ChunkedArray) -> tuple[str, Counter[str]]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    text = "string" if pa.types.is_large_string(kind) else str(kind)
    return text, Counter(map(repr, column.to_pylist()))


@pytest.mark.parametrize("way", ["file", "folder"])
def test_parquet_keeps_its_types(way: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    given = stored(source, STORED)
    roles = Roles(quasi={"age": "numeric"}, others="keep")
    if way == "file":
        made = release(Table.from_file(source, roles=roles), halves(40), promise=Conditions(k=5))
        written = pq.read_table(made.to_parquet(tmp_path / "out.parquet"))
    else:
        solver = Blocks(inner_options={"iterations": 10}, workers=1)
        anonymize_folder(source, out, roles=roles, formulation=Microaggregation(k=5), solver=solver)
        written = pq.read_table(out)
    for name in STORED:
        assert held(written[name]) == held(given[name]), name
    assert written["age"].type == pa.int16()


@pytest.mark.parametrize("way", ["file", "folder"])
@pytest.mark.parametrize("kind", ["unsigned", "day", "text", "category"])
def test_parquet_keeps_the_types_of_sensitive_columns(way: str, kind: str, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    given = stored(source, {kind: STORED[kind].drop_null().take([0, 1] * 20)})
    roles = Roles(quasi={"age": "numeric"}, sensitive=(kind,))
    if way == "file":
        made = release(Table.from_file(source, roles=roles), halves(40), promise=Conditions(k=5, distinct_l=2))
        written, audit = pq.read_table(made.to_parquet(tmp_path / "out.parquet")), made.audit
    else:
        model = Microaggregation(k=5, distinct_l=2)
        solver = Blocks(inner_options={"iterations": 10}, workers=1)
        audit = anonymize_folder(source, tmp_path / "out", roles=roles, formulation=model, solver=solver).audit
        written = pq.read_table(tmp_path / "out")
    assert held(written[kind]) == held(given[kind])
    assert audit.sensitive[kind].distinct_l == 2


def test_centroids_have_the_decimals_of_their_column(tmp_path: Path) -> None:
    columns = {"age": ["20", "21", "40", "42"], "pay": ["1.25", "2.5", "3", "4.75"], "born": ["1999.0", "2000.0"] * 2}
    file = write(tmp_path / "in.csv", columns)
    table = Table.from_file(file, quasi=dict.fromkeys(columns, "numeric"))
    assert table.decimals == {"age": 0, "pay": 2, "born": 0}
    made = release(table, [0, 0, 1, 1], promise=Conditions(k=2))
    assert (tmp_path / "out.csv").exists() is False
    text = made.to_csv(tmp_path / "out.csv").read_text().splitlines()
    assert text == ["age,pay,born", "20,1.88,2000.0", "20,1.88,2000.0", "41,3.88,2000.0", "41,3.88,2000.0"]
    assert made.audit.k == 2
    measured = np.square([20 - 20, 21 - 20, 40 - 41, 42 - 41]).sum() / (np.square(table.frame["age"] - 31).sum())
    assert made.audit.attribute_loss["age"] == pytest.approx(measured)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=4, max_size=30), st.integers(0, 6), st.data())
def test_rounding_only_ever_merges_classes(whole: list[int], places: int, data) -> None:
    """What classes share stays shared, so that k and all else that was promised stays true of rounded numbers."""
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(whole), max_size=len(whole))))
    if min(np.bincount(labels, minlength=2)) < 2:
        labels[:] = 0
    table = Table(pd.DataFrame({"x": np.array(whole) / 10**places}), quasi={"x": "numeric"})
    made = release(table, labels, promise=Conditions(k=2))
    assert table.decimals["x"] is not None
    assert table.decimals["x"] <= places
    for number in made.frame["x"]:
        assert round(number, places) == number
        assert str(number) != "-0.0"


def test_decimal_commas_and_other_formats(tmp_path: Path) -> None:
    columns = {"größe": ["1,85", "1,60", "1,72", "1,91"], "ort": ["Köln", "Ulm"] * 2, "wert": ["2,50", "1.000,00"] * 2}
    file = write(tmp_path / "in.csv", columns, separator=";", encoding="latin-1")
    quasi = {"größe": "numeric", "ort": "categorical"}
    table = Table.from_file(file, quasi=quasi, others="keep", decimal=",", encoding="latin-1", separator=";")
    assert table.values[:, 0].tolist() == [1.85, 1.60, 1.72, 1.91]
    made = release(table, [0, 1, 0, 1], promise=Conditions(k=2))
    assert cells(made.to_csv(tmp_path / "out.csv"), "wert") == Counter(columns["wert"])
    assert Table.from_file(file, quasi=quasi, others="keep", decimal=",").values[0, 0] == 1.85
    with pytest.raises(InputError, match="decimal=','"):
        Table.from_file(file, quasi=quasi, others="keep")
    with pytest.raises(InputError, match="a point or a comma"):
        Table.from_file(file, quasi=quasi, decimal="·")
    with pytest.raises(InputError, match="cannot both separate"):
        Table.from_file(file, quasi=quasi, decimal=",", separator=",")
