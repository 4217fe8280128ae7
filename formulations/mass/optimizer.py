"""Optimizer, the third module of MASS: the candidate of least (PL + IL) / R."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import TypeVar

Item = TypeVar("Item")


class Optimizer:
    """Scores candidates by what they cost in privacy and information for each unit of recall, and picks the best.

    >>> omega = [("k=2", {"privacy_loss": 0.367, "loss": 0.076, "recall": 0.730}),
    ...          ("k=4", {"privacy_loss": 0.243, "loss": 0.131, "recall": 0.702}),
    ...          ("k=9", {"privacy_loss": 0.161, "loss": 0.328, "recall": 0.694})]
    >>> Optimizer.best(omega)
    'k=4'
    """

    @staticmethod
    def score(values: Mapping[str, float]) -> float:
        """(PL + IL) / R; without classifiers R is 1."""
        cost = values["privacy_loss"] + values["loss"]
        recall = values.get("recall", 1.0)
        return cost / recall if recall > 0 else inf

    @staticmethod
    def best(omega: Iterable[tuple[Item, Mapping[str, float]]]) -> Item:
        """The candidate of least score, the first of equal ones."""
        return min(omega, key=lambda judged: Optimizer.score(judged[1]))[0]
