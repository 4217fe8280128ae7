"""Risks that remain in a released table, from the sizes and histograms of its classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.errors import InputError
from optmodels.metrics.privacy import TOLERANCE, Transport, distinct_values
from optmodels.partition import Histograms, Labels, class_sizes, group_frame

SKEWED = 2.0  # times as frequent in a class as in the table, from which on a skewness attack is counted
ALIKE = 0.5  # as far apart as values may be that a similarity attack takes for one


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


def homogeneity_of_all(histograms: Sequence[Histograms]) -> int:
    """Records in classes where every sensitive attribute has a single value: whoever finds the class knows them all.

    >>> from optmodels.partition import histograms
    >>> homogeneity_of_all([histograms([0, 0, 1, 1], [2, 2, 0, 0]), histograms([0, 0, 1, 1], [0, 1, 1, 1])])
    2
    """
    single = [distinct_values(found) == 1 for found in histograms]
    return int(histograms[0].sizes[np.logical_and.reduce(single)].sum()) if histograms else 0


def skewness(
    histograms: Sequence[Histograms], table_shares: Sequence[NDArray[np.float64]], factor: float = SKEWED
) -> int:
    """Records open to a skewness attack: some sensitive value is more than `factor` times as frequent in their class.

    As frequent, that is, as in the whole table: to know the class makes the value so many times as likely. Nobody is
    open to it if and only if basic beta-likeness holds with beta = factor - 1.

    >>> from optmodels.partition import histograms
    >>> found = histograms([0, 0, 0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0, 0])
    >>> skewness([found], [np.array([5 / 8, 3 / 8])], factor=1.9)  # 3/4 of the first class where 3/8 of all have it
    4
    """
    if not factor >= 1:
        raise InputError(f"The factor of a skewness attack is at least 1, as frequent as in the table, not {factor!r}.")
    exposed = [
        _any_in_class(found.counts > shares[found.values] * (factor + TOLERANCE) * _of_entries(found), found)
        for found, shares in zip(histograms, table_shares, strict=True)
    ]
    return _in_some(exposed, histograms)


def similarity(histograms: Sequence[Histograms], transports: Sequence[Transport], apart: float = ALIKE) -> int:
    """Records open to a similarity attack: in their class no two values of some sensitive attribute are far apart.

    Far apart is further than `apart`, by the distance behind t: the places between two values of an order as a share of
    the whole order, or the level of a hierarchy on which they meet as a share of its height; of names all are 1 apart,
    so that only a single value is alike. Whoever finds the class knows the value roughly, be they all different.

    >>> from optmodels.partition import histograms
    >>> pay = histograms([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 5, 8])  # thirds of an order of nine
    >>> similarity([pay], [Transport.ordered(9)], apart=0.25)
    3
    """
    if not 0 <= apart <= 1:
        raise InputError(f"How far apart alike values may be is a distance from 0 to 1, not {apart!r}.")
    exposed = []
    for found, transport in zip(histograms, transports, strict=True):
        places = np.empty_like(transport.order)
        places[transport.order] = np.arange(len(places))
        at, starts = places[found.values], found.starts[:-1]
        ends = (ufunc.reduceat(at, starts) if at.size else at for ufunc in (np.minimum, np.maximum))
        first, last = (transport.order[end] for end in ends)
        # many classes have few pairs of ends
        pairs, which = np.unique(first * len(places) + last, return_inverse=True)
        far = transport.between(pairs // len(places), pairs % len(places)) if len(places) else np.zeros(0)
        exposed.append(far[which] <= apart + TOLERANCE)
    return _in_some(exposed, histograms)


def _of_entries(found: Histograms) -> NDArray[np.int64]:
    """The size of the class of every entry of histograms."""
    return np.repeat(found.sizes, np.diff(found.starts))


def _any_in_class(entries: NDArray[np.bool_], found: Histograms) -> NDArray[np.bool_]:
    return np.logical_or.reduceat(entries, found.starts[:-1]) if entries.size else np.zeros(0, np.bool_)


def _in_some(exposed: Sequence[NDArray[np.bool_]], histograms: Sequence[Histograms]) -> int:
    """Records of the classes that some attribute exposes."""
    return int(histograms[0].sizes[np.logical_or.reduce(exposed)].sum()) if exposed else 0


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
