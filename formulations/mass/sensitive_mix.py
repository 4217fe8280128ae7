"""The sensitive side of MASS: values (numbers in bins), strata of equal values, how far classes are from the table."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import Conditions
from optmodels.errors import InputError, whole
from optmodels.metrics.privacy import Transport, distinct_l, transport_distance
from optmodels.parallel import threads
from optmodels.partition import Labels, group_rows, histograms
from optmodels.table import Table
from optmodels.table.spelling import is_number_type

Distribution = NDArray[np.float64]


@dataclass(frozen=True)
class MixDistances:
    """How far the classes of a partition are from mirroring the table."""

    privacy_loss: float  # the mean distance over classes and sensitive attributes
    t: float  # the largest
    l: int  # the fewest distinct values of an attribute in a class  # noqa: E741


class SensitiveMix:
    """Sensitive attributes of a table as numbered values; those that are numbers with more than `bins` values in bins.

    Bins hold about equally many records, and equal numbers stay together. They matter for strata and
    distances only: what is released is as it is in the table.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [30, 40, 50, 60], "bill": [10, 10, 20, 95], "illness": ["a", "b", "a", "b"]})
    >>> mix = SensitiveMix(Table(people, quasi={"age": "numeric"}, sensitive=["illness", "bill"]), bins=2)
    >>> mix.codes.tolist(), mix.l_v
    ([[0, 0], [1, 0], [0, 1], [1, 1]], 2)
    >>> mix.of(np.array([0, 0, 1, 1]))
    MixDistances(privacy_loss=0.25, t=0.5, l=1)
    """

    def __init__(self, table: Table, bins: int) -> None:
        if not table.sensitive:
            raise InputError(
                "MASS deals people to classes by their sensitive values and the table has none: name at least one "
                "column as sensitive."
            )
        whole("bins", bins, 2, "one bin would make all numbers equal")
        self.names = table.sensitive
        self.codes = np.empty((table.n, len(self.names)), np.int32)
        self.sizes: list[int] = []
        self.shares: list[Distribution] = []  # of every attribute in the table, or in what it is a part of
        self.transports: list[Transport] = []
        ends = np.cumsum([len(levels) for levels in table.sensitive_levels])
        for j, (name, shares) in enumerate(zip(self.names, np.split(table.sensitive_shares, ends[:-1]), strict=True)):
            size = len(shares)
            column, transport = table.sensitive_codes[:, j], Conditions().transport(table, j)
            numbers = is_number_type(table.frame[name].dtype) and name not in table.roles.nominal
            if numbers and name not in table.hierarchies:  # amounts, to MASS
                transport = Transport.ordered(size)
            if numbers and size > bins:
                bin_of = _bins(np.rint(shares * table.records_in_all).astype(np.int64), bins)
                column, shares = bin_of[column], np.bincount(bin_of, shares).astype(np.float64)
                size = len(shares)
                transport = Transport.ordered(size)
            self.codes[:, j] = column
            self.sizes.append(size)
            self.shares.append(shares)
            self.transports.append(transport)

    def restricted(self, rows: NDArray[np.int64]) -> SensitiveMix:
        """The same values for some of the records, which are compared with the distribution of all of them."""
        part = copy(self)
        vars(part).pop("strata", None)
        vars(part).pop("stratum_codes", None)
        part.codes = self.codes[rows]
        return part

    @property
    def l_v(self) -> int:
        """The largest number of values of a sensitive attribute."""
        return max(self.sizes)

    @cached_property
    def strata(self) -> Labels:
        """The stratum of every record: those with the same values of all sensitive attributes."""
        return group_rows(list(self.codes.T))

    @cached_property
    def stratum_codes(self) -> NDArray[np.int64]:
        """(strata, attributes) the place of each stratum's values in the distributions, one after the other."""
        starts = np.cumsum([0, *self.sizes[:-1]])
        found = np.empty((int(self.strata.max()) + 1, len(self.sizes)), np.int64)
        found[self.strata] = self.codes
        return np.asarray(found + starts, np.int64)

    def of(self, labels: Labels) -> MixDistances:
        """How far the classes are from the table, in time linear in the records; labels run from 0 to C-1."""

        def attribute(j: int) -> tuple[float, float, int]:
            found = histograms(labels, self.codes[:, j])
            distances = transport_distance(found, self.shares[j], self.transports[j])
            return float(distances.mean()), float(distances.max()), distinct_l(found)

        means, largest, fewest = zip(*_shared_out(attribute, len(self.names)), strict=True)
        return MixDistances(float(np.mean(means)), max(largest), min(fewest))


def _shared_out(work: Callable[[int], tuple[float, float, int]], count: int) -> list[tuple[float, float, int]]:
    with threads() as pool:
        return list(pool.map(work, range(count)))


def _bins(counts: NDArray[np.int64], bins: int) -> NDArray[np.int32]:
    """The bin of every value: bins hold about equally many records, and none is empty."""
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    bin_of = np.minimum((bins * middle).astype(np.int64), bins - 1)
    return np.unique(bin_of, return_inverse=True)[1].astype(np.int32)
