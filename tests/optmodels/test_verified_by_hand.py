"""Releases, promises and originals written by hand: every check of the verifier in its words."""

from __future__ import annotations

import codecs
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from optmodels.errors import InputError
from optmodels.verifier import Cells, beside, fingerprint, load_promise, read_cells, total, verify
from optmodels.verifier.cells import MISSING
from optmodels.verifier.promise_file import file_sha256

ROWS = ["30,flu,x", "30,cold,y", "50,flu,z", "50,cold,z"]
ORIGINAL = ["age,illness,note,name", "29,flu,x,a", "31,cold,y,b", "49,flu,z,c", "51,cold,z,d"]

Found = dict[str, tuple[str, str, bool | None]]


def written(folder: Path, rows: list[str] = ROWS, separator: str = ",") -> Path:
    path = folder / "release.csv"
    path.write_text("\n".join(["age,illness,note", *rows, ""]).replace(",", separator), encoding="utf-8")
    return path


def promised(release: Path, **said: Any) -> dict[str, Any]:
    separator = said.get("file", {}).get("separator", ",")
    return {
        "file": {"format": "csv", "separator": ",", "decimal": "."},
        "columns": ["age", "illness", "note"],
        "rows": 4,
        "classes": 2,
        "fingerprint": fingerprint(read_cells(release, separator)),
        "quasi": {"age": "numeric"},
        "as_is": ["illness", "note"],
        "dropped": ["name"],
        "missing": "forbid",
        "suppressed": {"how": "drop", "records": 0, "most": 0.0},
        "data": {"records": 4, "sha256": None},
        **said,
        "conditions": {
            "k": 2,
            "person": None,
            "sensitive": {"illness": {"distinct_l": 2, "numbers": False}},
            **said.get("conditions", {}),
        },
    }


def without(records: int, release: Path, **asked: Any) -> dict[str, Any]:
    """Of four and so many more records, these were left out; asked are conditions by sensitive attribute."""
    return promised(
        release,
        suppressed={"how": "drop", "records": records, "most": 0.5},
        data={"records": 4 + records, "sha256": None},
        conditions={"sensitive": asked},
    )


def checks(release: Path, promise: dict[str, Any], **more: Any) -> Found:
    return {one.what: (one.promised, one.found, one.kept) for one in verify(release, promise, **more).checks}


def test_every_check_in_its_words(tmp_path: Path) -> None:
    path = written(tmp_path)
    kept: Found = {
        "columns": ("age, illness, note", "the same", True),
        "rows": ("4", "4", True),
        "k": ("at least 2 records", "2", True),
        "classes": ("2", "2", True),
        "distinct_l of 'illness'": ("at least 2", "2", True),
        "cells": ("those that were released", "the same", True),
    }
    assert checks(path, promised(path)) == kept
    assert checks(path, promised(path, rows=5))["rows"] == ("5", "4", False)
    assert checks(path, promised(path, classes=1))["classes"] == ("1", "2", False)
    assert checks(path, promised(path, conditions={"k": 3}))["k"] == ("at least 3 records", "2", False)
    assert checks(path, promised(path, fingerprint="0" * 32))["cells"] == ("those that were released", "others", False)
    assert checks(path, promised(path, columns=["age", "note"])) == {
        "columns": ("age, note", "age, illness, note", False)
    }
    verdict = verify(path, promised(path, rows=5))
    assert verdict.broken == ["rows: promised 5, found 4"]
    assert verdict.unchecked == []
    told = verdict.to_dict()
    assert (told["kept"], told["broken"], told["unchecked"]) == (False, verdict.broken, [])
    assert told["checks"][1] == {"what": "rows", "promised": "5", "found": "4", "kept": False}


def test_people_are_counted_where_they_are_known(tmp_path: Path) -> None:
    path = written(tmp_path)
    promise = promised(path, conditions={"person": "who"})
    assert checks(path, promise, people=[1, 2, 1, 2])["k"] == ("at least 2 people", "2", True)
    assert checks(path, promise, people=[1, 2, 3, 3])["k"] == ("at least 2 people", "1", False)
    both = [one for one in verify(path, promise).checks if one.what == "k"]
    assert [(one.promised, one.kept) for one in both] == [("at least 2 records", True), ("at least 2 people", None)]
    assert "('who') is not in a release" in both[1].found
    unasked = promised(path)  # of records alone, whoever they belong to
    assert checks(path, unasked, people=[1, 2, 3, 3])["k"] == ("at least 2 records", "2", True)


