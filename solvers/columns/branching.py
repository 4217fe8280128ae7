"""Branching on pairs, best bound first: how many pairs of records of two types are together, at most or at least.

In a partition that number is whole for any two types (and within a type), so a fractional one gives two branches that
leave no partition out; for types without copies these are Ryan and Foster's together and apart. Each branch is a row
of the master, whose dual is a charge on pairs in pricing. The least bound of the open nodes is valid at any moment.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from solvers.columns.charges import Pair, pairs_in
from solvers.columns.generation import Certificate, Generation
from solvers.columns.master import Relaxed, counts_of
from solvers.columns.proof import Proof

_EDGE = 1e-6  # of what a record costs: nodes this close to the incumbent hold nothing better
_FRACTION = 1e-5
_LISTED = 50_000  # classes listed where no number of pairs is fractional
_LIST_SECONDS = 600.0

Limit = tuple[int, float, float]  # row of the master, least and most pairs


@dataclass(order=True)
class _Node:
    bound: float
    number: int  # newer ones first among equals: they are deeper, and nearer to a partition
    limits: tuple[Limit, ...] = field(compare=False)


class BranchingTree:
    """The open nodes, and what is proven by them."""

    def __init__(self, proof: Proof, bound: float) -> None:
        self.proof = proof
        self.nodes: list[_Node] = [_Node(bound, 0, ())]
        self.visited = 0
        self._given_up_at = np.inf  # the least bound of nodes that were given up
        run = proof.run
        proof.master.let_go()
        self._generation = Generation(
            proof.instance,
            proof.master,
            proof.generation.pricer,
            proved=lambda bound: None,
            expired=lambda: run.expired,
            remaining=lambda: run.remaining,
            seconds=proof.generation.seconds,
        )

    @property
    def bound(self) -> float:
        """What every partition costs at least."""
        return min(self._given_up_at, self.nodes[0].bound if self.nodes else np.inf)

    def explore(self) -> None:
        """Open nodes until none can hold a better partition, or the time is over."""
        proof, run = self.proof, self.proof.run
        while not run.expired:
            if self.bound >= self._ceiling:
                self._conclude()
                return
            proof.prove(self.bound)
            if not self.nodes or self._given_up_at <= self.nodes[0].bound:
                return
            node = heappop(self.nodes)
            run.report(f"branching, {self.visited} nodes visited, {len(self.nodes)} open", done=self.visited)
            try:
                finished = self._open(node)
            except BaseException:
                heappush(self.nodes, node)
                raise
            if not finished:
                heappush(self.nodes, node)
                return

    @property
    def _ceiling(self) -> float:
        """Bounds from here on mean that there is nothing better."""
        proof = self.proof
        return proof.value - _EDGE if proof.run.value is not None else proof.ceiling * (1 + 1e-6)

    def _conclude(self) -> None:
        run = self.proof.run
        if run.value is not None:
            run.prove(run.value)
        else:
            run.infeasible("No partition satisfies the conditions: branching on pairs of records left none.")

    def _open(self, node: _Node) -> bool:
        """Raise the node's bound and close it or branch on it; False if the time ran out."""
        proof, generation = self.proof, self._generation
        proof.master.restrict(node.limits)
        certificate = generation.converge(lambda: None, self._ceiling)
        if certificate is None:
            return False
        self.visited += 1
        bound = max(node.bound, certificate.bound)
        if bound >= self._ceiling:
            return True
        relaxed = generation.relaxed
        assert relaxed is not None
        if proof.offer_if_integral(relaxed) and certificate.converged:
            return True
        pair = self._most_fractional(relaxed)
        if pair is None:
            return self._list(certificate, bound)
        row = proof.master.add_pair(pair[0])
        least = float(np.floor(pair[1]))
        for limit in ((row, -np.inf, least), (row, least + 1, np.inf)):
            heappush(self.nodes, _Node(bound, -(2 * self.visited + (limit[1] > 0)), (*node.limits, limit)))
        return True

    def _most_fractional(self, relaxed: Relaxed) -> tuple[Pair, float] | None:
        """The two types whose number of pairs is furthest from whole; a type with itself only if no others are."""
        numbers: defaultdict[Pair, float] = defaultdict(float)
        for c in np.flatnonzero(relaxed.weights > 1e-9):
            counts = counts_of(self.proof.master.classes[c])
            types = sorted(counts)
            for place, a in enumerate(types):
                for b in types[place:]:
                    if times := pairs_in(counts, (a, b)):
                        numbers[a, b] += times * float(relaxed.weights[c])
        far = {pair: abs(number - round(number)) for pair, number in numbers.items()}
        for among in ([pair for pair in far if pair[0] != pair[1]], [pair for pair in far if pair[0] == pair[1]]):
            pair = max(among, key=far.__getitem__, default=None)
            if pair is not None and far[pair] > _FRACTION:
                return pair, numbers[pair]
        return None

    def _list(self, certificate: Certificate, bound: float) -> bool:
        """Close the node by a MIP over all its classes that can matter, or give it up; False if the time ran out."""
        proof, run = self.proof, self.proof.run
        gap = self._ceiling + _EDGE - certificate.bound
        classes = proof.generation.pricer.below(certificate.duals, gap + _EDGE, _LISTED, lambda: run.expired)
        if run.expired:
            return False
        if classes is None or not proof.combine(classes, min(run.remaining, _LIST_SECONDS))[1]:
            self._given_up_at = min(self._given_up_at, bound)
        return True
