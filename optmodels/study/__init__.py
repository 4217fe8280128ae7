"""Studies: datasets x formulations x solvers x seeds, run in parallel, resumed, compared, plotted.

>>> from optmodels.study import DatasetSpec, FormulationSpec, SolverSpec, Study
>>> study = Study("which", [DatasetSpec("german")], [FormulationSpec("microaggregation", {"k": [3, 5]})],
...               [SolverSpec("mdav"), SolverSpec("local_search", {"iterations": 1000})], seeds=3)
>>> study.size  # `run(study, "runs.db")` makes them, `open_study("runs.db")` reads them
12
"""

from __future__ import annotations

from optmodels.study.declared import load_study, study_from_toml
from optmodels.study.engine import StudyProgress, run
from optmodels.study.results import Results, differences, open_study
from optmodels.study.spec import DatasetSpec, FormulationSpec, Limits, SolverSpec, Study

__all__ = [
    "DatasetSpec",
    "FormulationSpec",
    "Limits",
    "Results",
    "SolverSpec",
    "Study",
    "StudyProgress",
    "differences",
    "load_study",
    "open_study",
    "run",
    "study_from_toml",
]
