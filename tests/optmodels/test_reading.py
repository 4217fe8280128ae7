from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optmodels.errors import InputError
from optmodels.table.reading import as_frame, column_names, read_frame

FRAME = pd.DataFrame({"age": [31, 45, 28], "town": ["Köln", "Zürich", "Köln"], "pay": [1.5, None, 3.0]})


def same(found: pd.DataFrame, expected: pd.DataFrame = FRAME) -> bool:
    pd.testing.assert_frame_equal(found.astype({"town": "str"}), expected, check_dtype=False)
    return True


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_separator_and_encoding_are_found_out(tmp_path: Path, separator: str, encoding: str) -> None:
    file = tmp_path / "people.csv"
    FRAME.to_csv(file, sep=separator, index=False, encoding=encoding, na_rep="NA")
    assert column_names(file) == ("age", "town", "pay")
    assert same(read_frame(file))
    assert same(read_frame(file, separator=separator, encoding=encoding))


def test_other_files(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "people.parquet")
    FRAME.to_parquet(tmp_path / "no_suffix")
    pa.feather.write_feather(FRAME, tmp_path / "people.feather")
    table = pa.table(FRAME)
    with pa.OSFile(str(tmp_path / "people.arrows"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with gzip.open(tmp_path / "people.csv.gz", "wt", encoding="utf-8") as packed:
        FRAME.to_csv(packed, index=False)
    for name in ("people.parquet", "no_suffix", "people.feather", "people.arrows", "people.csv.gz"):
        assert column_names(tmp_path / name) == ("age", "town", "pay"), name
        assert same(read_frame(tmp_path / name)), name
        assert list(read_frame(tmp_path / name, columns=["pay", "age"])) == ["pay", "age"], name


def test_a_stored_pandas_index_is_no_surprise(tmp_path: Path) -> None:
    FRAME.set_axis([7, 8, 9]).to_parquet(tmp_path / "people.parquet")
    found = read_frame(tmp_path / "people.parquet", columns=["age"])
    assert found.index.tolist() == [0, 1, 2]


def test_text_is_taken_literally_where_asked(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("postcode,born,age\n01234,2001-02-03,4\n00099,1999-12-31,\n")
    found = read_frame(file, text=["postcode"])
    assert found["postcode"].tolist() == ["01234", "00099"]
    assert found["born"].tolist() == ["2001-02-03", "1999-12-31"]
    assert found["age"].isna().tolist() == [False, True]
    assert read_frame(file)["postcode"].tolist() == [1234, 99]


def test_numbers_beyond_64_bits_keep_their_digits_as_text_only(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("card,age\n12345678901234567891,4\n")
    assert read_frame(file, text=["card"])["card"].tolist() == ["12345678901234567891"]
    assert read_frame(file)["card"].dtype == "float64"


def test_quoted_cells_may_hold_anything(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text('name;note\n"a;b";"two\nlines, with commas"\nc;"say ""hi"""\n')
    found = read_frame(file)
    assert found["name"].tolist() == ["a;b", "c"]
    assert found["note"].tolist() == ["two\nlines, with commas", 'say "hi"']


def test_decimal_commas_do_not_mislead(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("a;b\n1,5;2,5\n3,5;4,5\n")
    assert list(read_frame(file)) == ["a", "b"]


def test_latin_1_far_into_a_file(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(b"town,age\n" + b"Bern,1\n" * 50_000 + "Köln,2\n".encode("latin-1"))
    assert read_frame(file)["town"].iloc[-1] == "Köln"
    assert read_frame(file, text=["town"])["town"].iloc[-1] == "Köln"
    with pytest.raises(InputError, match="Cannot read"):
        read_frame(file, text=["town"], encoding="ascii")


def test_signs_that_only_windows_has(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes("town,cost\nKöln,5 €\n".encode("cp1252"))
    assert read_frame(file)["cost"].tolist() == ["5 €"]


def test_one_column(tmp_path: Path) -> None:
    (tmp_path / "ages.csv").write_text("age\n31\n45\n")
    assert read_frame(tmp_path / "ages.csv")["age"].tolist() == [31, 45]


whole = st.integers(-(2**63), 2**63 - 1)
cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(cells, whole), min_size=1, max_size=9), separator=st.sampled_from(",;\t|"))
def test_what_is_written_is_read(tmp_path: Path, rows: list[tuple[str, int]], separator: str) -> None:
    written = pd.DataFrame(rows, columns=["text", "number"]).astype({"text": "str"})
    written.to_csv(tmp_path / "any.csv", index=False, sep=separator, quoting=2)
    found = read_frame(tmp_path / "any.csv", text=["text"], separator=separator)
    assert found["number"].tolist() == written["number"].tolist()
    for cell, text in zip(found["text"], written["text"], strict=True):
        assert cell == text or (pd.isna(cell) and text in _NULLS)


_NULLS = pa.csv.ConvertOptions().null_values


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"age,town\n", "has columns but no records"),
        (b"age,town", "has columns but no records"),
        (b"age,age\n1,2\n", "more than one column 'age'"),
        (b",age\n0,31\n", "Column 1 of .* has no name"),
        (b"age,town\n1,a\n2\n", "Line 3 of .* has 1 cell where the header has 2"),
        (b"PK\x03\x04\0\0\0\0", "is not a text file"),
        (b"PAR1 but not really", "Cannot read"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read_frame(file)


def test_bad_requests(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    FRAME.to_csv(file, index=False)
    with pytest.raises(InputError, match=r"no file .*peopel.csv'. Did you mean 'people.csv'\?"):
        read_frame(tmp_path / "peopel.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_frame(tmp_path)
    with pytest.raises(InputError, match=r"no column 'agee'. Did you mean 'age'\?"):
        read_frame(file, columns=["agee"])
    with pytest.raises(InputError, match="single character"):
        read_frame(file, separator="::")
    with pytest.raises(InputError, match="no encoding 'utf-9'"):
        read_frame(file, encoding="utf-9")
    twice = pa.table([[1], [2]], names=["a", "a"])
    pa.parquet.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(InputError, match="more than one column 'a'"):
        read_frame(tmp_path / "twice.parquet")
    pa.parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    with pytest.raises(InputError, match="no records"):
        read_frame(tmp_path / "none.parquet")


def test_data_in_memory() -> None:
    assert as_frame(FRAME) is FRAME
    assert same(as_frame(pa.table(FRAME)))
    assert same(as_frame(pa.table(FRAME).to_batches()[0]))
    with pytest.raises(InputError, match=r"not from list; for a file use Table.from_file"):
        as_frame([1, 2])
