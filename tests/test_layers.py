"""Nothing that is imported leads back to who imports it, be it imported when needed or for type checkers alone."""

from __future__ import annotations

import grimp
import numpy as np
from scipy.sparse.csgraph import connected_components

PACKAGES = ("optmodels", "formulations", "solvers", "benchmarks")


def rings(imports: dict[str, set[str]]) -> list[list[str]]:
    """Modules that can be reached from each other, ring by ring."""
    names = sorted(imports)
    place = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), np.int8)
    for name in names:
        matrix[place[name], [place[other] for other in imports[name]]] = 1
    _, ring = connected_components(matrix, directed=True, connection="strong")
    members: dict[int, list[str]] = {}
    for name, number in zip(names, ring.tolist(), strict=True):
        members.setdefault(number, []).append(name)
    return [found for found in members.values() if len(found) > 1]


def test_a_ring_is_found() -> None:
    assert rings({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_no_import_leads_back_to_its_module() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert len(imports) > 200
    assert rings(imports) == []
