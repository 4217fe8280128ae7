"""The end of a run: a good partition from the classes at hand, then a MIP over all classes that can still matter.

For any duals with Lagrangian bound L, a partition that uses a class of reduced cost r costs at least L + r. So
a partition better than the incumbent U only uses classes of reduced cost below U - L: if these can be listed, a
MIP over them settles the problem.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from solvers.columns.generation import Certificate
from solvers.columns.search import reduced_cost

if TYPE_CHECKING:
    from solvers.columns.solver import Course

_MIP_SHARE = 0.35  # of the remaining time, for the MIP over the classes at hand
_UNLIMITED = 600.0  # seconds that stand for no time limit


def finish(course: Course, certificate: Certificate | None) -> None:
    """Improve the incumbent by the classes at hand, list the classes that matter, and combine those."""
    run, options = course.run, course.options
    if certificate is None or not certificate.converged:
        course.combine(_promising(course, certificate), run.remaining)
        return
    listed = _listed(course, certificate, options.enumeration // 10)
    if listed is None:
        run.report("integer master over the classes at hand")
        course.combine(_promising(course, certificate), _MIP_SHARE * min(run.remaining, _UNLIMITED))
        listed = _listed(course, certificate, options.enumeration)
    if listed is None or run.expired:
        return
    run.report(f"integer master over all {len(listed)} classes that can matter")
    run.details["listed"] = len(listed)
    bound, optimal = course.combine(listed, run.remaining)
    if optimal:
        run.prove(run.value if run.value is not None else 0.0)
    elif np.isfinite(bound):
        run.prove(min(bound, course.value) * course.scale)


def _promising(course: Course, certificate: Certificate | None) -> list[np.ndarray]:  # type: ignore[type-arg]
    """The classes at hand of least reduced cost; those beyond the gap cannot help."""
    classes = course.master.classes
    if certificate is None:
        return classes
    costs = np.array([reduced_cost(course.instance.types, certificate.duals, members) for members in classes])
    gap = course.value - certificate.bound
    return [classes[c] for c in np.argsort(costs, kind="stable")[:20_000] if costs[c] < gap]


def _listed(course: Course, certificate: Certificate, room: int) -> list[np.ndarray] | None:  # type: ignore[type-arg]
    # The MIP decides up to its own tolerance, so classes at the very edge are let in.
    ceiling = course.value - certificate.bound + 1e-6
    return course.generation.pricer.below(certificate.duals, ceiling, room, lambda: course.run.expired)
