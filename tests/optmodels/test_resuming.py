"""A search that was stopped goes on: nothing found or proven is lost, and nothing is taken over that is not so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from formulations import Aminifar, Microaggregation, MoObam
from optmodels import InputError, ParetoFront, Problem, Status, Stop, Table
from optmodels.evidence import Evidence
from optmodels.kept_search import Earlier, load
from optmodels.solver import FrontSolver, Run
from solvers import Columns, Epsilon, LocalSearch, Mdav, Nsga2, bounded, pareto, solve


@dataclass(frozen=True)
class Fails(FrontSolver):
    """One that finds nothing, and must not be asked where all is known."""

    name: ClassVar[str] = "fails"
    summary: ClassVar[str] = "finds nothing"

    asked: bool = True

    def search(self, problem: Problem, run: Run) -> None:
        assert self.asked

    def explore(self, problem: Problem, run: Run) -> None:
        assert self.asked


def table(n: int, seed: int = 0) -> Table:
    """People of whom half are ill, with two numbers and a name."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": draw.integers(20, 80, n),
            "height": draw.normal(170, 10, n).round(1),
            "sex": draw.choice(["f", "m"], n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
        }
    )
    quasi = {"age": "numeric", "height": "numeric", "sex": "categorical"}
    return Table(frame, quasi=quasi, sensitive="illness")  # type: ignore[arg-type]


def interrupted(after: int, seen: list[int]) -> Callable[[object], None]:
    """Ctrl-C at the so-manieth sign of life."""

    def listen(_: object) -> None:
        seen.append(1)
        if len(seen) == after:
            raise KeyboardInterrupt

    return listen


def test_an_answer_is_gone_on_from_with_what_is_proven_of_it() -> None:
    problem = Microaggregation(k=3).build(table(40))
    first = bounded(solve(problem, solver=Mdav()))
    assert first.bound is not None
    again = solve(problem, solver=Fails(), start=first)
    assert (again.value, again.bound) == (first.value, first.bound)
    better = solve(problem, solver=LocalSearch(iterations=50), start=again)
    assert better.value is not None
    assert first.value is not None
    assert better.value < first.value
    assert better.bound == first.bound
    assert better.details["resumed"] == {"runs": 2, "seconds": first.seconds + again.seconds}


def test_what_is_proven_best_is_not_searched_again() -> None:
    problem = Microaggregation(k=3).build(table(12))
    best = solve(problem, solver=Columns())
    assert best.status is Status.OPTIMAL
    again = solve(problem, solver=Fails(asked=False), start=best)
    assert (again.status, again.value, again.stop) == (Status.OPTIMAL, best.value, Stop.CONVERGED)


def test_duals_that_were_found_are_begun_with() -> None:
    problem = Microaggregation(k=3).build(table(40))
    best = solve(problem, solver=Columns())
    assert best.evidence is not None
    assert best.bound is not None
    unproven = replace(best, bound=0.5 * best.bound, status=Status.FEASIBLE)
    rounds = [
        solve(problem, solver=Columns(cuts_a_round=0), start=start).details["rounds"]
        for start in (best.labels, unproven)
    ]
    assert rounds[1] < rounds[0]  # type: ignore[operator]


def test_a_search_that_goes_on_draws_other_numbers() -> None:
    problem = MoObam(k=3).build(table(30))
    begun = Run(problem, "one", seed=3)
    begun.offer(np.zeros(30, int))
    on = [Run(problem, "one", seed=3, earlier=Earlier((begun.solution(),), runs)) for runs in (1, 2)]
    assert len({begun.seed, *(run.seed for run in on)}) == 3
    on[0].offer(np.zeros(30, int))
    assert on[0].solution().seed == 3


