"""The common ground of a proof: the instance, its master, the incumbent and the bound, and how they become better."""

from __future__ import annotations

import numpy as np

from optmodels.clock import now
from optmodels.solver import Run
from optmodels.structures import Priced, compiled_price
from solvers.columns.generation import Generation
from solvers.columns.instance import Instance, Ints, make_instance
from solvers.columns.integer import combine
from solvers.columns.master import Master, Relaxed
from solvers.columns.pricing import Pricer

_TO_SPARE = 0.5  # seconds: HiGHS looks at its clock only now and then
_ROUNDING = 1e-8
_INTEGRAL = 1e-6
_FOR_INTEGERS = 0.25  # of the time limit
_FOR_LOCAL_SEARCH = 0.6
_LARGE = 8  # least size of classes for which local search is the better hope


class Proof:
    """What is known of one run, in the unit of its instance: incumbent, bound, master and pricing."""

    def __init__(self, priced: Priced, run: Run, *, node_limit: int, enumeration: int) -> None:
        self.enumeration = enumeration  # how many classes may be listed
        self.priced = priced
        self.run = run
        price = compiled_price(priced)
        whole = price.of(np.arange(price.n)) or 1.0
        total = whole if run.value is None else run.value * priced.scale
        self.instance: Instance = make_instance(
            price,
            priced.test,
            largest=priced.largest,
            n_classes=priced.n_classes,
            unit=total / price.n,
            left_out=priced.suppression.most,
            left_out_price=priced.left_out_price,
        )
        self.scale = self.instance.unit / priced.scale
        # no partition costs more than everyone in one class, but for those who are left out
        self.ceiling = whole / self.instance.unit + self.instance.left_out * self.instance.left_out_price
        self.master = Master(self.instance, big=10.0 * self.ceiling + 10.0)
        self.generation = Generation(
            self.instance,
            self.master,
            Pricer(self.instance, node_limit),
            proved=self.prove,
            expired=self.enough,
            remaining=lambda: run.remaining,
        )
        self.integer_seconds = 0.0

    def prove(self, bound: float) -> None:
        """Record a bound given in the instance's unit."""
        # A hair less than computed: sums of many duals carry their rounding.
        bound -= 1e-10 * (abs(bound) + self.instance.n)
        if self.run.value is None:
            if bound > self.ceiling * (1 + 1e-6):
                self.run.infeasible("No partition satisfies the conditions: the linear relaxation has none either.")
                return
            bound = min(bound, self.ceiling)
        elif self.value < bound <= self.value + _ROUNDING * (self.value + self.instance.n):
            bound = self.value  # further beyond the incumbent it would be wrong, and the run says so
        self.run.prove(bound * self.scale)

    @property
    def value(self) -> float:
        """The incumbent's price in the instance's unit."""
        return np.inf if self.run.value is None else self.run.value / self.scale

    @property
    def bound(self) -> float:
        """The proven bound in the instance's unit."""
        return (self.run.bound or 0.0) / self.scale

    def enough(self) -> bool:
        """Generation leaves a quarter of the time to the integer master, more to local search if classes are large."""
        limit = self.run.time_limit
        share = _FOR_LOCAL_SEARCH if self.instance.smallest >= _LARGE else _FOR_INTEGERS
        return (
            self.run.expired
            or (limit is not None and self.run.remaining < share * limit)
            or bool(self.run.proven_infeasible)
        )

    def closed(self) -> bool:
        """Whether incumbent and bound have met."""
        return self.run.value is not None and self.value - self.bound <= 1e-9 * self.value

    def offer_if_integral(self, relaxed: Relaxed) -> bool:
        """Offer the optimum of the linear master if it is a partition, and say whether it is."""
        return self.offer_from(self.master, relaxed)

    def offer_from(self, master: Master, relaxed: Relaxed) -> bool:
        """The same of any master."""
        times = np.rint(relaxed.weights).astype(np.int64)
        if np.abs(relaxed.weights - times).max() >= _INTEGRAL or relaxed.missing >= _INTEGRAL:
            return False
        self.offer([master.classes[c] for c in np.flatnonzero(times) for _ in range(times[c])])
        return True

    def offer(self, classes: list[Ints]) -> None:
        """Offer a partition given by its classes."""
        self.run.offer(self.instance.labels(classes))

    def combine(self, classes: list[Ints], seconds: float, master: Master | None = None) -> tuple[float, bool]:
        """Offer the best partition made of these classes; the bound on all of them, and whether it is settled.

        Cuts are those of another master, where one is given.
        """
        began = now()
        start = None if self.run.labels is None else self.instance.classes(self.run.labels)
        listed = {members.tobytes() for members in classes if len(members) == 1}
        classes = [*classes, *(one for one in self.instance.alone if one.tobytes() not in listed)]
        best = combine(master or self.master, classes, min(seconds, self.run.remaining - _TO_SPARE), start)
        if best.classes is not None:
            self.offer(best.classes)
        self.integer_seconds += now() - began
        return best.bound, best.optimal
