"""One classifier learned from some rows and asked about others: its scores, and which features it relied on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optmodels.metrics.utility.classifiers import known_once, pipeline

Codes = NDArray[np.int64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Answers:
    """True and predicted levels of some rows, and how sure the classifier was of each level."""

    truth: Codes
    guess: Codes
    confidence: Matrix | None
    levels: int
    positive: int

    @property
    def average(self) -> str:
        """One level counts where there are two; all alike where there are more."""
        return "binary" if self.levels == 2 else "macro"

    @property
    def _names(self) -> list[int]:
        return list(range(self.levels))

    def f1(self, average: str | None = None) -> float:
        """Harmonic mean of precision and recall."""
        from sklearn.metrics import f1_score

        return float(f1_score(self.truth, self.guess, **self._how(average)))

    def recall(self, average: str | None = None) -> float:
        """Share of a level's rows that are found."""
        from sklearn.metrics import recall_score

        return float(recall_score(self.truth, self.guess, **self._how(average)))

    def precision(self) -> float:
        """Share of the rows put into a level that belong there."""
        from sklearn.metrics import precision_score

        return float(precision_score(self.truth, self.guess, **self._how(None)))

    def _how(self, average: str | None) -> dict[str, Any]:
        chosen = average or self.average
        which = {"pos_label": self.positive} if chosen == "binary" else {"labels": self._names}
        return {"average": chosen, "zero_division": 0.0, **which}

    def accuracy(self) -> float:
        """Share of rows predicted right."""
        return float((self.truth == self.guess).mean())

    def mcc(self) -> float:
        """Matthews correlation coefficient."""
        from sklearn.metrics import matthews_corrcoef

        return float(matthews_corrcoef(self.truth, self.guess))

    def auc(self) -> float:
        """Area under the ROC curve, the mean over levels against the rest where there are more than two.

        A level that no row has leaves nothing to rank and is left out of that mean; rows of one level only have no
        curve at all, which is NaN.
        """
        from sklearn.metrics import roc_auc_score

        present = np.unique(self.truth)
        if self.confidence is None or len(present) < 2:
            return float("nan")
        if self.levels == 2:
            return float(roc_auc_score(self.truth == self.positive, self.confidence[:, self.positive]))
        return float(np.mean([roc_auc_score(self.truth == level, self.confidence[:, level]) for level in present]))


METRICS: Mapping[str, Callable[[Answers], float]] = {
    "f1": Answers.f1,
    "f1_macro": lambda answers: answers.f1("macro"),
    "f1_weighted": lambda answers: answers.f1("weighted"),
    "accuracy": Answers.accuracy,
    "mcc": Answers.mcc,
    "recall": Answers.recall,
    "recall_macro": lambda answers: answers.recall("macro"),
    "precision": Answers.precision,
    "auc": Answers.auc,
}


def checked_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """The names as given, or an error for one that is unknown or twice there.

    >>> checked_metrics(["f1", "mcc"])
    ('f1', 'mcc')
    """
    return known_once("metric", names, METRICS)


@dataclass(frozen=True)
class Rows:
    """Features of some rows, and the level of the target that each has."""

    features: Matrix
    target: Codes

    def take(self, rows: NDArray[np.integer[Any]]) -> Rows:
        """Some of the rows."""
        return Rows(self.features[rows], self.target[rows])

    def __len__(self) -> int:
        return len(self.target)


@dataclass(frozen=True)
class Learned:
    """Scores on the rows asked about, accuracy on the rows learned from, and what each feature contributed."""

    scores: Mapping[str, float]
    train_accuracy: float = float("nan")
    importances: Matrix | None = None  # per column of the matrix, summing to 1; None where the classifier has none


def learn(
    name: str,
    known: Rows,
    asked: Rows,
    *,
    metrics: Sequence[str],
    levels: int,
    positive: int = 1,
    seed: int = 0,
    scale: bool = True,
    details: bool = True,
    screen: bool = True,
) -> Learned:
    """Fit the classifier of this name to `known` and score what it says of `asked`; without `details` only that.

    Without `screen` it is not asked about the rows that it has learned from, too.

    >>> features = np.arange(8.0).reshape(-1, 1)
    >>> rows = Rows(features, np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    >>> learn("dt", rows, rows, metrics=["accuracy", "mcc"], levels=2).scores
    {'accuracy': 1.0, 'mcc': 1.0}
    """
    present, target = np.unique(known.target, return_inverse=True)  # some libraries want levels without gaps
    if len(present) == 1:  # nothing to tell apart: whoever learns from these rows says the only thing they know
        guess = np.full(len(asked), present[0])
        answers = Answers(asked.target, guess, np.zeros((len(asked), levels)), levels, positive)
        return Learned({metric: METRICS[metric](answers) for metric in metrics}, 1.0, None)
    model = pipeline(name, seed, scale=scale)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: the settings are the libraries' own, as in the studies
        model.fit(known.features, target)
        guess = present[np.asarray(model.predict(asked.features), np.int64)]
        confidence = _confidence(model, asked.features, present, levels) if "auc" in metrics else None
    answers = Answers(asked.target, guess, confidence, levels, positive)
    scores = {metric: METRICS[metric](answers) for metric in metrics}
    if not details:
        return Learned(scores)
    train_accuracy = float((model.predict(known.features) == target).mean()) if screen else float("nan")
    return Learned(scores, train_accuracy, _importances(model.steps[-1][1]))


def _confidence(model: Any, features: Matrix, present: Codes, levels: int) -> Matrix:
    """(n, levels) how sure the model is of each level; only its order within a level means something."""
    found = np.zeros((len(features), levels))
    if hasattr(model, "predict_proba"):
        found[:, present] = model.predict_proba(features)
        return found
    margins = np.asarray(model.decision_function(features))
    found[:, present] = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
    return found


def _importances(classifier: Any) -> Matrix | None:
    if hasattr(classifier, "feature_importances_"):
        found = np.asarray(classifier.feature_importances_, np.float64)
    elif hasattr(classifier, "coef_"):
        found = np.abs(np.asarray(classifier.coef_, np.float64)).mean(axis=0)
    else:
        return None
    total = float(found.sum())
    return found / total if total > 0 else found
