"""Majeed and Hwang 2023: generalisation by attributes' usefulness and classes' uncertainty."""

from formulations.majeed_hwang._majeed_hwang import MajeedHwang, MajeedHwangProblem

__all__ = ["MajeedHwang", "MajeedHwangProblem"]
