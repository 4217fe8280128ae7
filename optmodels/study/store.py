"""The runs of a study in one SQLite file: what is planned, what came of it, safe to kill at any moment.

A run's row, curve and points are written in one transaction, so a run is in the file whole or not at all. While a
study runs, the file has SQLite's write-ahead log beside it; at rest it is one file again.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Any

import psutil

from optmodels.errors import InputError, OptmodelsError
from optmodels.jsonable import plain
from optmodels.study.trials import Trial, hashed

APPLICATION = 0x6F6D7374  # "omst", by which SQLite files of this kind are known
SCHEMA = 2  # 1 had no families of datasets, and built another problem for every repetition
_WAIT_SECONDS = 30.0
HEARTBEAT_SECONDS = 5.0
_LOST_SECONDS = 60.0  # without a heartbeat, a study on another machine is taken to be gone

OUTCOMES = ("done", "refused", "error", "crashed", "overtime", "memory")  # what may come of a run
# What of a run is written as it is in its record; the rest are its coordinates, its curve and its points.
MEASURED = ("seconds", "build_seconds", "warm_up_seconds", "peak_memory", "base_memory")
FOUND = (
    *("outcome", "reason", "status", "stop", "target", "value", "bound", "gap", "records", "classes"),
    *("evaluations", "partition", "trace", *MEASURED),
)
_FOUND_JSON = ("values", "senses", "reference", "details")
_TEXTS = {"outcome", "reason", "status", "stop", "target", "partition", "trace"}


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


_TABLES = f"""
CREATE TABLE study (name TEXT NOT NULL, changed TEXT NOT NULL);
CREATE TABLE environment (id TEXT PRIMARY KEY, description TEXT NOT NULL);
CREATE TABLE owner (id INTEGER PRIMARY KEY CHECK (id = 1), host TEXT, process INTEGER, born REAL, heartbeat REAL);
CREATE TABLE run (
    key TEXT PRIMARY KEY, place INTEGER, planned INTEGER NOT NULL,
    dataset TEXT NOT NULL, family TEXT NOT NULL, model TEXT NOT NULL, formulation TEXT NOT NULL,
    parameters TEXT NOT NULL, objectives TEXT NOT NULL, solver TEXT NOT NULL, method TEXT NOT NULL,
    options TEXT NOT NULL, repetition INTEGER NOT NULL, build_seed INTEGER NOT NULL, seed INTEGER NOT NULL,
    answer TEXT NOT NULL, limits TEXT NOT NULL, finished TEXT, environment TEXT REFERENCES environment (id),
    {", ".join(f'"{name}" {"TEXT" if name in _TEXTS else "NUMERIC"}' for name in FOUND)},
    {", ".join(f'"{name}" TEXT' for name in _FOUND_JSON)}
);
CREATE TABLE curve (run TEXT REFERENCES run (key), step INTEGER, seconds REAL, evaluations INTEGER, value REAL,
    bound REAL, PRIMARY KEY (run, step)) WITHOUT ROWID;
CREATE TABLE point (run TEXT REFERENCES run (key), point INTEGER, "values" TEXT, status TEXT, bound REAL,
    PRIMARY KEY (run, point)) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {SCHEMA};
