"""Trials of classifiers as pieces of a study: kept one by one, and as many as there are once it is stopped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

import pandas as pd
from numpy.typing import ArrayLike

from optmodels.metrics.utility import Protocol, Utility, utility
from optmodels.metrics.utility.scoring import Learned, Matrix
from optmodels.metrics.utility.trials import OneTrial, Trial
from optmodels.reproduce.setting import Setting
from optmodels.table import Table

PlainTrial = list[tuple[str, str, dict[str, float], float, Matrix | None]]


def learned(
    setting: Setting, table: Table, releases: Mapping[str, ArrayLike | pd.DataFrame], protocol: Protocol, what: str
) -> Utility:
    """`utility` with a piece of work for each trial; its protocol has as many splits as were finished.

    Raises:
        KeyboardInterrupt: it was stopped before there was any.
    """

    def trials(trial: OneTrial, count: int) -> Iterable[Trial]:
        found = setting.repeat(partial(_plain, trial=trial), count, what)
        if not found:
            raise KeyboardInterrupt
        return (_trial(number, one) for number, one in enumerate(found))

    found = utility(table, dict(releases), protocol, trials=trials)
    finished = int(found.scores["trial"].nunique())
    return replace(found, protocol=replace(protocol, splits=finished))


def _plain(number: int, *, trial: OneTrial) -> PlainTrial:
    _, found = trial(number)
    return [
        (version, classifier, dict(one.scores), one.train_accuracy, one.importances)
        for (version, classifier), one in found.items()
    ]


def _trial(number: int, plain: PlainTrial) -> Trial:
    return number, {
        (version, classifier): Learned(scores, train_accuracy, importances)
        for version, classifier, scores, train_accuracy, importances in plain
    }
