"""The other process of `aside`: `python -m optmodels.explorer.looking` looks into points and measures fronts."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from optmodels.errors import InputError, OptmodelsError
from optmodels.explorer import commands
from optmodels.explorer.data_files import DataFile, matrix
from optmodels.explorer.fronts import SavedFront
from optmodels.explorer.points import Points, checked_number
from optmodels.explorer.reply import Reply, json_reply
from optmodels.release import Release
from optmodels.verifier import beside

_KINDS = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet", "json": "application/json"}


class Looker:
    """What one process remembers: fronts on their data, and the releases that were made last."""

    def __init__(self) -> None:
        self.points = Points()
        self._fronts: dict[tuple[str, int], SavedFront] = {}

    def answer(self, what: str, given: Mapping[str, Any]) -> Reply:
        """The answer to a request of the server."""
        match what:
            case "matrix":
                return json_reply(matrix(given["under"]))
            case "inspect":
                return json_reply(DataFile(given["place"]).document())
            case "metric":
                front = self._front(given)
                return json_reply({"name": given["metric"], "values": front.measure(given["metric"])})
            case "point":
                document = self.points.document(*self._asked(given))
                return json_reply({"id": given["id"], **document})
            case "file":
                return self._file(given)
        raise InputError(f"Nobody knows how to look for '{what[:40]}'.")

    def _front(self, given: Mapping[str, Any]) -> SavedFront:
        folder = Path(given["place"])
        key = str(folder), (folder / "front.json").stat().st_mtime_ns  # one that was found anew is read anew
        if key not in self._fronts:
            self._fronts[key] = SavedFront(given["name"], folder)
        return self._fronts[key]

    def _asked(self, given: Mapping[str, Any]) -> tuple[SavedFront, int, str | None]:
        front = self._front(given)
        return front, checked_number(front, given["point"]), given["method"]

    def _file(self, given: Mapping[str, Any]) -> Reply:
        """A file of the release, written by the release itself: what is downloaded is what the library writes."""
        front, number, method = self._asked(given)
        release = self.points.made(front, number, method).release
        match given["file"]:
            case "release.csv":
                return _written(release, "csv", release.to_csv)
            case "release.parquet":
                return _written(release, "parquet", release.to_parquet)
            case "release.promise.json":
                return _written(release, "json", partial(_promise, release, "release.csv"))
            case "release.parquet.promise.json":
                return _written(release, "json", partial(_promise, release, "release.parquet"))
            case "audit.json":
                return _written(release, "json", release.save_audit)
            case "audit.html":
                page = _report(front, number, release, method)
                return Reply(page.encode(), "application/octet-stream", "audit.html")
        raise InputError(f"There is no file '{given['file'][:40]}' of a release.")


def _report(front: SavedFront, number: int, release: Release, method: str | None) -> str:
    known = front.source or {}
    command = commands.release_command(front, number, method)
    source = {"data": str(known.get("data")), "sha256": str(known.get("sha256")), "command": command}
    return release.to_html(source=source, front=front.front(), chosen=number)


def _written(release: Release, ending: str, write: Callable[[Path], Path]) -> Reply:
    with tempfile.TemporaryDirectory(prefix="optmodels-release-") as folder:
        path = write(Path(folder) / f"release.{ending}")
        return Reply(path.read_bytes(), _KINDS[ending], path.name)


def _promise(release: Release, name: str, path: Path) -> Path:
    """The promise of the very file that is downloaded under this name."""
    file = path.with_name(name)
    (release.to_parquet if file.suffix == ".parquet" else release.to_csv)(file)
    return beside(file)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more; when they end, whatever is under way ends at once."""
    asked: SimpleQueue[bytes] = SimpleQueue()
    looker = Looker()

    def read() -> None:
        for line in requests:
            asked.put(line)
        os.kill(os.getpid(), signal.SIGKILL)  # the explorer is gone, however it went

    threading.Thread(target=read, daemon=True).start()
    while True:
        request = json.loads(asked.get())
        reply, error, mistake = Reply(b"", ""), None, False
        try:
            reply = looker.answer(request["what"], request["given"])
        except OptmodelsError as problem:
            error = str(problem)
        except Exception as problem:  # the page is told, and the next request is answered
            error, mistake = f"A mistake in optmodels: {type(problem).__name__}: {problem}", True
        head = {"kind": reply.kind, "name": reply.name, "size": len(reply.body), "error": error, "mistake": mistake}
        answers.write(json.dumps(head).encode() + b"\n" + reply.body)
        answers.flush()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no answer
    serve(sys.stdin.buffer, answers)
