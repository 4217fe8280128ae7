"""The end of a run: MIPs over all classes of small reduced cost, more of them each time, until one settles it.

For any duals with Lagrangian bound L, a partition that uses a class of reduced cost r costs at least L + r. So
when z is the optimum over the classes of reduced cost below some ceiling, min(z, L + ceiling) is a bound for all
partitions, and z is the optimum of all as soon as z <= L + ceiling.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from solvers.columns.generation import Certificate
from solvers.columns.instance import Ints
from solvers.columns.search import reduced_cost

if TYPE_CHECKING:
    from solvers.columns.solver import Course

_FIRST_ROOM = 4_000
_FIRST_CEILING = 0.03  # of the bound
_CLASSES_A_SECOND = 1_500  # more than HiGHS can make use of in the time left
_GROWTH = 3
_SHARE = 0.5  # of the remaining time, for each MIP but the last
_UNLIMITED = 600.0  # seconds that stand for no time limit
_EDGE = 1e-6  # classes this close to the ceiling are let in: the MIP decides up to its own tolerance
_SHRINK = 0.7
_SHRINKINGS = 40


def finish(course: Course, certificate: Certificate) -> None:
    """List the classes of small reduced cost and combine them, until the problem is settled or time is out."""
    run = course.run
    room, ceiling, before = _FIRST_ROOM, _FIRST_CEILING * certificate.bound + _EDGE, -1
    while not run.expired:
        gap = course.value - certificate.bound
        ceiling = min(ceiling, gap)
        room = min(room, course.options.enumeration, int(_CLASSES_A_SECOND * min(run.remaining, _UNLIMITED)))
        listed = _fitting(course, certificate, ceiling + _EDGE, room)
        if listed is None or (len(listed[1]) <= before and ceiling < gap):
            return
        ceiling, classes, before = listed[0] - _EDGE, listed[1], len(listed[1])
        whole = ceiling >= gap or not certificate.converged
        run.report(f"integer master over the {len(classes)} classes of least reduced cost")
        left = min(run.remaining, _UNLIMITED)
        bound, settled = course.combine(classes, left if whole else _SHARE * left)
        course.prove(min(bound, certificate.bound + ceiling))
        run.details["listed"] = len(classes)
        if settled and course.value <= certificate.bound + ceiling + _EDGE:
            run.prove(run.value if run.value is not None else 0.0)
            return
        if whole and not settled:
            return
        room *= _GROWTH
        ceiling *= 2 * _GROWTH


def _fitting(course: Course, certificate: Certificate, ceiling: float, room: int) -> tuple[float, list[Ints]] | None:
    """All classes below the first of ever lower ceilings for which there are no more than `room`."""
    for _ in range(_SHRINKINGS):
        classes = course.generation.pricer.below(certificate.duals, ceiling, room, lambda: course.run.expired)
        if course.run.expired:
            return None
        if classes is not None:
            return ceiling, classes
        ceiling *= _SHRINK
    return None


def at_hand(course: Course, certificate: Certificate | None, most: int) -> list[Ints]:
    """The generated classes of least reduced cost: what is left to combine where listing is out of reach."""
    classes = course.master.classes
    relaxed = course.generation.relaxed
    duals = certificate.duals if certificate is not None else None if relaxed is None else relaxed.duals
    if duals is None or len(classes) <= most:
        return classes
    costs = [float(reduced_cost(course.instance.types, duals, members)) for members in classes]
    return [classes[c] for c in sorted(range(len(classes)), key=costs.__getitem__)[:most]]
