"""Aminifar et al. 2021: classes of equal size around centres, with capped shares of sensitive values."""

from formulations.aminifar._aminifar import Aminifar, AminifarProblem

__all__ = ["Aminifar", "AminifarProblem"]
