"""Folder to folder with what files of people have: several records each, dates, hierarchies said in a line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import optmodels as om
from formulations import Generalisation, Microaggregation
from optmodels.errors import InfeasibleError, InputError
from optmodels.folders.anonymize import FolderRelease, anonymize_folder
from optmodels.verifier import verify
from solvers.blocks import Blocks


def visits(seed: int, n: int = 240, people: int = 90) -> pd.DataFrame:
    """People with about three visits each, some with many more."""
    draw = np.random.default_rng(seed)
    whose = (people * draw.random(n) ** 2).astype(int)
    days = pd.Timestamp(2023, 1, 1) + pd.to_timedelta(draw.integers(0, 700, n), unit="D")
    return pd.DataFrame(
        {
            "patient": [f"P{one:04}" for one in whose],
            "age": 20 + whose % 60,
            "postcode": [f"{one * 37 % 100_000:05}" for one in whose],
            "seen": days.strftime("%d.%m.%Y"),
            "illness": draw.choice(list("abcd"), n),
        }
    )


ROLES = om.Roles(
    quasi={"age": "numeric", "postcode": "categorical", "seen": "date"},
    sensitive=("illness",),
    person="patient",
    scaling="alike",
    hierarchies={
        "postcode": {"kind": "prefix", "keep": [3, 2]},
        "seen": {"kind": "date", "levels": ["month", "quarter", "year"]},
    },
)


def write(folder: Path, frame: pd.DataFrame, files: int = 3) -> Path:
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_parquet(folder / f"{number}.parquet")
    return folder


def released(made: FolderRelease) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(file) for file in sorted(made.folder.glob("*.parquet"))], ignore_index=True)


def promise_of(made: FolderRelease) -> dict[str, object]:
    document: dict[str, object] = json.loads(made.folder.with_name("out.promise.json").read_text(encoding="ascii"))
    return document


@pytest.mark.parametrize("method", ["hierarchy", "interval", "centroid"])
def test_classes_are_of_k_people_and_nobody_is_named(tmp_path: Path, method: str) -> None:
    frame = visits(1)
    source = write(tmp_path / "in", frame)
    made = anonymize_folder(
        *(source, tmp_path / "out"),
        roles=ROLES,
        formulation=Microaggregation(k=4, distinct_l=2),
        solver=Blocks(backend="in-process", inner="mdav", compare=False),
        method=method,  # type: ignore[arg-type]
        group_rows=100,
        report=True,
    )
    found = released(made)
    assert list(found) == ["age", "postcode", "seen", "illness"]
    assert len(found) == len(frame)
    assert made.audit.people is not None
    assert (made.audit.people.people, made.audit.people.most_records) == (
        frame["patient"].nunique(),
        frame["patient"].value_counts().max(),
    )
    assert made.audit.k >= 4
    assert found.groupby(["age", "postcode", "seen"]).size().min() >= made.audit.k
    document = promise_of(made)
    assert document["person"] == "patient"
    assert not verify(made.folder, document).broken
    if method == "centroid":
        assert pd.to_datetime(found["seen"], format="%d.%m.%Y").notna().all()


def test_one_group_counts_as_the_table_in_memory_does(tmp_path: Path) -> None:
    frame = visits(2, n=80, people=30)
    model, solver = Generalisation(k=3), Blocks(backend="in-process", inner="mondrian", compare=False)
    made = anonymize_folder(
        *(write(tmp_path / "in", frame), tmp_path / "out"), roles=ROLES, formulation=model, solver=solver
    )
    problem = model.build(om.Table.with_roles(frame, ROLES))
    best = solver.solve(problem).release()
    assert made.audit.people is not None
    assert best.audit.people is not None
    assert (made.audit.k, made.audit.classes) == (best.audit.k, best.audit.classes)
    assert made.audit.marketer == pytest.approx(best.audit.marketer)
    mine, theirs = made.audit.people.sensitive["illness"], best.audit.people.sensitive["illness"]
    assert (mine.distinct_l, mine.entropy_l, mine.alpha) == (theirs.distinct_l, theirs.entropy_l, theirs.alpha)
    columns = ["age", "postcode", "seen", "illness"]
    here = released(made)[columns].astype(str).sort_values(columns, ignore_index=True)
    there = best.frame[columns].astype(str).sort_values(columns, ignore_index=True)
    pd.testing.assert_frame_equal(here, there)


def test_too_few_people_in_many_records(tmp_path: Path) -> None:
    frame = visits(3, n=60, people=4)
    with pytest.raises(InfeasibleError):
        anonymize_folder(
            *(write(tmp_path / "in", frame), tmp_path / "out"),
            roles=ROLES,
            formulation=Generalisation(k=5),
            solver=Blocks(backend="in-process", inner="mondrian"),
            group_rows=20,
        )
    assert not (tmp_path / "out").exists()


def test_days_that_one_piece_cannot_tell_from_months_another_does(tmp_path: Path) -> None:
    frame = pd.DataFrame({"seen": ["03/04/2021"] * 4 + ["03/25/2021"] * 4, "age": range(8)})
    roles = om.Roles(quasi={"seen": "date", "age": "numeric"}, scaling="alike")
    source = write(tmp_path / "in", frame, files=2)
    solver = Blocks(backend="in-process", inner="mondrian", compare=False)
    made = anonymize_folder(source, tmp_path / "out", roles=roles, formulation=Microaggregation(k=4), solver=solver)
    assert sorted(set(released(made)["seen"])) == ["03/04/2021", "03/25/2021"]
    alike = write(tmp_path / "alike", frame.iloc[:4], files=2)
    with pytest.raises(InputError, match="say which"):
        anonymize_folder(alike, tmp_path / "more", roles=roles, formulation=Microaggregation(k=4), solver=solver)


def test_what_is_left_out_is_part_of_the_promise(tmp_path: Path) -> None:
    frame = visits(4, n=200, people=150)
    frame.loc[:3, "age"] = [900, 950, 1_000, 1_050]
    roles = ROLES.revised(quasi={"age": "numeric"}, others="drop", dates={}, hierarchies={})
    made = anonymize_folder(
        *(write(tmp_path / "in", frame), tmp_path / "out"),
        roles=roles,
        formulation=Generalisation(k=5, suppress=0.05, suppression_price=0.0, t=0.6),
        solver=Blocks(backend="in-process", inner="mondrian", compare=False),
    )
    assert made.audit.suppressed > 0
    document = promise_of(made)
    assert document["suppressed"] == {"how": "drop", "records": made.audit.suppressed, "most": 0.05}
    verdict = verify(made.folder, document)
    assert not verdict.broken
    assert any("left out" in said for said in verdict.unchecked)  # t compares with a whole that is not in the release
