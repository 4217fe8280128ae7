"""The partition model: an exact MILP for classes priced by their spread, under any class-wise conditions.

Centroids are not variables. A class of m records has the squared spread (1/m) * sum of its squared pairwise
distances, which is linear once the size is known, so every pair carries its weight in the layer of its class's
size m: cliques by size. There are no class slots, hence no symmetry; the layers' degree rows make the linear
relaxation worth having; and every condition is a row about "the class of record i", its counts being sums of
pair variables. Entropy is completed lazily by the cuts of `formulations._pyomo.gibbs`.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pyomo.environ as pyo

from formulations._pyomo.condition_rows import ConditionRows
from formulations._pyomo.gibbs import GibbsCuts
from optmodels.conditions import ClassTest
from optmodels.errors import RefusedError
from optmodels.partition import LEFT_OUT, Labels, canonical, class_sizes
from optmodels.price import Price
from optmodels.problem import View
from optmodels.problem.patience import still_wanted
from optmodels.suppression import NOBODY, Suppression

# Rows grow with the cube of the records: 60 make 100,000 of them, already far beyond what is solved to the end.
MOST_RECORDS = 60


def too_large(n: int) -> str | None:
    """Why the partition model of so many records is not built, or None."""
    if n <= MOST_RECORDS:
        return None
    return f"the partition model grows with the cube of the records: it takes at most {MOST_RECORDS}, not {n}."


def partition_model(
    price: Price,
    test: ClassTest,
    *,
    price_scale: float = 1.0,
    n_classes: int | None = None,
    largest: int | None = None,
    suppression: Suppression = NOBODY,
) -> View[pyo.ConcreteModel]:
    """The model that minimises total price / price_scale over all partitions that pass the test.

    Records may be left out, at the price of that, where nothing but size is tested.

    Raises:
        RefusedError: the table is too large, or the price is no spread.
    """
    core = PartitionModel(
        price, test, price_scale=price_scale, n_classes=n_classes, largest=largest, suppression=suppression
    )
    core.model.objective = pyo.Objective(expr=core.model.loss)
    return core.view()


class PartitionModel:
    """The constraints and the loss; whoever builds it adds the objective and may free the entropy bounds."""

    def __init__(
        self,
        price: Price,
        test: ClassTest,
        *,
        price_scale: float,
        n_classes: int | None,
        largest: int | None,
        suppression: Suppression = NOBODY,
    ) -> None:
        if reason := too_large(price.n):
            raise RefusedError(f"There is no Pyomo view: {reason}")
        if price.name != "spread":
            raise RefusedError(f"The partition model prices classes by their spread, not by their {price.name}.")
        self.price = price
        self.test = test
        self.n = price.n
        self.most = min(self.n, largest or self.n)
        # What a class leaves must be so few records that they are left out, or enough for a class of their own.
        rests = {*range(suppression.most + 1), *range(test.k, self.n)}
        self.sizes = [m for m in range(test.k, self.most + 1) if self.n - m in rests]
        self.suppression = suppression
        self.model = pyo.ConcreteModel("partition")
        self._add_cliques(n_classes)
        self._add_modes()
        self._add_loss(price_scale)
        self.conditions = ConditionRows(self.model, test, range(self.n), self.count, self.size)
        self.gibbs = GibbsCuts(self.model, test, self.most, self.count)

    def view(self) -> View[pyo.ConcreteModel]:
        """The model with its way back, its way in and its cuts."""
        lazy = self.gibbs.active
        return View(self.model, decode, self.encode, (lambda model: self.gibbs.add(decode(model))) if lazy else None)

    def count(self, record: int, place: int) -> pyo.Expression:
        """How many records of the class of `record` have the sensitive value at this place."""
        still_wanted()
        codes = self.test.codes
        attribute = int(np.searchsorted(self.test.starts, place, side="right")) - 1
        having = [b for b in range(self.n) if codes[b, attribute] == place]
        return sum(1 if b == record else self.pair(record, b) for b in having)

    def size(self, record: int) -> pyo.Expression:
        """How many records the class of `record` has."""
        return 1 + sum(self.pair(record, b) for b in range(self.n) if b != record)

    def pair(self, a: int, b: int) -> pyo.Var:
        """Whether two records share a class."""
        return self.model.together[min(a, b), max(a, b)]

    def _add_cliques(self, n_classes: int | None) -> None:
        model, n, sizes = self.model, self.n, self.sizes
        pairs = list(combinations(range(n), 2))
        model.together = pyo.Var(pairs, domain=pyo.Binary)
        model.has_size = pyo.Var(range(n), sizes, domain=pyo.Binary)
        # Sizes being whole, a pair lies wholly in the layer of its class: no integrality is needed here.
        model.layer = pyo.Var(pairs, sizes, bounds=(0, 1))
        model.classes = pyo.Var(sizes, domain=pyo.NonNegativeIntegers, bounds=lambda _, m: (0, n // m))
        few = self.suppression.most > 0
        model.left_out = pyo.Var(range(n) if few else [], domain=pyo.Binary)
        model.one_size = pyo.Constraint(
            range(n),
            rule=lambda _, i: sum(model.has_size[i, m] for m in sizes) == (1 - model.left_out[i] if few else 1),
        )
        if few:
            model.few_left_out = pyo.Constraint(expr=sum(model.left_out.values()) <= self.suppression.most)
        model.one_layer = pyo.Constraint(
            pairs, rule=lambda _, a, b: sum(model.layer[a, b, m] for m in sizes) == model.together[a, b]
        )
        model.degree = pyo.Constraint(
            range(n),
            sizes,
            rule=lambda _, i, m: (
                sum(model.layer[min(i, b), max(i, b), m] for b in range(n) if b != i) == (m - 1) * model.has_size[i, m]
            ),
        )
        model.same_size = pyo.ConstraintList()
        for a, b in pairs:
            still_wanted()
            for m in sizes:
                model.same_size.add(model.layer[a, b, m] <= model.has_size[a, m])
                model.same_size.add(model.layer[a, b, m] <= model.has_size[b, m])
        model.transitive = pyo.ConstraintList()
        for a, b, c in combinations(range(n), 3):
            if c == n - 1:
                still_wanted()
            ab, bc, ac = model.together[a, b], model.together[b, c], model.together[a, c]
            model.transitive.add(ab + bc - ac <= 1)
            model.transitive.add(ab + ac - bc <= 1)
            model.transitive.add(bc + ac - ab <= 1)
        model.whole_classes = pyo.Constraint(
            sizes, rule=lambda _, m: sum(model.has_size[i, m] for i in range(n)) == m * model.classes[m]
        )
        if n_classes is not None:
            model.class_count = pyo.Constraint(expr=sum(model.classes[m] for m in sizes) == n_classes)

    def _add_modes(self) -> None:
        """The share that a value has in the released mode of a record's class; the best share is 1 by itself."""
        model, codes = self.model, self.price.codes
        places = [(j, int(v)) for j in range(codes.shape[1]) for v in np.unique(codes[:, j])]
        model.mode = pyo.Var(range(self.n), places, bounds=(0, 1))
        model.one_mode = pyo.Constraint(
            range(self.n),
            range(codes.shape[1]),
            rule=lambda _, i, j: sum(model.mode[i, place] for place in places if place[0] == j) == 1,
        )
        model.same_mode = pyo.ConstraintList()
        for (a, b), together in model.together.items():
            still_wanted()
            for place in places:
                model.same_mode.add(model.mode[a, place] - model.mode[b, place] <= 1 - together)
                model.same_mode.add(model.mode[b, place] - model.mode[a, place] <= 1 - together)

        @model.Expression(range(codes.shape[1]))
        def mismatches(_: pyo.ConcreteModel, j: int) -> pyo.Expression:
            return sum(1 - model.mode[i, j, int(codes[i, j])] for i in range(self.n))

        @model.Constraint(range(codes.shape[1]))
        def pairs_differ(_: pyo.ConcreteModel, j: int) -> pyo.Expression:
            # m - mode >= (1/m) * pairs that differ, since 1 - sum p^2 <= 2 (1 - max p): it tightens the relaxation.
            differing = sum(variable / m for (a, b, m), variable in model.layer.items() if codes[a, j] != codes[b, j])
            return model.mismatches[j] >= differing

    def _add_loss(self, price_scale: float) -> None:
        numeric = self.price.numeric
        squared = {(a, b): float(((numeric[a] - numeric[b]) ** 2).sum()) for a, b in self.model.together}
        self.model.loss = pyo.Expression(
            expr=sum(squared[a, b] / (m * price_scale) * layer for (a, b, m), layer in self.model.layer.items())
            + sum(
                float(weight) / price_scale * self.model.mismatches[j]
                for j, weight in enumerate(self.price.code_weights)
            )
            + self.suppression.price * sum(self.model.left_out.values())
        )

    def encode(self, labels: Labels) -> bool:
        """Write a partition into the variables; False if it has a class of a size that the model leaves out."""
        labels = canonical(labels)
        sizes = class_sizes(labels)
        if not set(sizes.tolist()) <= set(self.sizes):
            return False
        model, codes = self.model, self.price.codes
        out = labels == LEFT_OUT
        if out.any() and not self.suppression.most:
            return False
        for i, variable in model.left_out.items():
            variable.set_value(int(out[i]))
        # those left out are classes of one, which no size and no pair knows of
        labels = np.where(out, len(sizes) + np.arange(self.n), labels)
        own = np.where(out, 1, np.append(sizes, np.ones(self.n, np.int64))[labels])
        for (a, b), variable in model.together.items():
            variable.set_value(int(labels[a] == labels[b]))
        for (a, b, m), variable in model.layer.items():
            variable.set_value(int(labels[a] == labels[b] and own[a] == m))
        for (i, m), variable in model.has_size.items():
            variable.set_value(int(own[i] == m))
        for m, variable in model.classes.items():
            variable.set_value(int((sizes == m).sum()))
        modes = {
            int(c): [int(np.bincount(codes[labels == c, j]).argmax()) for j in range(codes.shape[1])]
            for c in np.unique(labels)
        }
        for (i, j, v), variable in model.mode.items():
            variable.set_value(int(modes[int(labels[i])][j] == v))
        self.conditions.encode()
        self.gibbs.encode(labels)
        return True


def decode(model: pyo.ConcreteModel) -> Labels:
    """The classes of a solved partition model."""
    pairs = np.array([pair for pair, variable in model.together.items() if pyo.value(variable) > 0.5], np.int64)
    return without_left_out(components(len(model.one_size), pairs.reshape(-1, 2)), model)


def without_left_out(labels: Labels, model: pyo.ConcreteModel) -> Labels:
    """The labels, those left out of all classes who are by the model's variables."""
    result = labels.copy()
    result[[i for i, variable in model.left_out.items() if pyo.value(variable) > 0.5]] = LEFT_OUT
    return canonical(result)


def components(n: int, pairs: np.ndarray) -> Labels:
    """Connected components of the records, as labels 0..C-1.

    >>> components(4, np.array([[0, 2], [2, 3]]))
    array([0, 1, 0, 0])
    """
    labels = np.arange(n)
    for a, b in pairs:
        labels[labels == labels[b]] = labels[a]
    return canonical(labels)
