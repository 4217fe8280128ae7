"""Aminifar et al. 2021: classes of equal size around k-means centres, with capped shares of sensitive values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from formulations.aminifar.balanced import BalancedProblem, Floats
from formulations.aminifar.capped import ShareBounds
from formulations.aminifar.free import FreeAminifarProblem
from optmodels.conditions import Conditions
from optmodels.errors import InputError, finite, unknown, whole
from optmodels.flow import Metric, cheapest_matching, nearest_costs
from optmodels.partition import Labels, members
from optmodels.problem import Formulation, View
from optmodels.suppression import Suppression
from optmodels.table import Table
from optmodels.table.role_types import Scaling

if TYPE_CHECKING:
    import pyomo.environ as pyo

Sizes = Literal["exact", "at-least"]
Free = Literal["free"]

# Beyond so many distances in one pass of k-means, centres come from mini-batches.
_WHOLE_BATCHES = 20_000_000
# And so many of these in all, which is a matter of seconds: no time limit runs before a problem is posed.
_BATCHED = 4_000_000_000
# Starts of k-means have so many distances between them: a problem is to be posed in seconds.
_ALL_STARTS = 10_000_000


@dataclass(frozen=True)
class Aminifar(Formulation):
    """Minimise the distance of records to the given centre of their class; every centre has a class.

    Give `k` (then there are n // k classes) or `n_clusters`. Sizes are n / n_clusters rounded down or up, or with
    `sizes="at-least"` only k or more; where records may be left out, n may be as many fewer for the number of classes
    and for the least size. A class holds at most alpha * (records of a sensitive value) / n_clusters records of that
    value; with `soft` it may hold more at `penalty` for each time the average. Without alpha, the default, it is the
    paper's baseline without diversity: say alpha, or l or t, to have any. It holds at least floor * (records of the
    value) / n_clusters. `sensitive_value` is the value that alpha and floor are about, or several, or these by the name
    of the attribute; unless told otherwise it is the 1 of a 0/1 flag and every value of any other attribute. The
    conditions l and t of an attribute with two values are a floor and a cap as well, so that k, l and t are one
    network. Centres are k-means' (the best of `n_init` starts, of fewer where the table is large), or `centres` in the
    table's own units, or with `centres="free"` the means of the classes themselves, wherever these turn out to be best.
    `metric` is the distance, and `scaling` replaces the table's. A categorical attribute counts by its weight times the
    share of the centre that has another value.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 21, 60, 61, 62, 63], "ill": [1, 1, 0, 0, 0, 1]}),
    ...     quasi={"age": "numeric"}, sensitive="ill")
    >>> problem = Aminifar(n_clusters=2, alpha=1.4, centres=((21,), (61,))).build(table)
    >>> problem.evaluate([0, 0, 0, 1, 1, 1]).values, problem.evaluate([0, 0, 0, 1, 1, 1]).violations
    ({'distance': 43.0}, {'k': 0, 'classes': 0, 'sizes': 0, 'cap': 0})
    >>> problem = Aminifar(n_clusters=2, alpha=1.2, centres=((21,), (61,))).build(table)
    >>> problem.impossible()
    "alpha=1.2 cannot hold: ... may hold 1 each. The smallest alpha that works is 1.3334."
    """

    name: ClassVar[str] = "aminifar"
    summary: ClassVar[str] = "distance to given centres, classes of equal size, capped shares of sensitive values"

    k: int | None = None
    n_clusters: int | None = None
    alpha: float | None = None
    floor: float | None = None
    soft: bool = False
    penalty: float = 1000.0
    sensitive_value: Any = None
    sizes: Sizes = "exact"
    metric: Metric = "manhattan"
    n_init: int = 10
    scaling: Scaling | None = None
    centres: tuple[tuple[float, ...], ...] | Free | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.k is None) == (self.n_clusters is None):
            raise InputError("Give Aminifar either k, the class size, or n_clusters, the number of classes.")
        if self.n_clusters is not None:
            whole("n_clusters", self.n_clusters, 1)
        if self.alpha is not None:
            finite("alpha", self.alpha, "at 1 values are spread evenly; leave it out for no cap", positive=True)
        if self.floor is not None:
            finite("floor", self.floor, "at 1 values are spread evenly; leave it out for no floor")
        finite("penalty", self.penalty)
        if self.sizes not in get_args(Sizes):
            raise unknown("rule for sizes", self.sizes, get_args(Sizes))
        if self.metric not in get_args(Metric):
            raise unknown("metric", self.metric, get_args(Metric))
        whole("n_init", self.n_init, 1)
        if isinstance(self.centres, str):
            if self.centres not in get_args(Free):
                raise unknown("kind of centres", self.centres, get_args(Free))
        elif self.centres is not None:
            rows = np.asarray(self.centres, np.float64)
            if rows.ndim != 2 or not np.isfinite(rows).all():
                raise InputError("centres must be rows of finite numbers, one row per class.")
            object.__setattr__(self, "centres", tuple(map(tuple, rows.tolist())))

    def build(self, table: Table, seed: int = 0) -> AminifarProblem | FreeAminifarProblem:
        """The problem of this table; the seed draws the first centres of k-means."""
        table = table if self.scaling is None else table.rescaled(scaling=self.scaling)
        k = self.k if self.k is not None else self._fewest(table) // self._n_clusters(table)
        conditions = self.conditions(k)
        conditions.compile(table)  # says what is wrong with k before k-means is asked for n // k centres
        points = embedded(table, self.metric)
        m = self._n_clusters(table)
        if self.centres == "free":
            return FreeAminifarProblem(
                table, self, conditions, points, m, metric=self.metric, shares=self.shares, exact=self.sizes == "exact"
            )
        centres = k_means(points, m, self.n_init, seed) if self.centres is None else self._given(table, m)
        return AminifarProblem(table, self, conditions, points, centres)

    def caution(self, table: Table) -> str:
        """That without alpha nobody looks at sensitive values, where there are any and no condition is about them."""
        asked = self.alpha, self.floor
        if asked != (None, None) or self.conditions(2) != Conditions(2, suppress=self.suppress) or not table.sensitive:
            return ""
        return (
            "Without alpha this is the paper's baseline without diversity: sensitive values have no say in classes. "
            "Give alpha, such as --param alpha=1.5, or conditions, such as --distinct-l 2."
        )

    @property
    def shares(self) -> ShareBounds:
        """What alpha and floor ask of sensitive values."""
        return ShareBounds(self.alpha, self.floor, self.soft, self.penalty, self.sensitive_value)

    def _n_clusters(self, table: Table) -> int:
        fewest = self._fewest(table)
        count = self.n_clusters if self.n_clusters is not None else max(1, fewest // max(1, int(self.k or 1)))
        if 2 * count > table.n:
            raise InputError(
                f"{count} classes of at least 2 records need {2 * count} records and the table has {table.n}: "
                "lower n_clusters."
            )
        return count

    def _fewest(self, table: Table) -> int:
        """How many records are in classes where as many are left out as may be."""
        return table.n - Suppression.of_share(self.suppress, table.n).most

    def _given(self, table: Table, m: int) -> Floats:
        centres = np.asarray(self.centres, np.float64)
        if table.categorical:
            raise InputError(
                f"centres can be given for numbers only, and '{table.categorical[0]}' is categorical: "
                "leave them out, or declare the column numeric or ordinal."
            )
        if centres.shape != (m, len(table.measured)):
            raise InputError(
                f"centres must be {m} rows of {len(table.measured)} numbers, one row per class and one number per "
                f"quasi-identifier, not {centres.shape[0]} rows of {centres.shape[1]}."
            )
        return (centres - table.centres) * _factors(table, self.metric)


class AminifarProblem(BalancedProblem):
    """Balanced classes around fixed centres.

    A partition says which records are together, not which centre is whose: its distance is that of the best way
    to give each class a centre of its own; where thousands of classes lie so badly that this would take minutes, that
    of the best way found in a set amount of work (see `cheapest_matching`). With another number of classes than
    centres, which breaks a condition anyway, every class counts with its nearest centre.
    """

    stand_in: str | None = "the distance to the centres of its own block; in the whole table classes may swap centres"

    def __init__(
        self, table: Table, formulation: Aminifar, conditions: Conditions, points: Floats, centres: Floats
    ) -> None:
        super().__init__(
            table,
            formulation,
            conditions,
            points,
            len(centres),
            metric=formulation.metric,
            shares=formulation.shares,
            exact=formulation.sizes == "exact",
        )
        self.formulation: Aminifar = formulation
        self.centres: Floats = centres
        self._columns = np.ascontiguousarray(centres.T)
        self._judged_last: dict[bytes, float] = {}

    def restricted(self, rows: NDArray[np.int64], classes: NDArray[np.int64] | None = None) -> Self:
        """The same problem for some of the records and the centres with these numbers."""
        part = super().restricted(rows, classes)
        part.centres = self.centres if classes is None else self.centres[classes]
        part._columns, part._judged_last = np.ascontiguousarray(part.centres.T), {}
        return part

    def recentred(self, labels: Labels) -> AminifarProblem:
        """The same problem around the means of the classes of a partition."""
        order, starts = members(self.check(labels))
        sums = np.add.reduceat(self.points[order], starts[:-1], axis=0)
        means = sums / np.diff(starts)[:, None]
        if len(means) != len(self.centres):
            raise InputError(f"There are {len(self.centres)} centres and the partition has {len(means)} classes.")
        around = AminifarProblem(self.table, self._around(means), self.conditions, self.points, means)
        around._left_out_price = self.left_out_price if self.conditions.suppress else None
        return around

    def _around(self, means: Floats) -> Aminifar:
        """The formulation with these centres written into it, where they can be said in the table's own units."""
        if self.table.categorical:
            return self.formulation
        factors = _factors(self.table, self.metric)
        raw = means / np.where(factors > 0, factors, 1.0) + self.table.centres
        return replace(self.formulation, centres=tuple(map(tuple, raw.tolist())))

    def values(self, labels: Labels) -> dict[str, float]:
        """The least distance over all ways to give each class its centre, plus penalties."""
        return {"distance": self._to_centres(labels) + self.penalties(labels)}

    def _to_centres(self, labels: Labels) -> float:
        """The distance alone; what a search has judged, its run judges again, and that takes no second matching."""
        known = labels.tobytes()
        total = self._judged_last.get(known)
        if total is None:
            order, starts = members(labels)
            classes = self.points, self._columns, self.metric, order, starts
            if len(starts) - 1 == len(self.centres):
                _, total = cheapest_matching(*classes)
            else:
                total = float(nearest_costs(*classes).sum())
            self._judged_last = {known: total}
        return total

    def lacks_pyomo(self) -> str | None:
        """The model has a binary variable for every record and centre."""
        from formulations.aminifar.centre_model import too_large

        return too_large(self.n, len(self.centres))

    def pyomo_leaves_out(self) -> bool:
        """The view has a variable for every record that is left out."""
        return True

    def to_pyomo(self) -> View[pyo.ConcreteModel]:
        """The paper's model, equations 3 to 7, with whole caps."""
        from formulations.aminifar.centre_model import centre_model

        return centre_model(self, self.centres)


