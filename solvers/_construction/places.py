"""Where records lie for constructions that cut or grow classes, whatever the model optimises."""

from __future__ import annotations

from optmodels.price import Price
from optmodels.problem import Problem
from optmodels.structures import Centroids, Priced


def dear_price(problem: Problem) -> Price:
    """What tells how far apart records are: the model's own price where it is compiled, or else their geometry.

    Leaves of hierarchies have no order of their own, but places on lines.
    """
    priced = problem.structure(Priced)
    own = None if priced is None else priced.compiled
    return problem.require(Centroids).price if own is None or own.name == "hierarchy" else own
