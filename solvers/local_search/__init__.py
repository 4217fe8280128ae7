"""Local search: relocate, exchange, merge and split by ruin and recreate, for any price and any conditions."""

from solvers.local_search._local_search import LocalSearch, improve

__all__ = ["LocalSearch", "improve"]
