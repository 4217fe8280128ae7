"""How far each metaheuristic's front is from the exact or certified one of `epsilon`, on 24, 60 and 300 records.

    python -m benchmarks.distance_to_exact [--records 24 60 300] [--seconds 20] [--exact-seconds 600]

German credit, k = 5, loss against entropy. For every point of the reference front: the loss of the cheapest point of
the metaheuristic with at least its entropy, as an excess over the reference's loss (and over its proven bound); IGD+
and the share of the reference's hypervolume. A negative excess is a point better than the reference's incumbent.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import optmodels as om
from formulations import MoObam
from optmodels.errors import InputError
from optmodels.front import ParetoFront
from optmodels.problem import Problem
from solvers import pareto

ALGORITHMS = ("nsga2", "nsga3", "sms-emoa", "spea2", "age-moea", "moead", "mopso-cd", "cmopso", "pso")
LEVELS = {24: None, 60: 8, 300: 6}


def reference(problem: Problem, n: int, seconds: float, folder: Path) -> ParetoFront:
    """The front of `epsilon`, from an earlier run of benchmarks/fronts.py if there is one."""
    try:
        return ParetoFront.load(folder / f"front_{n}", problem)
    except InputError:
        front = pareto(problem, solver="epsilon", options={"levels": LEVELS.get(n)}, time_limit=seconds)
        front.save(folder / f"front_{n}")
        return front


def excesses(front: ParetoFront, exact: ParetoFront) -> tuple[np.ndarray, np.ndarray]:
    """Relative excess of loss over the reference's values and over its bounds, at each of its levels of entropy."""
    losses, entropies = front.frame()["loss"].to_numpy(), front.frame()["entropy"].to_numpy()
    over_value, over_bound = [], []
    for point in exact:
        enough = losses[entropies >= point.values["entropy"] - 1e-9]
        best = enough.min() if len(enough) else np.inf
        over_value.append(best / point.values["loss"] - 1)
        over_bound.append(best / point.bound - 1 if point.bound else np.inf)
    return np.array(over_value), np.array(over_bound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="*", default=[24, 60, 300])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--exact-seconds", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    for n in arguments.records:
        problem = MoObam(k=5).build(om.dataset("german").take(np.arange(n)))
        exact = reference(problem, n, arguments.exact_seconds, arguments.out)
        rows = []
        for name in ALGORITHMS:
            options = {"iterations": 500} if name == "pso" else {}
            front = pareto(problem, solver=name, options=options, time_limit=arguments.seconds)
            value, bound = excesses(front, exact)
            rows.append(
                {
                    "algorithm": name,
                    "points": len(front),
                    "median excess": f"{np.median(value):.2%}",
                    "largest excess": f"{value.max():.2%}",
                    "median over bound": f"{np.median(bound):.2%}",
                    "IGD+": f"{front.igd_plus(exact):.2g}",
                    "hypervolume": f"{front.hypervolume() / exact.hypervolume():.4%}",
                }
            )
        gaps = [f"{point.gap:.1%}" if point.gap is not None else "-" for point in exact]
        print(f"{n} records: reference of {len(exact)} points, proven gaps {', '.join(gaps)}")
        print(pd.DataFrame(rows).to_string(index=False) + "\n", flush=True)


if __name__ == "__main__":
    main()