def embedded(table: Table, metric: Metric) -> Floats:
    """Records as points: measured attributes as scaled, and for each level of a categorical one an indicator.

    Indicators are scaled so that records with different values are the mismatch weight apart.
    """
    points = table.scaled
    if metric == "manhattan":  # the table scales by the square root of a weight, which is meant to be squared
        points = points * np.sqrt([table.weights[name] for name in table.measured])
    columns = [points]
    for j, name in enumerate(table.categorical):
        half = table.mismatch_weights[j] / 2
        indicators = np.eye(len(table.levels[name]))[table.codes[:, j]]
        columns.append(indicators * (half if metric == "manhattan" else np.sqrt(half)))
    return np.ascontiguousarray(np.hstack(columns))


def _factors(table: Table, metric: Metric) -> Floats:
    """What a measured attribute is multiplied by in `embedded`, after its origin has been moved."""
    weights = np.array([table.weights[name] for name in table.measured], np.float64)
    return np.asarray((weights if metric == "manhattan" else np.sqrt(weights)) / table.scales)


def k_means(points: Floats, m: int, n_init: int, seed: int) -> Floats:
    """The m centres of k-means; for large tables of k-means on mini-batches."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        # Fewer distinct records than centres: some centres coincide, which does no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if len(points) * m <= _WHOLE_BATCHES:
            starts = max(1, min(n_init, _ALL_STARTS // (len(points) * m)))
            method = KMeans(m, n_init=starts, random_state=seed)
        else:
            # Scattered random records are a good start at this size, where k-means++ alone would take minutes.
            rounds = int(np.clip(_BATCHED // (len(points) * m), 2, 20))
            method = MiniBatchKMeans(
                m,
                init="random",
                n_init=1,
                batch_size=max(1024, 2 * m),
                max_iter=rounds,
                compute_labels=False,
                random_state=seed,
            )
        centres = method.fit(points).cluster_centers_
    return np.ascontiguousarray(centres, np.float64)