@pytest.mark.parametrize(("records", "most", "share", "kept"), [(1, 0.2, "0.2", True), (2, 0.2, "0.333333", False)])
def test_a_share_of_records_left_out_is_of_all_of_them(
    records: int, most: float, share: str, kept: bool, tmp_path: Path
) -> None:
    path = written(tmp_path)
    promise = promised(path, suppressed={"how": "drop", "records": records, "most": most})
    assert checks(path, promise)["suppressed"] == (f"at most {most} of all records", share, kept)


def test_rows_that_say_nothing_are_in_no_class(tmp_path: Path) -> None:
    path = written(tmp_path, [*ROWS, ",*,*"])
    promise = promised(path, rows=5, suppressed={"how": "star", "records": 1, "most": 0.2})
    found = checks(path, promise)
    assert found["rows"] == ("5", "5", True)
    assert found["suppressed"] == ("at most 0.2 of all records", "0.2", True)
    assert found["classes"][2]
    assert found["k"][1] == "2"
    path = written(tmp_path, [",*,*", *ROWS, ",*,*"])  # only the last ones stand for somebody
    two = checks(path, promised(path, rows=6, suppressed={"how": "star", "records": 1, "most": 0.5}))
    assert two["k"][1:] == ("1", False)
    assert two["classes"][1] == "3"
    all_silent = written(tmp_path, [",*,*"] * 2)
    with pytest.raises(InputError, match="The release has no records"):
        verify(all_silent, promised(all_silent, suppressed={"how": "star", "records": 2, "most": 1.0}))


def test_distances_from_a_whole_of_which_records_are_left_out_take_the_original(tmp_path: Path) -> None:
    path, original = written(tmp_path), tmp_path / "people.csv"
    asked = {"t": 0.2, "t_distance": "equal", "numbers": False}
    promise = without(2, path, illness=asked)
    why = "2 records are left out, so that it takes the original to tell"
    assert checks(path, promise)["t of 'illness'"] == ("at most 0.2 (equal)", why, None)
    original.write_text("\n".join([*ORIGINAL, "60,flu,x,e", "61,flu,x,f", ""]))
    found = checks(path, promise, original=original)
    assert found["t of 'illness'"] == ("at most 0.2 (equal)", "0.166667", True)  # a half, of two thirds
    assert found["'illness' as it was"] == ("the values of the original", "the same", True)
    known = checks(path, promise, whole={"illness": {"flu": 4, "cold": 2}})
    assert known["t of 'illness'"] == ("at most 0.2 (equal)", "0.166667", True)
    whole = promised(path, conditions={"sensitive": {"illness": asked}})
    assert checks(path, whole)["t of 'illness'"] == ("at most 0.2 (equal)", "0", True)


def test_a_whole_is_known_where_it_is_of_every_attribute(tmp_path: Path) -> None:
    """Notes were filled in, so that no distance of theirs can be told: nor can those of illnesses, beside them."""
    path, original = written(tmp_path), tmp_path / "people.csv"
    asked = {"t": 0.9, "t_distance": "equal", "numbers": False}
    promise = without(1, path, illness=asked, note=asked)
    original.write_text("\n".join([*ORIGINAL, "60,flu,x,e", ""]))
    assert checks(path, promise, original=original)["t of 'illness'"][2]
    original.write_text("\n".join([*ORIGINAL, "60,flu,,e", ""]))
    assert checks(path, promise, original=original)["t of 'illness'"][2] is None


