"""The verifier agrees with the audit, of which it knows nothing, and finds every mutation of a release."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from optmodels.audit.parts import Ground
from optmodels.cli import app
from optmodels.conditions import Conditions
from optmodels.errors import BrokenPromiseError, InputError
from optmodels.release import release
from optmodels.release.formulas import without_formulas
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.levels import ColumnLevels
from optmodels.verifier import beside, load_promise, sealed, verify

AWKWARD = ["flu", "cold", "a,b", 'q"q', "line\nbreak", "é ü", "*", "-0.0", "1.0", "x y ", "\r"]
PLENTY = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def released(draw, **conditions):
    """A release of a random table in classes of three and more, with whatever conditions it happens to keep."""
    n = draw(st.integers(6, 24))
    cells = {
        "age": st.sampled_from([0.0, -0.0, 1.5, 1e-30, 1e30, -7.25]),
        "town": st.sampled_from(AWKWARD),
        "illness": st.sampled_from(AWKWARD),
        "pay": st.sampled_from([1, 2, 3, 5, 8]),
    }
    frame = pd.DataFrame({name: draw(st.lists(one, min_size=n, max_size=n)) for name, one in cells.items()})
    kinds = {"age": "numeric", "town": "categorical"}
    leaves = Hierarchy(AWKWARD, [["one"] * 4 + ["two"] * 7, ["all"] * 11])
    illness = draw(st.sampled_from(["tree", "plain"]))
    trees = {"illness": leaves} if illness == "tree" else {}
    table = Table(frame, quasi=kinds, sensitive=["illness", "pay"], ordered="pay", hierarchies=trees)
    labels = np.sort(np.arange(n) // draw(st.integers(3, 6)))
    labels[labels == labels.max()] = labels[0] if (labels == labels.max()).sum() < 3 else labels.max()
    labels = np.array(draw(st.permutations(labels.tolist())))
    out = draw(st.integers(0, 2))
    promise = Conditions(k=3, suppress=0.3 if out else 0.0, **conditions)
    sizes = np.bincount(labels)
    for row in range(n):
        if out and sizes[labels[row]] > 3:
            sizes[labels[row]] -= 1
            labels[row], out = -1, out - 1
    how = draw(st.sampled_from(["drop", "star"]))
    method = draw(st.sampled_from(["centroid", "interval"]))
    return table, labels, promise, method, how


def _levels(made):
    """What the audit says, in the words of the verifier's checks."""
    found = {"k": made.audit.k}
    for name, levels in made.audit.sensitive.items():
        found |= {
            f"distinct_l of '{name}'": levels.distinct_l,
            f"entropy_l of '{name}'": levels.entropy_l,
            f"most_share of '{name}'": levels.alpha,
            f"beta of '{name}'": levels.basic_beta,
            f"delta of '{name}'": levels.delta_disclosure,
            f"t of '{name}'": levels.t_emd,
        }
    return found


@PLENTY
@given(st.data(), st.sampled_from([".csv", ".parquet"]))
def test_it_finds_what_the_audit_finds(tmp_path, data, ending):
    easy = {"distinct_l": 1, "entropy_l": 1, "most_share": 1, "beta": 1e6, "t": 1.0}
    table, labels, promise, method, how = data.draw(released(**easy))
    made = release(table, labels, promise=promise, method=method, suppressed=how)
    path = tmp_path / f"release{ending}"
    (made.to_csv if ending == ".csv" else made.to_parquet)(path)
    document = load_promise(beside(path))
    verdict = verify(path, document)
    assert not verdict.broken
    levels = _levels(made)
    told = {check.what: float(check.found) for check in verdict.checks if check.what in levels and check.kept}
    assert ("t of 'pay'" in told) == (document["suppressed"]["records"] == 0)
    assert told == pytest.approx({what: levels[what] for what in told}, rel=1e-5, abs=1e-6)
    if made.audit.suppressed == 0:  # stricter than what is reached: the verifier says no
        for what, reached in levels.items():
            condition, _, name = what.partition(" of ")
            harder = _harder(condition, reached)
            if harder is None:
                continue
            asked = json.loads(json.dumps(document["conditions"]))
            place = asked if condition == "k" else asked["sensitive"][name.strip("'")]
            place[condition] = harder
            broken = verify(path, sealed({**document, "conditions": asked})).broken
            assert any(said.startswith(what) for said in broken), (what, reached, broken)


def _harder(condition, reached):
    if not np.isfinite(reached):
        return None
    if condition in ("k", "distinct_l", "entropy_l"):
        return reached + 1
    return reached if condition == "delta" else reached - 1e-4 if reached > 1e-3 else None


