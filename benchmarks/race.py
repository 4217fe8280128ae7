"""The paper's swarm, pymoo's plain NSGA-II and ours on MO-OBAM: hypervolume against evaluations and seconds.

    OPTMODELS_DATA=... python -m benchmarks.race [--seeds 10] [--first-seed 0] [--evaluations 10000] [--only german]

Every contender has the same evaluations of partitions and the same problem (k = 5). The swarm is Algorithm 1 of Wei
et al. as it stands, 20 particles and 50 iterations for each lambda of the paper and for a small and a large n_C of the
paper; its front is made of every feasible partition that a particle has stood for, more than the paper keeps. The
swarm of the authors is the program behind their tables (`Pso(swarm="authors")`), likewise.
Plain NSGA-II is pymoo's with its own operators, k being a constraint. Ours counts local search as the work it takes.
A race can be run in parts: with `--first-seed 5` further seeds join those in the folder of results.
Hypervolumes are shares of the box between no loss and all entropy and all loss and no entropy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import mannwhitneyu

import optmodels as om
from formulations import MoObam
from formulations.mo_obam import MoObamProblem
from solvers.evolution.algorithms import Nsga2
from solvers.evolution.archive import Archive
from solvers.pso import Pso

Curve = list[tuple[int, float, float]]  # evaluations, seconds, hypervolume
N_C = {"german": (4, 30), "adult": (4, 100)}


def swarm(problem: MoObamProblem, evaluations: int, seed: int, name: str) -> Curve:
    """The paper's swarm over its lambdas and two numbers of classes; each half of the evaluations for one n_C."""
    return _swarms(Pso(faithful=True), problem, evaluations, seed, name)


def authors(problem: MoObamProblem, evaluations: int, seed: int, name: str) -> Curve:
    """The swarm as the authors have programmed it, likewise."""
    return _swarms(Pso(swarm="authors"), problem, evaluations, seed, name)


def _swarms(published: Pso, problem: MoObamProblem, evaluations: int, seed: int, name: str) -> Curve:
    lambdas = Pso().lambdas
    iterations = evaluations // (len(N_C[name]) * len(lambdas) * 20)
    curve: Curve = []
    merged, done, seconds = None, 0, 0.0
    for n_c in N_C[name]:
        options = replace(published, iterations=iterations, n_centroids=n_c)
        front = options.pareto(problem, seed=seed)
        seen: Curve = _details(front)["curve"]
        for count, at, volume in seen:
            curve.append((done + count, seconds + at, max(volume, curve[-1][2] if curve else 0.0)))
        done, seconds = curve[-1][0], curve[-1][1]
        merged = front if merged is None else merged.merge(front)
        curve.append((done, seconds, merged.hypervolume()))
    return curve


def plain(problem: MoObamProblem, evaluations: int, seed: int, name: str) -> Curve:
    """NSGA-II of pymoo with nothing of ours but the problem."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.termination import NoTermination

    native = problem.to_pymoo(N_C[name][-1], mend=False).native
    algorithm = NSGA2(pop_size=100)
    algorithm.setup(native, termination=NoTermination(), seed=seed, verbose=False)
    archive = Archive(2)
    reference = np.array([1.0, 0.0])
    curve: Curve = []
    began = perf_counter()
    while native.decoded < evaluations:
        infills = algorithm.infill()
        algorithm.evaluator.eval(native, infills, algorithm=algorithm)
        algorithm.advance(infills=infills)
        for i in np.flatnonzero(infills.get("FEAS")):
            archive.add(infills[i].F, partial(native.labels, infills[i].X))
        curve.append((native.decoded, perf_counter() - began, archive.hypervolume(reference)))
    return curve


def ours(problem: MoObamProblem, evaluations: int, seed: int, name: str) -> Curve:
    """Memetic NSGA-II."""
    front = Nsga2(evaluations=evaluations).pareto(problem, seed=seed)
    details = _details(front)
    return [*details["curve"], (details["evaluations"], details["seconds"], front.hypervolume())]


def _details(front: om.ParetoFront) -> Mapping[str, Any]:
    return front.details


CONTENDERS: dict[str, Callable[[MoObamProblem, int, int, str], Curve]] = {
    "swarm of the paper": swarm,
    "swarm of the authors": authors,
    "plain NSGA-II": plain,
    "ours": ours,
}


def reached(curve: pd.DataFrame, volume: float) -> tuple[float, float]:
    """Evaluations and seconds at which a hypervolume was reached; infinite if never."""
    enough = curve[curve["hypervolume"] >= volume]
    return (
        (np.inf, np.inf) if enough.empty else (float(enough["evaluations"].iloc[0]), float(enough["seconds"].iloc[0]))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--evaluations", type=int, default=10_000)
    parser.add_argument("--only", choices=["german", "adult"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in ("german", "adult"):
        if arguments.only not in (None, name):
            continue
        problem = MoObam(k=5).build(om.dataset(name))
        assert isinstance(problem, MoObamProblem)
        box = float(problem.most_entropies.sum())
        for contender in CONTENDERS.values():
            contender(problem, 400, 0, name)  # compilation
        results = arguments.out / f"race_{name}.csv"
        parts = [pd.read_csv(results)] if arguments.first_seed else []
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            ends = []
            for label, contender in CONTENDERS.items():
                curve = pd.DataFrame(
                    contender(problem, arguments.evaluations, seed, name),
                    columns=["evaluations", "seconds", "hypervolume"],
                )
                curve["hypervolume"] /= box
                parts.append(curve.assign(contender=label, seed=seed))
                ends.append(f"{label} {curve['hypervolume'].iloc[-1]:.5f}")
            print(f"{name} seed {seed}: " + ", ".join(ends), flush=True)
        race = pd.concat(parts, ignore_index=True)
        race.to_csv(results, index=False)
        report(name, race)


def report(name: str, race: pd.DataFrame) -> None:
    """Medians, Mann-Whitney U, and how much sooner ours is where the swarm ends."""
    ends = race.groupby(["contender", "seed"]).last()
    seeds = sorted(race["seed"].unique())
    print(f"\n{name}: hypervolume at the same evaluations, {len(seeds)} seeds")
    final = {label: ends["hypervolume"].xs(label) for label in CONTENDERS}
    for label in CONTENDERS:
        seconds = ends["seconds"].xs(label).median()
        line = f"  {label:20} median {final[label].median():.5f}  worst {final[label].min():.5f}  {seconds:6.1f} s"
        if label != "ours":
            p = mannwhitneyu(final["ours"], final[label], alternative="greater").pvalue
            line += f"  ours ahead with p = {p:.2g}"
        print(line)
    sooner = []
    for seed in seeds:
        rival = ends.loc[("swarm of the paper", seed)]
        curve = race[(race["contender"] == "ours") & (race["seed"] == seed)]
        count, at = reached(curve, rival["hypervolume"])
        sooner.append((rival["evaluations"] / count, rival["seconds"] / at))
    times = np.median(np.array(sooner), axis=0)
    least = np.min(np.array(sooner), axis=0)
    line = f"{times[0]:.0f} times sooner in evaluations, {times[1]:.0f} in seconds (medians)"
    print(f"  ours reaches the swarm's final hypervolume {line}; at least {least[0]:.0f} and {least[1]:.0f}\n")


if __name__ == "__main__":
    main()
