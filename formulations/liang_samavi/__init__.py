"""Liang and Samavi 2020: generalisation intervals of least total width under k-anonymity."""

from formulations.liang_samavi._liang_samavi import LiangSamavi

__all__ = ["LiangSamavi"]
