"""Whatever a record holds, as plain values that any reader of JSON accepts."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Mappings, lists, text, numbers and None; what is not finite becomes None, anything else text.

    >>> plain({"gap": float("inf"), "sizes": (np.int64(3), 4.5)})
    {'gap': None, 'sizes': [3, 4.5]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, (str, bool, int)) else str(value)


def with_tuples(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they were before they were JSON, which has no tuples.

    >>> with_tuples({"alpha": [1.0, [2.0]], "k": 3})
    {'alpha': (1.0, (2.0,)), 'k': 3}
    """
    return {name: _frozen(value) for name, value in settings.items()}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
