"""Who is learned from and who is asked about, in which form: seen in what classifiers are given, in every way in."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from optmodels.metrics.utility import Protocol, Utility, trials, utility, utility_of_frames, utility_of_method
from optmodels.metrics.utility.scoring import Learned, Rows, learn
from optmodels.table import Table

N = 60
COARSER = 0.25  # what a released age is above the original's


@pytest.fixture
def frame() -> pd.DataFrame:
    """`person` is a feature that tells who a row is about; ages are whole, so that released ones are told apart."""
    rng = np.random.default_rng(0)
    return pd.DataFrame({"person": np.arange(N), "age": rng.integers(20, 80, N), "ill": rng.integers(0, 2, N)})


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Rows, Rows, int]]:
    """What each classifier was given: rows to learn from, rows to be asked about, its seed."""
    seen = []

    def noted(name: str, known: Rows, asked: Rows, **how: Any) -> Learned:
        seen.append((known, asked, how["seed"]))
        return learn(name, known, asked, **how)

    monkeypatch.setattr(trials, "learn", noted)
    return seen


def how(tested_on: str = "original", **more: Any) -> Protocol:
    return Protocol(("nb",), ("accuracy",), tested_on=tested_on, splits=2, test_share=0.25, jobs=1, **more)


def table_of(frame: pd.DataFrame) -> Table:
    return Table(frame, quasi={"age": "numeric"}, target="ill", others="keep")


def coarser(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(age=frame["age"] + COARSER)


def people(rows: Rows) -> set[int]:
    found = rows.features[:, 0].astype(int).tolist()
    assert len(found) == len(set(found))
    return set(found)


def is_released(rows: Rows) -> bool:
    released = rows.features[:, 1] % 1 == COARSER
    assert released.all() or not released.any()
    return bool(released.all())


def check(given: list[tuple[Rows, Rows, int]], frame: pd.DataFrame, *, asked_released: bool) -> None:
    """In each trial original and release, in this order, with the same people on the same sides."""
    assert len(given) == 4
    for number, (known, asked, _) in enumerate(given):
        of_release = number % 2 == 1
        assert not people(known) & people(asked)
        assert len(known) == 45
        assert len(asked) == 15
        assert is_released(known) == of_release
        assert is_released(asked) == (of_release and asked_released)
        for rows in (known, asked):
            assert (rows.target == frame["ill"].to_numpy()[rows.features[:, 0].astype(int)]).all()
    assert people(given[0][0]) != people(given[2][0])
    assert given[0][2] == given[1][2] != given[2][2]


@pytest.mark.parametrize("tested_on", ["original", "release"])
def test_linked_rows_are_split_by_person(
    given: list[tuple[Rows, Rows, int]], frame: pd.DataFrame, tested_on: str
) -> None:
    asked_released = tested_on == "release"
    found = utility(table_of(frame), coarser(frame), how(tested_on))
    check(given, frame, asked_released=asked_released)
    assert people(given[0][0]) == people(given[1][0])
    assert (found.asked, found.paired) == ("released" if asked_released else "original", True)
    before = [people(known) for known, _, _ in given]
    given.clear()
    found = utility_of_frames(frame, coarser(frame), how(tested_on), target="ill", linked=True)
    check(given, frame, asked_released=asked_released)
    assert [people(known) for known, _, _ in given] == before
    assert (found.asked, found.paired) == ("released" if asked_released else "original", True)


def test_a_method_gets_the_people_learned_from_and_the_seed(
    given: list[tuple[Rows, Rows, int]], frame: pd.DataFrame
) -> None:
    seeds = []

    def method(part: Table, seed: int) -> pd.DataFrame:
        seeds.append(seed)
        return coarser(part.frame)[::-1]

    found = utility_of_method(table_of(frame), method, how())
    check(given, frame, asked_released=False)
    assert people(given[0][0]) == people(given[1][0])
    assert people(given[0][1]) == people(given[1][1])
    assert seeds == [given[1][2], given[3][2]]
    assert (found.asked, found.paired) == ("original", True)


def test_other_rows_of_the_release(given: list[tuple[Rows, Rows, int]], frame: pd.DataFrame) -> None:
    found = utility_of_frames(frame, coarser(frame)[::-1], how("release"), target="ill")
    check(given, frame, asked_released=True)
    assert (found.asked, found.paired) == ("released", False)


def test_unlinked_rows_of_the_original(given: list[tuple[Rows, Rows, int]], frame: pd.DataFrame) -> None:
    found = utility_of_frames(frame, coarser(frame)[::-1], how(), target="ill")
    assert (found.asked, found.paired) == ("original", False)
    assert not people(given[0][0]) & people(given[0][1])
    for place in (0, 2):
        assert people(given[place][1]) == people(given[place + 1][1])  # both models are asked about the same people
        assert len(given[place + 1][1]) == 15
        assert not is_released(given[place + 1][1])
        assert is_released(given[place + 1][0])


def test_held_out_people_are_asked_about_and_nobody_else(
    given: list[tuple[Rows, Rows, int]], frame: pd.DataFrame
) -> None:
    original, held_out = frame[:40], frame[40:]
    found = utility_of_frames(original, coarser(original)[::-1], how(), target="ill", held_out=held_out)
    assert (found.asked, found.asked_of_original, found.paired) == ("held-out", "held-out", False)
    for number, (known, asked, _) in enumerate(given):
        assert people(asked) == set(range(40, N))
        assert people(known) < set(range(40))
        assert len(known) == 30
        assert is_released(known) == (number % 2 == 1)
        assert not is_released(asked)


def test_seeds_draw_other_rows_in_splits_and_in_folds() -> None:
    target = np.array([0, 1] * 20)
    for folds in (None, 4):
        first, again, other = (
            [asked.tolist() for _, asked in Protocol(splits=2, folds=folds, seed=seed).rows(target)]
            for seed in (1, 1, 2)
        )
        assert first == again != other
    assert Protocol(seed=1).trial_seed(0) != Protocol(seed=2).trial_seed(0)


def test_importance_is_a_mean_over_trials() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.normal(50, 9, 80), "noise": rng.normal(size=80)})
    frame["ill"] = (frame["age"] < 50).astype(int)  # the older, the healthier: a coefficient below 0
    found: Utility = utility(
        Table(frame, quasi={"age": "numeric"}, target="ill", others="keep"),
        frame["age"] // 5,
        Protocol(("lr", "dt"), ("accuracy",), splits=3, jobs=1),
    )
    by = found.importances.set_index(["version", "classifier", "feature"])["importance"]
    assert by.groupby(level=[0, 1]).sum().to_numpy() == pytest.approx(1)
    assert by[("original", "dt", "age")] == pytest.approx(1)
    assert by[("original", "lr", "age")] > 0.8
