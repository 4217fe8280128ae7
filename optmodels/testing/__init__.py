"""Contract tests that any formulation or solver can be put through, ours and third parties' alike.

`check_formulation(MyModel(k=2))` and `check_solver(MySolver())` are all that the tests of a model or of a solver need.
Each check raises AssertionError with what went wrong. Tables are tiny, so that brute force is the reference.
"""

from optmodels.testing.answers import SAME, check_front, check_proven, check_solution
from optmodels.testing.formulations import check_formulation
from optmodels.testing.partitions import brute_force, brute_force_front, partitions
from optmodels.testing.solvers import check_solver
from optmodels.testing.structures import check_structures
from optmodels.testing.tables import CONDITION_LEVELS, small_table
from optmodels.testing.views import check_pymoo_view, check_pyomo_view

__all__ = [
    "CONDITION_LEVELS",
    "SAME",
    "brute_force",
    "brute_force_front",
    "check_formulation",
    "check_front",
    "check_proven",
    "check_pymoo_view",
    "check_pyomo_view",
    "check_solution",
    "check_solver",
    "check_structures",
    "partitions",
    "small_table",
]