@pytest.mark.parametrize(
    ("other", "word"),
    [
        pytest.param(lambda: Microaggregation(k=4).build(table(30)), "k (3, and now 4)", id="k"),
        pytest.param(
            lambda: Microaggregation(k=3, distinct_l=2).build(table(30)), "distinct_l (None, and now 2)", id="condition"
        ),
        pytest.param(lambda: Microaggregation(k=3).build(table(31)), "records (30, and now 31)", id="records"),
        pytest.param(lambda: Microaggregation(k=3).build(table(30, 1)), "the data", id="data"),
        pytest.param(lambda: MoObam(k=3).build(table(30)), "formulation", id="formulation"),
        pytest.param(
            lambda: Microaggregation(k=3).build(table(30).rescaled(scaling="range")), "the role 'scaling'", id="scaling"
        ),
        pytest.param(
            lambda: Microaggregation(k=3).build(table(30).rescaled(weights={"age": 2})),
            "the role 'weights'",
            id="weight",
        ),
        pytest.param(
            lambda: Microaggregation(k=3).build(table(30)).with_objectives("entropy"), "objectives", id="objective"
        ),
    ],
)
def test_another_problem_is_refused_with_what_differs(other: Callable[[], Problem], word: str, tmp_path: Path) -> None:
    problem = Microaggregation(k=3).build(table(30))
    kept = tmp_path / "one.search"
    found = solve(problem, solver=Mdav(), resume=kept)
    before = kept.read_bytes()
    for words in ({"start": found}, {"resume": kept}):
        with pytest.raises(InputError) as raised:
            solve(other(), solver=LocalSearch(iterations=1), **words)  # type: ignore[arg-type]
        assert word in str(raised.value)
    assert kept.read_bytes() == before
    # the same table built once more is the same problem
    again = Microaggregation(k=3).build(table(30))
    assert solve(again, solver=Fails(), start=found).value == found.value
    assert solve(again, solver=Fails(), resume=kept).value == found.value


def test_centres_drawn_by_another_seed_are_another_problem() -> None:
    one, other = (Aminifar(n_clusters=8, n_init=1).build(table(40), seed) for seed in (0, 1))
    found = solve(one)
    with pytest.raises(InputError, match="another seed"):
        solve(other, start=found)


def test_a_front_goes_on_and_is_as_good_as_one_that_was_not_stopped() -> None:
    problem = MoObam(k=3).build(table(80))
    first = pareto(problem, solver=Nsga2(evaluations=1500))
    on = pareto(problem, solver=Nsga2(evaluations=1500), start=first)
    whole = pareto(problem, solver=Nsga2(evaluations=3000))
    assert on.hypervolume() >= first.hypervolume()
    assert on.hypervolume() >= 0.98 * whole.hypervolume()  # whole runs of other seeds differ by 0.5%
    assert on.details["resumed"]["runs"] == 1  # type: ignore[index]


def test_no_point_of_a_front_is_lost_whoever_goes_on() -> None:
    problem = MoObam(k=3).build(table(12))
    exact = pareto(problem, solver=Epsilon())
    part = ParetoFront.of(problem, exact.points[::2])
    again = pareto(problem, solver=Fails(), start=part)
    assert again.frame().equals(part.frame())
    merged = pareto(problem, solver=Nsga2(evaluations=300), start=part)
    for point in merged:
        known = [one for one in part if one.values["entropy"] <= point.values["entropy"]]
        if known:
            assert point.bound is not None
            assert max(one.bound or 0.0 for one in known) <= point.bound <= point.values["loss"]
    assert set(part.frame()["loss"]) <= set(merged.frame()["loss"])


def test_a_complete_front_is_not_searched_again(tmp_path: Path) -> None:
    problem = MoObam(k=3).build(table(12))
    kept = tmp_path / "front.search"
    exact = pareto(problem, solver=Epsilon(), resume=kept)
    assert exact.details["complete"] is True
    for words in ({"start": exact}, {"resume": kept}):
        again = pareto(problem, solver=Fails(asked=False), **words)  # type: ignore[arg-type]
        assert again.details["complete"] is True
        assert again.frame().equals(exact.frame())


