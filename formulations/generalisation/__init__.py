"""Generalisation through hierarchies: classes released as nodes of trees, with the least loss of certainty."""

from formulations.generalisation._generalisation import Generalisation, Scheme

__all__ = ["Generalisation", "Scheme"]
