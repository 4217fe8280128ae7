"""The server: Python's own, on this machine's own address, one thread for each request."""

from __future__ import annotations

import json
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import unquote, urlsplit

from optmodels.errors import InputError, OptmodelsError
from optmodels.explorer.api import answer
from optmodels.explorer.aside import MistakeError
from optmodels.explorer.reply import Events, Reply, json_reply
from optmodels.explorer.security import HEADERS, HOST, Gate
from optmodels.explorer.workspace import Workspace

_MOST_BYTES = 1 << 20  # of a request: the page sends settings, never tables
_MOST_UNREAD = 16 << 20  # of one that is too large, which are read only to be refused
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def page_files() -> dict[str, Reply]:
    """The page's own files by name: nothing else on the disk can be asked for."""
    found = {}
    for file in files("optmodels.explorer").joinpath("static").iterdir():
        ending = "." + file.name.rpartition(".")[2]
        if ending in _KINDS:
            found[file.name] = Reply(file.read_bytes(), _KINDS[ending])
    return found


class Explorer(ThreadingHTTPServer):
    """The explorer of one workspace; `gate.address` is where it is."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, workspace: Workspace, port: int = 0) -> None:
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as problem:
            raise InputError(
                f"Port {port} of this machine cannot be used: {problem.strerror}. Name another with --port, or none, "
                "and a free one is taken."
            ) from problem
        self.workspace = workspace
        self.gate = Gate(self.server_address[1])
        self.page = page_files()
        self.closing = threading.Event()

    def server_close(self) -> None:
        """Stop answering, and end whatever runs for the page."""
        self.closing.set()
        super().server_close()
        self.workspace.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A page that was closed while it was answered is nobody's fault."""


class _Handler(BaseHTTPRequestHandler):
    server: Explorer
    protocol_version = "HTTP/1.1"
    server_version = "optmodels"
    sys_version = ""
    timeout = 120  # of a connection that says nothing

    def do_GET(self) -> None:
        if self._let_in():
            self._answer(None)

    def do_POST(self) -> None:
        if not self._let_in():
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MOST_BYTES:
            self.close_connection = True
            if length.isdecimal():  # whoever is still sending would not hear why
                self.rfile.read(min(int(length), _MOST_UNREAD))
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A request says its size, of at most a megabyte.")
            return
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Requests are JSON.")
            return
        self._answer(body)

    def _let_in(self) -> bool:
        headers = {name.title(): value for name, value in self.headers.items()}
        refusal = self.server.gate.refusal(self.path, headers)
        if refusal is not None:
            self.close_connection = True  # with whatever else was sent on it
            self._refuse(refusal.status, refusal.reason)
        return refusal is None

    def _answer(self, body: bytes | None) -> None:
        place = unquote(urlsplit(self.server.gate.within(self.path)).path)
        name = place or "index.html"
        if body is None and name in self.server.page:
            self._send(HTTPStatus.OK, self.server.page[name])
            return
        try:
            given = _document(body)
            found = answer(self.server.workspace, "GET" if body is None else "POST", place, given)
        except OptmodelsError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except MistakeError as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except Exception as error:  # one request's mistake must not end the others
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"A mistake in optmodels: {type(error).__name__}: {error}")
        else:
            if found is None:
                self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")
            elif isinstance(found, Events):
                self._stream(found)
            else:
                self._send(HTTPStatus.OK, found)

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._send(status, json_reply({"error": reason}))

    def _send(self, status: HTTPStatus, reply: Reply) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **reply.headers, "Content-Length": str(len(reply.body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    def _stream(self, events: Events) -> None:
        self.close_connection = True
        self.send_response(HTTPStatus.OK)
        for name, value in {**HEADERS, "Content-Type": "text/event-stream", "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        for event in events:
            if self.server.closing.is_set():
                return
            self.wfile.write(event)
            self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed: the addresses hold the token."""


def _document(body: bytes | None) -> dict[str, Any]:
    """What a request says."""
    try:
        given = {} if body is None else json.loads(body)
    except (ValueError, RecursionError) as problem:  # also what is no text, and what is nested beyond all measure
        raise InputError("The request is not JSON.") from problem
    if not isinstance(given, dict):
        raise InputError("A request is a JSON object.")
    return given
