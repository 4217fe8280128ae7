"""Column generation: master, greedy pricing, exact pricing, with the duals steered around the best ones so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from optmodels.clock import now
from solvers.columns import split_bound
from solvers.columns.duals import Duals
from solvers.columns.greedy import grow_classes
from solvers.columns.instance import Floats, Instance, Ints
from solvers.columns.master import Master, Relaxed
from solvers.columns.pricing import Pricer
from solvers.columns.quick_bound import quick_bound

# In units of what a record costs on average: a class that saves less is none.
TOLERANCE = 1e-7
# The box around the best duals: this share of each, and of this much at least.
_BOX_SHARE = 0.1
_BOX_LEAST = 0.03
# How much of a record the master may leave uncovered, or cover twice, at the box's price.
_BOX_AMOUNT = 0.1
_COLUMNS_A_ROUND = 300
# The quick bound's time: at most this long, and this share of what is left.
_QUICK_SECONDS = 5.0
_QUICK_SHARE = 0.05
# Greedy pricing hands over to exact pricing when it finds fewer new classes than this.
_FEW = 10
_LOOK_EVERY = 100  # types whose neighbourhoods are made between two looks at the clock


@dataclass(frozen=True, eq=False)
class Certificate:
    """Duals, what they prove, and whether they are optimal for the linear master."""

    duals: Duals
    bound: float
    converged: bool


@dataclass(eq=False)
class Generation:
    """The state of a column generation; all prices are in the instance's unit."""

    instance: Instance
    master: Master
    pricer: Pricer
    proved: Callable[[float], None]
    expired: Callable[[], bool]
    remaining: Callable[[], float]
    seconds: dict[str, float] = field(default_factory=lambda: {"master": 0.0, "greedy": 0.0, "exact": 0.0})
    values: list[float] = field(default_factory=list)  # of the linear master, whenever it was solved exactly
    rounds: int = 0
    quickest: float = np.inf  # seconds of an exact pricing; the first of a process may wait for compilation
    relaxed: Relaxed | None = None
    plain: tuple[float, Floats] | None = None  # the best bound by duals of records alone, and these
    _reachable: bool | None = None  # exact pricing, as far as is known
    _amount: float | None = None  # None: there was no partition to begin from, and the duals are not steered

    def start(self, classes: list[Ints], duals: Floats | None = None) -> None:
        """Begin from a partition: its classes are the first columns, and a first guess at the duals unless some are."""
        self.master.add(classes)
        self.master.add(self._neighbourhoods())
        rows = first_duals(self.instance, classes) if duals is None else duals
        self._centre(rows, _BOX_AMOUNT)
        goal = float(rows @ self.instance.types.copies)
        deadline = now() + min(_QUICK_SECONDS, _QUICK_SHARE * self.remaining())

        def late() -> bool:
            return now() > deadline or self.expired()

        if self.instance.left_out:
            return  # these bounds are of partitions of all records
        if split_bound.applies(self.instance):
            split_bound.split_bound(self.instance, goal, self.proved, late, first_stage_only=True)
        else:
            self.proved(quick_bound(self.instance, rows, goal, late))

    def _neighbourhoods(self) -> list[Ints]:
        """Every type with its nearest records, in a few sizes: a crude but even supply of first columns."""
        instance = self.instance
        found, many = [], min(2 * instance.smallest, instance.n_types)
        for seed in range(instance.n_types):
            if seed % _LOOK_EVERY == 0 and self.expired():
                break
            distance = instance.distance[seed]
            nearest = np.argpartition(distance, many - 1)[:many]
            nearest = nearest[np.lexsort((nearest, distance[nearest]))]
            line = np.repeat(nearest, np.minimum(instance.types.copies[nearest], 2 * instance.smallest))
            sizes = sorted({instance.smallest, instance.smallest + 1, 3 * instance.smallest // 2})
            found += [line[:size] for size in sizes if size <= len(line) and instance.allows(line[:size])]
        return found

    def _centre(self, rows: Floats, amount: float) -> None:
        self._amount = amount
        self.master.steer(rows, _BOX_SHARE * np.maximum(np.abs(rows), _BOX_LEAST / _BOX_SHARE), amount)

    def converge(self, on_round: Callable[[], None], ceiling: float = np.inf) -> Certificate | None:
        """Generate until nothing is left to add or the bound reaches the ceiling; None if the time ran out first.

        The certificate says `converged` unless exact pricing was cut short or artificial columns are needed.
        """
        best: Certificate | None = None
        while not self.expired():
            with self._clock("master"):
                relaxed = self.master.solve(self.remaining())
            if relaxed is None:
                return None
            self.relaxed = relaxed
            self.rounds += 1
            with self._clock("greedy"):
                grown = grow_classes(
                    self.instance, relaxed.duals, self.reach, -TOLERANCE, _COLUMNS_A_ROUND, self.expired
                )
            added = self.master.add(grown)
            on_round()
            if added >= _FEW:
                continue
            if self.expired():
                return None
            if self._reachable is None:
                self._reachable = not self.pricer.out_of_reach(relaxed.duals, TOLERANCE, self.expired)
            if not self._reachable:
                return None
            before = self.seconds["exact"]
            with self._clock("exact"):
                priced = self.pricer.price(relaxed.duals, TOLERANCE, self.expired)
            self.quickest = min(self.quickest, self.seconds["exact"] - before)
            added += self.master.add(priced.classes)
            bound = self.master.dual_value(relaxed.duals) + priced.slack(self.instance)
            self.proved(bound)
            if self._alone(relaxed.duals) and (self.plain is None or bound > self.plain[0]):
                self.plain = bound, relaxed.duals.rows
            whole = relaxed.missing < TOLERANCE
            certificate = Certificate(relaxed.duals, bound, converged=priced.complete)
            if not priced.complete and self.expired():
                return None
            if added == 0 and whole:
                self.values.append(relaxed.value)
                return certificate
            if bound >= ceiling or (added == 0 and self._amount is None):
                return Certificate(relaxed.duals, bound, converged=False)
            if self._amount is None:
                continue
            if best is None or bound > best.bound:
                best = certificate
                self._centre(relaxed.duals.rows, self._amount)
            elif added == 0:
                # The box itself is what keeps the master from being whole.
                self._centre(best.duals.rows, self._amount / 10 if self._amount > 1e-5 else 0.0)
        return None

    @staticmethod
    def _alone(duals: Duals) -> bool:
        """Whether records alone have duals, and neither cuts, pairs nor the number of classes."""
        return len(duals.penalties) == 0 and len(duals.charges) == 0 and duals.each == 0.0

    @property
    def reach(self) -> int:
        """Greedy classes beyond this size are hopeless, unless conditions ask for them."""
        instance = self.instance
        plenty = 2 * instance.smallest - 1 if instance.types.only_size else 4 * instance.smallest + 8
        if instance.n_classes is not None:
            plenty = max(plenty, 2 * instance.n // instance.n_classes)
        return min(instance.largest, plenty)

    @contextmanager
    def _clock(self, phase: str) -> Iterator[None]:
        began = now()
        try:
            yield
        finally:
            self.seconds[phase] += now() - began


def first_duals(instance: Instance, classes: list[Ints]) -> Floats:
    """What each type costs in a partition: half of its class's price shared evenly, half by distances."""
    rows = np.zeros(instance.n_types)
    for members in classes:
        sums = instance.distance[np.ix_(members, members)].sum(axis=1)
        total = sums.sum()
        shares = sums / total if total > 0 else np.full(len(members), 1 / len(members))
        np.add.at(rows, members, instance.price(members) * 0.5 * (shares + 1 / len(members)))
    return rows / instance.types.copies
