"""Exact fronts of the distance against the worst class, by the network: brute force, and the published instance."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar
from optmodels.errors import RefusedError
from optmodels.solution import Status
from optmodels.solver import Progress
from optmodels.table import Table
from optmodels.testing import brute_force_front
from solvers import pareto
from solvers.network import Network

INSTANCE = Path(os.environ.get("OPTMODELS_DATA", "")) / "aminifar_instance.npz"


def flagged(n: int, seed: int, share: float = 0.4, values: int = 2) -> Table:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": draw.normal(size=n), "y": draw.normal(size=n)})
    rest = draw.integers(0, values, n - values) * (draw.random(n - values) < 2 * share)
    frame["flag"] = np.concatenate([np.arange(values), rest])  # every value occurs
    return Table(frame, quasi={"x": "numeric", "y": "numeric"}, sensitive="flag")


@given(
    st.fixed_dictionaries(
        {"n_clusters": st.integers(2, 3), "n_init": st.just(1), "sizes": st.sampled_from(["exact", "at-least"])},
        optional={"alpha": st.just(1.5), "distinct_l": st.just(2), "t": st.just(0.4)},
    ),
    st.sampled_from(["closeness", "variational", "entropy"]),
    st.integers(6, 7),
    st.integers(0, 10_000),
)
@settings(max_examples=30)
def test_every_point_of_the_front_and_no_other(parameters: dict[str, object], other: str, n: int, seed: int) -> None:
    problem = Aminifar(**parameters).build(flagged(n, seed)).with_objectives("distance", other)
    expected = brute_force_front(problem)
    front = Network().pareto(problem)
    found = [[point.values["distance"], point.values[other]] for point in front]
    assert sorted(found) == [pytest.approx(point) for point in sorted(map(list, expected))]
    assert all(point.status is Status.OPTIMAL for point in front)
    assert all(point.bound == pytest.approx(point.values["distance"]) for point in front)
    assert not len(front) or front.details["complete"]


@pytest.mark.skipif(not INSTANCE.is_file(), reason="OPTMODELS_DATA has no aminifar_instance.npz")
def test_the_published_instance_from_its_optimum_to_the_closest_there_is() -> None:
    data = np.load(INSTANCE)
    frame = pd.DataFrame(data["X"]).rename(columns="x{}".format).assign(flag=data["S"].astype(int))
    table = Table(frame, quasi=dict.fromkeys(frame.columns[:-1], "numeric"), sensitive="flag")
    problem = Aminifar(n_clusters=20, centres=data["centres20"]).build(table)
    front = pareto(problem.with_objectives("distance", "variational"))
    assert front.details["solver"] == "network"
    points = {round(point.values["variational"], 6): point.values["distance"] for point in front}
    assert points[0.65] == pytest.approx(11242.3459, abs=1e-4)
    assert points[0.15] == pytest.approx(11326.2944, abs=1e-4)
    assert min(points) == 0.15  # 125 flags in 20 classes of 10: some have 6, some 7, against 6.25
    assert all(point.gap is not None and point.gap <= 1e-9 for point in front)


def test_fronts_that_are_no_bounds_are_refused_with_the_reason() -> None:
    many = Aminifar(n_clusters=2, n_init=1).build(flagged(9, 0, values=3))
    with pytest.raises(RefusedError, match="'flag', which has 3 values"):
        Network().pareto(many.with_objectives("distance", "closeness"))
    two = Aminifar(n_clusters=2, n_init=1).build(flagged(8, 0))
    with pytest.raises(RefusedError, match="'closeness' or 'variational' or 'entropy'"):
        Network().pareto(two.with_objectives("distance", "linkage"))


def test_ctrl_c_leaves_what_is_proven_so_far() -> None:
    def interrupt(progress: Progress) -> None:
        if progress.note.startswith("2 points"):
            raise KeyboardInterrupt

    problem = Aminifar(n_clusters=4, n_init=1).build(flagged(40, 1)).with_objectives("distance", "closeness")
    front = Network().pareto(problem, on_progress=interrupt)
    assert len(front) == 2
    assert front.details["stop"] == "interrupted"
    assert not front.details["complete"]
