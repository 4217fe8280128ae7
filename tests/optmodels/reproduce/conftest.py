"""Stand-ins for the files of the studies, columns and sizes theirs, contents random: every study runs anywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optmodels.datasets import ADULT_COLUMNS, DATASETS

PEOPLE = 1000  # of Adult: a study in miniature reads no more


@pytest.fixture(scope="session")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every file that a study in miniature reads and that does not come with the package."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(0)
    for name in ("census", "tarragona", "person20"):
        known = DATASETS[name]
        numbers = random.gamma(2.0, 10.0, (known.rows, len(known.roles.quasi))).round(0 if name == "person20" else 2)
        pd.DataFrame(numbers, columns=list(known.roles.quasi)).to_csv(folder / known.sources[0].file, index=False)
    _heart(random).to_csv(folder / "heart_cleveland.csv", index=False)
    _adult(random).to_csv(folder / "adult.data", index=False, header=False)
    return folder


def _heart(random: np.random.Generator) -> pd.DataFrame:
    """Patients whose illness shows in what was measured, two of three with a family history of it, some gaps."""
    known = DATASETS["heart"]
    ill = random.integers(0, 2, known.rows)
    measured = random.normal(50 + 10 * ill[:, None], 10, (known.rows, len(known.roles.quasi))).round()
    frame = pd.DataFrame(measured, columns=list(known.roles.quasi))
    frame.loc[[3, 30], "ca"] = np.nan
    return frame.assign(famhist=(random.random(known.rows) < 0.63).astype(int), num=ill * 2)


def _adult(random: np.random.Generator) -> pd.DataFrame:
    """People of whom one in four earns more, the older the likelier."""
    age = random.integers(17, 90, PEOPLE)
    frame = pd.DataFrame(0, index=range(PEOPLE), columns=list(ADULT_COLUMNS))
    return frame.assign(
        age=age,
        race=random.choice(["White", "Black", "Other"], PEOPLE, p=[0.8, 0.15, 0.05]),
        sex=random.choice(["Male", "Female"], PEOPLE),
        native_country=random.choice(["United-States", "Mexico", "Canada", "?"], PEOPLE, p=[0.85, 0.05, 0.05, 0.05]),
        salary=np.where(random.random(PEOPLE) < age / 200, ">50K", "<=50K"),
    )
