"""Formulation -> Problem: what is optimised, stated once, with the structures that solvers may exploit."""

from optmodels.objectives import Objective
from optmodels.problem._problem import ChosenObjectives, Evaluation, Problem, View, released
from optmodels.problem.formulation import Formulation
from optmodels.problem.priced import PricedProblem, whole_price

__all__ = [
    "ChosenObjectives",
    "Evaluation",
    "Formulation",
    "Objective",
    "PricedProblem",
    "Problem",
    "View",
    "released",
    "whole_price",
]
