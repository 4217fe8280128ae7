"""What was chosen by a rule, how sure that is, and what else there was, as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from optmodels.markup import tag
from optmodels.report.sheet import Section, frame_table, sheet, signature, tiled
from optmodels.report.words import plain


def page(
    lines: Sequence[str], parameters: Mapping[str, Any], best: pd.DataFrame, command: str, source: Mapping[str, str]
) -> str:
    """The lines that are said of a choice, the best candidate of each k, and the command that comes next."""
    sections: list[Section] = [
        ("What was chosen, and how sure that is", "choice", tag("ul", *(tag("li", line) for line in lines))),
        ("The least loss at each k", "candidates", frame_table(best)),
        ("What comes next", "next", tag("pre", tag("bdi", command))),
        ("How it was made", "making", signature(source)),
    ]
    tiles = tiled([(plain(value), name) for name, value in parameters.items()])
    return sheet("Parameters chosen by a rule", [], sections, tiles=tiles)
