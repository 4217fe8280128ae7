"""`--suppress` and `--suppressed`: records left out, from the command line to the audit of the written file."""

from __future__ import annotations

import json
from pathlib import Path

from tests.optmodels.cli.conftest import Run

PEOPLE = "age,illness\n20,flu\n21,cold\n22,flu\n23,cold\n60,flu\n61,cold\n95,flu\n24,cold\n25,flu\n26,cold\n"
ASKED = ("--numeric", "age", "--sensitive", "illness", "--k", 2, "--solver", "mdav")


def test_rows_that_say_nothing_are_suppressed_records_to_the_audit(run: Run, tmp_path: Path) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "release.csv"
    data.write_text(PEOPLE)
    share = ("--suppress", 0.1, "--suppression-price", 0.001, "--suppressed", "star")
    result = run("anonymize", data, *ASKED, *share, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    audit = json.loads(result.stdout)["audit"]
    assert (audit["records"], audit["suppressed"], audit["promise"]["suppress"]) == (9, 1, 0.1)
    assert out.read_text().splitlines()[-1] == ",*"
    again = json.loads(run("audit", out, "--quasi", "age", "--sensitive", "illness", "--json").stdout)
    assert (again["records"], again["suppressed"], again["k"]) == (9, 1, audit["k"])


def test_a_price_without_leave_and_a_share_of_all_are_refused(run: Run, tmp_path: Path) -> None:
    data, out = tmp_path / "people.csv", tmp_path / "release.csv"
    data.write_text(PEOPLE)
    for wrong, said in ((("--suppression-price", 1), "--suppress 0.05"), (("--suppress", 1), "below 1")):
        result = run("anonymize", data, *ASKED, *wrong, "--out", out)
        assert result.exit_code != 0
        assert said in " ".join(result.output.split())
        assert not out.exists()


def test_one_level_for_everybody_is_asked_for_by_its_scheme(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("age,town\n" + "".join(f"{30 + i % 3},{'ab'[i % 2]}\n" for i in range(12)))
    words = ("anonymize", file, "--numeric", "age", "--categorical", "town", "--k", 3, "--json")
    told = run(*words, "--formulation", "generalisation", "--scheme", "full-domain", "--solver", "lattice")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["status"] == "optimal"
    for more, said in (
        (("generalisation", "--scheme", "global"), "full-domain"),
        (("liang-samavi", "--scheme", "local"), "--scheme"),
    ):
        wrong = run(*words, "--formulation", *more)
        assert wrong.exit_code != 0
        assert said in wrong.output
