"""Exact partitions by column generation: any price of a class, any class-wise conditions."""

from solvers.columns._columns import Columns

__all__ = ["Columns"]
