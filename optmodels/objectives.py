"""Objectives by name: quantities of a partition that any problem can be judged by, whatever it optimises itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.conditions import Conditions
from optmodels.errors import InputError, unknown
from optmodels.metrics import risk
from optmodels.metrics.privacy import Transport, entropies, transport_distance
from optmodels.objective import Measure
from optmodels.objective import Objective as Objective
from optmodels.objective import Sense as Sense
from optmodels.partition import LEFT_OUT, Histograms, Labels, class_sizes, histograms
from optmodels.table import Table

# The name of whatever a problem itself makes small or large.
OWN = "loss"
SUPPRESSED = "suppressed"
ENTROPY = "entropy"
TAU = 0.05
CLASSIFIER = "lr"  # learns little by heart, so that its scores tell partitions apart


@dataclass(frozen=True)
class Quantity:
    """What the table alone says of a partition; `measure` is made for a table and what stands after an @."""

    meaning: str
    measure: Callable[[Table, Any], Measure]
    worst: Callable[[Table], float]
    sense: Sense = "min"
    sensitive: bool = True  # whether it is about sensitive attributes
    usual: float | str | None = None  # a threshold or the name of a classifier, unless another is given after an @
    between: tuple[float, float] = (0.0, 1.0)  # what a threshold may be
    threshold: str = "a probability"  # what it is


def least_entropies(table: Table, labels: Labels) -> NDArray[np.float64]:
    """The least entropy of a class, in bits, for each sensitive attribute; labels run from 0 to C-1."""
    return np.array([entropies(histograms(labels, codes)).min() for codes in table.sensitive_codes.T])


def _entropy(table: Table, _: None) -> Measure:
    return lambda labels: float(least_entropies(table, labels).sum())


def _least_sum(table: Table, _: None) -> Measure:
    def measure(labels: Labels) -> float:
        return float(np.sum([entropies(found) for found in _histograms(table, labels)], axis=0).min())

    return measure


def _linkage(table: Table, tau: float) -> Measure:
    return lambda labels: float(risk.linkage(class_sizes(labels), tau, table.people_in(labels)))


def _homogeneity(table: Table, _: None) -> Measure:
    def measure(labels: Labels) -> float:
        found = {str(j): histograms(labels, codes) for j, codes in enumerate(table.sensitive_codes.T)}
        return float(risk.homogeneity(found)["total"])

    return measure


def _homogeneity_of_all(table: Table, _: None) -> Measure:
    return lambda labels: float(risk.homogeneity_of_all(_histograms(table, labels)))


def _skewness(table: Table, factor: float) -> Measure:
    distributions = _distributions(table)
    return lambda labels: float(risk.skewness(_histograms(table, labels), distributions, factor))


def _similarity(table: Table, apart: float) -> Measure:
    transports = _usual_transports(table)
    return lambda labels: float(risk.similarity(_histograms(table, labels), transports, apart))


def _histograms(table: Table, labels: Labels) -> list[Histograms]:
    return [histograms(labels, codes) for codes in table.sensitive_codes.T]


def _usual_transports(table: Table) -> list[Transport]:
    # t as it is promised unless told otherwise: hierarchical, ordered or equal distances
    return [Conditions().transport(table, j) for j in range(len(table.sensitive))]


def _distributions(table: Table) -> list[NDArray[np.float64]]:
    """The shares of the values of each sensitive attribute in the whole table."""
    ends = np.cumsum([len(levels) for levels in table.sensitive_levels])
    return np.split(table.sensitive_shares, ends[:-1])


def _closeness(table: Table, _: None) -> Measure:
    return _furthest(table, _usual_transports(table))


def _variational(table: Table, _: None) -> Measure:
    return _furthest(table, [Transport.variational(len(levels)) for levels in table.sensitive_levels])


def _furthest(table: Table, transports: Sequence[Transport]) -> Measure:
    attributes = list(zip(table.sensitive_codes.T, _distributions(table), transports, strict=True))

    def measure(labels: Labels) -> float:
        return max(
            float(transport_distance(histograms(labels, codes), shares, transport).max())
            for codes, shares, transport in attributes
        )

    return measure


def _classes(_: Table, __: None) -> Measure:
    return lambda labels: float(labels.max(initial=-1) + 1)


def _utility(table: Table, classifier: str) -> Measure:
    from optmodels.metrics.utility.held_out import held_out_f1

    return held_out_f1(table, classifier)


QUANTITIES: Mapping[str, Quantity] = {
    ENTROPY: Quantity(
        "bits: sum over sensitive attributes of the least entropy of a class", _entropy, lambda _: 0.0, "max"
    ),
    "entropy-least-sum": Quantity(
        "bits: the least over classes of the sum over sensitive attributes of their entropies",
        _least_sum,
        lambda _: 0.0,
        "max",
    ),
    "linkage": Quantity(
        "records that are singled out with a probability 1/|class| above a threshold",
        _linkage,
        lambda table: float(table.n),
        sensitive=False,
        usual=TAU,
    ),
    "homogeneity": Quantity(
        "records in classes where some sensitive attribute has one value", _homogeneity, lambda table: float(table.n)
    ),
    "homogeneity-all": Quantity(
        "records in classes where every sensitive attribute has one value",
        _homogeneity_of_all,
        lambda table: float(table.n),
    ),
    "skewness": Quantity(
        "records in classes where some sensitive value is more than so many times as frequent as in the table",
        _skewness,
        lambda table: float(table.n),
        usual=risk.SKEWED,
        between=(1.0, inf),
        threshold="a factor",
    ),
    "similarity": Quantity(
        "records in classes where no two values of some sensitive attribute are further apart than this",
        _similarity,
        lambda table: float(table.n),
        usual=risk.ALIKE,
        threshold="a distance",
    ),
    "closeness": Quantity(
        "the largest distance (t) of a sensitive attribute in a class from the table", _closeness, lambda _: 1.0
    ),
    "variational": Quantity(
        "the largest variational distance (D, the sum of |p - q|) of a sensitive attribute in a class from the table",
        _variational,
        lambda _: 2.0,
    ),
    "classes": Quantity("number of classes", _classes, lambda _: 1.0, "max", sensitive=False),
    SUPPRESSED: Quantity(
        "records that are left out of all classes",
        lambda _table, _: lambda labels: float((labels == LEFT_OUT).sum()),
        lambda table: float(table.n),
        sensitive=False,
    ),
    "utility": Quantity(
        "F1 on held-out original rows of a classifier that learned from centroids of the others' classes",
        _utility,
        lambda _: 0.0,
        "max",
        sensitive=False,
        usual=CLASSIFIER,
    ),
}


def quantity_of(name: str) -> tuple[str, float | str | None]:
    """The quantity that a name asks for, and the threshold or the classifier where it has one.

    >>> quantity_of("linkage@0.075"), quantity_of("linkage"), quantity_of("entropy"), quantity_of("utility@nb")
    (('linkage', 0.075), ('linkage', 0.05), ('entropy', None), ('utility', 'nb'))
    >>> quantity_of("linkag")
    Traceback (most recent call last):
    optmodels.errors.InputError: There is no objective 'linkag'. Did you mean 'linkage'? ...
    """
    quantity, at, text = name.partition("@")
    if quantity not in QUANTITIES:
        raise unknown("objective", name, (OWN, *QUANTITIES))
    usual = QUANTITIES[quantity].usual
    if not at:
        return quantity, usual
    if usual is None:
        raise InputError(f"The objective '{quantity}' takes no threshold: write '{quantity}' instead of '{name}'.")
    if isinstance(usual, str):
        from optmodels.metrics.utility.classifiers import checked_classifiers

        return quantity, checked_classifiers([text])[0]
    try:
        threshold = float(text)
    except ValueError:
        threshold = -1.0
    (least, most), what = QUANTITIES[quantity].between, QUANTITIES[quantity].threshold
    if not least <= threshold <= most or isinf(threshold):
        limits = f"of at least {least:g}" if isinf(most) else f"between {least:g} and {most:g}"
        raise InputError(f"The threshold of '{name}' must be {what} {limits}, as in '{quantity}@{usual:g}'.")
    return quantity, threshold


def objective_named(name: str, table: Table) -> Objective:
    """The objective of this name for partitions of a table.

    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"age": [20, 21, 60, 61]}), quasi={"age": "numeric"})
    >>> linkage = objective_named("linkage@0.4", table)
    >>> linkage.sense, linkage.worst, linkage.measure(np.array([0, 0, 1, 2]))
    ('min', 4.0, 4.0)

    Raises:
        InputError: there is no such objective, or it is about sensitive attributes and the table has none.
    """
    key, setting = quantity_of(name)
    quantity = QUANTITIES[key]
    if quantity.sensitive and not table.sensitive:
        raise InputError(
            f"The objective '{name}' is about sensitive attributes and the table has none: name at least one column "
            "as sensitive, or choose another objective."
        )
    measure = quantity.measure(table, setting)
    return Objective(name, quantity.sense, quantity.meaning, quantity.worst(table), measure, quantity=name)
