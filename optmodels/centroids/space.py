"""The search space of centroid matrices of a problem, and the way to partitions and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from optmodels.centroids.centres import centroids_of
from optmodels.centroids.kernel import AlsoMeasured, Partitions, decode_all
from optmodels.centroids.units import Units
from optmodels.conditions import ClassTest
from optmodels.halting import Flag, lowered
from optmodels.parallel import cores, threads
from optmodels.partition import Labels, canonical, group_rows, histograms
from optmodels.price import Codes, Floats, Price

# Classes that could not be mended with whole units are mended record by record, in tables of up to this size.
_ONE_BY_ONE = 100_000
# Fewer units in all matrices together are decoded by one core: on a busy machine, waiting for the others takes longer.
_FEW = 20_000
# Units that are decoded between two looks at the flag that ends a search.
_PIECE = 40_000
_LARGEST_KEY = 2.0**62


class Matrices(NamedTuple):
    """Several matrices of centroids: numeric (m, centroids, d) and codes (m, centroids, c)."""

    numeric: Floats
    codes: Codes

    def only(self, chosen: NDArray[np.int64] | slice) -> Matrices:
        """Some of the matrices."""
        return Matrices(self.numeric[chosen], self.codes[chosen])


@dataclass(frozen=True, eq=False)
class Grain:
    """How finely records are told apart: the unit of each record, and the units."""

    unit_of: Labels
    units: Units

    @classmethod
    def of(cls, price: Price, test: ClassTest, groups: Labels) -> Grain:
        """Units from any grouping of records with equal quasi-identifiers, numbered along the axis."""
        axis = int(np.argmax(price.numeric.var(axis=0))) if price.numeric.shape[1] else -1
        _, first = np.unique(groups, return_index=True)
        if axis >= 0:
            order = np.argsort(price.numeric[first, axis], kind="stable")
            rank = np.empty(len(first), np.int64)
            rank[order] = np.arange(len(first))
            groups, first = rank[groups], first[order]
        cells = [histograms(groups, codes) for codes in test.codes.T]
        owners = [np.repeat(np.arange(len(first)), np.diff(cell.starts)) for cell in cells]
        owner = np.concatenate([np.zeros(0, np.int64), *owners])
        order = np.argsort(owner, kind="stable")
        n_codes = price.codes.max(axis=0, initial=0).astype(np.int64) + 1
        whole = float(np.prod(n_codes.astype(np.float64)))
        radix = np.cumprod([1, *n_codes[:-1]])[: len(n_codes)] if whole < _LARGEST_KEY else np.zeros(0)
        mixes, mix = np.unique(price.codes[first], axis=0, return_inverse=True)
        units = Units(
            numeric=np.ascontiguousarray(price.numeric[first]),
            codes=np.ascontiguousarray(price.codes[first]),
            code_weights=price.code_weights,
            code_starts=np.cumsum([0, *n_codes]).astype(np.int64),
            counts=np.bincount(groups).astype(np.int64),
            axis=axis,
            radix=radix.astype(np.int64),
            mix=mix.ravel().astype(np.int64),
            mixes=mixes.astype(np.int32),
            cell_starts=np.searchsorted(owner[order], np.arange(len(first) + 1)).astype(np.int64),
            places=np.concatenate([np.zeros(0, np.int64), *(cell.values for cell in cells)])[order].astype(np.int64),
            amounts=np.concatenate([np.zeros(0, np.int64), *(cell.counts for cell in cells)])[order].astype(np.int64),
        )
        return cls(groups, units)


@dataclass(frozen=True, eq=False)
class Decoded:
    """Partitions of units; those of some decisions needed the finer grain of single records."""

    coarse: Grain
    partitions: Partitions
    fine: Grain | None = None
    fine_labels: Mapping[int, NDArray[np.int32]] = field(default_factory=dict)

    def labels(self, i: int) -> Labels:
        """The class of each record under decision i."""
        grain, labels = self.parts(i)
        return canonical(labels[grain.unit_of])

    def parts(self, i: int) -> tuple[Grain, NDArray[np.int32]]:
        """The grain of decision i and the centroid of each unit."""
        if i in self.fine_labels:
            assert self.fine is not None
            return self.fine, self.fine_labels[i]
        return self.coarse, self.partitions.labels[i]


@dataclass(frozen=True, eq=False)
class CentroidSpace:
    """Matrices of centroids as decisions: each record joins its nearest centroid, and broken classes are mended.

    A flat decision is the matrix row by row, for each centroid its numeric coordinates (scaled as the price has
    them), then its categories as whole numbers. Centroids that attract nobody have no class.

    >>> import pandas as pd
    >>> from optmodels import Table
    >>> from optmodels.conditions import Conditions
    >>> from optmodels.price import spread
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> space = CentroidSpace(spread(table), Conditions(k=3).compile(table), n_centroids=3)
    >>> space.labels(np.array([20.0, 60.0, 70.0]))  # the class of 70 alone is dissolved
    array([0, 1, 0, 1, 0, 1])
    """

    at_once: ClassVar[int] = 1_000  # decisions that are decoded in a moment

    price: Price
    test: ClassTest
    n_centroids: int
    fixed: bool = False  # whether every centroid must have a class
    halt: Flag = field(kw_only=True, default_factory=lowered)  # raised, what takes long is given up

    @property
    def width(self) -> int:
        """Coordinates of one centroid."""
        return int(self.price.numeric.shape[1] + self.price.codes.shape[1])

    @property
    def size(self) -> int:
        """Length of a flat decision."""
        return self.n_centroids * self.width

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """Number of categories of each categorical attribute."""
        return np.asarray(self.price.codes.max(axis=0, initial=0).astype(np.int64) + 1)

    @cached_property
    def _coarse(self) -> Grain:
        """Records with equal quasi-identifiers as one unit."""
        return Grain.of(self.price, self.test, group_rows([*self.price.numeric.T, *self.price.codes.T]))

    @cached_property
    def _fine(self) -> Grain:
        """Every record as its own unit."""
        return Grain.of(self.price, self.test, np.arange(self.price.n))

    @property
    def low(self) -> Floats:
        """The least value of each coordinate of a flat decision."""
        return np.tile(np.concatenate([self.price.numeric.min(axis=0), np.zeros(len(self.n_codes))]), self.n_centroids)

    @property
    def high(self) -> Floats:
        """The largest value of each coordinate of a flat decision."""
        return np.tile(np.concatenate([self.price.numeric.max(axis=0), self.n_codes - 1.0]), self.n_centroids)

    def matrices(self, decisions: Floats) -> Matrices:
        """Flat decisions, one per row, as matrices; categories are rounded into their range."""
        d = self.price.numeric.shape[1]
        cubes = np.asarray(decisions, np.float64).reshape(-1, self.n_centroids, self.width)
        codes = np.clip(np.rint(cubes[:, :, d:]), 0, self.n_codes - 1).astype(np.int32)
        return Matrices(np.ascontiguousarray(cubes[:, :, :d]), np.ascontiguousarray(codes))

    def flat(self, matrices: Matrices) -> Floats:
        """Matrices as flat decisions, one per row."""
        return np.concatenate(matrices, axis=2, dtype=np.float64).reshape(len(matrices.numeric), -1)

    def decode(self, decisions: Floats, asked: AlsoMeasured | None = None, *, mend: bool = True) -> Decoded:
        """What becomes of flat decisions, one per row; all at once, on all cores."""
        asked = asked or AlsoMeasured(np.zeros(0), False)
        matrices, coarse = self.matrices(decisions), self._coarse
        found = self._decoded(coarse.units, asked, matrices, mend)
        unmended = np.flatnonzero(found.missing)
        if not mend or not len(unmended) or self.price.n > _ONE_BY_ONE or len(coarse.units.counts) == self.price.n:
            return Decoded(coarse, found)
        again = self._decoded(self._fine.units, asked, matrices.only(unmended), mend)
        for before, better in zip(found[1:], again[1:], strict=True):
            before[unmended] = better
        return Decoded(coarse, found, self._fine, dict(zip(unmended.tolist(), again.labels, strict=True)))

    def _decoded(self, units: Units, asked: AlsoMeasured, matrices: Matrices, mend: bool) -> Partitions:
        many, each = len(matrices.numeric), max(1, len(units.counts))
        workers = 1 if many * each < _FEW else cores()
        step = max(1, min(_PIECE // (workers * each), ceil(many / workers)))

        def decoded(at: int) -> Partitions:
            piece = matrices.only(slice(at, at + step))
            halt = self.halt if many > 1 else lowered()  # who asks for one decision wants to know what it is
            if halt[0]:
                return _given_up(units, self.test, asked, len(piece.numeric))
            found: Partitions = decode_all(units, self.test, asked, *piece, self.fixed, mend, halt)
            return found

        starts = range(0, max(1, many), step)
        if workers == 1 or len(starts) == 1:
            found = [decoded(at) for at in starts]
        else:
            with threads(workers) as pool:
                found = list(pool.map(decoded, starts))
        return found[0] if len(found) == 1 else Partitions(*map(np.concatenate, zip(*found, strict=True)))

    def labels(self, decision: Floats, *, mend: bool = True) -> Labels:
        """The class of each record under one flat decision."""
        return self.decode(decision, mend=mend).labels(0)

    def polished(self, decisions: Floats, decoded: Decoded) -> Floats:
        """The means and modes of the classes as decisions; they never cost more for the same classes."""
        matrices = self.matrices(decisions)
        for i, (numeric, codes) in enumerate(zip(*matrices, strict=True)):
            grain, labels = decoded.parts(i)
            centroids_of(grain.units, labels, numeric, codes)
        return self.flat(matrices)

    def decision(self, labels: Labels) -> Floats:
        """The means and modes of a partition's classes; of more classes than centroids the smallest are left out."""
        labels = canonical(labels)
        sizes = np.bincount(labels)
        kept = np.argsort(-sizes, kind="stable")[: self.n_centroids]
        matrix = np.zeros((self.n_centroids, self.width))
        d = self.price.numeric.shape[1]
        place = np.full(len(sizes), -1)
        place[kept] = np.arange(len(kept))
        at = place[labels]
        inside = at >= 0
        for j in range(d):
            sums = np.bincount(at[inside], self.price.numeric[inside, j], minlength=len(kept))
            matrix[: len(kept), j] = sums / sizes[kept]
        for j, n_codes in enumerate(self.n_codes):
            tally = np.bincount(at[inside] * n_codes + self.price.codes[inside, j], minlength=len(kept) * n_codes)
            matrix[: len(kept), d + j] = tally.reshape(len(kept), n_codes).argmax(axis=1)
        matrix[len(kept) :] = matrix[0]  # copies have no class of their own
        return matrix.ravel()


def _given_up(units: Units, test: ClassTest, asked: AlsoMeasured, many: int) -> Partitions:
    """Matrices that there was no time for, told as those that no mending could help."""
    n = int(units.counts.sum())
    return Partitions(
        labels=np.zeros((many, len(units.counts)), np.int32),
        prices=np.full(many, np.inf),
        classes=np.ones(many, np.int64),
        homogeneous=np.full(many, n),
        closeness=np.full(many, np.inf),
        entropies=np.zeros((many, len(test.starts) - 1)),
        linkable=np.full((many, len(asked.taus)), n),
        missing=np.full(many, n),
    )