def test_an_original_beside_its_release(tmp_path: Path) -> None:
    path, original = written(tmp_path), tmp_path / "people.csv"
    original.write_text("\n".join([*ORIGINAL, ""]))
    promise = promised(path, data={"records": 4, "sha256": file_sha256(original)})
    start = file_sha256(original)[:12]
    found = checks(path, promise, original=original)
    assert found["data"] == (f"SHA-256 {start}", start, True)
    assert found["columns left out"] == ("name", "none of them", True)
    assert found["records of the original"] == ("4", "4", True)
    assert found["'illness' as it was"] == found["'note' as it was"] == ("the values of the original", "the same", True)

    unnamed = checks(path, promised(path, dropped=[]), original=original)
    assert unnamed["columns left out"] == ("none", "none of them", True)
    assert unnamed["data"][2] is None
    leaked = checks(path, promised(path, dropped=["name", "note"]), original=original)
    assert leaked["columns left out"] == ("name, note", "note", False)

    original.write_text("\n".join([*ORIGINAL[:-1], ""]))
    less = checks(path, promise, original=original)
    assert less["data"][2] is False
    assert less["records of the original"] == ("4", "3", False)
    assert less["'illness' as it was"] == ("the values of the original", "'cold' more often", False)
    original.write_text("\n".join([*ORIGINAL[:-1], "51,cold,another,d", ""]))
    other = checks(path, promise, original=original)
    assert other["'note' as it was"] == ("the values of the original", "'z' more often", False)
    original.write_text("\n".join([*ORIGINAL[:-1], "51,cough,z,d", ""]))
    assert checks(path, promise, original=original)["'illness' as it was"][1] == "'cold' more often"
    original.write_text("\n".join([line.replace("y,b", "x,b") for line in [*ORIGINAL, ""]]))
    assert checks(path, promise, original=original)["'note' as it was"][1] == "'y' more often"  # once, and never there
    original.write_text("\n".join([*ORIGINAL, "7,flu,x,e", ""]))
    more = checks(path, promise, original=original)
    assert more["records of the original"] == ("4", "5", False)
    assert more["'note' as it was"] == ("the values of the original", "1 fewer", False)
    original.write_text("\n".join(line.rsplit(",", 2)[0] for line in ORIGINAL))
    assert checks(path, promise, original=original)["'note' as it was"] == (
        "a column of the original",
        "no such column",
        False,
    )


@pytest.mark.parametrize(("missing", "gap"), [("drop", "z"), ("forbid", "")])
def test_values_that_were_dropped_or_filled_in_cannot_be_compared(missing: str, gap: str, tmp_path: Path) -> None:
    path, original = written(tmp_path), tmp_path / "people.csv"
    original.write_text("\n".join([*ORIGINAL[:-1], f"51,cold,{gap},d", "7,flu,,e" if missing == "drop" else ""]))
    found = checks(path, promised(path, missing=missing), original=original)
    assert found["'note' as it was"][2] is None
    assert found["records of the original"][2] is True
    assert (found["'illness' as it was"][2] is None) == (missing == "drop")


def test_numbers_of_an_original_are_compared_as_numbers(tmp_path: Path) -> None:
    rows = ["30,flu,2.5", "30,cold,3", "50,flu,3.0", "50,cold,inf"]
    path, original = written(tmp_path, rows), tmp_path / "people.csv"
    original.write_text("\n".join([ORIGINAL[0], "29,flu,2.50,a", "31,cold,3.0,b", "49,flu,3,c", "51,cold,inf,d"]))
    assert checks(path, promised(path), original=original)["'note' as it was"][2]
    original.write_text("\n".join([ORIGINAL[0], "29,flu,2.50,a", "31,cold,3.0,b", "49,flu,4,c", "51,cold,inf,d"]))
    assert not checks(path, promised(path), original=original)["'note' as it was"][2]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "latin-1"])
def test_how_an_original_is_written_is_found_out(separator: str, encoding: str, tmp_path: Path) -> None:
    umlaut = "ü\x81" if encoding == "latin-1" else "ü"  # the second one is no character of cp1252
    path, original = written(tmp_path, [row.replace("x", umlaut) for row in ROWS]), tmp_path / "people.csv"
    lines = [line.replace("x", umlaut).replace(",", separator) for line in ORIGINAL]
    original.write_bytes("\n".join([*lines, ""]).encode(encoding))
    assert checks(path, promised(path), original=original)["'note' as it was"][2]
    asked = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    assert checks(path, promised(path), original=original, encoding=asked)["'note' as it was"][2]
    if encoding == "utf-16":  # of either order of bytes
        original.write_bytes(codecs.BOM_UTF16_BE + "\n".join([*lines, ""]).encode("utf-16-be"))
        assert checks(path, promised(path), original=original)["'note' as it was"][2]
    with pytest.raises(InputError, match="There is no encoding 'klingon'; try 'utf-8', 'latin-1' or 'cp1252'"):
        verify(path, promised(path), original=original, encoding="klingon")