@PLENTY
@given(st.data())
def test_recursive_diversity_is_strict(tmp_path, data):
    table, labels, promise, method, how = data.draw(released())
    made = release(table, labels, promise=promise, method=method, suppressed=how)
    made.to_csv(tmp_path / "release.csv")
    document = load_promise(tmp_path / "release.promise.json")
    reached = made.audit.sensitive["pay"].recursive
    for least, c in enumerate(reached, start=1):
        for asked, kept in ((c, False), (c * 1.001, True)):
            document["conditions"]["sensitive"]["pay"]["recursive"] = [asked, least]
            assert bool(verify(tmp_path / "release.csv", document).broken) != kept


def _mutations(lines, draw):
    """Mutations of the rows of a CSV whose fields have no line breaks or separators: none leaves it as it was."""
    head, rows = lines[0], lines[1:]
    row, column = draw(st.integers(0, len(rows) - 1)), draw(st.integers(0, head.count(",")))
    cells = rows[row].split(",")
    typo = [*cells[:column], cells[column] + draw(st.sampled_from(["x", " ", "0", "1"])), *cells[column + 1 :]]
    other = rows[draw(st.integers(0, len(rows) - 1))].split(",")[column]
    yield "a cell", [head, *rows[:row], ",".join(typo), *rows[row + 1 :]]
    if other != cells[column]:
        joined = ",".join([*cells[:column], other, *cells[column + 1 :]])
        yield "a cell like another's", [head, *rows[:row], joined, *rows[row + 1 :]]
    yield "a row less", [head, *rows[:row], *rows[row + 1 :]]
    yield "a row twice", [head, *rows, rows[row]]
    yield "a row for another", [head, *rows[:row], *rows[row + 1 :], rows[0] if row else rows[-1]]
    first = [line.split(",")[:2] for line in rows]
    if len(set(map(tuple, first))) > 1:  # the class of one row is written as that of another
        one, two = next((a, b) for a in first for b in first if a != b)
        both = zip(first, rows, strict=True)
        renamed = [",".join([*(two if mine == one else mine), *line.split(",")[2:]]) for mine, line in both]
        yield "two classes as one", [head, *renamed]
    yield "a column of another name", [head.replace("illness", "illnes"), *rows]
    yield "a column less", [line.rsplit(",", 1)[0] for line in [head, *rows]]


