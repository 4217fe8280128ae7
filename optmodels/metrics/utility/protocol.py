"""How utility is measured: which classifiers and metrics, and which rows are learned from and asked about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from optmodels.errors import InputError, unknown, whole
from optmodels.metrics.utility.classifiers import USUAL, checked_classifiers
from optmodels.metrics.utility.features import Categories
from optmodels.metrics.utility.scoring import Codes, checked_metrics

TestedOn = Literal["original", "release"]
Split = tuple[NDArray[np.intp], NDArray[np.intp]]


@dataclass(frozen=True)
class Protocol:
    """Which classifiers are compared, by which metrics, and how rows are split.

    - `tested_on`: models of the release are asked about `original` rows or about `release` rows; models of the
      original always about original rows.
    - `splits` random splits with `test_share` of the rows to be asked about, the target's levels in proportion; with
      `folds` cross-validation instead, repeated `splits` times. Without `stratified` rows are drawn as they come.
    - `positive`: the level of a target with two levels that F1, recall and precision are about; the rarer one unless
      given.
    - `categories`: `onehot`, or `codes` for one number a column, as some studies do.
    - `scale`: standardise features for the classifiers that compare them.
    - `screen`: also ask models about the rows that they have learned from, which `overfit` and `screened` go by; a
      support vector machine or a forest of a large table is done sooner without.
    - `jobs`: splits worked on at a time, each in a process of its own; all cores unless given.

    The same seed gives the same scores, whatever `jobs` is.
    """

    classifiers: Sequence[str] = USUAL
    metrics: Sequence[str] = ("f1", "accuracy", "mcc")
    tested_on: TestedOn = "original"
    splits: int = 10
    test_share: float = 0.3
    folds: int | None = None
    seed: int = 0
    positive: object = None
    categories: Categories = "onehot"
    scale: bool = True
    stratified: bool = True
    screen: bool = True
    jobs: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        checked_classifiers(self.classifiers)
        checked_metrics(self.metrics)
        if self.tested_on not in get_args(TestedOn):
            raise unknown("kind of rows to be tested on", str(self.tested_on), get_args(TestedOn))
        whole("splits", self.splits, 1)
        whole("seed", self.seed, 0)
        if self.folds is not None:
            whole("folds", self.folds, 2, "one fold is asked about while the others are learned from")
        if self.folds is not None and not self.stratified:
            raise InputError("Folds are stratified: leave out folds, or stratified=False.")
        if self.jobs is not None:
            whole("jobs", self.jobs, 1)
        if not 0 < self.test_share < 1:
            raise InputError(
                f"test_share must lie between 0 and 1, not {self.test_share!r}: it is a share of the rows."
            )

    @property
    def trials(self) -> int:
        """How often each classifier is fitted to each version of the data."""
        return self.splits * (self.folds or 1)

    @property
    def asked_to_learned(self) -> float:
        """Rows asked about for each row learned from, in one trial."""
        return 1 / (self.folds - 1) if self.folds is not None else self.test_share / (1 - self.test_share)

    def rows(self, target: Codes, levels: Sequence[str] = ()) -> Iterator[Split]:
        """For each trial the rows to learn from and the rows to be asked about; `levels` are the target's, by name."""
        from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedShuffleSplit

        counts = np.bincount(target)
        rarest = int(np.where(counts > 0, counts, len(target) + 1).argmin())  # a release may lack a level
        if (least := int(counts[rarest])) < (self.folds or 2):
            which = f"The level '{levels[rarest]}'" if levels else "A level"
            raise InputError(
                f"{which} of the target has {least} row{'s' * (least != 1)} only, too few to be "
                "split: join rare levels or leave these rows out."
            )
        chosen: Any
        if self.folds is not None:
            chosen = RepeatedStratifiedKFold(n_splits=self.folds, n_repeats=self.splits, random_state=self.seed)
        else:
            kind = StratifiedShuffleSplit if self.stratified else ShuffleSplit
            chosen = kind(self.splits, test_size=self.test_share, random_state=self.seed)
        try:
            yield from chosen.split(np.zeros(len(target)), target)
        except ValueError as problem:
            raise InputError(f"{len(target)} rows cannot be split like that: {problem}") from problem

    def trial_seed(self, trial: int) -> int:
        """The seed of every classifier in one trial, the same for all versions of the data."""
        return int(np.random.SeedSequence([self.seed, trial]).generate_state(1)[0] >> 1)

    def describe(self) -> str:
        """The protocol in words.

        >>> Protocol(splits=3).describe()
        'dt, rf, lr, nb; 3 random stratified splits, 30% of rows held out; models of a release are asked about
        original rows; seed 0'
        """
        drawn = (
            f"{self.splits} random {'stratified ' * self.stratified}split{'s' * (self.splits != 1)}, "
            f"{self.test_share:.0%} of rows held out"
            if self.folds is None
            else f"{self.folds}-fold stratified cross-validation, {self.splits} times"
        )
        return (
            f"{', '.join(self.classifiers)}; {drawn}; models of a release are asked about "
            f"{'original' if self.tested_on == 'original' else 'released'} rows; seed {self.seed}"
        )
