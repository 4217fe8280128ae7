"""Blocks: conditions hold for the union, the answer depends on the seed alone, and nothing is silently broken."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import LiangSamavi, Microaggregation, MoObam
from optmodels import Table
from optmodels.errors import InputError, MissingDependencyError, RefusedError
from optmodels.problem import Formulation, Problem
from optmodels.solution import Status, Stop
from optmodels.solver import Progress, Run, Solver
from optmodels.solver.interrupt import Interrupt
from optmodels.testing import check_solution, small_table
from solvers import solve
from solvers.blocks import Blocks, backends, seams
from solvers.blocks.cutting import cut_into_blocks
from solvers.blocks.seams import SeamCost
from solvers.blocks.shared import shared
from solvers.blocks.stitching import Stitching, solve_blocks
from solvers.blocks.work import Orders, Solved
from solvers.blocks.worker_pool import Step, worker_pool

QUICK = {"iterations": 20}
PATIENCE_SECONDS = 10.0


def numbers(n: int, d: int = 3, seed: int = 0) -> Table:
    values = np.random.default_rng(seed).normal(size=(n, d))
    names = [f"x{j}" for j in range(d)]
    return Table(pd.DataFrame(values, columns=names), quasi=dict.fromkeys(names, "numeric"), scaling="standard")


MODELS: dict[str, Formulation] = {
    "k": Microaggregation(k=3),
    "distinct": Microaggregation(k=3, distinct_l=2),
    "entropy": Microaggregation(k=3, entropy_l=1.5),
    "t": Microaggregation(k=3, t=0.3),
    "variational": Microaggregation(k=2, t=0.5, t_distance="variational"),
    "extent": LiangSamavi(k=3),
    "bits": MoObam(k=2, least_entropy=(0.7,)),
}


@given(
    model=st.sampled_from(sorted(MODELS)),
    n=st.integers(12, 90),
    seed=st.integers(0, 10_000),
    size=st.integers(2, 40),
    cut=st.sampled_from(["kd", "strata"]),
    repeated=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_conditions_hold_for_the_union(model: str, n: int, seed: int, size: int, cut: Any, repeated: bool) -> None:
    problem = MODELS[model].build(small_table(n, seed=seed, repeated=repeated))
    solver = Blocks(inner_options=QUICK, block_size=size, cut=cut, workers=1, compare=False)
    solution = solver.solve(problem, seed=seed)
    check_solution(solution)
    assert solution.labels is not None or problem.impossible() or not meets_as_one(problem)


def meets_as_one(problem: Problem) -> bool:
    return problem.evaluate(np.zeros(problem.n, np.int64)).feasible


@given(st.sampled_from(sorted(MODELS)), st.integers(12, 60), st.integers(0, 10_000), st.integers(4, 30))
@settings(max_examples=40, deadline=None)
def test_every_block_has_a_partition_of_its_own(model: str, n: int, seed: int, size: int) -> None:
    problem = MODELS[model].build(small_table(n, seed=seed))
    if not meets_as_one(problem):
        return
    cuts = cut_into_blocks(problem.price, problem.test, size)
    assert sorted(cuts.order.tolist()) == list(range(n))
    for block in range(len(cuts)):
        assert meets_as_one(problem.restricted(cuts.rows(block), None))


@pytest.mark.parametrize("model", sorted(MODELS))
def test_parts_are_measured_as_the_whole_is(model: str) -> None:
    problem = MODELS[model].build(small_table(30, seed=3))
    labels = np.arange(30) // 5
    parts = [
        problem.restricted(np.flatnonzero(labels < 3), None),
        problem.restricted(np.flatnonzero(labels >= 3), None),
    ]
    found = [part.evaluate(part.check(np.arange(15) // 5)) for part in parts]
    whole = problem.evaluate(labels)
    assert sum(one.values["loss"] for one in found) == pytest.approx(whole.values["loss"])
    for condition, broken in whole.violations.items():
        assert sum(one.violations[condition] for one in found) == broken, "t is compared with the whole table"


def test_one_block_is_the_inner_solver_itself() -> None:
    problem = Microaggregation(k=3).build(numbers(60))
    one = Blocks(inner="mdav").solve(problem)
    assert one.details["blocks"] == 1
    assert (one.labels == solve(problem, solver="mdav").labels).all()  # type: ignore[union-attr]


@pytest.mark.parametrize("inner", ["mdav", "mondrian", "columns", "local_search"])
def test_any_inner_solver(inner: str) -> None:
    problem = Microaggregation(k=3).build(numbers(90))
    check_solution(solution := Blocks(inner=inner, block_size=30, compare=False).solve(problem, time_limit=2))
    assert solution.details["blocks"] == 4
    assert solution.details["blocks_by_median_cuts"] == 0


def test_workers_and_their_order_do_not_matter() -> None:
    problem = Microaggregation(k=3, distinct_l=2).build(small_table(300, seed=5))
    found = [
        Blocks(inner_options=QUICK, block_size=20, workers=workers).solve(problem, seed=4).labels
        for workers in (1, 2, 5)
    ]
    assert (found[0] == found[1]).all()  # type: ignore[union-attr]
    assert (found[0] == found[2]).all()  # type: ignore[union-attr]


@pytest.mark.parametrize("kills", [1, 4])
def test_processes_agree_with_threads_though_some_are_killed(kills: int) -> None:
    problem = MoObam(k=2, least_entropy=(0.7,)).build(small_table(200, seed=5))
    options: dict[str, Any] = {"inner_options": QUICK, "block_size": 30, "workers": 2}
    threads = Blocks(**options).solve(problem, seed=4)
    killed: list[int] = []

    def kill_one(state: Progress) -> None:
        if len(killed) < kills and (state.done >= 1 or kills > 1) and (running := multiprocessing.active_children()):
            victim = running[0]
            assert victim.pid is not None
            if victim.pid not in killed:
                with suppress(ProcessLookupError):  # it may have ended by itself since
                    os.kill(victim.pid, signal.SIGKILL)
                    killed.append(victim.pid)

    judged = problem.with_objectives("loss", "linkage@0.3")
    processes = Blocks(backend="processes", **options).solve(judged, seed=4, on_progress=kill_one)
    assert (threads.labels == processes.labels).all()  # type: ignore[union-attr]
    assert processes.details["workers"] == 2
    assert "workers_lost" not in processes.details
    assert len(killed) == kills


def test_blocks_whose_workers_die_by_themselves_are_said_to_be_lost() -> None:
    lost: list[int] = []
    found: dict[int, object] = {}
    steps = [Step(os.getpid, lambda _: ()), Step(os._exit, lambda _: (1,)), Step(os.getpid, lambda _: ())]
    with worker_pool("processes", 2) as workers:
        workers.do(steps, take=found.__setitem__, lost=lambda step, _: lost.append(step), report=lambda: None)
    assert lost == [1], "and no other, though others were under way when it died"
    assert sorted(found) == [0, 2]


def test_other_seeds_give_other_answers() -> None:
    problem = Microaggregation(k=3).build(numbers(300))
    one, other = (Blocks(inner_options=QUICK, block_size=50).solve(problem, seed=seed) for seed in (1, 2))
    assert (one.labels != other.labels).any()  # type: ignore[union-attr]


def test_shared_things_come_back_as_they_were() -> None:
    problem = Microaggregation(k=3, t=0.5).build(small_table(40))
    with shared(problem) as where:
        again = where.load()
        labels = np.arange(40) // 4
        assert again.evaluate(labels) == problem.evaluate(labels)
        assert again.price.numeric.flags.writeable  # or compiled kernels would be compiled once more
        file = where.file
    assert not os.path.exists(file)


def test_a_time_limit_is_shared_out() -> None:
    problem = Microaggregation(k=3).build(numbers(600))
    solution = Blocks(block_size=50).solve(problem, time_limit=0.5)
    check_solution(solution)
    hurried = Blocks(block_size=50).solve(problem, time_limit=1e-6)
    check_solution(hurried)
    assert hurried.stop is Stop.TIME
    assert hurried.status is Status.FEASIBLE


class _Noted(Solver):
    """Everyone of a block in one class; how long it might have taken is noted."""

    name = "noted"
    allowed: ClassVar[list[float]] = []

    def refuses(self, problem: Problem) -> str | None:
        return None

    def search(self, problem: Problem, run: Run) -> None:
        assert run.time_limit is not None
        self.allowed.append(run.time_limit)
        run.offer(np.zeros(problem.n, np.int64))


@pytest.mark.parametrize("limit", [8.0, 80.0])
def test_every_block_gets_its_share_of_the_time(limit: float) -> None:
    _Noted.allowed.clear()
    problem = Microaggregation(k=3).build(numbers(800))
    cuts = cut_into_blocks(problem.price, problem.test, 50)
    stitching, run = Stitching(cuts), Run(problem, "blocks", time_limit=limit)
    with backends.opened("in-process", problem, cuts, 1, None, run.interrupt) as shop:
        solve_blocks(stitching, shop, _Noted(), run, held_back=0.1)
    assert stitching.complete
    assert len(_Noted.allowed) == len(cuts) == 16
    assert min(_Noted.allowed) == pytest.approx(0.9 * limit / 16, rel=0.2)  # what one leaves over goes to the others


def test_what_no_time_was_left_for_is_told() -> None:
    problem = Microaggregation(k=3).build(numbers(600))
    hurried = Blocks(block_size=50).solve(problem, time_limit=1e-6)
    assert hurried.details["one_block"] == "not estimated: all records are one block"
    cuts = cut_into_blocks(problem.price, problem.test, 50)
    over = Run(problem, "blocks", time_limit=1e-9)
    told = seams.details_of(None, cuts, "columns", over)
    assert told["one_block"] == "not estimated: no time was left"
    assert told["remark"] == "What seams between 16 blocks cost is not estimated: no time was left."
    timed = Blocks(block_size=300).solve(problem, time_limit=2.0)
    assert "another effort per record" in timed.details["one_block"]["how"]  # type: ignore[index]


def test_seams_are_estimated_where_conditions_keep_blocks_large() -> None:
    """No cut leaves halves as small as asked for, so pairs are those that no cut came after."""
    problem = Microaggregation(k=5).build(numbers(151))
    details: Any = Blocks(block_size=2, inner_options=QUICK).solve(problem).details
    assert details["blocks"] > 5
    assert "excess_of_pairs" in details["one_block"]


def test_what_stands_for_the_inner_solver() -> None:
    """Blocks that median cuts made do not stand for what the inner solver does."""
    problem = Microaggregation(k=3).build(numbers(600))
    cuts = cut_into_blocks(problem.price, problem.test, 50)
    stitching = Stitching(cuts)
    first = int(cuts.pairs[0])
    for block in (first, first + 1):
        stitching.put(block, Solved(np.zeros(cuts.sizes[block], np.int32), block > first))
    assert (stitching.alone(first), stitching.alone(first + 1)) == (False, True)
    stitching.put(first, Solved(np.zeros(cuts.sizes[first] + cuts.sizes[first + 1], np.int32), True), first + 1)
    assert not stitching.alone(first)


def test_ctrl_c_keeps_what_is_done_and_cuts_the_rest() -> None:
    problem = Microaggregation(k=3).build(numbers(600))

    presses: list[float] = []

    def press(state: Progress) -> None:
        if state.done > 0 and not presses:  # a second one would act at once
            presses.append(state.done)
            os.kill(os.getpid(), signal.SIGINT)

    solution = Blocks(block_size=50, inner_options=QUICK, workers=1).solve(problem, on_progress=press)
    assert solution.stop is Stop.INTERRUPTED
    assert 0 < int(solution.details["blocks_by_median_cuts"]) < 16  # type: ignore[call-overload]
    check_solution(solution)


@dataclass(frozen=True)
class Patient(Solver):
    """Works until Ctrl-C, or without it for so long that a test has failed; files tell that it began, and was told."""

    name = "patient"
    summary = "Waits."
    folder: str

    def refuses(self, problem: Problem) -> str | None:
        return None

    def search(self, problem: Problem, run: Run) -> None:
        folder = Path(self.folder)
        (folder / "begun").touch()
        while run.seconds < PATIENCE_SECONDS:
            if run.interrupt.pressed:
                (folder / "told").touch()
            run.interrupt.heed()
            sleep(0.02)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ZeroDivisionError])
def test_workers_are_told_when_nobody_waits_for_them(stop: type[BaseException], tmp_path: Path) -> None:
    """Else the end of their work, which may be hours away, would be waited for: after Ctrl-C, or an error here."""
    problem = Microaggregation(k=3).build(numbers(40))
    cuts = Blocks(block_size=20).cut_up(problem)
    interrupt = Interrupt()

    def give_up() -> None:
        if (tmp_path / "begun").exists():
            interrupt.pressed = stop is KeyboardInterrupt
            raise stop

    def work() -> None:
        with backends.opened("processes", problem, cuts, 1, None, interrupt) as shop:
            step = shop.step([0], lambda _: Orders(Patient(str(tmp_path)), None, [0]))
            shop.pool.do([step], take=lambda *_: None, lost=lambda *_: None, report=give_up)

    with pytest.raises(stop):
        work()
    assert (tmp_path / "told").exists()


def test_the_cost_of_seams_is_told() -> None:
    problem = Microaggregation(k=3).build(numbers(400))
    few = Blocks(block_size=100, inner_options={"iterations": 500}).solve(problem)
    told: Any = few.details["one_block"]
    assert told["how"].startswith("measured")
    assert told["excess"] == pytest.approx(told["loss_in_blocks"] / told["loss_merged"] - 1)
    assert few.value == pytest.approx(min(told["loss_in_blocks"], told["loss_merged"]))
    many = Blocks(block_size=30, inner_options={"iterations": 100}).solve(problem)
    estimate: Any = many.details["one_block"]
    assert estimate["how"].startswith("estimated from neighbouring blocks, 8 of them")
    least, most = estimate["excess_of_pairs"]
    assert least <= estimate["excess"] <= most
    check_solution(many)


def test_merged_pairs_that_are_no_better_promise_nothing() -> None:
    worse = SeamCost.of_pairs([(1.0, 1.1), (2.0, 1.95)])
    assert worse.excess < 0
    assert "would save nothing" in worse.how
    assert worse.range == pytest.approx((1 / 1.1 - 1, 2 / 1.95 - 1))
    better = SeamCost.of_pairs([(1.1, 1.0), (2.0, 2.0)])
    assert "would save this much" in better.how
    assert "more" not in better.how


def test_equal_records_are_cut_too() -> None:
    table = Table(pd.DataFrame({"age": [30] * 100}), quasi={"age": "numeric"})
    solution = Blocks(block_size=20, inner_options=QUICK).solve(Microaggregation(k=5).build(table))
    assert solution.details["largest_block"] <= 20  # type: ignore[operator]
    check_solution(solution)


def test_categories_only() -> None:
    table = small_table(200, numeric=0, categorical=3)
    check_solution(Blocks(block_size=40, inner_options=QUICK).solve(Microaggregation(k=4).build(table)))


def test_a_condition_that_only_the_whole_meets_leaves_one_block() -> None:
    # one record alone has the second value: no two blocks can both have both
    frame = pd.DataFrame({"x": np.arange(60.0), "s": ["a"] * 59 + ["b"]})
    problem = Microaggregation(k=2, distinct_l=2).build(Table(frame, quasi={"x": "numeric"}, sensitive="s"))
    solution = Blocks(block_size=10, inner_options=QUICK).solve(problem)
    assert solution.details["blocks"] == 1
    check_solution(solution)


def test_tight_t_is_kept_against_the_whole_table() -> None:
    table = small_table(240, seed=2, values=2)
    problem = Microaggregation(k=4, t=0.05).build(table)
    kd = Blocks(block_size=40, inner_options=QUICK).solve(problem)
    strata = Blocks(block_size=40, cut="strata", inner_options=QUICK).solve(problem)
    for solution in (kd, strata):
        check_solution(solution)
        assert solution.details["blocks"] > 1  # type: ignore[operator]
        assert solution.release().audit.sensitive["secret_0"].t_emd <= 0.05 + 1e-9


def test_strata_mirror_the_table() -> None:
    table = small_table(400, values=2, seed=1)
    problem = Microaggregation(k=2).build(table)
    cuts = cut_into_blocks(problem.price, problem.test, 50, "strata")
    share = problem.test.shares[0]
    for block in range(len(cuts)):
        codes = problem.test.codes[cuts.rows(block), 0]
        assert abs(np.count_nonzero(codes == 0) - share * len(codes)) <= 2


def test_blocks_smaller_than_k_are_not_made() -> None:
    solution = Blocks(block_size=2, inner_options=QUICK).solve(Microaggregation(k=7).build(numbers(50)))
    assert solution.details["smallest_block"] >= 7  # type: ignore[operator]
    check_solution(solution)


def test_what_the_inner_solver_refuses_is_refused() -> None:
    with pytest.raises(RefusedError, match="its inner solver 'network' does not take blocks of it"):
        Blocks(inner="network").solve(LiangSamavi(k=2).build(small_table(30)))


def test_judged_otherwise() -> None:
    problem = MoObam(k=2).build(small_table(60))
    check_solution(Blocks(block_size=20, inner_options=QUICK).solve(problem.with_objectives("loss", "linkage@0.3")))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inner": "local_serch"}, "Did you mean 'local_search'"),
        ({"inner": "blocks"}, "name another"),
        ({"inner_options": {"iteration": 3}}, "Did you mean 'iterations'"),
        ({"inner_options": {"iterations": -1}}, "iterations must be"),
        ({"inner_options": 5}, "inner_options are options by name"),
        ({"block_size": 1}, "block_size must be"),
        ({"cut": "kdd"}, "There is no cut 'kdd'"),
        ({"backend": "process"}, "Did you mean 'processes'"),
        ({"workers": 0}, "workers must be"),
        ({"backend": "dask"}, "needs the address of a scheduler"),
        ({"address": "tcp://localhost:1"}, "is for backend='dask'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Blocks(**options)


def test_interrupted_before_the_first_block() -> None:
    problem = Microaggregation(k=3).build(numbers(100))
    assert not Interrupt().pressed

    def press(state: Progress) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    solution = Blocks(block_size=20, inner_options=QUICK).solve(problem, on_progress=press)
    assert solution.stop is Stop.INTERRUPTED


def test_without_dask_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"optmodels\[dask\]"):
        Blocks(backend="dask", address="tcp://127.0.0.1:9").solve(Microaggregation(k=3).build(numbers(20)))


@pytest.mark.parametrize(("merged", "told"), [(2.0, "lose 50.00% less than"), (0.5, "lose 100.00% more than")])
def test_what_seams_cost_or_save_is_said(merged: float, told: str) -> None:
    assert told in SeamCost("measured", blocks=1.0, merged=merged).said(6, "mdav")
