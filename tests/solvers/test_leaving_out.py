"""Records left out by local search itself, by blocks and from folder to folder, against brute force on few records."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optmodels as om
from formulations import Aminifar, Generalisation, LiangSamavi, MajeedHwang, Microaggregation
from optmodels.audit import audit
from optmodels.errors import RefusedError
from optmodels.folders.anonymize import anonymize_folder
from optmodels.solution import Status
from optmodels.structures import Priced
from optmodels.suppression import left_out
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.roles import Roles
from optmodels.testing import brute_force, small_table
from optmodels.testing.answers import check_against, check_solution
from solvers import Blocks, LocalSearch, Milp, pareto, solve
from solvers.evolution.algorithms import Spea2
from solvers.local_search.leaving_out import who_pays, worth

TOWNS = [["a1", "a"], ["a2", "a"], ["b1", "b"], ["b2", "b"], ["b3", "b"]]
BANDS = [[str(age), f"{age // 10}x", f"{age // 30}y"] for age in range(20, 90)]


def tree(lines: list[list[str]]) -> Hierarchy:
    return Hierarchy([line[0] for line in lines], [list(level) for level in list(zip(*lines, strict=True))[1:]])


def people(n: int, seed: int) -> pd.DataFrame:
    """Most are alike, some are far from all others."""
    draw = np.random.default_rng(seed)
    odd = draw.random(n) < 0.15
    return pd.DataFrame(
        {
            "age": np.where(odd, draw.integers(20, 90, n), draw.integers(30, 36, n)).astype(str),
            "town": np.where(odd, draw.choice(["b1", "b2", "b3"], n), draw.choice(["a1", "a2"], n)),
            "illness": draw.choice(["flu", "cold", "gout"], n),
        }
    )


def table(n: int, seed: int) -> om.Table:
    roles: dict[str, Any] = {"quasi": {"age": "categorical", "town": "categorical"}, "sensitive": "illness"}
    return om.Table(people(n, seed), hierarchies={"age": tree(BANDS), "town": tree(TOWNS)}, **roles)


def least(problem: Any) -> float:
    found = brute_force(problem)
    assert found is not None
    return found[1].values["loss"]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.17, 0.34]), st.sampled_from([None, 0.0, 0.02]))
def test_leaving_out_is_a_move_of_the_search_through_hierarchies(seed: int, share: float, price: float | None) -> None:
    problem = Generalisation(k=2, suppress=share, suppression_price=price).build(table(6, seed))
    found = LocalSearch(iterations=400).solve(problem, seed=seed)
    assert problem.evaluate(found.require()).feasible
    assert found.value == pytest.approx(least(problem))


@settings(max_examples=10, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([Microaggregation, LiangSamavi, Generalisation]),
    st.sampled_from([{"k": 2}, {"k": 2, "distinct_l": 2}, {"k": 3, "most_share": 0.5}]),
    st.sampled_from([None, 0.0, 0.05]),
)
def test_elsewhere_it_is_done_in_turns(seed: int, model: Any, asked: dict[str, Any], price: float | None) -> None:
    problem = model(**asked, suppress=0.34, suppression_price=price).build(table(6, seed))
    found = LocalSearch(iterations=90).solve(problem, seed=seed)
    best = brute_force(problem)
    if best is None:
        assert found.labels is None
    elif found.labels is not None:
        assert problem.evaluate(found.labels).feasible
        assert found.value is not None
        assert found.value >= best[1].values["loss"] - 1e-9


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([Microaggregation, LiangSamavi]), st.sampled_from([0.0, 0.02, 0.2]))
def test_who_pays_never_makes_a_partition_dearer(seed: int, model: Any, price: float) -> None:
    problem = model(k=2, suppress=0.2, suppression_price=price).build(table(12, seed))
    draw = np.random.default_rng(seed)
    labels = problem.check(np.repeat(np.arange(4), 3)[draw.permutation(12)])
    priced = problem.require(Priced)
    found = who_pays(priced, labels, seed)
    assert worth(priced, found) <= worth(priced, labels) + 1e-9
    assert problem.evaluate(found).feasible
    assert problem.evaluate(found).values["loss"] == pytest.approx(worth(priced, found) / priced.scale)


@pytest.mark.parametrize("model", [Generalisation, LiangSamavi])
def test_blocks_leave_out_their_shares(model: Any) -> None:
    problem = model(k=3, suppress=0.05, suppression_price=0.0).build(table(200, 3))
    found = Blocks(block_size=50, inner_options={"iterations": 100}).solve(problem, seed=1)
    labels = found.require()
    assert problem.evaluate(labels).feasible
    assert 0 < left_out(labels) <= 10
    everyone = model(k=3).build(table(200, 3))
    assert found.value is not None
    assert found.value < Blocks(block_size=50, inner_options={"iterations": 100}).solve(everyone, seed=1).value


ROLES = Roles(
    quasi={"age": "categorical", "town": "categorical"},
    sensitive=("illness",),
    hierarchies={"age": tree(BANDS), "town": tree(TOWNS)},
)


def ncp(frame: pd.DataFrame, suppressed: int, each: float = 1.0) -> float:
    """From the released words and the lines of the hierarchies alone; a cell of a record left out counts `each`."""
    total = 2 * suppressed * each
    for name, lines in (("age", BANDS), ("town", TOWNS)):
        below = {"*": len(lines)}
        for level in range(len(lines[0])):
            for line in lines:
                below.setdefault(line[level], sum(other[level] == line[level] for other in lines))
        total += sum((below[word] - 1) / (len(lines) - 1) for word in frame[name])
    return total / (2 * (len(frame) + suppressed))


@pytest.mark.parametrize("share", [0.0, 0.05])
def test_from_folder_to_folder_and_the_loss_is_that_of_the_written_files(tmp_path: Path, share: float) -> None:
    (tmp_path / "in").mkdir()
    for i in range(3):
        people(120, i).to_parquet(tmp_path / "in" / f"{i}.parquet")
    found = anonymize_folder(
        tmp_path / "in",
        tmp_path / "out",
        roles=ROLES,
        formulation=Generalisation(
            k=4, distinct_l=2, t=0.5, suppress=share, suppression_price=0.1 / 360 if share else None
        ),
        solver=Blocks(block_size=60, inner_options={"iterations": 50}, workers=1),
        group_rows=120,
    )
    frame = pd.read_parquet(tmp_path / "out")
    missing = 360 - len(frame)
    assert found.audit.suppressed == missing <= share * 360
    assert (missing > 0) == (share > 0)
    again = audit(frame, quasi=["age", "town"], sensitive="illness")
    assert again.k >= 4
    assert again.sensitive["illness"].distinct_l >= 2
    assert found.values["loss"] == pytest.approx(ncp(frame, missing, each=0.1))


def test_in_memory_the_loss_is_that_of_the_released_frame() -> None:
    problem = Generalisation(k=4, suppress=0.05).build(table(150, 1))
    found = LocalSearch(iterations=300).solve(problem)
    release = found.release()
    assert found.value == pytest.approx(ncp(release.frame, release.audit.suppressed))


def test_a_folder_of_a_model_that_prices_leaving_out_by_its_records_is_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    people(60, 0).to_parquet(tmp_path / "in" / "0.parquet")
    with pytest.raises(RefusedError, match="by way of memory"):
        anonymize_folder(
            tmp_path / "in", tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=3, suppress=0.1)
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("price", [None, 0.0, 0.03])
@pytest.mark.parametrize(
    "model",
    [
        Generalisation(k=2, suppress=0.34),
        Generalisation(k=2, suppress=0.34, distinct_l=2),
        Generalisation(k=2, suppress=0.34, scheme="full-domain"),
        MajeedHwang(k=2, suppress=0.34, levels="least", weights={"age": 2.0, "town": 1.0}),
    ],
    ids=["local", "with l", "full domain", "majeed-hwang"],
)
def test_pyomo_views_of_hierarchies_decide_who_is_left_out(model: Any, price: float | None) -> None:
    problem = replace(model, suppression_price=price).build(table(6, 4))
    assert problem.pyomo_leaves_out()
    found = Milp().solve(problem)
    check_solution(found)
    best = brute_force(problem)
    assert best is not None
    check_against(found, best[1].values[problem.target.name])
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize(
    "model",
    [
        Generalisation(k=2, suppress=0.4, suppression_price=0.0, scheme="full-domain"),
        Aminifar(n_clusters=3, alpha=2, suppress=0.4, suppression_price=0.0),
    ],
    ids=["levels", "centres"],
)
def test_a_front_of_how_many_are_left_out_has_single_answers(model: Any) -> None:
    records = small_table(10)
    problem = model.build(records)
    target = problem.target.name
    front = pareto(problem.with_objectives(target, "suppressed"), time_limit=20, seed=1)
    found = {int(point.values["suppressed"]): point.values[target] for point in front}
    assert len(found) > 1
    for most, value in found.items():
        alone = solve(problem.allowing(most), time_limit=20, seed=1)
        assert value == pytest.approx(alone.value, rel=1e-6)
    assert sorted(found.values(), reverse=True) == [found[most] for most in sorted(found)]


@pytest.mark.parametrize("solver", ["mdav", "nsga2", "liang-greedy"])
def test_leaving_one_out_of_as_many_as_k_is_no_search_among_too_few(solver: str) -> None:
    found = solve(Microaggregation(k=3, suppress=0.34).build(small_table(3, seed=1)), solver=solver, time_limit=2)
    assert found.require().tolist() == [0, 0, 0]


def test_nobody_searches_for_places_for_everybody_where_there_are_none() -> None:
    frame = pd.DataFrame({"x": [0.68, 0.9, 0.08, -0.86, 0.59], "s": ["rare", "flu", "cold", "flu", "cold"]})
    table = om.Table(frame, quasi={"x": "numeric"}, sensitive="s")
    problem = Aminifar(k=2, delta=1.2, suppress=0.34).build(table)
    assert problem.impossible() is None
    assert problem.allowing(0).impossible() is not None
    solver = Spea2(evaluations=60, population=10)
    answer = solver.solve(problem, seed=0)
    assert answer.labels is None or problem.evaluate(answer.labels).feasible
    assert len(solver.pareto(problem.with_objectives("distance", "entropy"), seed=0)) == 0
