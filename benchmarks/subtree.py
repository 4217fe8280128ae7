"""What a cut through each tree, the same for all records, would gain over one level for all: is it worth having?

    OPTMODELS_DATA=... python -m benchmarks.subtree [--k 5] [--share 0 0.01 0.05]

Begins with the proven best levels for everybody (`lattice`), and once more with all roots, and opens nodes, one at a
time, that save most: a node is replaced by its children wherever it stands, as long as no more records than may be left
out are in groups below k. The better of both is the scheme "subtree" by a greedy descent; beside it are the best levels
and a short local search with nodes of each class's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import optmodels as om
from benchmarks.generalisation import adult
from formulations import Generalisation
from optmodels.structures import Lattice
from solvers import LatticeSearch, LocalSearch
from solvers.lattice.grouping import count_groups


def subtree_loss(table: om.Table, k: int, share: float) -> tuple[float, float, int]:
    """The NCP of the best levels, that of the cuts opened from there, and how many nodes were opened."""
    problem = Generalisation(k=k, scheme="full-domain", suppress=share).build(table)
    lattice, found = problem.require(Lattice), LatticeSearch().solve(problem)
    levels = problem.levels(found.require())  # type: ignore[attr-defined]
    trees = [problem.table.hierarchy(name) for name in problem.table.quasi]
    distinct, counts = np.unique(lattice.leaves, axis=0, return_counts=True)
    draw = np.random.default_rng(0)
    hashes = [draw.integers(0, 2**63, len(costs), np.uint64) for costs in lattice.node_costs]

    def worth(nodes: NDArray[np.integer[Any]]) -> float:
        keys = sum((hashes[j][nodes[:, j]] for j in range(len(trees))), np.zeros(len(nodes), np.uint64))
        costs = sum((lattice.node_costs[j][nodes[:, j]] for j in range(len(trees))), np.zeros(len(nodes)))
        _, _, records, small = count_groups(keys, counts, costs, k)
        if records > lattice.most_left_out:
            return np.inf
        return float((costs @ counts - small + records * lattice.left_out_price) / lattice.scale)

    def opened_from(levels: Sequence[int]) -> tuple[float, int]:
        nodes = np.column_stack([trees[j].nodes[distinct[:, j], level] for j, level in enumerate(levels)])
        best, opened = worth(nodes), 0
        while True:
            tried: list[Any] = []
            for j, tree in enumerate(trees):
                for node in np.unique(nodes[:, j]).tolist():
                    level = int(tree.node_levels[node])
                    if level > 0:
                        here = nodes[:, j] == node
                        lower = nodes.copy()
                        lower[here, j] = tree.nodes[distinct[here, j], level - 1]
                        tried.append((worth(lower), len(tried), lower))
            value, _, lower = min(tried, key=lambda one: one[:2], default=(np.inf, 0, nodes))
            if value >= best - 1e-12:
                return best, opened
            best, nodes, opened = value, lower, opened + 1

    best, opened = min(opened_from(start) for start in (levels.tolist(), [tree.n_levels - 1 for tree in trees]))
    return float(found.value or 0.0), best, opened


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--share", type=float, nargs="+", default=[0.0, 0.01, 0.05])
    asked = parser.parse_args()
    table = adult()
    print("   k   may  same levels   subtree  opened     local  cpu seconds of subtree")
    for k in asked.k:
        for share in asked.share:
            began = process_time()
            levels, cuts, opened = subtree_loss(table, k, share)
            taken = process_time() - began
            own = LocalSearch().solve(Generalisation(k=k, suppress=share).build(table), time_limit=5, seed=1)
            print(
                f"{k:>4} {share:>5.0%} {levels:>12.4f} {cuts:>9.4f} {opened:>7} {own.value:>9.4f} {taken:>8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
