"""Releases as files: read again by the verifier, mutated, and looked at for what they should not tell."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.trust.outcome import Outcome, kept
from optmodels.errors import InputError
from optmodels.solution import Solution
from optmodels.verifier import beside, load_promise, verify

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # files that need not outlive a moment


def released(solution: Solution) -> Iterator[Outcome]:
    """What is written keeps its promise, has the records' sensitive values, and does not pass when it is changed."""
    release = solution.release()
    table, labels = solution.problem.table, solution.labels
    assert labels is not None
    for name in table.sensitive:
        before = Counter(map(str, table.as_read(table.frame)[name][labels >= 0]))
        same = Counter(map(str, release.frame[name])) == before
        yield "sensitive values are released, each as often as it is", kept(same, name)
    with tempfile.TemporaryDirectory(prefix="trust-", dir=MEMORY) as folder:
        for ending in (".csv", ".parquet"):
            path = Path(folder) / f"release{ending}"
            (release.to_csv if ending == ".csv" else release.to_parquet)(path)
            promise = load_promise(beside(path))
            broken = verify(path, promise).broken
            yield "written releases keep their promise", kept(not broken, "; ".join(broken))
            if ending == ".csv":
                yield "mutation found: a cell written otherwise in a CSV", kept(_written_otherwise(path), "not found")
        for what, mutated in mutations(release.frame):
            mutated.to_parquet(path, index=False)
            yield f"mutation found: {what}", kept(bool(verify(path, promise).broken), "not found")


def _written_otherwise(path: Path) -> bool:
    """Whether a 0 before the first cell is noticed, which leaves a number what it is."""
    head, line, rest = path.read_text(encoding="utf-8").partition("\n")
    other = path.with_name("other.csv")
    other.write_text(f"{head}{line}0{rest}", encoding="utf-8")
    try:
        return bool(verify(other, load_promise(beside(path))).broken)
    except InputError:
        return True


def mutations(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    last = len(frame) - 1
    yield "a row dropped", frame.iloc[:last]
    yield "a row doubled", pd.concat([frame, frame.iloc[:1]], ignore_index=True)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name].dtype):
            changed = frame[name].astype(object).copy()
            changed.iloc[0] = f"{changed.iloc[0]}~"
            yield "a cell changed", frame.assign(**{str(name): changed.astype(str)})
            break
    for name in frame.columns:
        column = frame[name]
        if column.nunique() > 1:  # all of one value written as another: classes are joined
            other = column.dropna().iloc[-1]
            yield "classes joined", frame.assign(**{str(name): column.where(column != column.dropna().iloc[0], other)})
            break
