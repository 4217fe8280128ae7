"""Fronts by evolutionary algorithms: pymoo's, over matrices of centroids."""

from solvers.evolution._evolution import Course, Evolution

__all__ = ["Course", "Evolution"]
