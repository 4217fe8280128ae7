"""Documents that are sound as files and sealed as they should be, with something in them that makes no sense.

Bytes that are damaged rarely get past the first look at a file. Here one or two entries of a promise, a certificate, a
front's record, roles or a study are left out or are something else, and whoever can write the file can seal it.
"""

from __future__ import annotations

import copy
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from benchmarks.trust.outcome import KEPT, Outcome
from benchmarks.trust.releases import MEMORY
from optmodels.cli import app
from optmodels.errors import OptmodelsError
from optmodels.study import study_from_toml
from optmodels.table.roles import Roles, role_entries
from optmodels.verifier import load_certificate, load_promise, sealed, verify, verify_certificate

Document = dict[str, Any]
_NONSENSE: list[Any] = [
    *(None, True, 0, -1, 2, 10**18, 10**30, 10**400, 1e308, -1e308, 1e-320, 0.5, "", "a", "1", "nan", "age", "\ud800"),
    *("../../etc/passwd", [], {}, [1], ["a"], {"a": 1}, [[1]], [None], {"s": {}}),
]
_ROLES: Document = {
    "quasi": {"age": "numeric", "c": "categorical"},
    "sensitive": "s",
    "missing": "category",
    "scaling": "alike",
    "weights": {"age": 2.0},
    "separator": ",",
    "encoding": "utf-8",
    "gamma": 1.0,
    "orders": {"s": ["u", "v"]},
    "target": "s",
}
_STUDY: Document = {
    "seeds": 2,
    "dataset": [{"name": "german", "rows": 10, "roles": {"scaling": "alike"}}],
    "formulation": [{"name": "microaggregation", "parameters": {"k": 2, "recursive": [3, 2], "t": 0.5}}],
    "solver": [{"name": "mdav"}, {"name": "local_search", "options": {"iterations": 10}}],
    "limits": {"time": 1.0, "memory": "1 GB"},
}


def places(document: Any, within: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something can be put."""
    inside = document.items() if isinstance(document, dict) else enumerate(document[:5])
    for key, value in inside:
        yield (*within, key)
        if isinstance(value, dict | list):
            yield from places(value, (*within, key))


def changed(draw: np.random.Generator, document: Document) -> Document:
    """The document with one or two entries left out, or something else."""
    made: Document = copy.deepcopy(document)
    for _ in range(int(draw.integers(1, 3))):
        every = list(places(made))
        *way, last = every[int(draw.integers(0, len(every)))]
        inner: Any = made
        for step in way:
            inner = inner[step]
        if draw.integers(0, 4):
            inner[last] = copy.deepcopy(_NONSENSE[int(draw.integers(0, len(_NONSENSE)))])
        else:
            del inner[last]
    return made


def nonsense(rounds: int, first: int = 0) -> Iterator[Outcome]:
    """So many of every kind: refused in words, or taken for what it says."""
    draw = np.random.default_rng([12, first])
    with tempfile.TemporaryDirectory(prefix="trust-nonsense-", dir=MEMORY) as folder:
        for name, (document, use) in _uses(Path(folder)).items():
            for _ in range(rounds):
                made, said = changed(draw, document), KEPT
                try:
                    use(made)
                except OptmodelsError:
                    pass
                except Exception as error:
                    said = f"{type(error).__name__}: {error} ({made!r})"[:2000]
                yield f"nonsense in {name}", said


def _uses(place: Path) -> dict[str, tuple[Document, Callable[[Document], object]]]:
    """Documents as they should be, and who reads them."""
    frame = pd.DataFrame({"age": range(12), "c": list("abcabcabcabc"), "s": ["u", "v"] * 6})
    data, release, front, bad = (place / name for name in ("data.csv", "release.csv", "front", "bad"))
    frame.to_csv(data, index=False)
    columns = ["--numeric", "age", "--categorical", "c", "--sensitive", "s", "--k", "2"]
    proof = ["--solver", "columns", "--certificate", str(place / "proof.json")]
    _run(["anonymize", str(data), *columns, "--distinct-l", "2", *proof, "--out", str(release)])
    _run(["pareto", str(data), *columns, "--formulation", "mo-obam", "--time-limit", "1", "--out", str(front)])

    def written(document: Document, form: str) -> Path:
        (place / "said.json").write_text(json.dumps(sealed(document, form)))
        return place / "said.json"

    def of_front(part: str) -> Callable[[Document], None]:
        def use(document: Document) -> None:
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(front, bad)
            (bad / part).write_text(json.dumps(document))
            _run(["release", str(bad), "--point", "knee", "--out", str(place / "new.csv"), "--force"])

        return use

    promise, certificate = load_promise(place / "release.promise.json"), load_certificate(place / "proof.json")
    return {
        "a sealed promise": (
            promise,
            lambda said: verify(release, load_promise(written(said, promise["format"])), original=data).to_dict(),
        ),
        "a sealed certificate": (
            certificate,
            lambda said: verify_certificate(load_certificate(written(said, certificate["format"])), data).to_dict(),
        ),
        "front.json": (json.loads((front / "front.json").read_text()), of_front("front.json")),
        "source.json": (json.loads((front / "source.json").read_text()), of_front("source.json")),
        "roles": (_ROLES, lambda said: Roles(**{"quasi": {}, **role_entries(said)})),
        "a study": (_STUDY, lambda said: study_from_toml(_toml(said)).size),
    }


def _run(words: list[str]) -> None:
    found = CliRunner().invoke(app, words)
    if "mistake in optmodels" in found.output or found.exit_code not in (0, 1, 2, 3, 4):
        raise RuntimeError(found.output[-400:])


def _toml(document: Document) -> str:
    return "\n".join(f"{json.dumps(name)} = {_value(value)}" for name, value in document.items())


def _value(value: Any) -> str:
    """A value of JSON as one of TOML, which has no null."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_value(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return '""' if value is None or value == "\ud800" else json.dumps(value)
