"""Exact partitions by column generation: any price of a class, any class-wise conditions."""

from solvers.columns.solver import Columns

__all__ = ["Columns"]
