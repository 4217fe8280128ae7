"""Fronts by evolutionary algorithms: pymoo's, over matrices of centroids."""

from solvers.evolution._evolution import Evolution, FrontSearch

__all__ = ["Evolution", "FrontSearch"]
