"""Work that takes long is given up when its time is over, within kernels and while models are written down.

No times are asserted: what is over from the beginning must leave nothing done and nothing broken.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, Microaggregation
from optmodels import Table
from optmodels.centroids.balanced import BalancedSpace
from optmodels.centroids.exchanges import bounded, exchanged
from optmodels.conditions import Conditions, broken_classes
from optmodels.flow import Flow, sizes_only
from optmodels.halting import lowered, raised_when
from optmodels.partition import members
from optmodels.price import spread
from optmodels.problem.patience import NoLongerWanted, as_long_as, still_wanted
from optmodels.solution import Status, Stop
from optmodels.structures import Assignment, Centroids
from solvers.local_search.descent import Descent
from solvers.milp import Milp


def people(n: int, seed: int = 0) -> Table:
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": draw.integers(18, 90, n), "pay": draw.normal(size=n), "ill": draw.choice(list("abc"), n)}
    )
    return Table(frame, quasi={"age": "numeric", "pay": "numeric"}, sensitive="ill", scaling="range")


def raised() -> np.ndarray:
    flag = lowered()
    flag[0] = 1
    return flag


def test_a_flag_is_raised_by_what_it_waits_for_and_by_nothing_else() -> None:
    flag = lowered()
    with raised_when(lambda: False, flag):
        assert not flag[0]
    assert not flag[0]
    with raised_when(lambda: True, flag):
        while not flag[0]:
            pass


def test_local_search_that_is_halted_leaves_the_partition_as_it_was() -> None:
    table = people(60)
    price, test = spread(table), Conditions(k=3, t=0.4).compile(table)
    start = np.zeros(60, np.int64)
    descent = Descent(price, test, start, fixed=False, seed=1)
    descent.halt[0] = 1
    for saved in descent.sweep():
        assert saved == 0.0
    descent.anneal(50, 0.3)
    assert (descent.state.labels == start).all()


def test_a_flow_that_is_halted_claims_nothing() -> None:
    costs = np.zeros((1, 1_000))
    fives = sizes_only([5] * 1_000, [5] * 1_000)
    flow = Flow(lambda rows, _: costs.repeat(len(rows), 0), np.zeros(5_000, np.int32), fives, raised())
    assert list(flow.steps()) == []
    assert flow.halted
    assert flow.bound == -np.inf
    assert flow.n_arcs == 0
    assert (flow.placed == -1).all()


def test_decisions_decoded_after_the_end_count_as_broken_where_more_than_bounds_is_asked_for() -> None:
    problem = Aminifar(k=10, t=0.9).build(people(60))
    space = BalancedSpace.of(problem.require(Centroids), problem.require(Assignment))
    decision = problem.require(Assignment).centres.ravel()[None, :]  # type: ignore[union-attr]
    assert not space.decode(decision).partitions.missing.any()
    space.halt[0] = 1
    assert space.decode(decision).partitions.missing.all()


def test_exchanges_towards_a_stricter_level_are_given_up() -> None:
    table = people(36)
    problem = Aminifar(k=6, centres=np.random.default_rng(0).random((6, 2))).build(table)
    space = BalancedSpace.of(problem.require(Centroids), problem.require(Assignment))
    stricter = Conditions(k=6, distinct_l=3).compile(table)
    alike = np.argsort(np.argsort(table.sensitive_codes[:, 0], kind="stable")) // 6
    reached = space.exchanged(alike, stricter, 50, 1_000_000)
    assert reached is not None
    assert not broken_classes(stricter, *members(reached)).any()
    space.halt[0] = 1
    assert space.exchanged(alike, stricter, 50, 1_000_000) is None


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.2]))
def test_exchanges_end_and_say_what_they_left_broken(seed: int, t: float) -> None:
    """Gains that are rounding alone were made and unmade for ever, on sixty records with t = 0.1 among others."""
    table = people(36, seed)
    draw = np.random.default_rng(seed)
    problem = Aminifar(k=6, t=t, centres=draw.random((6, 2))).build(table)
    assignment = problem.require(Assignment)
    labels = draw.permutation(36) // 6
    found, broken = exchanged(problem.test, bounded(assignment), assignment.points, assignment.centres, labels)
    test = Conditions(k=6, t=t).compile(table)
    assert bool(broken_classes(test, *members(found)).any()) == (broken > 0)


def test_a_model_that_nobody_waits_for_is_not_written_down() -> None:
    still_wanted()  # outside of any wish it always is
    for problem in (
        Microaggregation(k=3).build(people(12)),
        LiangSamavi(k=3).build(people(12)),
        Aminifar(k=3).build(people(12)),
    ):
        with as_long_as(lambda: False), pytest.raises(NoLongerWanted):
            problem.to_pyomo()
        assert problem.to_pyomo().native is not None


def test_milp_without_time_to_write_its_model_says_so_and_keeps_what_it_has() -> None:
    solution = Milp().solve(Microaggregation(k=3).build(people(40)), time_limit=0.01)
    assert solution.status is Status.FEASIBLE
    assert solution.stop is Stop.TIME
    assert "too short" in str(solution.details["remark"])


def test_a_model_given_up_for_want_of_time_is_no_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    Milp().solve(Aminifar(k=3).build(people(12)), time_limit=1e-6)
    assert not caplog.records
