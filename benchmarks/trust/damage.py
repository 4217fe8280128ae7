"""Damaged and hostile files and requests: one paragraph and an exit code, never a traceback or a mistake of ours."""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from benchmarks.trust.outcome import KEPT, Outcome, kept
from benchmarks.trust.releases import MEMORY
from optmodels.cli import app
from optmodels.errors import OptmodelsError
from optmodels.explorer.server import Explorer
from optmodels.explorer.workspace import Workspace
from optmodels.study import load_study

Words = list[str]
_MOST_MEGABYTES = 600  # by which the process may grow over all of it: kernels and libraries that it loads
_SNIPPETS = [
    b'"',
    b"\n",
    b"\r",
    b",",
    b"\0",
    b"[",
    b"{",
    b"1e999",
    b"\xff\xfe",
    b"=",
    b"-1",
    b"null",
    b"../../",
    b"9" * 40,
]
_READ = (".json", ".parquet", ".toml")  # of a front's folder; its pages are for people
_STUDY = """
seeds = 1
warm_up = false
[[dataset]]
file = "{data}"
roles = {{ quasi = {{ age = "numeric" }}, sensitive = "s", others = "drop" }}
[[formulation]]
name = "microaggregation"
parameters.k = 2
[[solver]]
name = "mdav"
"""


def damaged(draw: np.random.Generator, content: bytes) -> bytes:
    """The content with a few bytes changed, left out or put in, or cut off."""
    changed = bytearray(content)
    for _ in range(int(draw.integers(1, 4))):
        place = int(draw.integers(0, max(len(changed), 1)))
        match int(draw.integers(0, 5)):
            case 0:
                changed[place : place + 1] = bytes([int(draw.integers(0, 256))])
            case 1:
                del changed[place : place + int(draw.integers(1, 20))]
            case 2:
                changed[place:place] = bytes(draw.integers(0, 256, int(draw.integers(1, 9))).tolist())
            case 3:
                changed[place:place] = _SNIPPETS[int(draw.integers(0, len(_SNIPPETS)))]
            case _:
                del changed[place:]
    return bytes(changed)


