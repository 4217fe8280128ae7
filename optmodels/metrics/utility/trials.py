"""Every classifier fitted to every version of the data in every split, splits in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.metrics.utility.features import FeatureSpace
from optmodels.metrics.utility.protocol import Protocol
from optmodels.metrics.utility.scoring import Learned, Rows, learn
from optmodels.metrics.utility.targets import Target
from optmodels.parallel import in_parallel

OnProgress = Callable[[int, int], object]
Indices = NDArray[np.integer[Any]]

ORIGINAL = "original"


@dataclass(frozen=True)
class Version:
    """One version of the data to learn from, and the rows that its models are asked about.

    `known_rows` and `asked_rows` name, for each trial, the rows of `known` and of `asked`.
    """

    name: str
    known: Rows
    asked: Rows
    known_rows: Sequence[Indices]
    asked_rows: Sequence[Indices]


Trial = tuple[int, Mapping[tuple[str, str], Learned]]  # by version and classifier
OneTrial = Callable[[int], Trial]
Trials = Callable[[OneTrial, int], Iterable[Trial]]  # how so many of them are run, in order


def run(
    trial: OneTrial,
    protocol: Protocol,
    space: FeatureSpace,
    on_progress: OnProgress | None = None,
    trials: Trials | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scores (a row for each version, classifier and trial) and the mean importance of every feature.

    `trials` runs the trials in place of processes side by side; it may end before all of them.
    """
    found_trials = (
        in_parallel(trial, protocol.trials, protocol.jobs) if trials is None else trials(trial, protocol.trials)
    )
    scores: list[dict[str, object]] = []
    shares: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    for done, (number, found) in enumerate(found_trials, start=1):
        for (version, classifier), learned in found.items():
            head = {"version": version, "classifier": classifier, "trial": number}
            scores.append({**head, "train_accuracy": learned.train_accuracy, **learned.scores})
            if learned.importances is not None:
                owned = np.bincount(space.owners, learned.importances, minlength=len(space.names))
                shares.setdefault((version, classifier), []).append(owned.astype(np.float64))
        if on_progress is not None:
            on_progress(done, protocol.trials)
    importances = [
        {"version": version, "classifier": classifier, "feature": feature, "importance": share}
        for (version, classifier), found_shares in shares.items()
        for feature, share in zip(space.names, np.mean(found_shares, axis=0).tolist(), strict=True)
    ]
    columns = ["version", "classifier", "feature", "importance"]
    return pd.DataFrame(scores), pd.DataFrame(importances, columns=columns)


def prepared_trial(number: int, versions: Sequence[Version], protocol: Protocol, target: Target) -> Trial:
    """One trial on versions that were encoded beforehand."""
    found = {
        (version.name, classifier): learn_as(
            classifier,
            version.known.take(version.known_rows[number]),
            version.asked.take(version.asked_rows[number]),
            number,
            protocol,
            target,
        )
        for version in versions
        for classifier in protocol.classifiers
    }
    return number, found


def learn_as(classifier: str, known: Rows, asked: Rows, number: int, protocol: Protocol, target: Target) -> Learned:
    """One classifier in one trial, as the protocol wants it."""
    return learn(
        classifier,
        known,
        asked,
        metrics=tuple(dict.fromkeys((*protocol.metrics, "accuracy"))),  # accuracy is what the overfit screen needs
        levels=len(target.levels),
        positive=target.positive,
        seed=protocol.trial_seed(number),
        scale=protocol.scale,
        screen=protocol.screen,
    )
