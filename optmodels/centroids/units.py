"""Units of a table as arrays for compiled kernels: records with equal quasi-identifiers, sorted along one axis."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.kernels import part
from optmodels.price import Codes, Floats

Ints = NDArray[np.int64]


class Units(NamedTuple):
    """Units in the order of their place on the axis, with the sensitive values of their records."""

    numeric: Floats  # (units, d)
    codes: Codes  # (units, c)
    code_weights: Floats
    code_starts: Ints  # (c + 1): the slice of each categorical attribute in a tally of all of them
    counts: Ints  # records of each unit
    axis: int  # the numeric attribute along which units are sorted; -1 where there is none
    radix: Ints  # (c): what turns the categories of a record into one number; empty where that would be too large
    mix: Ints  # (units): which combination of categories a unit has
    mixes: Codes  # (mixes, c): the combinations of categories
    cell_starts: Ints  # (units + 1): the slice of each unit in the next two
    places: Ints  # places of sensitive values in a class's counts
    amounts: Ints


@part
def cost(units: Units, u: int, numeric: Floats, codes: Codes, c: int) -> float:
    """The squared distance of a unit from a centroid, plus the weights of mismatches."""
    total = 0.0
    for j in range(numeric.shape[1]):
        total += (units.numeric[u, j] - numeric[c, j]) ** 2
    for j in range(codes.shape[1]):
        if units.codes[u, j] != codes[c, j]:
            total += units.code_weights[j]
    return total


@part
def count(units: Units, labels: NDArray[np.int32], sizes: Ints, counts: NDArray[np.int64]) -> None:
    """Add up sizes and sensitive counts of the classes."""
    for u in range(len(labels)):
        sizes[labels[u]] += units.counts[u]
        for cell in range(units.cell_starts[u], units.cell_starts[u + 1]):
            counts[labels[u], units.places[cell]] += units.amounts[cell]
