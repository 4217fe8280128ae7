"""Particle swarms over centroids: MO-OBAM's own and pymoo's."""

from solvers.pso._pso import Pso

__all__ = ["Pso"]
