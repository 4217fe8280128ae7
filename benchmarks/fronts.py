"""MO-OBAM with certificates: fronts of 24, 60 and 300 records, a wish, a score, and tiny tables by brute force.

python -m benchmarks.fronts [--seconds 300] [--only classes 24 60 300 score wish tables]

Beside every figure stands that of the commit before fronts had two engines (b3442f0), where it was measured.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import optmodels as om
from formulations import MoObam
from optmodels.solution import relative_gap
from optmodels.solver import OnProgress, Progress
from optmodels.testing import brute_force_front, small_table
from solvers import pareto, solve

RESULTS = Path("benchmarks/results")  # benchmarks/distance_to_exact.py reads the fronts there
PARTS = ("classes", "24", "60", "300", "score", "wish", "tables")
# Gaps of eight points, from the least loss to the most entropy, of the commit before, in about 265 s at load 3 to 5.
BEFORE = {60: "0, 2.9, 8.0, 3.7, 4.4, 18.8, 26.6, 0%", 300: "4.2, 7.7, 10.8, 19.6, 36.9, 66.1, 84.3, 0%"}
WANTED = {60: "5%", 300: "15%"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="limit for each of the larger fronts")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--tables", type=int, default=300, help="tiny tables by brute force")
    asked = parser.parse_args()
    for part in asked.only:
        match part:
            case "classes":
                thirty_classes()
            case "24":
                exact_front()
            case "60" | "300":
                certified_front(int(part), asked.seconds)
            case "score":
                score(asked.seconds)
            case "wish":
                wish(asked.seconds)
            case "tables":
                tiny_tables(asked.tables)


def german(n: int) -> om.Table:
    return om.dataset("german").take(np.arange(n))


def thirty_classes() -> None:
    best = solve(MoObam(k=5, n_clusters=30).build(om.dataset("german")), solver="columns", time_limit=120)
    certificate = f"bound {best.bound:.6f}, gap {best.gap:.2%}, {best.seconds:.0f} s"
    print(f"German, k=5, 30 classes: IL {best.value:.6f}, {certificate}")
    print("  wanted: IL at or below 0.0070 with a gap of at most 10%\n", flush=True)


def exact_front() -> None:
    began, worked = perf_counter(), process_time()
    front = pareto(MoObam(k=5).build(german(24)), solver="epsilon")
    took = f"{perf_counter() - began:.0f} s, {process_time() - worked:.0f} s of processor time"
    front.save(RESULTS / "front_24")
    print(f"24 records: {len(front)} points, complete: {front.details['complete']}, {took}")
    print("  before: 112 s; wanted: 28 s\n", flush=True)


def certified_front(n: int, seconds: float) -> None:
    """The points of the levels that were bounded: loss and gap, and the gaps of all points found."""
    began, worked = perf_counter(), process_time()
    front = pareto(
        MoObam(k=5).build(german(n)), solver="epsilon", options={"levels": 8}, time_limit=seconds, on_progress=curve(n)
    )
    took = f"{perf_counter() - began:.0f} s, {process_time() - worked:.0f} s of processor time"
    front.save(RESULTS / f"front_{n}")
    print(f"\n{n} records: {len(front)} points in {took}; of the levels bounded:")
    levels = front.details["levels"]
    assert isinstance(levels, list)
    for level in levels:
        point = front.pick(limits={"entropy": level["entropy_at_least"]})
        gap = relative_gap(point.values["loss"], level["loss_at_least"])
        print(f"  entropy {point.values['entropy']:.4f}  loss {point.values['loss']:.6f}  gap {gap or 0:.1%}")
    gaps = [point.gap for point in front if point.gap is not None]
    print(f"  all points: median gap {np.median(gaps):.1%}, widest {max(gaps):.1%}")
    print(f"  before: {BEFORE[n]}; wanted: at most {WANTED[n]}\n", flush=True)


def curve(n: int) -> OnProgress:
    """Print where the proof is, at most once in ten seconds."""
    told = [0.0]

    def on_progress(progress: Progress) -> None:
        if progress.seconds - told[0] >= 10:
            told[0] = progress.seconds
            print(f"  {n} records, {progress.seconds:5.0f} s: {progress.note}", flush=True)

    return on_progress


def score(seconds: float) -> None:
    """Four classes, lambda 1: by the swarm, and by what is sought and bounded without choosing a solver."""
    problem = MoObam(k=5, n_clusters=4, objective="lambda", lam=1.0).build(om.dataset("german"))
    limit = min(seconds, 20.0)
    for seed in range(3):
        found = {name: solve(problem, solver=name, time_limit=limit, seed=seed) for name in ("pso", "nsga2")}
        print(f"score, seed {seed}, {limit:.0f} s: " + ", ".join(f"{n} {s.value:.6f}" for n, s in found.items()))
    best = solve(problem, time_limit=limit)
    print(f"  auto ({best.solver}): {best.value:.6f}, bound {best.bound:.6f}, gap {best.gap:.2%}")
    print("  before: the swarm ahead on every seed, no bound\n", flush=True)


def wish(seconds: float) -> None:
    for n, wished in ((20, {"loss": 0.1, "entropy": 2.5}), (60, {"loss": 0.02, "entropy": 2.5})):
        best = solve(MoObam(k=5).build(german(n)), wish=wished, time_limit=min(seconds, 60.0))
        values = ", ".join(f"{name} {value:.6g}" for name, value in best.values.items())
        print(f"wish {wished}, {n} records: {values}; {best.status}, bound {best.bound:.6g}, {best.seconds:.0f} s")
    print(flush=True)


def tiny_tables(count: int) -> None:
    """Exact fronts beside brute force."""
    for seed in range(count):
        problem = MoObam(k=2).build(small_table(6 + seed % 2, seed=seed, sensitive=1 + seed % 2))
        front = pareto(problem, solver="epsilon")
        expected = np.array(brute_force_front(problem))
        found = np.array([(point.values["loss"], point.values["entropy"]) for point in front])
        assert found.shape == expected.shape, seed
        assert np.allclose(found, expected, atol=1e-9), seed
    print(f"{count} tiny tables: exact fronts are those of brute force", flush=True)


if __name__ == "__main__":
    main()
