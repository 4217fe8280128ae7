"""Whether rows that are to be held out were learned from after all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from pandas.api import types

from optmodels.errors import InputError
from optmodels.table.encoding import level_text

_RARE = 0.01


def overlap_note(original: pd.DataFrame, held_out: pd.DataFrame, columns: Sequence[str]) -> str:
    """In words, how many held-out rows occur whole in the original, where that is more than chance; '' otherwise.

    Different people may have equal records. So the original says what chance does: of new people about as many have
    an equal in it as of its own people have one among the others. Rows that all occur and cannot all be chance are
    an error.

    >>> original = pd.DataFrame({"age": [20, 31, 42, 53], "ill": ["no", "no", "yes", "yes"]})
    >>> overlap_note(original, pd.DataFrame({"age": [20.0, 33.0], "ill": ["no", "no"]}), ["age", "ill"])
    '1 of 2 held-out rows occur whole in the original, where 0% of the rows have an equal: ...'
    >>> overlap_note(original, pd.DataFrame({"age": [21, 33], "ill": ["no", "no"]}), ["age", "ill"])
    ''
    >>> overlap_note(original, original[:3], ["age", "ill"])
    Traceback (most recent call last):
    optmodels.errors.InputError: All 3 held-out rows occur in the original: ...
    """
    from scipy.stats import binom

    if held_out.empty:
        raise InputError("There are no held-out rows: the table of them is empty.")

    cells = pd.DataFrame({name: _codes(original[name], held_out[name]) for name in columns})
    records = cells.groupby(list(columns), sort=False).ngroup().to_numpy()
    known, asked = records[: len(original)], records[len(original) :]
    twins = float(pd.Series(known).duplicated(keep=False).mean())
    found = int(np.isin(asked, known).sum())
    if not found or binom.sf(found - 1, len(asked), twins) >= _RARE:
        return ""
    if found == len(asked):
        raise InputError(
            f"All {found:,} held-out rows occur in the original: whoever learns from it has seen them. Hold out rows "
            "first and give the rest as the original; for rows of the original use 'linked', or neither."
        )
    return (
        f"{found:,} of {len(asked):,} held-out rows occur whole in the original, where {twins:.0%} of the rows have an "
        "equal: they are probably the same people, who were learned from, so scores are too high."
    )


def _codes(before: pd.Series, after: pd.Series) -> pd.Series:
    """Numbers that are equal where cells are, whether a file gave them as whole numbers, decimals or text."""
    columns = [before, after]
    if not all(types.is_numeric_dtype(column.dtype) for column in columns):
        columns = [column.astype(object).map(level_text, na_action="ignore") for column in columns]
    return pd.Series(pd.factorize(pd.concat(columns, ignore_index=True))[0])
