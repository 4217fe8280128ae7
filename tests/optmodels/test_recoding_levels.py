"""Recoding by hierarchies on levels of every class's own, and the hierarchies that a table builds for itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from optmodels import Hierarchy, Table
from optmodels.errors import InputError
from optmodels.metrics.loss import gcp
from optmodels.recoding import recode

AGES = Hierarchy.intervals([20, 21, 33, 47], widths=[10, 20])
TABLE = Table(pd.DataFrame({"age": [20, 21, 33, 33]}), quasi={"age": "numeric"}, hierarchies={"age": AGES})
CLASSES = np.array([0, 0, 1, 1])


def test_classes_are_released_on_their_own_levels() -> None:
    assert recode(TABLE, CLASSES, "hierarchy")["age"].tolist() == ["[20, 30)", "[20, 30)", "33", "33"]
    higher = recode(TABLE, CLASSES, "hierarchy", levels=np.array([[1], [2]]))
    assert higher["age"].tolist() == ["[20, 30)", "[20, 30)", "[20, 40)", "[20, 40)"]


def test_the_certainty_penalty_is_that_of_the_levels() -> None:
    # below [20, 30) are two of four ages, below [20, 40) three, below the root four
    assert gcp(TABLE, CLASSES, np.array([[1], [2]])) == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert gcp(TABLE, CLASSES, np.array([[3], [3]])) == 1.0


@pytest.mark.parametrize(
    ("levels", "method", "message"),
    [
        (
            [[0], [0]],
            "hierarchy",
            "Class 0 cannot be released on level 0 of 'age': its records are equal from level 1 on",
        ),
        ([[1], [4]], "hierarchy", "the highest level is 3"),
        ([[1]], "hierarchy", "Give a level for each of 2 classes"),
        ([[1], [1]], "interval", "recode by 'hierarchy', not by 'interval'"),
    ],
)
def test_levels_that_cannot_be_are_told(levels: list[list[int]], method: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        recode(TABLE, CLASSES, method, levels=np.array(levels))  # type: ignore[arg-type]


def test_hierarchies_that_are_lacking_are_built_and_given_ones_stay() -> None:
    frame = pd.DataFrame({"age": [20, 21, 33, 47], "town": list("aabc"), "degree": ["none", "first", "second", "none"]})
    quasi = {"age": "numeric", "town": "categorical", "degree": "ordinal"}
    table = Table(frame, quasi=quasi, orders={"degree": ["none", "first", "second"]}, hierarchies={"age": AGES})
    built = table.with_hierarchies().hierarchies
    assert built["age"] == AGES
    assert built["town"].generalise(["a", "c"], 1).tolist() == ["*", "*"]
    assert built["degree"].generalise(["none", "second"], 1).tolist() == ["[none, first]", "second"]
    assert "town" not in table.hierarchies, "the table itself is as it was"
