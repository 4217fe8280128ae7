"""Cuts over a pool: once every class that a better partition can have is listed, none has to be priced any more.

A partition that is better than the incumbent costs at least the bound and the reduced costs of its classes, so that all
of them have a reduced cost below the gap. Among those alone the linear master is solved, cut, and solved again: its
bound rises, the gap falls, and classes beyond it go, until few enough are left for an integer program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.columns.cuts import violated
from solvers.columns.generation import Certificate
from solvers.columns.instance import Ints
from solvers.columns.master import Master
from solvers.columns.proof import Proof

_FEW = 1_500  # classes that an integer program settles at once
_CUTS, _CUTS_A_TYPE = 150, 6  # in one round
_GAIN = 2e-3  # of the gap, that a round of cuts must close,
_FRUITLESS = 3  # or be followed by one that does
_EDGE = 1e-6
_WORTH = 0.8  # of the classes: with fewer than these the master is built anew
_SHARE = 0.6  # of the time that is left; the rest is the integer program's


@dataclass(frozen=True, eq=False)
class Pool:
    """What is left of the classes, the master with the cuts that matter, and what these prove."""

    classes: list[Ints]
    master: Master
    certificate: Certificate


def tightened(proof: Proof, certificate: Certificate, classes: list[Ints]) -> Pool:
    """Cut until few classes are left, or cuts no longer help; `classes` are all whose reduced cost is below the gap."""
    run, instance = proof.run, proof.instance
    end = run.seconds + _SHARE * run.remaining
    triples = proof.master.cuts.triples
    master = _master(proof, classes, triples)
    fruitless = 0
    while run.seconds < end and not run.expired:
        relaxed = master.solve(min(run.remaining, end - run.seconds))
        if relaxed is None:
            break
        slack = min(0.0, float(relaxed.costs.min())) * instance.most_classes
        bound = master.dual_value(relaxed.duals) + slack
        gain = bound - certificate.bound
        if gain > 0:
            certificate = Certificate(relaxed.duals, bound, converged=True)
        proof.prove(min(certificate.bound, proof.value))
        proof.offer_from(master, relaxed)
        gap = proof.value - bound
        run.report(f"cuts {len(master.cuts)} over {len(master.classes)} classes that can matter")
        near = np.flatnonzero(relaxed.costs <= gap + _EDGE)
        classes = [master.classes[c] for c in near]
        if proof.closed() or len(classes) <= _FEW:
            break
        fruitless = fruitless + 1 if gain < _GAIN * (gap + gain) else 0
        cuts = violated(master, relaxed, _CUTS, _CUTS_A_TYPE)
        if fruitless == _FRUITLESS or not cuts:
            break
        if len(near) < _WORTH * len(master.classes):
            active = [(int(a), int(b), int(c)) for a, b, c in relaxed.duals.members]
            master = _master(proof, classes, [*active, *cuts])
        else:
            master.add_cuts(cuts)
    return Pool(classes, master, certificate)


def _master(proof: Proof, classes: list[Ints], triples: list[tuple[int, int, int]]) -> Master:
    master = Master(proof.instance, big=10.0 * proof.ceiling + 10.0)
    master.add(classes)
    if proof.run.labels is not None:
        master.add(proof.instance.classes(proof.run.labels))
    master.add_cuts(triples)
    return master
