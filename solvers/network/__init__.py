"""Records to fixed centres as a network flow: the proven optimum without ever holding all arcs."""

from solvers.network._network import Network

__all__ = ["Network"]
