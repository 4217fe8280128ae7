"""The number of classes, lambda and k, chosen from fronts by a stated rule, with how sure the choice is."""

from optmodels.tuning._tune import Tuning, tune
from optmodels.tuning.rules import RULES, Rule

__all__ = ["RULES", "Rule", "Tuning", "tune"]
