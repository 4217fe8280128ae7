"""Fronts of loss and entropy, level by level: exact where records are few, certified where they are more."""

from solvers.epsilon._epsilon import Epsilon

__all__ = ["Epsilon"]
