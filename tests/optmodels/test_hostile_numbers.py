"""Values in files that no option would let through: numbers beyond all floats, lists for texts, endless seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from optmodels.conditions import Conditions
from optmodels.errors import InputError, finite, whole
from optmodels.study import study_from_toml
from optmodels.table import Table
from optmodels.table.roles import Roles, role_entries

_PARTS = '[[formulation]]\nname = "microaggregation"\nparameters.k = 3\n[[solver]]\nname = "mdav"\n'


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan")])
def test_what_is_no_finite_number(value: float) -> None:
    with pytest.raises(InputError, match="finite number"):
        finite("beta", value)
    with pytest.raises(InputError, match="finite number"):
        Roles(quasi={"age": "numeric"}, gamma=value)


def test_whole_numbers_fit_into_those_of_numpy() -> None:
    whole("distinct_l", 2**63 - 1, 1)
    with pytest.raises(InputError, match=r"less than 2\^63"):
        whole("distinct_l", 2**63, 1)
    table = Table(pd.DataFrame({"x": np.arange(4), "s": list("uvuv")}), quasi={"x": "numeric"}, sensitive="s")
    with pytest.raises(InputError, match=r"less than 2\^63"):
        Conditions(k=2, distinct_l=10**30).compile(table)


@pytest.mark.parametrize("entry", [{"encoding": [0.5]}, {"separator": True}, {"decimal": 3}])
def test_formats_of_text_are_said_in_text(entry: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be text"):
        Roles(quasi={"age": "numeric"}, **entry)


def test_a_study_of_nonsense() -> None:
    with pytest.raises(InputError, match="at most 1,000,000"):
        study_from_toml(f'seeds = {10**18}\n[[dataset]]\nname = "german"\n{_PARTS}')
    with pytest.raises(InputError, match="table of entries"):
        study_from_toml(f'[[dataset]]\nfile = "d.csv"\nroles = 3\n{_PARTS}')
    with pytest.raises(InputError, match="table of entries"):
        role_entries([1])  # type: ignore[arg-type]
    huge = f'[[dataset]]\nname = "german"\n{_PARTS}'.replace("k = 3", f"beta = {10**400}")
    assert study_from_toml(huge).size == 1  # refused when the model is made, and listed until then
