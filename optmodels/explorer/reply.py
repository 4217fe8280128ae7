"""What the server answers with: JSON, a file to be kept, or a stream of events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from optmodels.jsonable import plain


@dataclass(frozen=True)
class Reply:
    """Bytes of a kind; `name` makes it a file that the browser keeps."""

    body: bytes
    kind: str
    name: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """What the browser is told of it; a name may hold anything, so it is written as RFC 5987 has it."""
        if self.name is None:
            return {"Content-Type": self.kind}
        return {"Content-Type": self.kind, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(self.name)}"}


@dataclass(frozen=True)
class Events:
    """Events of server-sent events, each a document, until there are no more."""

    documents: Iterator[object]

    def __iter__(self) -> Iterator[bytes]:
        for document in self.documents:
            yield b": alive\n\n" if document is None else b"data: " + to_json(document) + b"\n\n"


def to_json(document: object) -> bytes:
    """Strict JSON on one line; what is not finite is null."""
    try:
        return _dumped(document)
    except (TypeError, ValueError):  # something that JSON does not have: looked for value by value, which takes longer
        return _dumped(plain(document))


def _dumped(document: object) -> bytes:
    return json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def json_reply(document: object) -> Reply:
    """A document."""
    return Reply(to_json(document), "application/json; charset=utf-8")
