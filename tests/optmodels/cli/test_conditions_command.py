"""Conditions from the command line: the release keeps them, `optmodels audit` agrees, and nonsense is told off."""

from __future__ import annotations

from dataclasses import fields
from math import log
from pathlib import Path
from typing import Any

import pytest

from optmodels.cli.promise_options import OPTIONS
from optmodels.conditions import SensitiveConditions
from tests.optmodels.cli.conftest import ROLES, Run
from tests.optmodels.cli.test_anonymize import document
from tests.optmodels.cli.test_bad_input import refused

SEVERITY = ("--order", "illness=cold,flu,gout")

KEPT: list[tuple[tuple[object, ...], Any]] = [
    (("--distinct-l", 2), lambda found: found["distinct_l"] >= 2),
    (("--distinct-l", "illness=3"), lambda found: found["distinct_l"] >= 3),
    (("--entropy-l", 2.5), lambda found: found["entropy_l"] >= 2.5),
    (("--recursive", "3,2"), lambda found: found["recursive"][1] < 3),
    (("--recursive", "illness=2.5,3"), lambda found: found["recursive"][2] < 2.5),
    (("--most-share", 0.5), lambda found: found["alpha"] <= 0.5),
    (("--beta", 0.5), lambda found: found["basic_beta"] <= 0.5),
    (("--beta", "illness=0.4", "--beta-kind", "enhanced"), lambda found: found["enhanced_beta"] <= 0.4),
    (("--delta", 0.7), lambda found: found["delta_disclosure"] < 0.7),
    (("--t", 0.15), lambda found: found["t_emd"] <= 0.15 + 1e-9),
    (("--t", "illness=0.2", "--t-distance", "equal"), lambda found: found["t_equal"] <= 0.2),
    (("--t", 0.15, "--t-distance", "illness=ordered"), lambda found: found["t_ordered"] <= 0.15 + 1e-9),
    (("--t", 0.3, "--t-distance", "variational"), lambda found: found["t_variational"] <= 0.3),
]


@pytest.mark.parametrize(("words", "kept"), KEPT, ids=[" ".join(map(str, words)) for words, _ in KEPT])
def test_the_release_keeps_what_was_asked_for(run: Run, people: Path, words: tuple[object, ...], kept: Any) -> None:
    told = run(
        *("anonymize", people, *ROLES, *SEVERITY, "--solver", "mondrian", "--k", 4, *words),
        *("--recode", "interval", "--out", "release.csv", "--json"),
    )
    assert told.exit_code == 0, told.output
    found = document(told)["audit"]
    assert kept(found["sensitive"]["illness"])
    assert {word.strip("-").replace("-", "_") for word in words if str(word).startswith("--")} <= set(found["promise"])
    audited = run(
        *("audit", "release.csv", "--quasi", "age,sex,town", "--sensitive", "illness", *SEVERITY, "--json"),
    )
    again, levels = document(audited)["sensitive"]["illness"], found["sensitive"]["illness"]
    assert again.pop("recursive") == pytest.approx(levels.pop("recursive"))
    assert again == pytest.approx(levels)


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("--t", 20), ("--t 20", "from 0 where they are equal to 1")),
        (("--t", "illness=2,sex=0.3"), ("--t illness=2,sex=0.3", "t of 'illness'")),
        (("--t", "ilness=0.2"), ("no sensitive attribute 'ilness'", "'illness'?")),
        (("--t", "0.3,illness=0.2"), ("--t", "'0.3'")),
        (("--t", "illness=0.3", "--t", "illness=0.2"), ("--t names 'illness' twice",)),
        (("--t", "far"), ("--t far", "not 'far'")),
        (("--t", 0.3, "--t-distance", "ordered"), ("--t-distance ordered", "order of the values of 'illness'")),
        (("--t", 0.3, "--t-distance", "orderd"), ("--t-distance orderd", "'ordered'?")),
        (("--t-distance", "ordered"), ("--t-distance", "--t")),
        (("--recursive", 3), ("--recursive", "c,l", "3,2")),
        (("--recursive", "illness=3"), ("--recursive", "c,l")),
        (("--recursive", "3,2.5"), ("--recursive 3,2.5", "whole number")),
        (("--most-share", 50), ("--most-share 50", "at most 1")),
        (("--beta", -1), ("--beta -1", "must not be negative")),
        (("--beta", 1, "--beta-kind", "enhance"), ("--beta-kind enhance", "'enhanced'?")),
        (("--delta", 0), ("--delta 0", "must be positive")),
        (("--distinct-l", 1.5), ("--distinct-l 1.5", "whole number")),
        (("--distinct-l", ""), ("--distinct-l",)),
        (("--t", 0.3, "--param", "t=0.2"), ("'t' is given twice", "--t", "--param t=0.2")),
    ],
)
@pytest.mark.usefixtures("people", "unchanged")
def test_nonsense_is_told_off(run: Run, words: tuple[object, ...], fragments: tuple[str, ...]) -> None:
    refused(run("anonymize", "people.csv", *ROLES, "--solver", "mondrian", "--k", 4, *words), *fragments)


@pytest.mark.parametrize(
    ("words", "fragments"),
    [
        (("--distinct-l", 9), ("--distinct-l 9 cannot hold", "'illness' has only 3", "Ask for 3 at most")),
        (("--entropy-l", 9), ("--entropy-l 9 cannot hold", "in the whole table")),
        (("--recursive", "0.1,2"), ("--recursive 0.1,2 cannot hold", "Ask for a c above")),
        (("--most-share", 0.2), ("--most-share 0.2 cannot hold", "'flu' is 0.35 of 'illness'")),
    ],
)
def test_what_cannot_hold_is_told_in_the_words_of_the_command_line(
    run: Run, people: Path, words: tuple[object, ...], fragments: tuple[str, ...]
) -> None:
    result = run("anonymize", people, *ROLES, "--solver", "mondrian", "--k", 4, *words)
    assert result.exit_code == 2
    for fragment in fragments:
        assert fragment in result.stderr


def test_a_front_under_conditions_can_be_released(run: Run, people: Path) -> None:
    words = ("--most-share", 0.5, "--delta", "illness=0.7", "--evaluations", 150, "--solver", "nsga2")
    assert run("pareto", people, *ROLES, "--k", 4, *words, "--out", "front").exit_code == 0
    told = document(run("release", "front", "--out", "release.csv", "--json"))
    found = told["audit"]["sensitive"]["illness"]
    assert found["alpha"] <= 0.5
    assert found["delta_disclosure"] < 0.7 < log(3)


@pytest.mark.parametrize("formulation", ["aminifar", "liang-samavi", "majeed-hwang", "mass", "mo-obam"])
def test_every_formulation_takes_conditions(run: Run, people: Path, formulation: str) -> None:
    words = (
        "--recursive",
        "3,2",
        "--time-limit",
        3,
        *(["--param", "trees=3"] if formulation == "majeed-hwang" else []),
    )
    told = run("anonymize", people, *ROLES, "--formulation", formulation, "--k", 5, *words, "--json")
    assert told.exit_code == 0, told.output
    assert document(told)["audit"]["sensitive"]["illness"]["recursive"][1] < 3


def test_every_condition_has_an_option() -> None:
    asked = [field.name for field in fields(SensitiveConditions)]
    assert tuple(OPTIONS) == (
        "k",
        "scheme",
        "suppress",
        "suppression_price",
        *(name for name in asked if name not in _LEFT_OUT),
    )


_LEFT_OUT = ("suppress", "suppression_price")  # stand first, with k
