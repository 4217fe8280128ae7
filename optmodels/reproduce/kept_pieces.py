"""Finished pieces of a study in a folder, so that the next run goes on where one was stopped.

Each piece is a file of its own, written by the process that made it as soon as it is made. It is sealed: it says what
it was made of (study, scale, seed, code, versions, data), and has a fingerprint of itself. A piece that was made of
something else, or that is not whole, is not used but made again, and that is told.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from optmodels.files import write_whole
from optmodels.reproduce.plain_pieces import from_plain, to_plain

FORMAT = "optmodels piece 1"
FOLDER = "pieces"  # within the folder of a reproduction
ASKED = ("study", "scale", "seed", "rounds", "data")  # what whoever asks for a study has a say in
_DAMAGED = "not whole, or changed since"


class FinishedPiece(NamedTuple):
    """What a piece of work found, and the seconds of the clock and of the processor that it took."""

    result: Any
    seconds: float
    cpu: float


@dataclass(frozen=True)
class KeptPieces:
    """The pieces of one study in a folder; `made_of` is all that its figures follow from, by name.

    >>> import tempfile
    >>> kept = KeptPieces(Path(tempfile.mkdtemp()) / FOLDER, {"study": "mass", "code": "1a2b"})
    >>> kept.put("table 5: k", 3, FinishedPiece([0.5], 2.0, 1.5))
    >>> kept.get("table 5: k", 3), kept.get("table 5: k", 4)
    (FinishedPiece(result=[0.5], seconds=2.0, cpu=1.5), None)

    Of other code it is another piece.

    >>> later = KeptPieces(kept.folder, {"study": "mass", "code": "3c4d"})
    >>> later.get("table 5: k", 3), later.told()
    (None, ('1 finished pieces were not used but made again, for they are of another: code.',))
    """

    folder: Path
    made_of: Mapping[str, str]
    unused: Counter[str] = field(init=False, default_factory=Counter, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptPieces, (self.folder, dict(self.made_of))

    def begun(self) -> bool:
        """Whether pieces are there of the study as it is asked for now, whatever code they were made by."""
        asked = {name: self.made_of.get(name) for name in ASKED}
        whole = (said for file in self._files() if (said := _read(file)) is not None)
        first = next(whole, None)
        return first is not None and {name: first["made_of"].get(name) for name in ASKED} == asked

    def get(self, what: str, number: int) -> FinishedPiece | None:
        """A finished piece, or None where there is none that can be used."""
        file = self._file(what, number)
        if not file.is_file():
            return None
        said = _read(file)
        if said is None or (said["what"], said["number"]) != (what, number):
            self.unused[_DAMAGED] += 1
            return None
        before = said["made_of"]
        other = sorted(name for name in {*before, *self.made_of} if before.get(name) != self.made_of.get(name))
        if other:
            self.unused[f"of another: {', '.join(other)}"] += 1
            return None
        return FinishedPiece(from_plain(said["result"]), said["seconds"], said["cpu"])

    def put(self, what: str, number: int, made: FinishedPiece) -> None:
        """Keep a piece that is finished."""
        said = {
            "format": FORMAT,
            "what": what,
            "number": number,
            "made_of": dict(self.made_of),
            "seconds": made.seconds,
            "cpu": made.cpu,
            "result": to_plain(made.result),
        }
        text = json.dumps({**said, "sha256": _seal(said)})
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(self._file(what, number), lambda draft: draft.write_text(text, encoding="utf-8"))

    def clear(self) -> None:
        """Remove all pieces, drafts of some that a kill has left, and the folder if nothing else is in it."""
        for file in (*self._files(), *self.folder.glob(".unfinished-*")):
            file.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def told(self) -> tuple[str, ...]:
        """What has to be said of pieces that were there and could not be used."""
        return tuple(
            f"{count:,} finished pieces were not used but made again, for they are {why}."
            for why, count in self.unused.items()
        )

    def _file(self, what: str, number: int) -> Path:
        plain = re.sub(r"[^a-z0-9]+", "-", what.lower()).strip("-")
        return self.folder / f"{plain}-{number:04d}.piece.json"

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.piece.json"))


def _seal(said: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _read(file: Path) -> dict[str, Any] | None:
    """What a file says, if it is a whole piece."""
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        return None
    return said if said.pop("sha256", None) == _seal(said) else None
