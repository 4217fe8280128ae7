"""A lower bound for whatever partition there is, at any size."""

from solvers.bound._bound import Bound, bounded

__all__ = ["Bound", "bounded"]
