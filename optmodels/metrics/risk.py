"""Risks that remain in a released table, from the sizes and histograms of its classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError
from optmodels.metrics.privacy import distinct_values
from optmodels.partition import Histograms, Labels, class_sizes, group_frame


def linkage(sizes: NDArray[np.int64], tau: float, people: NDArray[np.int64] | None = None) -> int:
    """Records that an attacker singles out with a probability 1 / |class| strictly above tau.

    `people` says how many people the records of each class are of, where some have several.

    >>> linkage(np.array([1, 10, 20, 30]), tau=0.05)
    11
    """
    if not 0 <= tau <= 1:
        raise InputError(f"tau is a probability between 0 and 1, not {tau!r}.")
    return int(sizes[1.0 / (sizes if people is None else people) > tau].sum())


def homogeneity(histograms: Mapping[str, Histograms]) -> dict[str, int]:
    """Records in classes with a single value: of any sensitive attribute (`total`), and of each.

    >>> from optmodels.partition import histograms
    >>> homogeneity({"illness": histograms([0, 0, 1, 1], [2, 2, 0, 1])})
    {'total': 2, 'illness': 2}
    """
    single = {name: distinct_values(found) == 1 for name, found in histograms.items()}
    sizes = next(iter(histograms.values())).sizes if histograms else np.zeros(0, np.int64)
    exposed = np.logical_or.reduce(list(single.values())) if single else np.zeros(0, np.bool_)
    total = {"total": int(sizes[exposed].sum())}
    return total | {name: int(sizes[at].sum()) for name, at in single.items()} | total  # first, and never overwritten


def disclosure(histograms: Sequence[Histograms]) -> float:
    """Probabilistic disclosure: the mean over records of their class's largest share of one sensitive value.

    It is how often an attacker is right who takes everyone to have the value most frequent among those who look the
    same (Majeed and Hwang, equation 20, with the released quasi-identifiers as pattern). Of several sensitive
    attributes the worst counts, class by class.

    >>> from optmodels.partition import histograms
    >>> disclosure([histograms([0, 0, 0, 1, 1], [2, 2, 0, 1, 1])])
    0.8
    """
    most = [np.maximum.reduceat(found.counts, found.starts[:-1]) for found in histograms]
    return float(np.maximum.reduce(most).sum() / histograms[0].sizes.sum())


def prosecutor(sizes: NDArray[np.int64]) -> float:
    """Highest probability of finding a person known to be in the table: 1 / smallest class.

    >>> prosecutor(np.array([4, 5]))
    0.25
    """
    return float(1.0 / sizes.min()) if sizes.size else 0.0


def journalist(sizes: NDArray[np.int64], population: NDArray[np.int64] | None = None) -> float:
    """Highest probability of finding a person of a population of which the table is a sample.

    `population` gives the size of each class in the population; without it the table is the population.

    >>> journalist(np.array([2, 5]), population=np.array([40, 10]))
    0.1
    """
    return prosecutor(_containing(sizes, population))


def marketer(sizes: NDArray[np.int64], population: NDArray[np.int64] | None = None) -> float:
    """Expected share of the records that are found when every record is looked for.

    >>> marketer(np.array([4, 6]))
    0.2
    """
    whole = _containing(sizes, population)
    return float((sizes / whole).sum() / sizes.sum()) if sizes.size else 0.0


def population_sizes(
    released: pd.DataFrame, labels: Labels, population: pd.DataFrame, quasi: Sequence[str]
) -> NDArray[np.int64]:
    """How many people of a population, recoded like the release, share the values of each released class.

    >>> people = pd.DataFrame({"age": ["30-39", "30-39", "40-49", "50-59"]})
    >>> population_sizes(people.iloc[[0, 2]], np.array([0, 1]), people, ["age"])
    array([2, 1])
    """
    absent = [name for name in quasi if name not in population.columns]
    if absent:
        raise InputError(f"The population has no column '{absent[0]}'; recode it like the release, column for column.")
    both = pd.concat([released[list(quasi)], population[list(quasi)]], ignore_index=True)
    groups = group_frame(both, quasi)
    of_people = np.bincount(groups[len(released) :], minlength=int(groups.max(initial=-1)) + 1)
    first = np.unique(labels, return_index=True)[1]
    return _containing(class_sizes(labels), of_people[groups[: len(released)][first]].astype(np.int64))


def _containing(sizes: NDArray[np.int64], population: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if population is None:
        return sizes
    if len(population) != len(sizes) or bool((population < sizes).any()):
        raise InputError(
            "The population must contain the released table: some released class has fewer people in the population "
            "than records in the release. Recode the population by the same rules as the table."
        )
    return population
