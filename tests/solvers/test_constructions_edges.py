"""Tables at the edge of what a construction can be given: every one still answers, or says why there is no answer."""

import pandas as pd
import pytest

from formulations import LiangSamavi, Microaggregation
from optmodels import Table, registry
from optmodels.errors import InputError
from optmodels.testing import check_solution

SOLVERS = ["mdav", "zheng", "mondrian", "univariate", "liang-greedy", "liang-split"]
TABLES: dict[str, tuple[dict[str, list[object]], dict[str, str]]] = {
    "all equal": ({"a": [0.1] * 11, "b": ["x"] * 11}, {"a": "numeric", "b": "categorical"}),
    "as many as k": ({"a": [3, 1, 2]}, {"a": "numeric"}),
    "one less than two classes": ({"a": [5, 1, 2, 9, 4]}, {"a": "numeric"}),
    "categories only": ({"b": list("xyxzyyxzzxy")}, {"b": "categorical"}),
    "one category": ({"b": ["x"] * 7}, {"b": "categorical"}),
    "ordinal": ({"c": [1, 2, 3, 3, 2, 1, 1]}, {"c": "ordinal"}),
    "far from zero": ({"a": [1e12 + i for i in (1, 5, 2, 9, 4, 7, 7, 7)]}, {"a": "numeric"}),
    "an outlier below": ({"a": [-1e12, *range(12)]}, {"a": "numeric"}),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_edges(solver: str, table: str) -> None:
    columns, quasi = TABLES[table]
    formulation = LiangSamavi(k=3) if solver.startswith("liang") else Microaggregation(k=3)
    problem = formulation.build(Table(pd.DataFrame(columns), quasi=quasi))  # type: ignore[arg-type]
    if reason := registry.solver(solver)().refuses(problem):
        assert solver == "univariate"
        assert table == "categories only", reason
        return
    solution = registry.solver(solver)().solve(problem)
    check_solution(solution)
    assert solution.labels is not None
    if table == "all equal":
        assert solution.value == 0.0


def test_an_outlier_does_not_blur_the_others() -> None:
    """In single precision all values but the outlier would be equal, and no cut between them be found."""
    columns, quasi = TABLES["an outlier below"]
    problem = Microaggregation(k=3).build(Table(pd.DataFrame(columns), quasi=quasi))  # type: ignore[arg-type]
    labels = registry.solver("mondrian")().solve(problem).labels
    assert labels is not None
    assert labels.max() == 3


@pytest.mark.parametrize("solver", ["mdav", "zheng", "mondrian"])
def test_more_values_than_there_are(solver: str) -> None:
    people = pd.DataFrame({"age": range(9), "illness": list("ababababa")})
    table = Table(people, quasi={"age": "numeric"}, sensitive="illness")
    solution = registry.solver(solver)().solve(Microaggregation(k=3, distinct_l=3).build(table))
    assert solution.status == "infeasible"
    assert "only 2 distinct values" in solution.reason
    with pytest.raises(InputError, match="k=10 is more than"):
        Microaggregation(k=10).build(table)
