"""A lower bound on the price of every partition, for tables of any size: duals of records that no class exceeds.

If the duals of the records of any class add up to no more than its price, then all duals together are no more than
the price of any partition. Classes of k records are enough to look at: of a class of m, the subsets of k cost k/m of
its price on average, at most. Every record's half of the distances to its k - 1 nearest is such a dual. From there
duals are raised, and lowered again wherever a class is then worth more than it costs (`repair`): what was raised too
far comes down, what need not come down stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import wait
from threading import Lock

import numpy as np

from optmodels.halting import lowered
from optmodels.parallel import threads
from optmodels.partition import group_rows
from optmodels.price import SPREAD, Price
from optmodels.structures import Priced, compiled_price
from solvers._construction.box_tree import BoxTree, grown, points_of
from solvers.bound.repair import Floats, Ints, Records, nearest_shares, repair
from solvers.columns.instance import pair_constants
from solvers.columns.search import Limit

# Of what a record costs: what a class may be worth more than it costs. It is taken off the bound.
TOLERANCE = 1e-9
_ROUNDING = 1e-12  # of the duals, as they are added up
_NODES = 3_000  # of one search
# Records whose classes are looked at by one thread at a time: whatever the cores, the bound is the same. Each chunk
# lowers a copy of all duals, so that there are never more than so many.
_CHUNK, _MOST_CHUNKS = 4_096, 64
_RAISES = (0.35, 0.35, 0.2, 0.1, 0.05, 0.02)  # by what share of themselves, one time after the other
_POLL_SECONDS = 0.1

Expired = Callable[[], bool]


class DualBound:
    """Duals of the different records of a problem whose target is a sum of prices of classes.

    >>> import pandas as pd
    >>> from formulations import Microaggregation
    >>> from optmodels import Table
    >>> table = Table(pd.DataFrame({"age": [20, 61, 22, 60, 21, 70]}), quasi={"age": "numeric"})
    >>> priced = Microaggregation(k=3).build(table).require(Priced)
    >>> bound = DualBound(priced, unit=10.0)
    >>> for _ in bound.steps(lambda: False):
    ...     pass
    >>> optimum = priced.price.total(np.array([0, 1, 0, 1, 0, 1]))
    >>> bool(0.9 * optimum < bound.value <= optimum)
    True
    """

    def __init__(self, priced: Priced, unit: float) -> None:
        """`unit` is what a record costs, roughly: duals are counted in it, so that they are about 1."""
        self._priced = priced
        self._unit = unit
        self._records, self._tree, self._place = _records(compiled_price(priced), priced, unit)
        self.halted = lowered()  # raised from outside, it ends what is being looked at
        self._limit = Limit(_NODES, self.halted.view(np.bool_))
        self.duals: Floats = np.zeros(len(self._records.copies))

    @property
    def n_steps(self) -> int:
        """How many bounds `steps` proves, given the time."""
        return 1 + len(_RAISES)

    @property
    def value(self) -> float:
        """What no partition costs less than, in the units of class prices."""
        copies, most = self._records.copies, self._priced.suppression.most
        total = float(self.duals @ copies)
        total -= _ROUNDING * float(np.abs(self.duals) @ copies) + TOLERANCE * float(copies.sum()) / self._records.k
        if most:  # whoever is left out has a price in place of a dual
            gains = np.sort(np.repeat(self.duals - self._priced.left_out_price / self._unit, copies))
            total -= float(np.maximum(gains[-most:], 0.0).sum())
        return self._unit * total

    @property
    def of_records(self) -> Floats:
        """The dual of every record, in the units of class prices."""
        return self._unit * self.duals[self._place]

    def steps(self, expired: Expired) -> Iterator[float]:
        """Better and better bounds, each as soon as it is proven."""
        duals = np.zeros_like(self.duals)

        def shares(places: Ints) -> bool:
            done: bool = nearest_shares(self._records, self._tree, places, duals, self.halted)
            return done

        if not self._in_chunks(shares, expired):
            return
        self.duals = duals
        yield self.value
        for share in _RAISES:
            raised = self._repaired(self.duals * (1.0 + share), expired)
            if raised is None:
                return
            self._keep_better(raised)
            yield self.value

    def _keep_better(self, duals: Floats) -> None:
        before, value = self.duals, self.value
        self.duals = duals
        if self.value < value:
            self.duals = before

    def _repaired(self, duals: Floats, expired: Expired) -> Floats | None:
        """The duals, lowered until no class exceeds its price; None if out of time.

        Every chunk of medoids lowers a copy of its own. What is lowest of all keeps what each of them has seen to.
        """
        lowest = duals.copy()
        locked = Lock()

        def work(places: Ints) -> bool:
            mine = duals.copy()
            done = self._repair(duals, mine, places)
            with locked:
                np.minimum(lowest, mine, out=lowest)
            return done

        return lowest if self._in_chunks(work, expired) else None

    def _repair(self, before: Floats, duals: Floats, places: Ints) -> bool:
        """Lower duals until no class of these places is worth more than it costs; False if halted before."""
        done: bool = repair(self._records, self._tree, duals, places, TOLERANCE, self._limit)
        return done

    def _in_chunks(self, work: Callable[[Ints], bool], expired: Expired) -> bool:
        """Work through all places, a chunk for each core at a time; False if out of time."""
        n = len(self.duals)
        size = max(_CHUNK, -(-n // _MOST_CHUNKS))
        with threads() as pool:
            jobs = [pool.submit(work, np.arange(low, min(low + size, n))) for low in range(0, n, size)]
            try:
                while wait(jobs, _POLL_SECONDS).not_done:
                    if expired():
                        return False
            except BaseException:  # Ctrl-C: whoever is at work stops
                self.halted[0] = True
                raise
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        return all(job.result() for job in jobs)


def _records(price: Price, priced: Priced, unit: float) -> tuple[Records, BoxTree, Ints]:
    """Equal records once, in the order of a tree of boxes, and the place of every record among them."""
    columns = [*price.numeric.T, *price.codes.T]
    type_of = group_rows(columns) if columns else np.zeros(price.n, np.int64)
    _, first, copies = np.unique(type_of, return_index=True, return_counts=True)
    power = 0.5 if price.kind == SPREAD else 1.0
    climbs = price.climbs.copy()
    climbs[:, climbs.shape[1] // 2 :] /= unit
    own = Price(price.name, price.numeric[first] / unit**power, price.codes[first], price.code_weights / unit, climbs)
    no_marks = np.zeros((len(first), 0), np.uint64)
    tree = grown(points_of(own), no_marks, np.arange(len(first)), own.code_weights)
    k = priced.test.k
    records = Records(
        own.kind,
        k,
        np.ascontiguousarray(own.numeric[tree.rows]),
        np.ascontiguousarray(own.codes[tree.rows]),
        own.code_weights,
        climbs,
        copies[tree.rows].astype(np.int64),
        *pair_constants(own.kind, k),
        priced.test._replace(codes=priced.test.codes[:0]),
    )
    place = np.empty(len(first), np.int64)
    place[tree.rows] = np.arange(len(first))
    return records, tree, place[type_of]
