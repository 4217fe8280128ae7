"""What one check came to."""

from __future__ import annotations

KEPT = "kept"

Outcome = tuple[str, str]  # the property, and `KEPT` or what is wrong


def kept(so: bool, otherwise: str) -> str:
    return KEPT if so else otherwise
