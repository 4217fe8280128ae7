"""What runs attain, and where two solvers differ; the same curves in IOHprofiler's format, read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from optmodels.cli import app
from optmodels.errors import InputError
from optmodels.plot.attainment import attainment_difference, attainment_surfaces
from optmodels.study import DatasetSpec, FormulationSpec, SolverSpec, Study, open_study, run
from optmodels.study.attainment import fronts_of
from optmodels.study.iohprofiler import export_iohprofiler
from optmodels.study.plots import plots


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("attainment") / "runs.db"
    study = Study(
        "fronts",
        [DatasetSpec("german", rows=40)],
        [FormulationSpec("mo-obam", {"k": 4})],
        [
            SolverSpec("nsga2", {"evaluations": 120, "population": 10}),
            SolverSpec("pymoo:nsga2", {"evaluations": 120, "population": 10}),
        ],
        seeds=3,
        answer="front",
        warm_up=False,
    )
    run(study, path, workers=1)
    return path


def attained(point: np.ndarray, fronts: list[np.ndarray]) -> float:
    """The share of fronts with a point at least as good, by definition; all to be small."""
    return float(np.mean([(front <= point).all(axis=1).any() for front in fronts]))


@pytest.mark.parametrize("senses", [("min", "min"), ("min", "max"), ("max", "max")])
def test_surfaces_are_the_edges_of_what_a_share_of_the_runs_attain(senses: tuple[str, str]) -> None:
    draw = np.random.default_rng(3)
    signs = np.array([1.0 if sense == "min" else -1.0 for sense in senses])
    fronts = [draw.random((5, 2)) for _ in range(4)]
    points, runs = signs * np.vstack(fronts), np.repeat(list("abcd"), 5)
    surfaces = attainment_surfaces(points, runs.tolist(), senses, [25, 50, 75, 100])
    assert set(surfaces["share"]) == {25.0, 50.0, 75.0, 100.0}
    for row in surfaces.itertuples():
        corner = signs * np.array([row.x, row.y])
        assert 100 * attained(corner, fronts) >= row.share
        assert 100 * attained(corner - 1e-9, fronts) < row.share  # a hair better, and fewer attain it


def test_the_difference_is_that_of_the_shares_also_where_solvers_have_other_numbers_of_runs() -> None:
    draw = np.random.default_rng(5)
    first, second = [draw.random((4, 2)) for _ in range(3)], [draw.random((4, 2)) for _ in range(2)]
    found = attainment_difference(
        np.vstack(first),
        np.repeat([0, 1, 2], 4).tolist(),
        np.vstack(second),
        np.repeat([0, 1], 4).tolist(),
        ["min"] * 2,
    )
    assert len(found) > 3
    for row in found.itertuples():
        middle = np.array([(row.x0 + row.x1) / 2, (row.y0 + row.y1) / 2])
        assert row.difference == pytest.approx(attained(middle, first) - attained(middle, second))


def test_a_study_has_attainment_plots_in_both_backends_whose_data_are_its_fronts(database: Path) -> None:
    results = open_study(database)
    fronts = next(fronts_of(results.runs(), results.points()))
    assert list(fronts.senses.values()) == ["min", "max"]
    surfaces = fronts.surfaces()
    assert set(surfaces["solver"]) == {"nsga2", "pymoo:nsga2"}
    drawn = plots(results, ["attainment"])
    assert drawn[0][0] == "attainment"
    assert drawn[1][0].startswith("attainment-nsga2-against-")
    lines = [trace for trace in drawn[0][2].data if trace.mode == "lines"]
    assert [trace.name for trace in lines if trace.showlegend] == ["nsga2", "pymoo:nsga2"]
    printed = plots(results, ["attainment"], backend="matplotlib")
    assert len(printed) == len(drawn)
    assert len(printed[0][2].axes[0].lines) == len(lines)
    assert printed[1][2].axes[0].patches


def curves_in(folder: Path) -> dict[tuple[str, int], pd.DataFrame]:
    """The curves of a folder of IOHprofiler's, by algorithm and number of the run: a run begins at evaluation 1."""
    found: dict[tuple[str, int], pd.DataFrame] = {}
    for path in sorted(folder.rglob("*.json")):
        record: dict[str, Any] = json.loads(path.read_text())
        for scenario in record["scenarios"]:
            lines = (path.parent / scenario["path"]).read_text().splitlines()
            runs: list[list[tuple[int, float]]] = []
            for line in lines:
                if line == "evaluations raw_y":
                    continue
                at, value = line.split()
                if at == "1":
                    runs.append([])
                runs[-1].append((int(at), float(value)))
            assert len(runs) == len(scenario["runs"])
            for number, (curve, said) in enumerate(zip(runs, scenario["runs"], strict=True)):
                assert said["best"]["y"] == curve[-1][1]
                assert said["evals"] == curve[-1][0]
                found[record["algorithm"]["name"], number] = pd.DataFrame(curve, columns=["at", "value"])
    return found


def test_what_iohprofiler_is_given_says_what_the_study_found(database: Path, tmp_path: Path) -> None:
    results = open_study(database)
    assert export_iohprofiler(results, tmp_path / "ioh") == 6
    curves = curves_in(tmp_path / "ioh")
    runs = results.runs()
    assert len(curves) == len(runs)
    for solver, group in runs.groupby("solver"):
        for number, row in enumerate(group.itertuples()):
            curve = curves[str(solver), number]
            assert curve["value"].iat[-1] == row.value  # hypervolumes
            assert curve["value"].is_monotonic_increasing
            assert curve["at"].is_monotonic_increasing
            assert abs(curve["at"].iat[-1] - row.evaluations) <= 1
    with pytest.raises(InputError, match="exists already"):
        export_iohprofiler(results, tmp_path / "ioh")


def test_milliseconds_where_solvers_count_nothing(tmp_path: Path) -> None:
    study = Study(
        "single",
        [DatasetSpec("german", rows=30)],
        [FormulationSpec("microaggregation", {"k": 3})],
        [SolverSpec("mdav"), SolverSpec("mondrian")],
        warm_up=False,
    )
    run(study, tmp_path / "runs.db", workers=1)
    results = open_study(tmp_path / "runs.db")
    with pytest.raises(InputError, match=r"'mdav', 'mondrian' count no evaluations: use milliseconds"):
        export_iohprofiler(results, tmp_path / "no", "evaluations")
    assert not (tmp_path / "no").exists()
    told = CliRunner().invoke(
        app, ["study", "export", str(tmp_path / "runs.db"), "--format", "iohprofiler", "--out", str(tmp_path / "ioh")]
    )
    assert told.exit_code == 0, told.output
    values = {name: curve["value"].iat[-1] for (name, _), curve in curves_in(tmp_path / "ioh").items()}
    assert values == dict(zip(results.runs()["solver"], results.runs()["value"], strict=True))
    assert json.loads(next((tmp_path / "ioh").rglob("*.json")).read_text())["maximization"] is False