def fuzzed(rounds: int, first: int = 0) -> Iterator[Outcome]:
    """So many damaged files, and as many requests to the explorer as a fifth of them."""
    draw = np.random.default_rng([11, first])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory(prefix="trust-fuzz-", dir=MEMORY) as folder:
        place = Path(folder)
        uses = _uses(place)
        for number in range(rounds):
            name = list(uses)[number % len(uses)]
            yield from _one(draw, place, name, uses[name])
        for _ in range(max(1, rounds // 10)):
            yield _study(draw, place)
        yield from _requests(draw, place, max(1, rounds // 5))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    yield "memory while files are damaged", kept(grown < _MOST_MEGABYTES, f"{grown:.0f} MB more")


def _made(*words: str) -> None:
    made = CliRunner().invoke(app, list(words))
    assert made.exit_code == 0, made.output


def _uses(place: Path) -> dict[str, Callable[[Path], Words]]:
    """Files as they should be, and the commands that read them."""
    frame = pd.DataFrame({"age": range(12), "c": list("abcabcabcabc"), "s": ["u", "v"] * 6})
    data = place / "data.csv"
    frame.to_csv(data, index=False)
    frame.to_parquet(place / "data.parquet")
    pd.DataFrame({"c": list("abc"), "up": ["x", "x", "y"]}).to_csv(place / "c.csv", index=False, header=False)
    columns = ["--numeric", "age", "--categorical", "c", "--sensitive", "s", "--k", "2"]
    words = [*columns, "--solver", "mdav"]
    roles, release, front = place / "roles.toml", place / "release.csv", place / "front"
    _made("anonymize", str(data), *words, "--save-roles", str(roles), "--out", str(release))
    _made("pareto", str(data), *columns, "--formulation", "mo-obam", "--out", str(front))
    study, runs = place / "study.toml", place / "runs.db"
    study.write_text(_STUDY.format(data=data), encoding="utf-8")
    _made("study", "run", str(study), "--out", str(runs), "--workers", "1")
    out = ["--out", str(place / "new.csv"), "--force"]

    def of_front(part: str) -> Callable[[Path], Words]:
        def words_for(file: Path) -> Words:
            bad = place / "bad_front"
            shutil.rmtree(bad, ignore_errors=True)
            shutil.copytree(front, bad)
            shutil.copy(file, bad / part)
            return ["release", str(bad), "--point", "knee", *out]

        return words_for

    return {
        "data.csv": lambda file: ["anonymize", str(file), *words, *out],
        "data.parquet": lambda file: ["anonymize", str(file), *words, *out],
        "roles.toml": lambda file: ["anonymize", str(data), "--roles", str(file), "--k", "2", "--solver", "mdav", *out],
        "c.csv": lambda file: ["anonymize", str(data), *words, "--hierarchy", f"c={file}", *out],
        "release.promise.json": lambda file: ["verify", str(release), "--promise", str(file)],
        "release.csv": lambda file: ["verify", str(file), "--promise", str(place / "release.promise.json")],
        "runs.db": lambda file: ["study", "status", str(file)],
        **{f"front/{part.name}": of_front(part.name) for part in sorted(front.iterdir()) if part.suffix in _READ},
        "inspected data.csv": lambda file: ["inspect", str(file)],
        "audited data.csv": lambda file: ["audit", str(file), "--quasi", "age,c", "--sensitive", "s"],
    }


def _one(draw: np.random.Generator, place: Path, name: str, words: Callable[[Path], Words]) -> Iterator[Outcome]:
    good = place / name.removeprefix("inspected ").removeprefix("audited ")
    bad = place / f"bad{good.suffix}"
    bad.write_bytes(damaged(draw, good.read_bytes()))
    found = CliRunner().invoke(app, words(bad))
    mistake = "mistake in optmodels" in found.output or found.exit_code not in (0, 1, 2, 3, 4)
    said = " ".join(found.output.split())[-400:] + f" ({bad.read_bytes()[:200]!r})"
    yield f"damaged {name}", kept(not mistake, said)
    if name.startswith("release") and bad.read_bytes() != good.read_bytes():
        noticed = found.exit_code != 0 or _only_looks(bad, good)
        yield f"damaged {name} is noticed", kept(noticed, f"it is not ({bad.read_bytes()[:300]!r})")


def _study(draw: np.random.Generator, place: Path) -> Outcome:
    """A study's file is read without being run, which would take long where the damage is none."""
    bad = place / "bad_study.toml"
    bad.write_bytes(damaged(draw, (place / "study.toml").read_bytes()))
    said = KEPT
    try:
        _ = load_study(bad).size
    except OptmodelsError:
        pass
    except Exception as error:
        said = f"{type(error).__name__}: {error} ({bad.read_bytes()!r})"
    return "damaged study.toml", said


def _only_looks(bad: Path, good: Path) -> bool:
    """Whether a damaged file still says the same: line ends, quotes and the order of rows are nobody's promise."""
    if good.suffix == ".json":
        return bool(json.loads(bad.read_text()) == json.loads(good.read_text()))
    one, other = bad.read_text(), good.read_text()
    return sorted(one.split()) == sorted(other.split()) or one.strip() == other.strip()


_PLACES = [
    *("workspace", "choices", "matrix/k", "matrix/..", "fronts/1", "fronts/1/points/0", "fronts/1/points/knee"),
    *("fronts/1/metrics/loss", "fronts/1/points/0/commands", "fronts/1/points/0/release.csv", "files/1", "studies/1"),
    *("jobs/1", "jobs/1/events", "jobs/1/stop", "open", "studies/1/runs/x", "studies/1/attainment"),
    *("../server.py", "fronts/../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "fronts/1/points/0/..%2ffront.json"),
]
_BODIES: list[object] = [
    {},
    [],
    "text",
    {"place": "/etc/passwd"},
    {"place": "../../../etc"},
    {"place": None},
    {"place": "german\0"},
    {"recode": "no", "point": -1},
    {"recode": 3, "suppressed": []},
    {"folder": "/proc/x", "k": "nan"},
    {"objectives": {"a": 1e999}},
]


def _requests(draw: np.random.Generator, place: Path, rounds: int) -> Iterator[Outcome]:
    """Requests that the explorer's own page would never send: refused, and never with a mistake of ours."""
    explorer = Explorer(Workspace((str(place / "front"), str(place / "runs.db"))))
    thread = threading.Thread(target=explorer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        for _ in range(rounds):
            path = _PLACES[int(draw.integers(0, len(_PLACES)))].encode()
            if draw.integers(0, 2):
                path = bytes(byte for byte in damaged(draw, path) if 32 < byte < 127)
            body = None
            if draw.integers(0, 2):
                body = json.dumps(_BODIES[int(draw.integers(0, len(_BODIES)))]).encode()
                body = damaged(draw, body) if draw.integers(0, 2) else body
                body = b"[" * 50_000 if draw.integers(0, 40) == 0 else body
            status, answer = _asked(explorer, path.decode("ascii"), body)
            asked = f"{path!r} {body!r:.200}: {status} {answer[:300]!r}"
            yield "requests to the explorer", kept(status < 500 and b"Traceback" not in answer, asked)
            yield "requests that lead out of the explorer", kept(b"root:" not in answer, asked)
    finally:
        explorer.shutdown()
        explorer.server_close()
        thread.join()


def _asked(explorer: Explorer, path: str, body: bytes | None) -> tuple[int, bytes]:
    gate = explorer.gate
    connection = HTTPConnection("127.0.0.1", gate.port, timeout=60)
    sent = {"Host": f"127.0.0.1:{gate.port}", **({} if body is None else {"Content-Type": "application/json"})}
    try:
        connection.request("GET" if body is None else "POST", f"/{gate.token}/api/{path}", body, sent)
        answer = connection.getresponse()
        return answer.status, answer.read(1 << 20)
    except (HTTPException, OSError, ValueError) as problem:  # what was asked is no request at all
        return 400, str(problem).encode()
    finally:
        connection.close()
