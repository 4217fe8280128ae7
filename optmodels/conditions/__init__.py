"""What every class of a release must satisfy: size, and how its sensitive values are mixed.

The same `Conditions` are the constraint of a problem, the test inside compiled solvers (`ClassTest`,
`meets`) and the promise a release is audited against.
"""

from optmodels.conditions._conditions import Conditions
from optmodels.conditions.asked import Asked, BetaKind, TDistance
from optmodels.conditions.attacks import against
from optmodels.conditions.class_test import (
    ClassTest,
    broken_classes,
    count_values,
    distance_from_table,
    fewest_values,
    largest_counts,
    meets,
    only_size,
)
from optmodels.conditions.sensitive import CONDITIONS, HOW, SensitiveConditions
from optmodels.metrics.privacy import TOLERANCE

__all__ = [
    "CONDITIONS",
    "HOW",
    "TOLERANCE",
    "Asked",
    "BetaKind",
    "ClassTest",
    "Conditions",
    "SensitiveConditions",
    "TDistance",
    "against",
    "broken_classes",
    "count_values",
    "distance_from_table",
    "fewest_values",
    "largest_counts",
    "meets",
    "only_size",
]
