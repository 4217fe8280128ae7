"""Who may ask: whoever has the address that was printed, from a page of this very server, on this machine.

The token is part of every path. A cookie would do less: browsers send the cookies of 127.0.0.1 to every port, so to
other people's servers on the same machine as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from secrets import compare_digest, token_urlsafe

HOST = "127.0.0.1"
_SAME_SITE = ("same-origin", "none")  # our page, or an address that a person typed

# Nothing is fetched from, sent to or framed by anywhere else, and no script but our files is run.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True)
class Refusal:
    """Why a request is not answered."""

    status: HTTPStatus
    reason: str


@dataclass(frozen=True)
class Gate:
    """The checks that every request has to pass before anything else looks at it.

    >>> gate = Gate(8000, "secret")
    >>> gate.address
    'http://127.0.0.1:8000/secret/'
    >>> gate.refusal("/secret/api/workspace", {"Host": "127.0.0.1:8000"}) is None
    True
    >>> gate.refusal("/guessed/api/workspace", {"Host": "127.0.0.1:8000"}).status.value
    403
    >>> gate.refusal("/secret/", {"Host": "evil.example"}).status.value
    421
    """

    port: int
    token: str = field(default_factory=lambda: token_urlsafe(24), repr=False)

    @property
    def address(self) -> str:
        """The address of the page, which holds the token."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    @property
    def _hosts(self) -> tuple[str, ...]:
        return f"{HOST}:{self.port}", f"localhost:{self.port}"

    def refusal(self, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Why the request is refused, or None.

        A name that leads to this machine (DNS rebinding) is told by the host, a page of another server by its origin,
        anyone else by not having the token.
        """
        if headers.get("Host", "") not in self._hosts:
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to its own address alone.")
        origin = headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self._hosts]:
            return Refusal(HTTPStatus.FORBIDDEN, "Another page asked: only the explorer's own page is answered.")
        if headers.get("Sec-Fetch-Site", "none") not in _SAME_SITE:
            return Refusal(HTTPStatus.FORBIDDEN, "Another page asked: only the explorer's own page is answered.")
        given = path.removeprefix("/").partition("/")[0]
        if not compare_digest(given.encode(), self.token.encode()):
            return Refusal(HTTPStatus.FORBIDDEN, "The address lacks the token: open the one that was printed.")
        return None

    def within(self, path: str) -> str:
        """What stands after the token in a path that was let in."""
        return path.removeprefix("/").partition("/")[2]
