"""Classes told by their boxes alone, under k: a search whose kernels are made for prices through hierarchies."""

from solvers.local_search.boxes.descent import BoxDescent, takes

__all__ = ["BoxDescent", "takes"]
