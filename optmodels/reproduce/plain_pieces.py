"""What a piece of work found, as plain JSON and back: numbers, text, lists, tuples, mappings, arrays and frames.

A piece is read from a folder that somebody else may have written to. So it is data and nothing else: reading it runs no
code, as unpickling would.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import pandas as pd


def to_plain(value: Any) -> Any:
    """The value made of what JSON has; whatever else it is made of is an error.

    >>> from_plain(to_plain({("german", 4): (np.arange(3), None)}))
    {('german', 4): (array([0, 1, 2]), None)}
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return value if isinstance(value, int) else value.item()
    if isinstance(value, (float, np.floating, np.bool_)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, list):
        return [to_plain(one) for one in value]
    if isinstance(value, tuple):
        return {"tuple": [to_plain(one) for one in value]}
    if isinstance(value, dict):
        return {"pairs": [[to_plain(key), to_plain(one)] for key, one in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype != object:
        packed = base64.b64encode(zlib.compress(np.ascontiguousarray(value).tobytes())).decode()
        return {"array": packed, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, pd.DataFrame):
        columns = [[to_plain(name), str(column.dtype), to_plain(column.tolist())] for name, column in value.items()]
        return {"columns": columns, "index": to_plain(value.index.tolist())}
    raise TypeError(f"A piece of work cannot be kept with a {type(value).__name__} in it.")


def from_plain(said: Any) -> Any:
    """The value that `to_plain` made this of.

    >>> frame = pd.DataFrame({"k": [2, 3], "loss": [0.5, float("nan")]})
    >>> from_plain(to_plain(frame)).equals(frame)
    True
    """
    if isinstance(said, list):
        return [from_plain(one) for one in said]
    if not isinstance(said, dict):
        return said
    if "tuple" in said:
        return tuple(from_plain(one) for one in said["tuple"])
    if "pairs" in said:
        return {from_plain(key): from_plain(one) for key, one in said["pairs"]}
    if "array" in said:
        packed = zlib.decompress(base64.b64decode(said["array"]))
        return np.frombuffer(packed, np.dtype(said["dtype"])).reshape(said["shape"]).copy()
    index = from_plain(said["index"])
    columns = {
        from_plain(name): pd.Series(from_plain(values), index=index, dtype=dtype)
        for name, dtype, values in said["columns"]
    }
    return pd.DataFrame(columns, index=index)