def test_a_bound_that_a_better_point_contradicts_is_withdrawn() -> None:
    problem = MoObam(k=3).build(table(12))
    exact = pareto(problem, solver=Epsilon())
    wrong = ParetoFront(problem, (replace(exact[1], bound=exact[1].values["loss"]), exact[0]))
    said = replace(wrong[1], bound=wrong[1].values["loss"] * 1.5 + 1.0)
    found = pareto(problem, solver=Nsga2(evaluations=100), start=ParetoFront(problem, (wrong[0], said)))
    assert found.details["contradicted_bound"] == said.bound
    assert all(point.bound is None or point.bound <= point.values["loss"] for point in found)


def test_ctrl_c_then_on_from_the_file(tmp_path: Path) -> None:
    problem = MoObam(k=3).build(table(60))
    kept = tmp_path / "front.search"
    seen: list[int] = []
    stopped = pareto(problem, solver=Nsga2(evaluations=4000), resume=kept, on_progress=interrupted(12, seen))
    assert stopped.details["stop"] == "interrupted"
    on = pareto(problem, solver=Nsga2(evaluations=500), resume=kept)
    assert on.hypervolume() >= stopped.hypervolume() > 0
    third = pareto(problem, solver=Nsga2(evaluations=100), resume=kept)
    assert third.details["resumed"]["runs"] == 2  # type: ignore[index]
    assert third.hypervolume() >= on.hypervolume()


def test_a_file_keeps_the_duals_of_a_bound(tmp_path: Path) -> None:
    problem = Microaggregation(k=3).build(table(40))
    kept = tmp_path / "one.search"
    found = solve(problem, solver=Columns(), resume=kept)
    assert found.evidence is not None
    earlier = load(kept, problem, front=False)
    assert earlier is not None
    evidence = earlier.points[0].evidence
    assert isinstance(evidence, Evidence)
    assert (evidence.numbers == found.evidence.numbers).all()


def edited(kept: Path, change: Callable[[dict[str, object]], None]) -> None:
    """The file with something else in its record."""
    held = pq.read_table(kept)
    sealed = json.loads(held.schema.metadata[b"optmodels"])
    said = json.loads(sealed["said"])
    change(said)
    sealed["said"] = json.dumps(said)
    pq.write_table(held.replace_schema_metadata({b"optmodels": json.dumps(sealed).encode()}), kept)


def test_a_changed_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    problem = Microaggregation(k=3).build(table(30))
    kept = tmp_path / "one.search"
    solve(problem, solver=Mdav(), resume=kept)
    edited(kept, lambda said: said["points"][0].update(bound=1.0))  # type: ignore[index]
    with pytest.raises(InputError, match="was changed since"):
        solve(problem, solver=Mdav(), resume=kept)
    for text in (b"age,sex\n1,f\n", b""):
        kept.write_bytes(text)
        with pytest.raises(InputError, match="is no search that 'optmodels' kept"):
            solve(problem, solver=Mdav(), resume=kept)
        assert kept.read_bytes() == text


def test_an_answer_is_no_front(tmp_path: Path) -> None:
    problem = MoObam(k=3).build(table(30))
    solve(problem, solver=LocalSearch(iterations=1), resume=tmp_path / "one.search")
    with pytest.raises(InputError, match="keeps a search for one answer, and a front is asked for"):
        pareto(problem, solver=Nsga2(evaluations=100), resume=tmp_path / "one.search")


def test_a_file_holds_no_value_of_any_record(tmp_path: Path) -> None:
    data = table(30)
    kept = tmp_path / "one.search"
    solve(Microaggregation(k=3).build(data), solver=Mdav(), resume=kept)
    held = pq.read_table(kept)
    assert held.column_names == ["0"]
    text = held.schema.metadata[b"optmodels"].decode()
    assert not any(f'"{value}"' in text for value in ("flu", "cold", "gout"))


def test_a_disk_that_is_full_at_the_end_costs_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise InputError("Cannot write: No space left on device.")

    monkeypatch.setattr("optmodels.solver._solver.save", full)
    found = solve(Microaggregation(k=3).build(table(30)), solver=Mdav(), resume=tmp_path / "one.search")
    assert found.labels is not None
    assert "No space left" in str(found.details["not_kept"])