@PLENTY
@given(st.data(), st.booleans())
def test_every_mutation_is_found(tmp_path, data, parquet):
    n = data.draw(st.integers(6, 15))
    frame = pd.DataFrame(
        {
            "age": data.draw(st.lists(st.integers(20, 60), min_size=n, max_size=n)),
            "town": data.draw(st.lists(st.sampled_from(["ulm", "bonn", "köln"]), min_size=n, max_size=n)),
            "illness": data.draw(st.lists(st.sampled_from(["flu", "cold"]), min_size=n, max_size=n)),
            "note": data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n)),
        }
    )
    table = Table(frame, quasi={"age": "numeric", "town": "categorical"}, sensitive="illness", others="keep")
    made = release(table, np.arange(n) // 3 % (n // 3), promise=Conditions(k=3, distinct_l=1))
    path = tmp_path / "release.csv"
    made.to_csv(path)
    promise = load_promise(beside(path))
    if parquet:
        made.to_parquet(tmp_path / "release.parquet")
        promise = load_promise(tmp_path / "release.promise.json")
    lines = path.read_text().splitlines()
    for what, mutated in _mutations(lines, data.draw):
        if sorted(mutated) == sorted(lines):
            continue
        path.write_text("\n".join(mutated) + "\n")
        if parquet:  # the same mutation in the other format
            whole = pd.read_csv(path).astype({"age": made.frame["age"].dtype}, errors="ignore")
            whole.to_parquet(tmp_path / "release.parquet", index=False)
            assert verify(tmp_path / "release.parquet", promise).broken, what
        else:
            try:
                assert verify(path, promise).broken, what
            except InputError:
                assert what in ("a cell", "a column less")
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    if not parquet:
        assert not verify(path, promise).broken, "the order of rows is nobody's promise"


def _edits(document, path=()):
    """Every single value of a promise changed."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        if isinstance(value, (dict, list)) and value:
            yield from _edits(value, (*path, key))
        else:
            changed = value + 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else "changed"
            yield (*path, key), changed


def test_every_edit_of_a_promise_is_found(tmp_path):
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "illness": ["flu", "cold", "flu", "cold"]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="illness", ordered="illness")
    release(table, [0, 0, 1, 1], promise=Conditions(k=2, t=0.5)).to_csv(tmp_path / "release.csv")
    path = tmp_path / "release.promise.json"
    text = path.read_text()
    edits = list(_edits(json.loads(text)))
    assert len(edits) > 25
    for keys, changed in edits:
        document = json.loads(text)
        place = document
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = changed
        path.write_text(json.dumps(document))
        with pytest.raises((BrokenPromiseError, InputError)):
            load_promise(path)


def test_a_release_that_breaks_its_promise_once_written_is_not(tmp_path, monkeypatch):
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "illness": ["flu", "cold", "flu", "cold"]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="illness")
    made = release(table, [0, 0, 1, 1], promise=Conditions(k=2))
    made.frame.loc[0, "age"] = 99  # whatever goes wrong after the audit
    for write, name in ((made.to_csv, "release.csv"), (made.to_parquet, "release.parquet")):
        with pytest.raises(BrokenPromiseError, match="k: promised at least 2 records, found 1"):
            write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_people_are_counted_when_a_release_is_made(tmp_path):
    frame = pd.DataFrame({"who": ["a", "a", "b", "c"], "age": [1, 1, 3, 3], "illness": ["flu"] * 4})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="illness", person="who")
    made = release(table, [0, 0, 0, 0], promise=Conditions(k=3))
    made.to_csv(tmp_path / "release.csv")
    verdict = verify(tmp_path / "release.csv", load_promise(tmp_path / "release.promise.json"))
    assert not verdict.broken
    assert "whose its records are ('who')" in verdict.unchecked[0]
    assert "who" not in (tmp_path / "release.csv").read_text().splitlines()[0]


def test_what_records_left_out_had_is_in_no_promise(tmp_path):
    frame = pd.DataFrame({"age": [1, 2, 3, 4, 5], "stage": ["i", "ii", "i", "ii", "unheard-of"]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="stage", orders={"stage": ["i", "ii", "unheard-of"]})
    made = release(table, [0, 0, 1, 1, -1], promise=Conditions(k=2, t=0.6, suppress=0.2))
    made.to_csv(tmp_path / "release.csv")
    assert "unheard-of" not in (tmp_path / "release.promise.json").read_text()
    promise = load_promise(tmp_path / "release.promise.json")
    verdict = verify(tmp_path / "release.csv", promise)
    assert not verdict.broken
    assert "it takes the original to tell" in verdict.unchecked[0]


@pytest.mark.parametrize("damage", ["", "[]", "{}", "[" * 100_000, '{"format": "optmodels promise 1"}', "\udce4"])
def test_what_is_no_promise_is_said_to_be_none(tmp_path, damage):
    (tmp_path / "release.promise.json").write_bytes(damage.encode("utf-8", "surrogateescape"))
    with pytest.raises((InputError, BrokenPromiseError), match="promise"):
        load_promise(tmp_path / "release.promise.json")


def test_sealed_nonsense_is_refused_in_words(tmp_path):
    (tmp_path / "release.csv").write_text("age\n1\n1\n")
    for nonsense in ({}, {"columns": 3}, {"columns": ["age"], "conditions": 1, "file": {"format": "csv"}}):
        with pytest.raises(InputError, match="not as 'optmodels' writes it"):
            verify(tmp_path / "release.csv", sealed(nonsense))


def _run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_the_command_line_from_release_to_verdict(tmp_path):
    frame = pd.DataFrame(
        {"age": [31, 47, 33, 45, 39, 41], "illness": ["flu", "cold"] * 3, "name": list("abcdef"), "dose": ["2.50"] * 6}
    )
    data, out = tmp_path / "people.csv", tmp_path / "release.csv"
    frame.to_csv(data, index=False, sep=";")
    options = ("--numeric", "age", "--sensitive", "illness", "--identifier", "name", "--others", "keep", "--k", "2")
    made = _run("anonymize", data, *options, "--distinct-l", "2", "--solver", "mdav", "--out", out)
    assert made.exit_code == 0, made.output
    kept = _run("verify", out, "--original", data)
    assert kept.exit_code == 0, kept.output
    assert "Every promise that was checked is kept." in kept.output
    assert json.loads(_run("verify", out, "--json").output)["kept"] is True
    again = _run("anonymize", data, *options, "--solver", "mdav", "--out", tmp_path / "release.parquet")
    assert again.exit_code == 1
    assert "exists already" in again.output

    text = out.read_text()
    out.write_text(text.replace("flu", "fly", 1))
    broken = _run("verify", out)
    assert broken.exit_code == 4
    assert "cells: promised those that were released, found others" in " ".join(broken.output.split())
    out.write_text(text)
    data.write_text(data.read_text().replace("31", "32", 1))
    other = _run("verify", out, "--original", data)
    assert other.exit_code == 4
    assert "data: promised SHA-256" in " ".join(other.output.split())
    assert _run("verify", tmp_path / "nothing.csv").exit_code == 1


@pytest.mark.parametrize("policy", ["impute", "category"])
def test_gaps_that_were_filled_break_no_promise(tmp_path, policy):
    rows = ["31;flu", "47;NA", "33;", "45;flu", "39;null", "41;cold"]
    data, out = tmp_path / "people.csv", tmp_path / "release.csv"
    data.write_text("\n".join(["weight;illness", *(row.replace(";", ",5;") for row in rows)]))
    options = ("--numeric", "weight", "--sensitive", "illness", "--decimal", ",", "--missing", policy, "--k", "3")
    made = _run("anonymize", data, *options, "--solver", "mdav", "--out", out)
    assert made.exit_code == 0, made.output
    kept = _run("verify", out, "--original", data)
    assert kept.exit_code == 0, kept.output


def test_levels_that_threads_share_are_known_to_be_unique_before():
    """Else pandas may tell one thread that they are not, while another one is still finding out."""
    shared = [pd.Index([0.5, 1.0]), pd.Index(["a", "b"])]
    Ground({"pay": shared[0]}, {"pay": True}, {})
    ColumnLevels(shared[1], np.array([1, 1]), None)
    assert all("is_unique" in index._cache for index in shared)


def test_a_folder_is_verified_part_by_part(tmp_path):
    draw = np.random.default_rng(1)
    (tmp_path / "data").mkdir()
    for part in range(2):
        pd.DataFrame(
            {"age": draw.integers(20, 70, 60), "pay": draw.integers(1, 4, 60).astype(float) / 2, "name": range(60)}
        ).to_parquet(tmp_path / "data" / f"{part}.parquet")
    options = ("--numeric", "age", "--sensitive", "pay", "--identifier", "name", "--k", "3", "--t", "0.9")
    made = _run("anonymize", tmp_path / "data", *options, "--group-rows", "40", "--out", tmp_path / "out")
    assert made.exit_code == 0, made.output
    kept = _run("verify", tmp_path / "out")
    assert kept.exit_code == 0, kept.output
    files = sorted(Path(tmp_path / "out").glob("*.parquet"))
    part = pd.read_parquet(files[0])
    for mutated in (part.iloc[1:], pd.concat([part, part.iloc[:1]]), part.assign(pay=part["pay"].to_numpy()[::-1] + 1)):
        mutated.to_parquet(files[0], index=False)
        assert _run("verify", tmp_path / "out").exit_code == 4
    files[0].unlink()
    assert _run("verify", tmp_path / "out").exit_code in (1, 4)


def test_formulas_are_escaped_on_request_and_verified_as_written(tmp_path):
    frame = pd.DataFrame({"age": [-1, -2, -3, -4], "note": ["=1+1", "'=1+1", "-5", "@x"], "s": ["+a", "b", "+a", "b"]})
    table = Table(frame, quasi={"age": "numeric"}, sensitive="s", others="keep", ordered="s")
    made = release(table, [0, 0, 1, 1], promise=Conditions(k=2, distinct_l=2, t=0.6))
    made.to_csv(tmp_path / "release.csv", escape_formulas=True)
    read = pd.read_csv(tmp_path / "release.csv", dtype=str)
    assert sorted(read["note"]) == sorted(["'=1+1", "''=1+1", "-5", "'@x"])
    assert set(read["s"]) == {"'+a", "b"}
    assert set(read["age"]) == {"-2", "-4"}
    assert not verify(tmp_path / "release.csv", load_promise(tmp_path / "release.promise.json")).broken


@pytest.mark.parametrize("text", ["=1", "+a", "-a", "@x", "\t=1", "\r=1", "\n=1", "＝1", "＋a", "－a", "＠x"])
def test_whatever_begins_like_a_formula_gets_an_apostrophe(text):
    assert without_formulas(pd.DataFrame({"note": [text]}))["note"].tolist() == [f"'{text}"]
    with pytest.raises(InputError, match="rename it"):
        without_formulas(pd.DataFrame({text: ["fine"]}))


def test_whoever_knows_all_others_of_a_class_learns_the_last_one_no_better_than_the_decimals_say(tmp_path):
    """The mean of k values, rounded to the column's decimals, leaves the last value within k / 2 of their last one."""
    ages = np.array([23, 37, 41, 58, 64, 71])
    table = Table(pd.DataFrame({"age": ages}), quasi={"age": "numeric"})
    made = release(table, [0] * 6, promise=Conditions(k=6))
    guess = made.frame["age"].iloc[0] * 6 - ages[:5].sum()
    possible = [age for age in range(-50, 150) if round((ages[:5].sum() + age) / 6) == made.frame["age"].iloc[0]]
    assert abs(guess - ages[5]) <= 3
    assert len(possible) >= 5


@PLENTY
@given(st.data())
def test_the_order_of_rows_changes_nothing(data):
    table, *_ = data.draw(released())
    frame = table.frame
    shuffled = frame.iloc[np.array(data.draw(st.permutations(range(len(frame)))))]
    one, two = (Table.with_roles(some, table.roles).sorted() for some in (frame, shuffled))
    pd.testing.assert_frame_equal(one.frame, two.frame)
    assert np.array_equal(one.scaled, two.scaled)
