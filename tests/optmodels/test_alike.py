"""The scaling that treats attributes alike: one class of everybody loses as much of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Microaggregation
from optmodels.metrics.loss import attribute_losses, information_loss
from optmodels.partition import canonical
from optmodels.table import Table
from optmodels.table.roles import Roles
from solvers.mdav import Mdav

QUASI = {"income": "numeric", "age": "numeric", "sex": "categorical", "town": "categorical"}


def people(n: int = 60) -> pd.DataFrame:
    draw = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "income": draw.lognormal(10, 0.7, n),
            "age": draw.uniform(18, 90, n),
            "sex": draw.choice(["f", "m"], n),
            "town": draw.choice(list("abcdef"), n, p=[0.6, 0.1, 0.1, 0.1, 0.05, 0.05]),
        }
    )


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=60, max_size=60))
def test_the_loss_is_the_mean_of_what_is_lost_of_each_attribute(drawn: list[int]) -> None:
    table, labels = Table(people(), quasi=QUASI, scaling="alike"), canonical(drawn)
    mean = float(np.mean(list(attribute_losses(table, labels).values())))
    assert information_loss(table, labels) == pytest.approx(mean)
    assert Microaggregation(k=2).build(table).values(labels)["loss"] == pytest.approx(mean)


def test_parts_are_measured_as_the_whole_is() -> None:
    table = Table(people(), quasi=QUASI, scaling="alike")
    rows = np.arange(7, 31)
    for part in (
        table.part(rows),
        table.take(rows),
        Table(people().iloc[rows], quasi=QUASI, scaling="alike").part_of(table.summary),
    ):
        assert part.mismatch_weights == pytest.approx(table.mismatch_weights)
        assert part.scaled == pytest.approx(table.scaled[rows])


def test_nothing_is_lost_for_the_size_of_its_numbers() -> None:
    """Raw numbers leave every class to the income; alike no attribute loses all, and none is spared for its unit."""

    def lost(scaling) -> dict[str, float]:
        table = Table(people(300), quasi=QUASI, scaling=scaling)
        return Mdav().solve(Microaggregation(k=5).build(table)).attribute_losses

    raw, alike = lost("none"), lost("alike")
    assert raw["income"] < 0.1
    assert max(raw.values()) > 0.7
    assert max(alike.values()) < max(raw.values())
    cents = Table(people(300).assign(income=people(300)["income"] * 100), quasi=QUASI, scaling="alike")
    assert Mdav().solve(Microaggregation(k=5).build(cents)).attribute_losses == pytest.approx(alike)


def test_constants_cost_nothing_and_break_nothing() -> None:
    frame = people().assign(age=30.0, sex="f")
    table = Table(frame, quasi=QUASI, scaling="alike")
    assert attribute_losses(table, np.zeros(60, np.int64))["sex"] == 0
    assert np.isfinite(table.scaled).all()
    assert table.mismatch_weights[0] == 1


def test_files_and_role_files_are_alike_unless_they_say_otherwise(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    assert Table.from_file(tmp_path / "people.csv", quasi=QUASI).roles.scaling == "alike"
    assert Table.from_file(tmp_path / "people.csv", quasi=QUASI, scaling="none").roles.scaling == "none"
    assert Roles.from_toml('[quasi]\nage = "numeric"\n').scaling == "alike"
    saved = Roles(quasi=QUASI)
    assert Roles.from_toml(saved.to_toml()) == saved
