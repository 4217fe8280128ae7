"""Least-cost flow from records to centres: exact at any size, with a certificate.

Only each record's cheapest arcs are held. `greedy` makes a first assignment, `scaling` finds good potentials,
`paths` finishes over the arcs held, `pricing` looks at all arcs by blocks: it adds those that would pay and
computes a bound that holds for the whole problem. When nothing pays, value and bound meet. Small plain transports
are `dense` instead, where that is faster.
"""

from optmodels.flow.dense import dense_transport
from optmodels.flow.distances import Metric, class_distances, distances
from optmodels.flow.flow import Flow, sizes_only
from optmodels.flow.matching import cheapest_matching
from optmodels.flow.nearest import nearest_costs
from optmodels.flow.paths import Bounds

__all__ = [
    "Bounds",
    "Flow",
    "Metric",
    "cheapest_matching",
    "class_distances",
    "dense_transport",
    "distances",
    "nearest_costs",
    "sizes_only",
]
