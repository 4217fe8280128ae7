"""Whatever is wrong with the input, the error is one clear paragraph, the exit code 1, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.optmodels.cli.conftest import QUICK, ROLES, Run

AGE = ("--numeric", "age", "--others", "drop", "--out", "release.csv")


def refused(result: object, *fragments: str) -> None:
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1, "one paragraph"
    for fragment in fragments:
        assert fragment in result.stderr


@pytest.mark.usefixtures("people", "unchanged")
@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        pytest.param(("peple.csv", *AGE, *QUICK), ("no file 'peple.csv'", "'people.csv'"), id="missing file"),
        pytest.param(("germn", *QUICK), ("'germn'", "Did you mean 'german'?"), id="misspelt dataset"),
        pytest.param(("people.csv", *QUICK), ("--numeric", "--roles", "name, age"), id="no roles"),
        pytest.param(("people.csv", "--numeric", "age", *QUICK), ("sex, town", "--others drop"), id="no role for some"),
        pytest.param(("people.csv", *AGE, "--categorical", "twn", *QUICK), ("'twn'", "'town'"), id="unknown column"),
        pytest.param(("people.csv", *AGE, "--ordinal", "age", *QUICK), ("'age' has two roles",), id="two kinds"),
        pytest.param(("people.csv", *AGE, "--sensitive", "age", *QUICK), ("'age' has two roles",), id="two roles"),
        pytest.param(("people.csv", *AGE, "--categorical", "sex,sex", *QUICK), ("'sex' twice",), id="named twice"),
        pytest.param(("people.csv", *AGE, "--categorical", "sex,,town", *QUICK), ("empty name",), id="empty name"),
        pytest.param(("people.csv", *AGE, "--numeric", "town", *QUICK), ("'town'", "Ulm"), id="text in numeric column"),
        pytest.param(("people.csv", *AGE, "--solver", "mdav", "--k", 1), ("k must be", "at least 2"), id="k below 2"),
        pytest.param(("people.csv", *AGE, "--solver", "mdav", "--k", 41), ("k=41", "40 records"), id="k above n"),
        pytest.param(("people.csv", *AGE, "--solver", "mdav", "--k", "five"), ("--k", "--help"), id="k no number"),
        pytest.param(("people.csv", *AGE, "--solver", "mdav"), ("needs k", "--k"), id="no k"),
        pytest.param(("people.csv", *AGE, *QUICK, "--t", -1), ("t must be a distance",), id="negative t"),
        pytest.param(("people.csv", *AGE, *QUICK, "--entropy-l", 0.5), ("entropy_l",), id="entropy l below 1"),
        pytest.param(
            ("people.csv", *AGE, *QUICK, "--suppress", 7), ("--suppress 7.0 is no share",), id="too large a share"
        ),
        pytest.param(("people.csv", *AGE, *QUICK, "--distinct-l", 2), ("sensitive",), id="no sensitive attribute"),
        pytest.param(("people.csv", *AGE, *QUICK, "--time-limit", 0), ("--time-limit",), id="no time"),
        pytest.param(("people.csv", *AGE, *QUICK, "--colour", "red"), ("no option '--colour'",), id="unknown option"),
        pytest.param(("people.csv", *AGE, "--k", 4, "--sover", "mdav"), ("Did you mean '--solver'?",), id="option"),
        pytest.param(("people.csv", *AGE, *QUICK, "--param", "distinc_l=2"), ("'distinct_l'?",), id="parameter"),
        pytest.param(("people.csv", *AGE, *QUICK, "--param", "t_distance=emt"), ("t_distance", "'emd'"), id="value"),
        pytest.param(("people.csv", *AGE, *QUICK, "--param", "t"), ("key=value",), id="parameter without value"),
        pytest.param(("people.csv", *AGE, *QUICK, "--param", "k=3"), ("'k' is given twice",), id="parameter twice"),
        pytest.param(("people.csv", *AGE, "--k", 4, "--solver", "mdaf"), ("Did you mean 'mdav'?",), id="solver"),
        pytest.param(("people.csv", *AGE, *QUICK, "--option", "speed=2"), ("'mdav'", "speed"), id="solver option"),
        pytest.param(
            ("people.csv", *AGE, *QUICK, "--formulation", "microagregation"), ("'microaggregation'?",), id="formulation"
        ),
        pytest.param(("people.csv", *AGE, *QUICK, "--scaling", "standart"), ("'standard'?",), id="scaling"),
        pytest.param(("people.csv", *AGE, *QUICK, "--missing", "dropp"), ("'drop'?",), id="missing policy"),
        pytest.param(("people.csv", *AGE, *QUICK, "--others", "kep"), ("'keep'?",), id="others"),
        pytest.param(("people.csv", *AGE, *QUICK, "--recode", "intervals"), ("'interval'?",), id="recoding"),
        pytest.param(("people.csv", *AGE, *QUICK, "--roles", "none.toml"), ("none.toml",), id="missing role file"),
        pytest.param(
            ("people.csv", *AGE, *QUICK, "--hierarchy", "age=none.csv"),
            ("'none.csv': No such file",),
            id="missing hierarchy",
        ),
        pytest.param(("people.csv", *AGE, *QUICK, "--out", "none/r.csv"), ("Cannot write",), id="no such folder"),
        pytest.param(("people.csv", *AGE, *QUICK, "--out", "people.csv/r.csv"), ("Cannot write",), id="file as folder"),
        pytest.param(("people.csv", *AGE, *QUICK, "--out", "."), ("folder",), id="output is a folder"),
        pytest.param(("people.csv", *AGE, *QUICK, "--out", "r.xlsx"), (".csv or .parquet",), id="output format"),
        pytest.param(
            ("people.csv", *AGE, *QUICK, "--out", "people.csv"), ("'people.csv' is read",), id="output is input"
        ),
        pytest.param(("people.csv", *AGE, *QUICK, "--report", "release.csv"), ("written for --out",), id="same output"),
        pytest.param(("people.csv", *AGE, *QUICK, "--report", "none/r.html"), ("Cannot write",), id="report"),
    ],
)
def test_anonymize_refuses(run: Run, words: tuple[object, ...], fragments: tuple[str, ...]) -> None:
    refused(run("anonymize", *words), *fragments)


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        pytest.param("", ("empty",), id="empty"),
        pytest.param("age,illness\n", ("no records",), id="header only"),
        pytest.param("age,age,illness\n1,2,flu\n", ("more than one column 'age'",), id="duplicate column"),
        pytest.param("age,illness\n1,flu\n?,flu\n3,flu\nold,flu\n", ("'age'", "?", "old"), id="text in numeric column"),
        pytest.param("age,illness\n1,flu\n,flu\n3,flu\n", ("'age'", "missing"), id="empty cell"),
        pytest.param("age,illness\n1,flu\nNaN,flu\n3,flu\n", ("'age'", "missing"), id="not a number"),
        pytest.param("age,illness\n1,flu\ninf,flu\n3,flu\n", ("'age'", "inf"), id="infinity"),
    ],
)
def test_a_bad_file_is_refused(run: Run, tmp_path: Path, content: str, fragments: tuple[str, ...]) -> None:
    (tmp_path / "bad.csv").write_text(content)
    result = run("anonymize", "bad.csv", "--sensitive", "illness", "--solver", "mdav", "--k", 2, *AGE)
    refused(result, *fragments)
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


@pytest.mark.usefixtures("people", "unchanged")
@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("audit", "peple.csv", "--quasi", "age"), ("'people.csv'",)),
        (("audit", "people.csv"), ("--quasi", "name, age")),
        (("audit", "people.csv", "--quasi", "agee"), ("'agee'", "'age'")),
        (("audit", "people.csv", "--quasi", "age", "--sensitive", "ilness"), ("'illness'",)),
        (("audit", "people.csv", "--quasi", "age", "--sensitive", "age"), ("'age'", "two roles")),
        (("audit", "people.csv", "--quasi", "age", "--tau", "high"), ("--tau",)),
        (("audit", "people.csv", "--quasi", "age", "--report", "none/a.html"), ("Cannot write",)),
        (("audit",), ("Missing argument", "--help")),
        (("list", "solver"), ("'solvers'?",)),
        (("anonymise", "people.csv"), ("'anonymize'?",)),
        (("demo", "--out", "people.csv"), ("Cannot make the folder",)),
    ],
)
def test_other_commands_refuse(run: Run, words: tuple[str, ...], fragments: tuple[str, ...]) -> None:
    refused(run(*words), *fragments)


def test_existing_output_survives_a_failure(run: Run, people: Path, tmp_path: Path) -> None:
    release = tmp_path / "release.csv"
    release.write_text("from before\n")
    result = run(
        "anonymize", people, *ROLES, *QUICK, "--distinct-l", 9, "--out", release, "--force", "--report", "r.html"
    )
    assert result.exit_code == 2
    assert release.read_text() == "from before\n"
    assert not (tmp_path / "r.html").exists()
