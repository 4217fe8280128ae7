"""Held-out rows that were learned from after all: counted, told apart from chance, refused where all of them are."""

import numpy as np
import pandas as pd
import pytest

from optmodels.errors import InputError
from optmodels.metrics.utility import Protocol, utility_of_frames
from optmodels.metrics.utility.overlap import overlap_note

QUICK = Protocol(("dt",), ("accuracy",), splits=2, jobs=1)


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    job, ill = rng.choice(["a", "b"], n), rng.integers(0, 2, n)
    return pd.DataFrame({"height": rng.normal(170, 9, n), "job": job, "ill": ill})


def test_rows_learned_from_are_refused() -> None:
    original = people(80, 0)
    with pytest.raises(InputError, match="All 80 held-out rows occur in the original"):
        utility_of_frames(original, original, QUICK, target="ill", held_out=original)
    with pytest.raises(InputError, match="All 9 held-out rows"):
        utility_of_frames(original, original, QUICK, target="ill", held_out=original.sample(9, random_state=0))


def test_some_rows_learned_from_are_counted() -> None:
    original = people(80, 0)
    held_out = pd.concat([people(20, 1), original[:7]])
    found = utility_of_frames(original, original, QUICK, target="ill", held_out=held_out)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("7 of 27 held-out rows occur whole in the original, where 0% of the rows")
    assert utility_of_frames(original, original, QUICK, target="ill", held_out=people(20, 1)).notes == ()


@pytest.mark.parametrize("seed", range(5))
def test_equal_records_of_different_people_are_chance(seed: int) -> None:
    """Few values: almost everybody has an equal, held out or not."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(20, 60, 400) // 5, "ill": rng.integers(0, 2, 400)})
    assert overlap_note(frame[:300], frame[300:], ["age", "ill"]) == ""


def test_rows_are_equal_however_a_file_wrote_them() -> None:
    original = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["a", None, "b", "b"], "ill": [0, 1, 0, 1]})
    as_text = original.astype(object).astype({"age": float}).assign(ill=["0", "1", "0", "1"])
    with pytest.raises(InputError, match="All 4"):
        overlap_note(original, as_text, ["age", "job", "ill"])
    other_job = original.assign(job="c")
    assert overlap_note(original, other_job, ["age", "job", "ill"]) == ""


def test_held_out_rows_must_be_there_and_have_the_features() -> None:
    original = people(40, 0)
    with pytest.raises(InputError, match="no held-out rows"):
        utility_of_frames(original, original, QUICK, target="ill", held_out=original[:0])
    with pytest.raises(InputError, match="'job' is a feature"):
        utility_of_frames(original, original, QUICK, target="ill", held_out=people(9, 1).drop(columns="job"))
