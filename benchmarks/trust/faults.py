"""Commands stopped at any moment, places that cannot be written to, memory that is not there, solvers that misbehave.

Allowed are a verified result or one paragraph and an exit code. Not allowed: a partial or unverified file, a traceback,
a process left behind, an end later than 2 s and a tenth of the time limit after it was due.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from benchmarks.trust.outcome import KEPT, Outcome, kept
from optmodels.errors import OptmodelsError
from optmodels.verifier import beside, load_promise, verify

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LIMIT = 4.0  # seconds that a command is given
LATE = 2.0 + 0.1 * LIMIT  # seconds that it may be late
_DRAFT = ".unfinished-"
_ROLES = ["--numeric", "age,pay", "--sensitive", "s", "--k", "3"]
_STUDY = """
seeds = 4
warm_up = false
[[dataset]]
file = "{data}"
roles = {{ quasi = {{ age = "numeric", pay = "numeric" }}, sensitive = "s" }}
[[formulation]]
name = "microaggregation"
parameters.k = 3
[[solver]]
name = "local_search"
options = {{ workers = 1 }}
[limits]
time = 1.0
"""


@dataclass(frozen=True)
class Scene:
    """A command that takes some seconds, and where its result is to be."""

    name: str
    words: Callable[[Path], list[str]]
    ending: str
    drafts: bool = False  # the signal is sent when the first draft of a file appears, so in the midst of writing


@dataclass
class Lateness:
    """The worst that was seen, in seconds."""

    worst: float = 0.0

    def note(self, seconds: float) -> float:
        self.worst = max(self.worst, seconds)
        return seconds


def scenes(place: Path) -> list[Scene]:
    draw = np.random.default_rng(7)

    def people(n: int) -> pd.DataFrame:
        return pd.DataFrame(
            {"age": draw.integers(20, 80, n), "pay": draw.normal(size=n).round(3), "s": draw.choice(list("uvw"), n)}
        )

    people(400).to_csv(place / "data.csv", index=False)
    people(20_000).to_csv(place / "many.csv", index=False)
    (place / "parts").mkdir()
    for part in range(3):
        people(2_000).to_parquet(place / "parts" / f"{part}.parquet", index=False)
    (place / "study.toml").write_text(_STUDY.format(data=place / "data.csv"), encoding="utf-8")
    limit = ["--time-limit", f"{LIMIT:g}"]
    single, many, parts = (str(place / name) for name in ("data.csv", "many.csv", "parts"))
    return [
        Scene("solve", lambda out: ["anonymize", single, *_ROLES, *limit, "--out", str(out)], ".csv"),
        Scene(
            "blocks",
            lambda out: ["anonymize", many, *_ROLES, *limit, "--solver", "blocks", "--out", str(out)],
            ".parquet",
        ),
        Scene(
            "folder", lambda out: ["anonymize", parts, *_ROLES, *limit, "--group-rows", "500", "--out", str(out)], ""
        ),
        Scene("study", lambda out: ["study", "run", str(place / "study.toml"), "--out", str(out)], ".db"),
        Scene(
            "write",
            lambda out: ["anonymize", many, *_ROLES, "--solver", "mondrian", "--out", str(out)],
            ".csv",
            drafts=True,
        ),
    ]


def faults(rounds: int, lateness: Lateness) -> Iterator[Outcome]:
    """All of it, with so many signals sent."""
    with tempfile.TemporaryDirectory(prefix="trust-faults-") as folder:
        place = Path(folder)
        every = scenes(place)
        draw = np.random.default_rng([7, rounds])
        for number in range(rounds):
            scene, sent = every[number % len(every)], SIGNALS[number // len(every) % len(SIGNALS)]
            out = place / f"out{number}" / f"release{scene.ending}"
            out.parent.mkdir()
            yield from signalled(scene, sent, out, float(draw.uniform(0.5, LIMIT + 3.0)), lateness)
        yield from _places(place)
        yield from _limits(place)
    yield from misbehaving(lateness)


def signalled(scene: Scene, sent: signal.Signals, out: Path, delay: float, lateness: Lateness) -> Iterator[Outcome]:
    """One command and one signal."""
    what = f"{sent.name} during {scene.name}"
    process = subprocess.Popen(
        [sys.executable, "-m", "optmodels", *scene.words(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    if scene.drafts:
        while process.poll() is None and not any(out.parent.glob(f"{_DRAFT}*")):
            time.sleep(0.001)
    else:
        time.sleep(delay)
    family = _family(process.pid)
    if process.poll() is None:
        process.send_signal(sent)
    began = time.monotonic()
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        yield f"{what}: ends in time", "not within a minute"
        return
    late = time.monotonic() - began
    yield f"{what}: no traceback", kept(b"Traceback" not in errors, errors.decode(errors="replace")[-400:])
    if sent is not signal.SIGKILL:
        yield f"{what}: ends in time", kept(lateness.note(late) <= LATE, f"{late:.1f} s")
    gone, left = psutil.wait_procs(family, timeout=10)
    yield f"{what}: no process left", kept(not left, f"{len(left)} of {len(left) + len(gone)}")
    yield f"{what}: whole and verified, or nothing", whole_or_nothing(scene, sent, out)


def _family(pid: int) -> list[psutil.Process]:
    try:
        return [*psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def whole_or_nothing(scene: Scene, sent: signal.Signals | None, out: Path) -> str:
    """Whether what is there may be there."""
    if scene.name == "study":
        return _study_opens(scene, out)
    if out.exists():
        try:
            broken = verify(out, load_promise(beside(out))).broken
        except OptmodelsError as wrong:
            return str(wrong)
        return kept(not broken, "; ".join(broken))
    left = [path.name for path in out.parent.iterdir()]
    if sent is signal.SIGKILL:  # which nobody can clean up after: drafts, but nothing that looks like a release
        left = [name for name in left if not name.startswith(".")]
    return kept(not left, f"left behind: {left}")


def _study_opens(scene: Scene, out: Path) -> str:
    """A study that was stopped goes on where it was: every finished run is still there, and the rest follow."""
    from optmodels.study import open_study

    def finished() -> set[str]:
        try:
            return set(open_study(out).runs()["key"])
        except OptmodelsError:
            return set()

    before = finished()
    again = subprocess.run([sys.executable, "-m", "optmodels", *scene.words(out)], capture_output=True, text=True)
    if again.returncode != 0:
        return f"cannot be resumed: {again.stderr[-300:]}"
    return kept(before <= finished() and len(finished()) == 4, f"{len(before)} runs before, {len(finished())} after")


def _run(words: list[str], before: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "optmodels", *words], capture_output=True, text=True, timeout=300, preexec_fn=before
    )


def _refused(done: subprocess.CompletedProcess[str], out: Path) -> str:
    """One paragraph, exit code 1, nothing written."""
    left = [path.name for path in out.parent.iterdir()] if out.parent.is_dir() and out.parent != Path("/proc") else []
    told = done.returncode == 1 and "Traceback" not in done.stderr and "mistake in optmodels" not in done.stderr
    return kept(told and not left, f"exit code {done.returncode}, {left}, {done.stderr[-300:]}")


def _places(place: Path) -> Iterator[Outcome]:
    words = ["anonymize", str(place / "many.csv"), *_ROLES, "--solver", "mondrian", "--out"]
    for name, out in (
        ("a device for a file", Path("/dev/full")),
        ("a folder that is not there", place / "no" / "out.csv"),
        ("a place that is read-only", Path("/proc/out.csv")),
    ):
        done = _run([*words, str(out)])
        yield name, kept(done.returncode == 1 and "Traceback" not in done.stderr, done.stderr[-300:])
    for ending in (".csv", ".parquet"):
        out = place / f"full{ending[1:]}" / f"release{ending}"
        out.parent.mkdir()
        done = _run([*words, str(out)], lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        yield f"no room for a {ending[1:]} file", _refused(done, out)
    for kilobytes in (4, 16, 48):  # the last has room for a Parquet file of 46 KB, but not for its promise
        with _small_disk(place / f"disk{kilobytes}", kilobytes) as disk:
            if disk is not None:
                for ending in (".csv", ".parquet"):
                    out = disk / f"release{ending}"
                    yield f"a full disk, {ending[1:]}", _refused(_run([*words, str(out)]), out)
    if os.geteuid() != 0:  # whom nothing is read-only to
        (place / "closed").mkdir(mode=0o555)
        out = place / "closed" / "release.csv"
        yield "a read-only folder", _refused(_run([*words, str(out)]), out)


@contextmanager
def _small_disk(place: Path, kilobytes: int) -> Iterator[Path | None]:
    """A disk of so few KB, where this machine lets us have one."""
    place.mkdir()
    size = f"size={kilobytes}k"
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)], capture_output=True)
    try:
        yield place if mounted.returncode == 0 else None
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(place)], check=True)


def _limits(place: Path) -> Iterator[Outcome]:
    """Too little memory: whatever happens, nothing half done is left and nothing is told as a mistake of ours."""
    for megabytes in (500, 1200, 1600, 2000):  # the first two are refused at once, the others may do
        out = place / f"memory{megabytes}" / "release.csv"
        out.parent.mkdir()
        size = megabytes << 20
        done = _run(
            ["anonymize", str(place / "many.csv"), *_ROLES, "--time-limit", "2", "--out", str(out)],
            partial(resource.setrlimit, resource.RLIMIT_AS, (size, size)),
        )
        if done.returncode == 0:
            said = kept(not verify(out, load_promise(beside(out))).broken, "a broken promise")
        else:
            left = [path.name for path in out.parent.iterdir()]
            started = "optmodels" in done.stderr or done.stderr.startswith(("Error", "\x1b"))
            ours = "mistake in optmodels" in done.stderr or (
                "Traceback" in done.stderr and "optmodels/cli" in done.stderr
            )
            said = kept(not left and not (started and ours), f"{megabytes} MB: {left}, {done.stderr[-300:]}")
        yield "memory that is not enough", said


def misbehaving(lateness: Lateness) -> Iterator[Outcome]:
    """Solvers that return nonsense, raise, or take no notice of their time."""
    from benchmarks.trust import rogues

    for what, said, late in rogues.outcomes(LIMIT):
        if late is not None:
            lateness.note(late)
        yield what, said if said != KEPT or late is None else kept(late <= LATE, f"{late:.1f} s late")
