"""Methods that answer a problem: how it is solved.

>>> import optmodels as om
>>> from formulations import Microaggregation
>>> problem = Microaggregation(k=5).build(om.dataset("german"))
>>> best = solve(problem, solver="mdav")
>>> best.status, best.release().audit.k >= 5
(<Status.FEASIBLE: 'feasible'>, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optmodels import registry
from optmodels.errors import RefusedError
from optmodels.exports import lazy
from optmodels.front import ParetoFront
from optmodels.problem import Problem, wished
from optmodels.solution import Solution
from optmodels.solver import FrontSolver, OnProgress, Solver

if TYPE_CHECKING:
    from solvers.auto import Auto as Auto
    from solvers.blocks import Blocks as Blocks
    from solvers.bound import bounded as bounded
    from solvers.columns import Columns as Columns
    from solvers.epsilon import Epsilon as Epsilon
    from solvers.evolution.algorithms import AgeMoea as AgeMoea
    from solvers.evolution.algorithms import Cmopso as Cmopso
    from solvers.evolution.algorithms import Moead as Moead
    from solvers.evolution.algorithms import MopsoCd as MopsoCd
    from solvers.evolution.algorithms import Nsga2 as Nsga2
    from solvers.evolution.algorithms import Nsga3 as Nsga3
    from solvers.evolution.algorithms import SmsEmoa as SmsEmoa
    from solvers.evolution.algorithms import Spea2 as Spea2
    from solvers.evolution.any_pymoo import Pymoo as Pymoo
    from solvers.generalise import Generalise as Generalise
    from solvers.lattice import LatticeSearch as LatticeSearch
    from solvers.liang import LiangGreedy as LiangGreedy
    from solvers.liang import LiangSplit as LiangSplit
    from solvers.local_search import LocalSearch as LocalSearch
    from solvers.mass import Mass as Mass
    from solvers.mdav import Mdav as Mdav
    from solvers.milp import Milp as Milp
    from solvers.mondrian import Mondrian as Mondrian
    from solvers.network import Network as Network
    from solvers.pso import Pso as Pso
    from solvers.univariate import Univariate as Univariate
    from solvers.usefulness import Usefulness as Usefulness
    from solvers.zheng import Zheng as Zheng

_names, __getattr__, __dir__ = lazy(
    __name__,
    {
        "solvers.auto": ["Auto"],
        "solvers.blocks": ["Blocks"],
        "solvers.bound": ["bounded"],
        "solvers.columns": ["Columns"],
        "solvers.epsilon": ["Epsilon"],
        "solvers.evolution.algorithms": ["AgeMoea", "Cmopso", "Moead", "MopsoCd", "Nsga2", "Nsga3", "SmsEmoa", "Spea2"],
        "solvers.evolution.any_pymoo": ["Pymoo"],
        "solvers.generalise": ["Generalise"],
        "solvers.lattice": ["LatticeSearch"],
        "solvers.liang": ["LiangGreedy", "LiangSplit"],
        "solvers.local_search": ["LocalSearch"],
        "solvers.mass": ["Mass"],
        "solvers.mdav": ["Mdav"],
        "solvers.milp": ["Milp"],
        "solvers.mondrian": ["Mondrian"],
        "solvers.network": ["Network"],
        "solvers.pso": ["Pso"],
        "solvers.univariate": ["Univariate"],
        "solvers.usefulness": ["Usefulness"],
        "solvers.zheng": ["Zheng"],
    },
)
__all__ = ["pareto", "solve", *_names]


def solve(
    problem: Problem,
    *,
    solver: str | Solver = "auto",
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    start: NDArray[np.integer[Any]] | Solution | None = None,
    resume: str | Path | None = None,
    wish: Mapping[str, float] | None = None,
) -> Solution:
    """The best partition that a solver, given by name with `options` or as an object, finds for a problem.

    It goes on from `start`, a partition or an earlier answer, or from what the file `resume` keeps of a search that was
    stopped, and will keep of this one.

    With a wish, such as {"loss": 0.01, "entropy": 1.2}, the best is what keeps it or comes nearest to it, and the
    value and bound are those of `achievement`: 0 or less where the wish is kept.
    """
    chosen = _chosen(solver, options)
    if wish is not None:
        problem = wished(problem, wish)
    return chosen.solve(problem, time_limit=time_limit, seed=seed, on_progress=on_progress, start=start, resume=resume)


def pareto(
    problem: Problem,
    *,
    solver: str | Solver = "auto",
    options: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    seed: int = 0,
    on_progress: OnProgress | None = None,
    start: ParetoFront | None = None,
    resume: str | Path | None = None,
) -> ParetoFront:
    """The Pareto front that a solver, given by name with `options` or as an object, finds for a problem.

    It goes on from `start`, an earlier front, or from what the file `resume` keeps of a search that was stopped, and
    will keep of this one.
    """
    chosen = _chosen(solver, options)
    if not isinstance(chosen, FrontSolver):
        able = ", ".join(f"'{name}'" for name in registry.solvers_for(problem, front=True))
        raise RefusedError(
            f"The solver '{chosen.name}' answers with one solution, not with a front. Use one of {able}."
        )
    return chosen.pareto(problem, time_limit=time_limit, seed=seed, on_progress=on_progress, start=start, resume=resume)


def _chosen(solver: str | Solver, options: Mapping[str, Any] | None) -> Solver:
    return registry.configured(registry.solver(solver), options or {}) if isinstance(solver, str) else solver
