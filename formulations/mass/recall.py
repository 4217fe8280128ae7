"""R of MASS: how much of what is to be found classifiers still find when they learn from a release.

Rows to learn from are released ones, rows to be asked about original ones of other people. Classifiers that learn the
original table by heart (accuracy 15 points lower on rows they have not seen) are left out beforehand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from optmodels.errors import InputError
from optmodels.metrics.utility import OVERFIT_GAP, FeatureSpace, Protocol, utility
from optmodels.metrics.utility.scoring import Learned, Rows
from optmodels.metrics.utility.targets import Target
from optmodels.metrics.utility.trials import learn_as
from optmodels.parallel import threads
from optmodels.partition import LEFT_OUT, Labels
from optmodels.recoding import recode
from optmodels.table import Table
from optmodels.table.encoding import level_text

_MOST_LEVELS = 2000  # a column of more values that are no numbers, such as names, is no feature
LEAST_RECORDS = 20


class Recall:
    """The mean recall of the classifiers that pass the screen, over splits of a sample of the table."""

    def __init__(self, table: Table, predict: str, protocol: Protocol, sample: int) -> None:
        if table.n < LEAST_RECORDS:
            raise InputError(
                f"Classifiers need at least {LEAST_RECORDS} records to learn from and to be asked about, and the table "
                f"has {table.n}: leave recall out with classifiers=()."
            )
        self.table = table
        self.predict = predict
        self.protocol = protocol
        draw = np.random.default_rng(protocol.seed)
        chosen = np.arange(table.n) if table.n <= sample else draw.choice(table.n, sample, replace=False)
        self.rows = np.sort(chosen)
        self.target, codes = self._target()
        if protocol.positive is not None and len(self.target.levels) > 2:
            raise InputError(
                f"'{predict}' has {len(self.target.levels)} values, over all of which recall is averaged: leave out "
                f"positive={protocol.positive!r}, which is for two."
            )
        self.splits = list(protocol.rows(codes))
        self._codes = codes
        self._known: dict[bytes, float] = {}

    def _target(self) -> tuple[Target, NDArray[np.int64]]:
        """The levels to be told apart, and those of the sample; a quick trial finds out whether it can be done."""
        part = self.table.take(self.rows)
        quick = Protocol(["nb"], ["recall"], splits=1, seed=self.protocol.seed, positive=self.protocol.positive, jobs=1)
        names = self.features[:1]  # one feature is enough to find out
        target = utility(part, {"again": part.frame}, quick, target=self.predict, features=names).target
        texts = part.frame[self.predict].map(level_text)
        return target, pd.Categorical(texts, categories=list(target.levels)).codes.astype(np.int64)

    @cached_property
    def features(self) -> list[str]:
        """The columns to learn from: all but the predicted one and those of many values that are no numbers."""
        frame = self.table.frame
        return [
            str(name)
            for name, column in frame.items()
            if name != self.predict
            and not column.isna().all()
            and (types.is_numeric_dtype(column.dtype) or column.nunique() <= _MOST_LEVELS)
        ]

    @cached_property
    def space(self) -> FeatureSpace:
        """Original and released rows as numbers."""
        return FeatureSpace.of_table(self.table, self.features, categories=self.protocol.categories)

    @cached_property
    def original(self) -> Rows:
        """The sample as it is."""
        return Rows(self.space.encode(self.table.frame.iloc[self.rows]), self._codes)

    @cached_property
    def screen(self) -> pd.DataFrame:
        """For each classifier its accuracy on rows learned from and asked about, its recall, and whether it passes."""
        found = []
        names = tuple(self.protocol.classifiers)
        for name, learned in zip(names, self._learned(names, self.original), strict=True):
            seen = float(np.mean([one.train_accuracy for one in learned]))
            unseen = float(np.mean([one.scores["accuracy"] for one in learned]))
            recall = float(np.mean([one.scores["recall"] for one in learned]))
            found.append(
                {
                    "classifier": name,
                    "train_accuracy": seen,
                    "accuracy": unseen,
                    "recall": recall,
                    "passes": abs(seen - unseen) < OVERFIT_GAP,
                }
            )
        return pd.DataFrame(found)

    @cached_property
    def ensemble(self) -> tuple[str, ...]:
        """The classifiers that pass the screen; all of them if none does."""
        passing = tuple(self.screen.loc[self.screen["passes"], "classifier"])
        return passing or tuple(self.protocol.classifiers)

    @property
    def baseline(self) -> float:
        """R of the original table."""
        rows = self.screen["classifier"].isin(self.ensemble)
        return float(self.screen.loc[rows, "recall"].mean())

    def of(self, labels: Labels) -> float:
        """R of a partition; labels run from 0 to C-1."""
        key = hashlib.blake2b(np.ascontiguousarray(labels).data, digest_size=16).digest()
        if key not in self._known:
            inside = np.flatnonzero(labels[self.rows] != LEFT_OUT)
            released = Rows(self.space.encode(self.released(labels)), self._codes[inside])
            learned = self._learned(self.ensemble, released, inside, screen=False)
            self._known[key] = float(np.mean([[one.scores["recall"] for one in many] for many in learned]))
        return self._known[key]

    def released(self, labels: Labels) -> pd.DataFrame:
        """The sample's rows as released, without those left out: only the classes that they are in are recoded."""
        rows = self.rows[labels[self.rows] != LEFT_OUT]
        wanted = np.zeros(int(labels.max()) + 1, np.bool_)
        wanted[labels[rows]] = True
        members = np.flatnonzero((labels != LEFT_OUT) & wanted[labels])
        recoded = recode(self.table.take(members), labels[members], "interval")
        released: pd.DataFrame = recoded.iloc[np.searchsorted(members, rows)]
        return released

    def _learned(
        self, classifiers: Sequence[str], known: Rows, inside: NDArray[np.int64] | None = None, *, screen: bool = True
    ) -> list[list[Learned]]:
        """What each classifier learned from known rows, in every split; `inside` are their places in the sample."""
        protocol = replace(self.protocol, screen=screen)

        def places(seen: NDArray[np.int64]) -> NDArray[np.int64]:
            return seen if inside is None else np.flatnonzero(np.isin(inside, seen))

        def trials(classifier: str) -> list[Learned]:
            return [
                learn_as(
                    classifier, known.take(places(seen)), self.original.take(unseen), number, protocol, self.target
                )
                for number, (seen, unseen) in enumerate(self.splits)
            ]

        with threads() as pool:
            return list(pool.map(trials, classifiers))
