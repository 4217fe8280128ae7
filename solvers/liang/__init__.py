"""The two algorithms of Liang and Samavi (2020)."""

from solvers.liang.greedy import LiangGreedy
from solvers.liang.split import LiangSplit

__all__ = ["LiangGreedy", "LiangSplit"]
