"""Published models of anonymisation: what is being optimised."""

from formulations.aminifar import Aminifar
from formulations.liang_samavi import LiangSamavi
from formulations.microaggregation import Microaggregation
from formulations.mo_obam import MoObam

__all__ = ["Aminifar", "LiangSamavi", "Microaggregation", "MoObam"]