def test_a_separator_is_the_one_by_which_most_names_are_found(tmp_path: Path) -> None:
    path, original = written(tmp_path), tmp_path / "people.csv"
    header, *lines = [line.replace(",", ";") for line in ORIGINAL]
    original.write_text("\n".join([f"{header};a,b,c,d,e", *(f"{line};0" for line in lines), ""]))
    assert checks(path, promised(path), original=original)["'note' as it was"][2]


@pytest.mark.parametrize("name", ["people.txt", "nothing.csv", ""])
def test_an_original_of_another_kind_is_refused(name: str, tmp_path: Path) -> None:
    path, original = written(tmp_path), tmp_path / name
    if name == "people.txt":
        original.write_text("age\n1\n")
    with pytest.raises(InputError, match="must be the CSV or Parquet file that the release was made of"):
        verify(path, promised(path), original=original)
    if name != "people.txt":
        sealed_of = promised(path, data={"records": 4, "sha256": "0" * 64})
        with pytest.raises(InputError, match="Cannot read"):
            verify(path, sealed_of, original=original)


def test_a_parquet_original(tmp_path: Path) -> None:
    path, original = written(tmp_path), tmp_path / "people.parquet"
    frame = pd.DataFrame([line.split(",") for line in ORIGINAL[1:]], columns=ORIGINAL[0].split(","))
    frame.to_parquet(original)
    assert checks(path, promised(path), original=original)["'note' as it was"][2]
    frame.assign(note=pd.to_datetime("2020-01-01")).to_parquet(original)  # which every format writes in its own way
    assert checks(path, promised(path), original=original)["'note' as it was"][2] is None
    frame.assign(note=[None, "y", "z", "z"]).to_parquet(original)
    assert checks(path, promised(path), original=original)["'note' as it was"][2] is None


def test_a_folder_is_as_many_files_as_it_has_and_no_others(tmp_path: Path) -> None:
    whole = written(tmp_path)
    frame, folder = pd.read_csv(whole, dtype=str), tmp_path / "folder"
    folder.mkdir()
    promise = promised(whole, file={"format": "folder"})
    with pytest.raises(InputError, match="is empty, and releases are folders of Parquet files"):
        verify(folder, promise)
    for place, part in enumerate((frame[:2], frame[2:])):
        part.to_parquet(folder / f"{place}.parquet", index=False)
    for ignored in ("_SUCCESS", ".hidden"):
        (folder / ignored).write_text("")
    assert all(kept for _, _, kept in checks(folder, promise).values())
    assert checks(folder, promise)["classes"] == ("2", "2", True)
    for harder in ({"k": 3}, {"sensitive": {"illness": {"distinct_l": 3, "numbers": False}}}):
        assert len(verify(folder, {**promise, "conditions": {**promise["conditions"], **harder}}).broken) == 1
    people = {**promise, "conditions": {**promise["conditions"], "person": "who"}}
    assert checks(folder, people, people=[1, 2, 1, 2])["k"] == ("at least 2 people", "2", True)
    assert checks(folder, people, people=[1, 2, 3, 3])["k"] == ("at least 2 people", "1", False)
    assert checks(folder, people, people=[3, 3, 1, 2])["k"] == ("at least 2 people", "1", False)
    (folder / "notes.txt").write_text("")
    with pytest.raises(InputError, match=r"has 'notes\.txt', and releases are folders of Parquet files"):
        verify(folder, promise)
    (folder / "notes.txt").unlink()
    (folder / "more.parquet").mkdir()
    with pytest.raises(InputError, match=r"has 'more\.parquet'"):
        verify(folder, promise)
    with pytest.raises(InputError, match="is no folder; the promise is of one"):
        verify(whole, promise)
    with pytest.raises(InputError, match="is no file; the promise is of one"):
        verify(folder, promised(whole))


