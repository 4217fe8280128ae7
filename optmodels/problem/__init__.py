"""Formulation -> Problem: what is optimised, stated once, with the structures that solvers may exploit."""

from optmodels.objectives import Objective
from optmodels.problem._problem import ChosenObjectives, Formulation, JudgedOtherwise, Problem
from optmodels.problem.evaluation import Evaluation
from optmodels.problem.particulars import differing, particulars
from optmodels.problem.priced import PricedProblem, whole_price
from optmodels.problem.releasing import released
from optmodels.problem.view import View
from optmodels.problem.wished import Wish, WishedProblem, wished

__all__ = [
    "ChosenObjectives",
    "Evaluation",
    "Formulation",
    "JudgedOtherwise",
    "Objective",
    "PricedProblem",
    "Problem",
    "View",
    "Wish",
    "WishedProblem",
    "differing",
    "particulars",
    "released",
    "whole_price",
    "wished",
]
