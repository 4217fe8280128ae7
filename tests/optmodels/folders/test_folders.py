"""A Parquet folder in, a Parquet folder out: nothing is lost, conditions hold, the audit is that of the whole."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formulations import Aminifar, LiangSamavi, Mass, Microaggregation, MoObam
from optmodels import Table
from optmodels.audit import audit
from optmodels.conditions import Conditions
from optmodels.errors import InfeasibleError, InputError, RefusedError
from optmodels.folders.anonymize import anonymize_folder
from optmodels.folders.placing import put_in_place
from optmodels.release import release
from optmodels.solver import Progress
from optmodels.structures import PartValues
from optmodels.table.roles import Roles
from optmodels.verifier import verify
from solvers.blocks import Blocks
from solvers.mass import Mass as MassSolver

ROLES = Roles(
    quasi={"age": "numeric", "town": "categorical", "grade": "ordinal"},
    sensitive=("illness",),
    identifiers=("name",),
    orders={"grade": ("low", "mid", "high")},
    others="keep",
    scaling="standard",
)
QUICK: dict[str, Any] = {"inner_options": {"iterations": 50}, "block_size": 40, "workers": 1}


def people(n: int = 600, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": draw.integers(18, 90, n),
            "town": draw.choice(list("abcdefg"), n),
            "grade": draw.choice(["low", "mid", "high"], n),
            "illness": draw.choice(["flu", "cold", "gout"], n),
            "visits": draw.integers(0, 9, n),
        }
    )


def write(folder: Path, frame: pd.DataFrame, files: int = 4) -> Path:
    folder.mkdir()
    for i, some in enumerate(np.array_split(np.arange(len(frame)), files)):
        pq.write_table(pa.Table.from_pandas(frame.iloc[some], preserve_index=False), folder / f"f{i}.parquet")
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path / "in", people())


def released(folder: Path) -> pd.DataFrame:
    frame: pd.DataFrame = pq.read_table(folder).to_pandas()
    return frame


@pytest.mark.parametrize(
    ("model", "method"),
    [
        (Microaggregation(k=5), None),
        (Microaggregation(k=4, distinct_l=2, t=0.4), "interval"),
        (Microaggregation(k=4, recursive=(3, 2), most_share={"illness": 0.7}), "interval"),
        (LiangSamavi(k=4), None),
        (LiangSamavi(k=4, beta=0.9, delta=1.5, t=0.3, t_distance="variational"), None),
        (MoObam(k=3, least_entropy=(0.8,)), "centroid"),
        (Mass(k=4), None),
    ],
)
@pytest.mark.parametrize("cut", ["kd", "strata"])
def test_from_folder_to_folder(source: Path, tmp_path: Path, model: Any, method: Any, cut: Any) -> None:
    out = tmp_path / "out"
    solver = Blocks(cut=cut, **(QUICK if model.name != "mass" else {**QUICK, "inner_options": None}))
    found = anonymize_folder(source, out, roles=ROLES, formulation=model, solver=solver, method=method, group_rows=150)
    frame = released(out)
    assert len(frame) == 600
    assert list(frame.columns) == ["age", "town", "grade", "illness", "visits"]
    for name in ("illness", "visits"):
        assert frame[name].value_counts().to_dict() == people()[name].value_counts().to_dict()
    whole = audit(frame, quasi=list(ROLES.quasi), sensitive="illness")
    assert whole.check(model.conditions(model.k)) == []
    ours, theirs = found.audit.to_dict(), whole.to_dict()
    for key in ("records", "classes", "k", "linkage", "homogeneity", "discernibility"):
        assert ours[key] == theirs[key], key
    for level, value in theirs["sensitive"]["illness"].items():
        assert ours["sensitive"]["illness"][level] == pytest.approx(value), level
    record = json.loads((out / "_audit.json").read_text())
    assert record["audit"]["k"] == whole.k
    estimate = record["details"]["one_block"]
    least, most = estimate["excess_of_pairs"]
    assert least <= estimate["excess"] <= most
    assert estimate["pairs"] >= estimate["pairs_across_groups"] > 0
    assert estimate["how"] in record["remark"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "out.promise.json"], (
        "nothing is left beside them"
    )


def test_one_group_is_what_the_table_in_memory_gives(source: Path, tmp_path: Path) -> None:
    """The loss, the range and the parts of the audit that are computed from sums are those of the whole table."""
    model = Microaggregation(k=5)
    out = tmp_path / "out"
    found = anonymize_folder(source, out, roles=ROLES, formulation=model, solver=Blocks(inner="mondrian"))
    table = Table.with_roles(people(), ROLES)
    problem = model.build(table)
    solution = Blocks(inner="mondrian", compare=False).solve(problem)
    assert solution.labels is not None
    assert found.values["loss"] == pytest.approx(solution.values["loss"])
    kept = release(table, solution.labels, promise=Conditions(k=5))
    assert found.audit.loss["gcp"] == pytest.approx(kept.audit.loss["gcp"])
    assert found.audit.classes == kept.audit.classes


@pytest.mark.parametrize("inner", [None, "mass"])
def test_one_group_of_mass_is_what_the_table_in_memory_gives(source: Path, tmp_path: Path, inner: str | None) -> None:
    model = Mass(k=4, classifiers=(), bins=3)
    roles = ROLES.revised(sensitive=("illness", "visits"))
    found = anonymize_folder(source, tmp_path / "out", roles=roles, formulation=model, solver=Blocks(inner=inner))
    solution = MassSolver().solve(model.build(Table.with_roles(people(), roles)))
    assert found.values == pytest.approx(solution.values)
    assert found.provenance["inner"] == "mass"


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_values_of_mass_are_those_of_its_groups_pooled(seed: int, groups: int) -> None:
    draw = np.random.default_rng(seed)
    table = Table.with_roles(people(60, seed), ROLES.revised(sensitive=("illness", "visits")))
    model = Mass(classifiers=(), bins=3)
    group = draw.permutation(np.arange(60) % groups)
    labels = 100 * group + draw.integers(0, 3, 60)
    parts = []
    for one in range(groups):
        rows = np.flatnonzero(group == one)
        problem = model.build(table.part(rows))
        own = problem.check(labels[rows])
        parts.append(PartValues(problem.values(own), len(rows), int(own.max()) + 1))
    assert model.pooled(parts) == pytest.approx(model.build(table).evaluate(labels).values)


def test_mass_without_time_is_made_of_median_cuts(source: Path, tmp_path: Path) -> None:
    found = anonymize_folder(
        source, tmp_path / "out", roles=ROLES, formulation=Mass(k=4), time_limit=1e-6, group_rows=150
    )
    assert found.audit.k >= 4
    assert found.provenance["stop"] == "time"


def test_an_estimate_of_seams_is_what_merging_blocks_saves(tmp_path: Path) -> None:
    """Four people of every age: no block loses anything, within a group or across two, and the estimate says so."""
    frame = people(240).assign(age=np.tile(np.arange(60), 4), town="a", grade="low")
    source = write(tmp_path / "in", frame)
    chosen: dict[str, Any] = {"roles": ROLES, "formulation": Microaggregation(k=2), "group_rows": 80}
    found = anonymize_folder(source, tmp_path / "out", solver=Blocks(**QUICK), **chosen)
    details: Any = found.provenance["details"]
    assert found.values["loss"] == pytest.approx(0)
    assert details["one_block"]["excess"] == 0
    assert "would save nothing" in details["one_block"]["how"]
    plain = anonymize_folder(source, tmp_path / "plain", solver=Blocks(compare=False, **QUICK), **chosen)
    assert plain.provenance["details"]["one_block"] == "not estimated: compare=False"  # type: ignore[index]
    one = anonymize_folder(source, tmp_path / "one", roles=ROLES, formulation=Microaggregation(k=2))
    assert "all records are one block" in str(one.provenance["remark"])


def test_workers_do_not_matter(source: Path, tmp_path: Path) -> None:
    for workers in (1, 3):
        anonymize_folder(
            source,
            tmp_path / f"out{workers}",
            roles=ROLES,
            formulation=Microaggregation(k=5),
            solver=Blocks(**{**QUICK, "workers": workers}),
            group_rows=100,
        )
    pd.testing.assert_frame_equal(released(tmp_path / "out1"), released(tmp_path / "out3"))


def test_equal_records_do_not_fill_one_group(tmp_path: Path) -> None:
    frame = people(400).assign(age=30, town="a", grade="low")
    found = anonymize_folder(
        write(tmp_path / "in", frame), tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=5), group_rows=50
    )
    assert found.provenance["details"]["groups"] == 8  # type: ignore[index]
    assert found.audit.classes == 1


def test_groups_that_cannot_keep_the_conditions_are_merged(tmp_path: Path) -> None:
    frame = people(400).sort_values("age").assign(illness=["flu"] * 200 + ["cold"] * 200)
    source = write(tmp_path / "in", frame)
    model = Microaggregation(k=5, distinct_l=2)
    roles = ROLES.revised(quasi={"age": "numeric"}, orders={})
    with pytest.raises(InputError, match="use cut='strata'"):
        anonymize_folder(source, tmp_path / "out", roles=roles, formulation=model, group_rows=10)
    assert not (tmp_path / "out").exists()
    mirrored = anonymize_folder(
        source, tmp_path / "out", roles=roles, formulation=model, group_rows=40, solver=Blocks(cut="strata", **QUICK)
    )
    assert mirrored.audit.sensitive["illness"].distinct_l >= 2
    with pytest.raises(InfeasibleError):
        anonymize_folder(source, tmp_path / "no", roles=roles, formulation=Microaggregation(k=5, distinct_l=3))


def test_ctrl_c_and_time_cut_the_rest_at_medians(source: Path, tmp_path: Path) -> None:
    presses: list[float] = []

    def press(state: Progress) -> None:
        if state.note == "solving groups" and state.done >= 1 and not presses:  # a second one would act at once
            presses.append(state.seconds)
            os.kill(os.getpid(), signal.SIGINT)

    chosen: dict[str, Any] = {
        "roles": ROLES,
        "formulation": Microaggregation(k=5),
        "solver": Blocks(**QUICK),
        "group_rows": 50,
    }
    pressed = anonymize_folder(source, tmp_path / "pressed", on_progress=press, **chosen)
    hurried = anonymize_folder(source, tmp_path / "hurried", time_limit=1e-3, **chosen)
    assert pressed.provenance["stop"] == "interrupted"
    assert hurried.provenance["stop"] == "time"
    for found in (pressed, hurried):
        assert found.audit.k >= 5
        assert found.provenance["details"]["blocks_by_median_cuts"] > 0  # type: ignore[index]


@pytest.mark.parametrize(("backend", "times"), [("in-process", 1), ("in-process", 2), ("processes", 1)])
def test_ctrl_c_reaches_groups_under_way(source: Path, tmp_path: Path, backend: Any, times: int) -> None:
    """Without it the test would not come to its end: the inner solver has work for hours."""
    presses: list[float] = []

    def press(state: Progress) -> None:
        if state.note == "solving groups" and len(presses) < times:
            presses.append(state.seconds)
            os.kill(os.getpid(), signal.SIGINT)

    chosen: dict[str, Any] = {
        "roles": ROLES,
        "formulation": Microaggregation(k=5),
        "solver": Blocks(inner_options={"iterations": 10**9}, backend=backend, workers=1),
        "group_rows": 200,
        "on_progress": press,
    }
    if times == 1:
        found = anonymize_folder(source, tmp_path / "out", **chosen)
        assert found.provenance["stop"] == "interrupted"
        assert found.audit.k >= 5
        assert len(released(tmp_path / "out")) == 600
    else:
        with pytest.raises(KeyboardInterrupt):
            anonymize_folder(source, tmp_path / "out", **chosen)
    left = ["in", "out", "out.promise.json"] if times == 1 else ["in"]
    assert sorted(path.name for path in tmp_path.iterdir()) == left, "nothing unfinished is left beside them"


def test_missing_cells_and_bins(tmp_path: Path) -> None:
    frame = people(300)
    frame["visits"] = frame["visits"].astype("Int64").mask(frame["age"] == 40)
    frame["age"] = frame["age"].astype("float64").mask(frame.index % 50 == 0)
    source = write(tmp_path / "in", frame)
    roles = ROLES.revised(missing="drop", sensitive=("illness", "visits"), bins={"visits": [0, 3, 6, 9]})
    found = anonymize_folder(source, tmp_path / "out", roles=roles, formulation=Microaggregation(k=4), group_rows=100)
    dropped = frame["age"].isna() | frame["visits"].isna()
    assert found.audit.records == int((~dropped).sum())
    assert set(released(tmp_path / "out")["visits"]) == {"[0, 3)", "[3, 6)", "[6, 9]"}
    for wrong, message in (
        ({"missing": "impute"}, "fill the gaps beforehand"),
        ({"bins": {"visits": 3}}, "give the edges of the bins"),
        ({"missing": "error"}, r"In '.*': There are missing values"),
    ):
        with pytest.raises(InputError, match=message):
            anonymize_folder(source, tmp_path / "no", roles=roles.revised(**wrong), formulation=Microaggregation(k=4))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "out.promise.json"]


def test_a_release_is_replaced_by_force_and_nothing_else_is(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    first = anonymize_folder(source, out, roles=ROLES, formulation=Microaggregation(k=5))
    with pytest.raises(InputError, match="--force"):
        anonymize_folder(source, out, roles=ROLES, formulation=Microaggregation(k=6))
    stood = {path: path.read_bytes() for path in tmp_path.rglob("out*") if path.is_file()}

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("optmodels.folders.placing.promise_writer", full)
        with pytest.raises(OSError, match="No space"):
            anonymize_folder(source, out, roles=ROLES, formulation=Microaggregation(k=6), force=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("out*") if path.is_file()} == stood
    second = anonymize_folder(source, out, roles=ROLES, formulation=Microaggregation(k=6), force=True)
    assert (first.audit.k, second.audit.k) == (5, 6)
    assert verify(out, json.loads((tmp_path / "out.promise.json").read_text())).broken == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "out.promise.json"]
    (tmp_path / "mine").mkdir()
    for mine in (tmp_path / "mine", source):
        with pytest.raises(InputError, match="not the folder of a release"):
            anonymize_folder(source, mine, roles=ROLES, formulation=Microaggregation(k=5), force=True)
    with pytest.raises(InputError, match="is what is read"):
        anonymize_folder(out, out, roles=ROLES, formulation=Microaggregation(k=5), force=True)


@pytest.mark.parametrize("failing", [0, 1, 2, 3])
def test_a_release_and_its_promise_move_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    for name, word in (("out", "old"), ("scratch/draft", "new")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "part").write_text(word)
    (tmp_path / "out.promise.json").write_text("old")
    moves = iter(range(9))
    move = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if next(moves) == failing:
            raise KeyboardInterrupt
        return move(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        put_in_place(tmp_path / "scratch/draft", tmp_path / "out", {})
    assert (tmp_path / "out" / "part").read_text() == (tmp_path / "out.promise.json").read_text() == "old"


def test_wrong_folders(source: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    chosen: dict[str, Any] = {"roles": ROLES, "formulation": Microaggregation(k=5)}
    with pytest.raises(InputError, match="exists already"):
        anonymize_folder(source, tmp_path / "empty", **chosen)
    with pytest.raises(InputError, match="no Parquet files"):
        anonymize_folder(tmp_path / "empty", tmp_path / "out", **chosen)
    with pytest.raises(InputError, match="is not a folder"):
        anonymize_folder(source / "f0.parquet", tmp_path / "out", **chosen)
    with pytest.raises(InputError, match="k=700 is more than the table's 600 records"):
        anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=700))
    with pytest.raises(RefusedError, match="ties all classes together"):
        anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=Aminifar(n_clusters=3))
    with pytest.raises(RefusedError, match="ties all classes together"):
        anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=MoObam(k=2, n_clusters=3))
    (source / "f9.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match="Cannot read"):
        anonymize_folder(source, tmp_path / "out", **chosen)


def written(folder: Path, *files: dict[str, Any]) -> Path:
    """A folder of files of people, each with columns of its own instead of theirs."""
    folder.mkdir()
    for i, columns in enumerate(files):
        table = pa.Table.from_pandas(people(40, seed=i), preserve_index=False)
        for name, values in columns.items():
            table = table.set_column(table.schema.get_field_index(name), name, values)
        pq.write_table(table, folder / f"f{i}.parquet")
    return folder


def test_files_may_differ_in_how_wide_their_numbers_are(tmp_path: Path) -> None:
    source = written(tmp_path / "in", {"visits": pa.array([3] * 40)}, {"visits": pa.array([1.5] * 40)})
    anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=5))
    assert sorted(pq.read_table(tmp_path / "out")["visits"].to_pylist()) == [1.5] * 40 + [3.0] * 40


def test_files_whose_columns_have_nothing_in_common(tmp_path: Path) -> None:
    source = written(tmp_path / "in", {"illness": pa.array([3] * 40)}, {})
    with pytest.raises(InputError, match=r"Column 'illness' has the type int64 in .*f0.* and .*string in .*f1"):
        anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=5))
    large = written(tmp_path / "large", {"visits": pa.array([2**53 + 1] * 40)}, {"visits": pa.array([1.5] * 40)})
    with pytest.raises(InputError, match="Column 'visits' has the type int64 here"):
        anonymize_folder(large, tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=5))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "large"]


def test_large_whole_numbers_beside_gaps_keep_their_digits(tmp_path: Path) -> None:
    values = [2**53 + 1] * 38 + [None] * 2
    source = written(tmp_path / "in", {"visits": pa.array(values)}, {"visits": pa.array(values)})
    anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=5))
    found = pq.read_table(tmp_path / "out")["visits"].to_pylist()
    assert sorted(found, key=str) == sorted(values * 2, key=str)


def test_numbers_as_text_are_numbers_where_numbers_are_wanted(tmp_path: Path) -> None:
    ages = [str(age) for age in people(40, seed=1)["age"]]
    source = written(tmp_path / "in", {}, {"age": pa.array(ages)})
    found = anonymize_folder(source, tmp_path / "out", roles=ROLES, formulation=Microaggregation(k=5))
    assert found.audit.records == 80


@pytest.mark.parametrize("method", ["centroid", "interval"])
def test_what_is_lost_of_each_attribute_is_that_of_the_whole(tmp_path, method):
    """Groups know what one class of everybody would lose, so their losses add up: checked on the released values."""
    source = people(300)
    folder = write(tmp_path / "in", source)
    made = anonymize_folder(
        folder,
        tmp_path / "out",
        roles=ROLES,
        formulation=Microaggregation(k=300),
        method=method,
        solver=Blocks(**QUICK),
    )
    lost = made.audit.attribute_loss
    assert set(lost) == set(ROLES.quasi)
    assert all(share == pytest.approx(1.0, abs=0.01) for share in lost.values())
    assert made.audit.all_but_lost == tuple(ROLES.quasi)
