"""MO-OBAM (Wei et al. 2024, 2025): information loss against the entropy of sensitive attributes, under k."""

from formulations.mo_obam._mo_obam import MoObam, MoObamProblem, Scalarisation
from formulations.mo_obam.least_loss import nearest_loss

__all__ = ["MoObam", "MoObamProblem", "Scalarisation", "nearest_loss"]
