"""Levels of hierarchies chosen by optimisation: climbed from cheap to dear, then merged."""

from solvers.generalise._generalise import Generalise

__all__ = ["Generalise"]
