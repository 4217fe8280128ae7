"""Utility of partitions as an objective: how well a classifier, taught by released rows, knows others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from optmodels.metrics.utility.features import FeatureSpace
from optmodels.metrics.utility.protocol import Protocol
from optmodels.metrics.utility.scoring import Rows, learn
from optmodels.metrics.utility.targets import encoded_target, target_of
from optmodels.parallel import in_parallel
from optmodels.partition import LEFT_OUT, Labels
from optmodels.recoding import recode

if TYPE_CHECKING:
    from optmodels.table import Table

_FOLDS = 3


def held_out_f1(table: Table, classifier: str) -> Callable[[Labels], float]:
    """A measure of partitions: F1, mean over the target's levels, of cross-validated models of the released rows.

    The folds and the seed are fixed, so that two partitions differ by what they lose and by nothing else. Classes
    are released by the centroids of their people who are learned from, so that nothing of the people asked about
    is in what is learned.

    >>> import optmodels as om
    >>> measure = held_out_f1(om.dataset("german"), "lr")
    >>> bool(0.5 < measure(np.arange(1000)) < 0.7)
    True
    """
    how = Protocol(classifiers=[classifier], folds=_FOLDS, splits=1)
    target, codes = encoded_target(table.frame, target_of(table, None), how)
    space = FeatureSpace.of_table(table)
    rows = Rows(space.encode(table.frame), codes)
    recoded = FeatureSpace(tuple(feature for feature in space.features if feature.name in table.quasi))
    changed = np.isin(space.owners, [place for place, name in enumerate(space.names) if name in table.quasi])
    folds = [(learned, table.take(learned), rows.take(asked)) for learned, asked in how.rows(codes)]

    def measure(labels: Labels) -> float:
        def score(fold: int) -> float:
            learned, part, asked = folds[fold]
            classes = labels[learned]
            if classes.min() == LEFT_OUT:
                inside = np.flatnonzero(classes != LEFT_OUT)
                learned, part, classes = learned[inside], part.take(inside), classes[inside]
            known = rows.take(learned)
            known.features[:, changed] = recoded.encode(recode(part, classes))
            found = learn(classifier, known, asked, metrics=["f1_macro"], levels=len(target.levels), details=False)
            return found.scores["f1_macro"]

        return float(np.mean(list(in_parallel(score, _FOLDS, jobs=1))))

    return measure
