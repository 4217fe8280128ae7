"""The end of a run: MIPs over classes of small reduced cost, first for a better partition, then for the proof.

For any duals with Lagrangian bound L, a partition that uses a class of reduced cost r costs at least L + r. So
when z is the optimum over all classes of reduced cost below some ceiling, min(z, L + ceiling) is a bound for all
partitions, and z is the optimum of all as soon as z <= L + ceiling.
"""

from __future__ import annotations

from solvers.columns.duals import reduced_cost
from solvers.columns.generation import Certificate
from solvers.columns.instance import Ints
from solvers.columns.pool import tightened
from solvers.columns.proof import Proof
from solvers.columns.tolerated import offer_tolerated

# Round by round: classes of each seed and size, and how many of least reduced cost altogether.
_ROUNDS = ((2, 4_000), (5, 12_000), (12, 40_000), (30, 120_000))
_SHARE = 0.4  # of the remaining time, for each MIP but the last
_UNLIMITED = 600.0  # seconds that stand for no time limit
_CLASSES_A_SECOND = 1_500  # more than HiGHS can make use of in the time left
_POOL = 150_000  # classes within the gap, among which cuts are sought without pricing
_CLOSE = 0.01  # of the bound, that the gap must be below for that: else a better partition comes first
_EDGE = 1e-6  # classes this close to the ceiling are let in: the MIP decides up to its own tolerance
_FIRST_CEILING = 0.03  # of the bound
_SHRINK = 0.7
_SHRINKINGS = 60


def finish(proof: Proof, certificate: Certificate) -> None:
    """Combine the best classes around every record and those of least reduced cost, more of them each round."""
    run, pricer = proof.run, proof.generation.pricer
    ceiling = _FIRST_CEILING * certificate.bound
    pooled = False
    for few, room in _ROUNDS:
        if not pooled and proof.value - certificate.bound <= _CLOSE * certificate.bound:
            certificate, pooled = _over_all_that_matter(proof, certificate), True
        if run.expired or proof.closed():
            return
        gap = proof.value - certificate.bound
        room = min(room, proof.enumeration, int(_CLASSES_A_SECOND * min(run.remaining, _UNLIMITED)))
        ceiling, classes = _below(proof, certificate, min(ceiling, gap), room)
        whole = ceiling >= gap
        if not whole:
            known = {members.tobytes() for members in classes}
            best = pricer.few_of_each(certificate.duals, gap, few, lambda: run.expired)
            classes += [members for members in best if members.tobytes() not in known]
        if run.expired:
            return
        run.report(f"integer master over {len(classes)} classes" + (", all that can matter" if whole else ""))
        left = min(run.remaining, _UNLIMITED)
        bound, optimal = proof.combine(classes, left if whole else _SHARE * left)
        run.details["listed"] = len(classes)
        if optimal and proof.value <= certificate.bound + ceiling + _EDGE and run.value is not None:
            offer_tolerated(proof, certificate, classes)  # what is better by less than the program's tolerance
            run.prove(run.value)
            return
        proof.prove(min(bound, certificate.bound + ceiling))
        if whole:
            return
        ceiling = max(ceiling, _EDGE) * 8


def _over_all_that_matter(proof: Proof, certificate: Certificate) -> Certificate:
    """Where all classes within the gap can be listed: cut among them, then choose among what that leaves.

    The certificate is the best there is then.
    """
    run = proof.run
    if proof.instance.left_out or run.labels is None or run.expired:
        return certificate
    gap, room = proof.value - certificate.bound, min(_POOL, proof.enumeration)
    classes = proof.generation.pricer.below(certificate.duals, gap + _EDGE, room, lambda: run.expired)
    if classes is None or run.expired:
        return certificate
    run.details["listed"] = len(classes)
    pool = tightened(proof, certificate, classes)
    run.details["left"] = len(pool.classes)
    if proof.closed() or run.expired:
        return pool.certificate
    run.report(f"integer master over {len(pool.classes)} classes, all that can matter")
    bound, optimal = proof.combine(pool.classes, min(run.remaining, _UNLIMITED), pool.master)
    if optimal and run.value is not None:
        offer_tolerated(proof, pool.certificate, pool.classes)
        run.prove(run.value)
    else:
        proof.prove(min(bound, proof.value))
    return pool.certificate


def _below(proof: Proof, certificate: Certificate, ceiling: float, room: int) -> tuple[float, list[Ints]]:
    """All classes below the first of ever lower ceilings for which there are no more than `room`."""
    for _ in range(_SHRINKINGS):
        classes = proof.generation.pricer.below(certificate.duals, ceiling + _EDGE, room, lambda: proof.run.expired)
        if classes is not None:
            return ceiling, classes
        if proof.run.expired:
            break
        ceiling *= _SHRINK
    return 0.0, []


def at_hand(proof: Proof, certificate: Certificate | None, most: int) -> list[Ints]:
    """The generated classes of least reduced cost: what is left to combine where listing is out of reach."""
    classes = proof.master.classes
    relaxed = proof.generation.relaxed
    duals = certificate.duals if certificate is not None else None if relaxed is None else relaxed.duals
    if duals is None or len(classes) <= most:
        return classes
    classes = [members for members in classes if len(members) > 1]  # who is left out is combined with them anyway
    costs = [float(reduced_cost(proof.instance.types, duals, members)) for members in classes]
    return [classes[c] for c in sorted(range(len(classes)), key=costs.__getitem__)[:most]]
