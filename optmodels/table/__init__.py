"""A table of people: its columns' roles, their encoding, and the hierarchies of their values."""

from optmodels.table._table import Table

__all__ = ["Table"]