"""
_COORDINATES = (
    *("key", "place", "planned", "dataset", "family", "model", "formulation", "parameters", "objectives", "solver"),
    *("method", "options", "repetition", "build_seed", "seed", "answer", "limits"),
)


class BusyError(OptmodelsError):
    """Another process is running the study in this file."""


class Store:
    """An open study file; made by `opened` for writing and by `reading` for looking."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection

    def plan(self, name: str, trials: Sequence[Trial]) -> None:
        """Make these runs the study's, in this order; earlier runs that are not among them are kept, not planned."""
        rows = [_coordinates(place, trial) for place, trial in enumerate(trials)]
        into = f"run ({_quoted(_COORDINATES)}) VALUES ({', '.join('?' * len(_COORDINATES))})"
        # Labels, places and limits of a run known already are those of the present plan; what was found stays.
        changes = ", ".join(f"{name} = excluded.{name}" for name in _COORDINATES if name != "key")
        with self._db:
            self._db.execute("UPDATE run SET planned = 0, place = NULL")
            self._db.executemany(f"INSERT INTO {into} ON CONFLICT (key) DO UPDATE SET {changes}", rows)
            self._db.execute("DELETE FROM run WHERE planned = 0 AND outcome IS NULL")
            self._db.execute("DELETE FROM study")
            self._db.execute("INSERT INTO study VALUES (?, ?)", (name, _now()))

    def finished(self) -> set[str]:
        """The keys of all runs that something came of."""
        return {key for (key,) in self._db.execute("SELECT key FROM run WHERE outcome IS NOT NULL")}

    def forget(self, outcomes: Sequence[str]) -> int:
        """Let runs that ended so be made again; how many there are."""
        marks = ", ".join("?" * len(outcomes))
        chosen = f"SELECT key FROM run WHERE planned = 1 AND outcome IN ({marks})"
        with self._db:
            for table in ("curve", "point"):
                self._db.execute(f"DELETE FROM {table} WHERE run IN ({chosen})", outcomes)
            empty = ", ".join(f'"{name}" = NULL' for name in (*FOUND, *_FOUND_JSON, "finished", "environment"))
            return self._db.execute(f"UPDATE run SET {empty} WHERE key IN ({chosen})", outcomes).rowcount

    def write(self, key: str, record: Mapping[str, Any]) -> None:
        """Write what came of a run, whole, unless something did already."""
        described = json.dumps(record.get("environment", {}), sort_keys=True)
        environment = hashed(described)[:16]
        found: dict[str, Any] = {name: record.get(name) for name in FOUND}
        found |= {name: _json(record[name]) if name in record else None for name in _FOUND_JSON}
        found |= {"finished": _now(), "environment": environment}
        settings = ", ".join(f'"{name}" = ?' for name in found)
        with self._db:
            self._db.execute("INSERT OR IGNORE INTO environment VALUES (?, ?)", (environment, described))
            changed = self._db.execute(
                f"UPDATE run SET {settings} WHERE key = ? AND outcome IS NULL", (*found.values(), key)
            )
            if not changed.rowcount:
                return
            self._db.executemany(
                "INSERT INTO curve VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (key, i, moment["seconds"], *(moment.get(name) for name in ("evaluations", "value", "bound")))
                    for i, moment in enumerate(record.get("curve", ()))
                ],
            )
            self._db.executemany(
                "INSERT INTO point VALUES (?, ?, ?, ?, ?)",
                [
                    (key, i, _json(point["values"]), point["status"], point["bound"])
                    for i, point in enumerate(record.get("points", ()))
                ],
            )

    def read(self, query: str, settings: Sequence[object] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns and rows of a query."""
        cursor = self._db.execute(query, tuple(settings))
        return [column[0] for column in cursor.description], cursor.fetchall()

    @contextmanager
    def owned(self) -> Iterator[Callable[[], None]]:
        """Be the only one who runs this study; what is yielded is to be called now and then, as a sign of life."""
        host, process = platform.node(), os.getpid()
        born = psutil.Process().create_time()
        self._db.execute("BEGIN IMMEDIATE")
        with self._db:
            row = self._db.execute("SELECT host, process, born, heartbeat FROM owner").fetchone()
            if row is not None and _alive(*row):
                raise BusyError(
                    f"The study in '{self.path}' is being run by process {row[1]} on '{row[0]}': wait for it, or stop "
                    "it and run the study again, which goes on where it was."
                )
            self._db.execute("INSERT OR REPLACE INTO owner VALUES (1, ?, ?, ?, ?)", (host, process, born, time()))

        def beat() -> None:
            with self._db:
                self._db.execute("UPDATE owner SET heartbeat = ?", (time(),))

        try:
            yield beat
        finally:
            with self._db:
                self._db.execute("DELETE FROM owner WHERE process = ? AND host = ?", (process, host))

    @property
    def owner(self) -> str | None:
        """The process that is running the study now, or None."""
        row = self._db.execute("SELECT host, process, born, heartbeat FROM owner").fetchone()
        return f"process {row[1]} on '{row[0]}'" if row is not None and _alive(*row) else None


@contextmanager
def opened(path: str | Path) -> Iterator[Store]:
    """The study file, made if need be, for writing."""
    target = Path(path)
    with _explained(target), closing(sqlite3.connect(target, timeout=_WAIT_SECONDS)) as connection:
        _check_kind(target, connection, may_be_new=True)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _TABLES.split(";"):
                    connection.execute(statement)
        try:
            yield Store(target, connection)
        finally:
            with suppress(sqlite3.Error):  # somebody else reads it: it stays as it is
                connection.execute("PRAGMA journal_mode = DELETE")


@contextmanager
def reading(path: str | Path) -> Iterator[Store]:
    """The study file, for looking only, also while a study is being run."""
    target = Path(path)
    if not target.is_file():
        raise InputError(
            f"There is no study in '{target}': make it with 'optmodels study run SPEC.toml --out {target}'."
        )
    # The log of a study that was killed can only be read where it can be written to.
    log = target.with_name(target.name + "-wal")
    mode = "mode=rw" if log.exists() and os.access(target, os.W_OK) else "mode=ro"
    address = f"{target.resolve().as_uri()}?{mode}"
    with _explained(target), closing(sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS)) as connection:
        _check_kind(target, connection, may_be_new=False)
        yield Store(target, connection)


def _check_kind(path: Path, connection: sqlite3.Connection, *, may_be_new: bool) -> None:
    (kind,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if kind == APPLICATION and version != SCHEMA:
        raise InputError(
            f"'{path}' was made by another version of optmodels (format {version}, this one has {SCHEMA}), whose runs "
            "cannot be compared with those of this one: read it with that version, or run the study into a new file."
        )
    if kind != APPLICATION and not (may_be_new and not tables):
        raise InputError(f"'{path}' is an SQLite file, but not one of a study: name another.")
    if tables:
        _check_whole(path, connection)


def _check_whole(path: Path, connection: sqlite3.Connection) -> None:
    """SQLite reads what it can of a damaged file and says nothing, so it is asked; and so is what runs have left."""
    (said, *_) = (said for (said,) in connection.execute("PRAGMA integrity_check(1)"))
    if said == "ok":
        known = ", ".join("?" * len(OUTCOMES))
        broken = " OR ".join(f"NOT json_valid(coalesce(\"{name}\", 'null'))" for name in _FOUND_JSON)
        odd = f"SELECT key FROM run WHERE outcome IS NOT NULL AND (outcome NOT IN ({known}) OR {broken}) LIMIT 1"
        if (row := connection.execute(odd, OUTCOMES).fetchone()) is None:
            return
        said = f"the record of run {row[0]!r} is not one that a study writes"
    raise InputError(
        f"'{path}' is damaged ({' '.join(str(said).split())}), so nothing that it says of earlier runs can be relied "
        "on: put a copy of it in its place, or run the study into a new file."
    )


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of SQLite in words that help."""
    try:
        yield
    except sqlite3.DatabaseError as problem:
        reason = str(problem)
        if "not a database" in reason or "malformed" in reason:
            remedy = "it is no study file, or damaged: name another file, or put a copy of it in its place"
        elif "locked" in reason:
            remedy = "another process is writing to it: try again"
        elif "full" in reason:
            remedy = "make room and run the study again, which goes on where it was"
        else:
            remedy = "choose a folder that exists and may be written to"
        raise InputError(f"Cannot use '{path}' ({reason}): {remedy}.") from problem


def _alive(host: str, process: int, born: float, heartbeat: float) -> bool:
    if host != platform.node():
        return time() - heartbeat < _LOST_SECONDS
    try:
        owner = psutil.Process(process)
        # A killed process stays in the list until whoever started it takes note.
        return bool(abs(owner.create_time() - born) < 1.0 and owner.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _coordinates(place: int, trial: Trial) -> tuple[Any, ...]:
    given = {**vars(trial), "place": place, "planned": 1}
    return tuple(value if isinstance(value := given[name], (str, int)) else _json(value) for name in _COORDINATES)


def _json(value: Any) -> str:
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False, allow_nan=False)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
