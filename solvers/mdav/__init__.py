"""MDAV (Domingo-Ferrer and Torra 2005): classes cut around the records furthest from the rest."""

from solvers.mdav._mdav import Mdav

__all__ = ["Mdav"]
