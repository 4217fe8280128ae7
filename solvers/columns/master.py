"""The restricted master: set partitioning over the classes generated so far, as a HiGHS LP that grows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import highspy
import numpy as np

from solvers.columns.charges import Pair, pairs_in
from solvers.columns.duals import Duals
from solvers.columns.instance import Floats, Instance, Ints

Triple = tuple[int, int, int]

_DUAL_SIMPLEX = 1
_PRIMAL_SIMPLEX = 4


@dataclass(frozen=True, eq=False)
class Relaxed:
    """An optimum of the restricted master LP."""

    value: float
    weights: Floats  # of the classes, in the order in which they were added
    duals: Duals
    missing: float  # how much only the artificial columns cover
    costs: Floats  # reduced, of the classes


class CutSet:
    """Subset-row cuts on three types: sum of floor(members in the cut / 2) * x <= floor(their copies / 2)."""

    def __init__(self, copies: Ints) -> None:
        self._copies = copies
        self.triples: list[Triple] = []
        self._known: set[Triple] = set()
        self._of: defaultdict[int, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.triples)

    def add(self, triple: Triple) -> bool:
        """Take up a cut unless it is known."""
        if triple in self._known:
            return False
        for t in triple:
            self._of[t].append(len(self.triples))
        self._known.add(triple)
        self.triples.append(triple)
        return True

    def right_side(self, number: int) -> float:
        """How often the members of the cut can be met in pairs."""
        return float(sum(int(self._copies[t]) for t in self.triples[number]) // 2)

    def coefficients(self, counts: dict[int, int]) -> dict[int, int]:
        """The non-zero coefficients of a class, given how often each type is in it."""
        totals: defaultdict[int, int] = defaultdict(int)
        for t, count in counts.items():
            for number in self._of.get(t, ()):
                totals[number] += count
        return {number: total // 2 for number, total in totals.items() if total >= 2}

    def duals(
        self,
        rows: Floats,
        count: float,
        penalties: Floats,
        pairs: Sequence[Pair] = (),
        charges: Sequence[float] = (),
    ) -> Duals:
        """The duals in the form the kernels read; cuts without a penalty are left out."""
        active = np.flatnonzero(penalties > 0)
        members = np.array([self.triples[c] for c in active], np.int64).reshape(-1, 3)
        flat = members.ravel()
        by_type = np.argsort(flat, kind="stable")
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(np.bincount(flat, minlength=len(rows)), out=starts[1:])
        return Duals(
            rows,
            count,
            penalties[active],
            members,
            starts,
            (by_type // 3).astype(np.int64),
            np.array(pairs, np.int64).reshape(-1, 2),
            np.array(charges, np.float64),
        )


class Master:
    """min sum price * x, every record in one class, optionally a fixed number of classes, subset-row cuts.

    Records that are left out are classes of one, and a row says how many they are at most.

    The first columns are artificial, two for each row, so that the LP is feasible whatever has been generated.
    Branching adds rows for how many pairs of records of two types are together, each with an artificial column.
    """

    def __init__(self, instance: Instance, big: float) -> None:
        self.instance = instance
        self.classes: list[Ints] = []
        self.prices: list[float] = []
        self.cuts = CutSet(instance.types.copies)
        self.pairs: list[Pair] = []
        self._pair_least = np.zeros(0)
        self._pair_most = np.zeros(0)
        self._big = big
        self._known: set[bytes] = set()
        self._places: list[int] = []  # columns of the classes
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        least, most = self.row_bounds()
        self._n_rows = len(most)
        for low, high in zip(least, most, strict=True):
            self._lp.addRow(low, high, 0, np.zeros(0, np.int32), np.zeros(0))
        self._n_artificial = 2 * len(most)
        rows = np.repeat(np.arange(len(most)), 2)
        self._add_columns([big] * self._n_artificial, range(self._n_artificial), rows, np.tile([1.0, -1.0], len(most)))
        self.add(instance.alone)

    def _add_columns(
        self,
        costs: Sequence[float],
        starts: Sequence[int],
        rows: Sequence[int] | Ints,
        values: Sequence[float] | Floats,
    ) -> None:
        self._lp.addCols(
            len(costs),
            np.asarray(costs, np.float64),
            np.zeros(len(costs)),
            np.full(len(costs), highspy.kHighsInf),
            len(rows),
            np.asarray(starts, np.int32),
            np.asarray(rows, np.int32),
            np.asarray(values, np.float64),
        )

    def steer(self, centre: Floats, width: Floats, amount: float) -> None:
        """Pull the records' duals into `centre` +- `width`: leaving it costs up to `amount` of each record.

        With amount 0 the master is the plain one.
        """
        n = 2 * len(centre)
        places = np.arange(n, dtype=np.int32)
        self._lp.changeColsCost(n, places, np.column_stack([centre + width, width - centre]).ravel())
        self._lp.changeColsBounds(n, places, np.zeros(n), np.full(n, amount))

    def let_go(self) -> None:
        """Steer the duals no longer, and make the LP feasible again whatever branching forbids."""
        n = self._n_artificial
        places = np.arange(n, dtype=np.int32)
        self._lp.changeColsCost(n, places, np.full(n, self._big))
        self._lp.changeColsBounds(n, places, np.zeros(n), np.full(n, highspy.kHighsInf))

    def add(self, classes: Iterable[Ints]) -> int:
        """Add the classes that are not there yet; how many those were."""
        costs: list[float] = []
        starts: list[int] = []
        rows: list[int] = []
        values: list[float] = []
        for members in classes:
            ordered = np.sort(np.asarray(members, np.int64))
            key = ordered.tobytes()
            if key in self._known:
                continue
            self._known.add(key)
            self.classes.append(ordered)
            self.prices.append(self.instance.price(ordered))
            costs.append(self.prices[-1])
            starts.append(len(rows))
            for row, value in (self.column(ordered) | self._pair_entries(ordered)).items():
                rows.append(row)
                values.append(value)
        if costs:
            first = self._lp.getNumCol()
            self._places += range(first, first + len(costs))
            self._add_columns(costs, starts, rows, values)
        return len(costs)

    def column(self, members: Ints) -> dict[int, float]:
        """Row -> coefficient of a class, but for the rows of branching."""
        counts = counts_of(members)
        column: dict[int, float] = dict(counts)
        if len(members) == 1:
            column[self._n_rows - 1] = 1.0  # the last row counts who is left out
        elif self.instance.n_classes is not None:
            column[self.instance.n_types] = 1.0
        for number, times in self.cuts.coefficients(counts).items():
            column[self._n_rows + number] = float(times)
        return column

    def add_cuts(self, triples: Iterable[Triple]) -> int:
        """Add the subset-row cuts that are not there yet; how many those were. There are none after branching."""
        first = len(self.cuts)
        for triple in triples:
            self.cuts.add(triple)
        entries: dict[int, list[tuple[int, float]]] = {number: [] for number in range(first, len(self.cuts))}
        if not entries:
            return 0
        for place, members in enumerate(self.classes):
            for number, times in self.cuts.coefficients(counts_of(members)).items():
                if number >= first:
                    entries[number].append((self._places[place], float(times)))
        for number, entry in entries.items():
            places = np.array([place for place, _ in entry], np.int32)
            values = np.array([value for _, value in entry], np.float64)
            self._lp.addRow(-highspy.kHighsInf, self.cuts.right_side(number), len(entry), places, values)
        self._lp.setOptionValue("simplex_strategy", _DUAL_SIMPLEX)
        return len(entries)

    def solve(self, seconds: float) -> Relaxed | None:
        """The LP optimum over the classes so far, or None if the time did not suffice."""
        self._lp.setOptionValue("time_limit", self._lp.getRunTime() + max(seconds, 0.05))
        self._lp.run()
        self._lp.setOptionValue("simplex_strategy", _PRIMAL_SIMPLEX)
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._lp.getSolution()
        dual = np.array(solution.row_dual)
        weights = np.array(solution.col_value)
        n_types = self.instance.n_types
        count = float(dual[n_types]) if self.instance.n_classes is not None else 0.0
        n_cuts = self._n_rows + len(self.cuts)
        penalties = np.maximum(-dual[self._n_rows : n_cuts], 0.0)
        charges = self._charges(-dual[n_cuts:])
        active = np.flatnonzero(charges)
        artificial = np.ones(len(weights), np.bool_)
        artificial[self._places] = False
        return Relaxed(
            value=float(self._lp.getObjectiveValue()),
            weights=weights[self._places],
            duals=self.cuts.duals(
                dual[:n_types].copy(), count, penalties, [self.pairs[p] for p in active], charges[active].tolist()
            ),
            missing=float(weights[artificial].sum()),
            costs=np.array(solution.col_dual)[self._places],
        )

    def row_bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of all rows, cuts included, those of branching not."""
        sides = self.instance.types.copies.astype(np.float64)
        if self.instance.n_classes is not None:
            sides = np.append(sides, float(self.instance.n_classes))
        right = np.array([self.cuts.right_side(number) for number in range(len(self.cuts))])
        if self.instance.left_out:
            right = np.append(float(self.instance.left_out), right)
        return np.append(sides, np.full(len(right), -np.inf)), np.append(sides, right)

    def dual_value(self, duals: Duals) -> float:
        """The duals times the right-hand sides: the Lagrangian bound before reduced costs are counted."""
        copies = self.instance.types.copies
        value = float(duals.rows @ copies) - self._left_out_gain(duals.rows)
        if self.instance.n_classes is not None:
            value += duals.each * self.instance.n_classes
        sides = copies[duals.members].sum(axis=1) // 2
        for pair, charge in zip(duals.pairs.tolist(), duals.charges.tolist(), strict=True):
            place = self.pairs.index((pair[0], pair[1]))
            value -= charge * float((self._pair_most if charge > 0 else self._pair_least)[place])
        return value - float(duals.penalties @ sides)

    def _left_out_gain(self, rows: Floats) -> float:
        """What partitions save at most, by these duals, by leaving out the records whose duals are the highest."""
        if not self.instance.left_out:
            return 0.0
        gains = np.repeat(rows - self.instance.left_out_price, self.instance.types.copies)
        return float(np.maximum(np.sort(gains)[-self.instance.left_out :], 0.0).sum())

    def add_pair(self, pair: Pair) -> int:
        """A row that counts the pairs of records of these two types that are together; its number."""
        if pair in self.pairs:
            return self.pairs.index(pair)
        entries = [(self._places[c], float(pairs_in(counts_of(m), pair))) for c, m in enumerate(self.classes)]
        entries = [(place, value) for place, value in entries if value]
        self._lp.addRow(
            -highspy.kHighsInf,
            highspy.kHighsInf,
            len(entries),
            np.array([place for place, _ in entries], np.int32),
            np.array([value for _, value in entries], np.float64),
        )
        self.pairs.append(pair)
        self._add_columns([self._big], [0], [self._lp.getNumRow() - 1], [1.0])
        self._pair_least = np.append(self._pair_least, -np.inf)
        self._pair_most = np.append(self._pair_most, np.inf)
        return len(self.pairs) - 1

    def restrict(self, limits: Iterable[tuple[int, float, float]]) -> None:
        """Allow just these numbers of pairs together (row, least, most); others are free."""
        self._pair_least[:] = -np.inf
        self._pair_most[:] = np.inf
        for row, least, most in limits:
            self._pair_least[row] = max(self._pair_least[row], least)
            self._pair_most[row] = min(self._pair_most[row], most)
        first = self._n_rows + len(self.cuts)
        for row in range(len(self.pairs)):
            self._lp.changeRowBounds(first + row, self._pair_least[row], self._pair_most[row])
        self._lp.setOptionValue("simplex_strategy", _DUAL_SIMPLEX)

    def _pair_entries(self, members: Ints) -> dict[int, float]:
        if not self.pairs:
            return {}
        counts, first = counts_of(members), self._n_rows + len(self.cuts)
        entries = {first + row: float(pairs_in(counts, pair)) for row, pair in enumerate(self.pairs)}
        return {row: value for row, value in entries.items() if value}

    def _charges(self, charges: Floats) -> Floats:
        """Charges that are none on the sides that are open: those would be rounding."""
        charges = np.where(np.isfinite(self._pair_most), charges, np.minimum(charges, 0.0))
        return np.where(np.isfinite(self._pair_least), charges, np.maximum(charges, 0.0))


def counts_of(members: Ints) -> dict[int, int]:
    """How often each type is in a class."""
    counts: dict[int, int] = {}
    for t in members.tolist():
        counts[t] = counts.get(t, 0) + 1
    return counts