def test_a_fingerprint_is_the_same_in_every_version() -> None:
    """Promises of years ago are still checked: hashes of cells, added up for rows, stirred, added up for the table."""
    table = {"age": ["30", "30", "5"], "ü": ["x", MISSING, "\udce4"]}
    lanes = [0, 0]
    for row in zip(*table.values(), strict=True):
        sums = [0, 0]
        for name, text in zip(table, row, strict=True):
            digest = hashlib.sha256(f"{len(name)} {name} {text}".encode("utf-8", "surrogatepass")).digest()
            for lane in (0, 1):
                sums[lane] += int.from_bytes(digest[8 * lane : 8 * lane + 8], "little")
        for lane in (0, 1):
            lanes[lane] += stirred(sums[lane] % 2**64)
    expected = "".join(f"{lane % 2**64:016x}" for lane in lanes)
    cells = {name: Cells(np.arange(3), texts) for name, texts in table.items()}
    assert fingerprint(cells) == expected
    parts = [fingerprint({name: one.take(rows) for name, one in cells.items()}) for rows in np.split(np.arange(3), [1])]
    assert total(parts) == expected
    assert total([]) == fingerprint({}) == "0" * 32
    assert total([expected]) == expected


def stirred(word: int) -> int:
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


@pytest.mark.parametrize(
    ("column", "texts", "codes"),
    [
        (pd.Series([0.0, -0.0, 0.0]), ["0.0", "-0.0"], [0, 1, 0]),
        (pd.Series([np.nan, 1.5, np.nan]), ["1.5", MISSING], [1, 0, 1]),
        (pd.Series([3, 1, 3]), ["3", "1"], [0, 1, 0]),
        (pd.Series(["b", None, "a"], dtype=object), ["b", "a", MISSING], [0, 2, 1]),
        (pd.Series([1, None], dtype="Int64"), ["1", MISSING], [0, 1]),
        (pd.Series(["a", None], dtype="category"), ["a", MISSING], [0, 1]),
        (pd.Series([[1, {"a": np.float64(2)}], None], dtype=object), ["[1, {'a': 2.0}]", MISSING], [0, 1]),
        (pd.Series([np.array([1]), [1]], dtype=object), ["[1]"], [0, 0]),
    ],
)
def test_cells_are_texts_in_the_order_in_which_they_appear(
    column: pd.Series, texts: list[str], codes: list[int]
) -> None:
    cells = Cells.of(column)
    assert cells.texts == texts
    assert cells.codes.tolist() == codes
    assert len(cells) == len(column)
    assert not cells.unused
    assert cells.plain == (column.map(type).iloc[0] not in (list, np.ndarray))
    assert cells.counts() == {text: codes.count(at) for at, text in enumerate(texts)}
    assert sum(cells.take(np.array([0])).counts().values()) == 1


def test_cells_that_no_row_has_and_dates() -> None:
    category = Cells.of(pd.Series(pd.Categorical(["a"], categories=["b", "a"])))
    assert category.unused
    assert category.counts() == {"a": 1}
    assert not Cells.of(pd.Series(pd.to_datetime(["2020-01-01"]))).plain


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a,a\n1,2\n", "two of its columns have the same name"),
        ("a,b\n1,2,3\n", "more cells than it has columns"),
        ('a,b\n1,"2\n', "cannot be read as a table"),
        ("", "cannot be read as a table"),
    ],
)
def test_files_that_are_no_tables_are_refused(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=why):
        read_cells(path)
    with pytest.raises(InputError, match="Cannot read"):
        read_cells(tmp_path / "nothing.csv")


def test_a_promise_larger_than_any_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "release.promise.json"
    for size, why in ((2**28 + 1, "it has more than 268,435,456 bytes"), (0, "Expecting value")):
        with path.open("wb") as file:
            file.truncate(size)  # with nothing in it that takes room
        with pytest.raises(InputError, match=why):
            load_promise(path)
    with pytest.raises(InputError, match="Cannot read the promise"):
        load_promise(tmp_path)


@pytest.mark.parametrize(
    ("release", "promise"),
    [
        ("a/r.csv", "a/r.promise.json"),
        ("a/r.PARQUET", "a/r.promise.json"),
        ("a/r.v2", "a/r.v2.promise.json"),
        ("r", "r.promise.json"),
    ],
)
def test_where_the_promise_of_a_release_is(release: str, promise: str) -> None:
    assert beside(release) == Path(promise)


def test_the_promise_of_the_folder_one_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "out" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert beside(".") == tmp_path / "out" / "inner.promise.json"
    assert beside("..") == tmp_path / "out.promise.json"
