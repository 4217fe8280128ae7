"""Options that make no sense are refused when a solver is made, whatever it is then asked to solve."""

from pathlib import Path
from typing import Any

import pytest

from optmodels import registry
from optmodels.errors import InputError

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("epsilon", {"levels": 2.5}, "levels must be a whole number of at least 2, not 2.5"),
    ("epsilon", {"solver": "colums"}, "Did you mean 'columns'"),
    ("epsilon", {"solver": "mdav"}, "'mdav' proves nothing"),
    ("columns", {"node_limit": -1}, "node_limit must be a whole number of at least 1"),
    ("columns", {"enumeration": -5}, "enumeration must be a whole number of at least 0"),
    ("columns", {"cuts_a_round": -3}, "cuts_a_round must be a whole number of at least 0"),
    ("nsga2", {"population": 10.5}, "population must be a whole number of at least 4"),
    ("nsga2", {"evaluations": 1.5}, "evaluations must be a whole number of at least 1"),
    ("nsga2", {"n_centroids": 0}, "n_centroids must be a whole number of at least 1"),
    ("zheng", {"seeds": "furthst"}, "Did you mean 'furthest'"),
    ("liang-split", {"groups": 0}, "groups must be a whole number of at least 1"),
    ("liang-split", {"solver": "local_search"}, "'local_search' proves nothing"),
    ("liang-split", {"solver": "colums"}, "Did you mean 'columns'"),
    ("mondrian", {"relaxed": "yes"}, "relaxed must be True or False"),
    ("blocks", {"compare": "no"}, "compare must be True or False"),
    ("local_search", {"iterations": 1.5}, "iterations must be a whole number of at least 0"),
    ("local_search", {"workers": 0}, "workers must be a whole number of at least 1"),
    ("local_search", {"workers": True}, "workers must be a whole number of at least 1"),
]


@pytest.mark.parametrize(("solver", "options", "message"), WRONG, ids=str)
def test_wrong_options(solver: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        registry.configured(registry.solver(solver), options)


def test_a_log_needs_a_folder(tmp_path: Path) -> None:
    milp = registry.solver("milp")
    registry.configured(milp, {"log": tmp_path / "highs.log"})
    for log in (tmp_path / "nowhere" / "highs.log", tmp_path):
        with pytest.raises(InputError, match="log must be a file in a folder that exists"):
            registry.configured(milp, {"log": log})
