"""One level of its hierarchy for each attribute, the same for everybody: the best of the whole lattice, proven."""

from solvers.lattice._lattice import LatticeSearch

__all__ = ["LatticeSearch"]
