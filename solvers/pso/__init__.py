"""Particle swarms over centroids: MO-OBAM's own and pymoo's."""

from solvers.pso._pso import Pso
from solvers.pso.published import PublishedRelease

__all__ = ["Pso", "PublishedRelease"]
