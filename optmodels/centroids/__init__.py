"""Partitions decoded from matrices of centroids: the ground that swarms and evolutionary algorithms search."""

from optmodels.centroids.space import CentroidSpace

__all__ = ["CentroidSpace"]
