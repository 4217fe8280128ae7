"""How far beyond their time limit solvers go: formulations x tasks x conditions x solvers x sizes x limits.

    python -m benchmarks.overshoot [--quick] [--only solver=network,n=45222] [--limits 1,5] [--sizes 60,1000]
                                   [--out benchmarks/results/overshoot.jsonl] [--again]

Each case is a call of `solve` or `pareto` in a process that did nothing else before but other cases; a case that goes
beyond its limit by more than is allowed (2 s, or a tenth of the limit) is run again, now that its kernels are
loaded, and the second time counts. One that is not back after a minute more is ended and said to be. Results are
appended to a file, and a case that is there is not run again unless asked for with `--again`: a walk can be cut short
and gone on with.
`--quick` walks a sample in which every two properties meet that meet at all.

Seconds are of the wall; beside them stand those of the processor, all threads and child processes taken together: they
tell a machine that is busy with something else from a solver that is.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

SIZES = (60, 1_000, 6_000, 45_222, 100_000)
LIMITS = (1.0, 5.0)
CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "k": {},
    "l = 3": {"distinct_l": 3},
    "entropy l = 2": {"entropy_l": 2.0},
    "t = 0.1": {"t": 0.1},
    "t = 0.0001": {"t": 0.0001},
    "beta = 1": {"beta": 1.0},
}
PARAMETERS: Mapping[str, Mapping[str, Any]] = {"mass": {"classifiers": ()}}
K = 5
PATIENCE = 60.0  # seconds beyond the limit after which a case is ended


@dataclass(frozen=True)
class Case:
    """One call of a solver."""

    formulation: str
    task: str
    condition: str
    solver: str
    n: int
    limit: float

    @property
    def allowed(self) -> float:
        """By how many seconds it may go beyond its limit."""
        return max(2.0, 0.1 * self.limit)


@dataclass(frozen=True)
class Timing:
    """What became of a case: seconds to pose, answer and release it, and what the answer is worth."""

    build: float
    seconds: float
    processor: float
    release: float
    found: str


@cache
def people(n: int) -> Any:
    """Numbers that hardly repeat, categories, and two sensitive attributes that go with them."""
    import optmodels as om

    draw = np.random.default_rng(11)
    age = draw.integers(18, 95, n)
    income = np.round(draw.lognormal(10, 0.6, n) * (0.5 + age / 80), 2)
    region = draw.choice(["north", "south", "east", "west", "abroad"], n, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    illness = draw.choice(["flu", "cold", "asthma", "cancer", "none"], n, p=[0.25, 0.25, 0.2, 0.05, 0.25])
    visits = np.minimum(draw.poisson(age / 30), 6)
    frame = pd.DataFrame(
        {
            "age": age,
            "income": income,
            "height": np.round(draw.normal(170, 9, n), 1),
            "region": region,
            "sex": draw.choice(["f", "m"], n),
            "illness": illness,
            "visits": visits.astype(str),
        }
    )
    return om.Table(
        frame,
        quasi={
            "age": "numeric",
            "income": "numeric",
            "height": "numeric",
            "region": "categorical",
            "sex": "categorical",
        },
        sensitive=["illness", "visits"],
        scaling="range",
    )


def problem_of(case: Case) -> Any:
    from optmodels import registry

    kind = registry.formulation(case.formulation)
    size = {"k": K} if "k" in kind.parameters() else {}
    parameters = {**size, **CONDITIONS[case.condition], **PARAMETERS.get(case.formulation, {})}
    problem = registry.configured(kind, parameters).build(people(case.n))
    if case.task == "pareto" and len(problem.objectives) < 2:
        return problem.with_objectives(problem.target.name, "linkage")
    return problem


def busy() -> float:
    """Seconds of the processor that this process and its ended children have used."""
    return sum(os.times()[:4])


def answered(case: Case) -> Timing:
    from optmodels import registry
    from optmodels.errors import RefusedError
    from optmodels.solver import FrontSolver

    began = perf_counter()
    problem = problem_of(case)
    problem.prepare()
    solver = registry.solver(case.solver)()
    built, used = perf_counter(), busy()
    try:
        if case.task == "solve":
            solution = solver.solve(problem, time_limit=case.limit, seed=1)
            value = "nothing" if solution.value is None else f"{solution.value:.6g}"
            found, points = f"{solution.status} {value}", [solution] if solution.labels is not None else []
        else:
            assert isinstance(solver, FrontSolver)
            points = list(solver.pareto(problem, time_limit=case.limit, seed=1))
            found = f"{len(points)} points"
    except RefusedError:
        found, points = "refused", []  # as too large
    ended, after = perf_counter(), busy()
    if points:
        points[0].release()
    return Timing(built - began, ended - built, after - used, perf_counter() - ended, found)


def work(pipe: Connection) -> None:
    """Answer cases until there are no more."""
    import warnings

    warnings.simplefilter("ignore")
    while (case := pipe.recv()) is not None:
        try:
            outcome = answered(case)
            if outcome.seconds > case.limit + case.allowed:
                outcome = answered(case)
            pipe.send(outcome)
        except Exception as error:  # a crash is a result, too
            pipe.send(f"{type(error).__name__}: {error}")


class Worker:
    """A process that answers one case after another; one that does not come back is ended and replaced."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=work, args=(theirs,), daemon=False)
        self._process.start()

    def answer(self, case: Case) -> Timing | str:
        """What became of a case, or what went wrong."""
        self._pipe.send(case)
        if self._pipe.poll(2 * (case.limit + PATIENCE) + 60):
            answer: Timing | str = self._pipe.recv()
            return answer
        self.end()
        self._begin()
        return "not back after a minute more"

    def end(self) -> None:
        """Let the process go."""
        self._process.terminate()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()


def cases(sizes: tuple[int, ...], limits: tuple[float, ...]) -> Iterator[Case]:
    """All that solvers do not refuse of a small table, sizes from small to large."""
    for n, (formulation, task, condition, solver), limit in product(sizes, taken(), limits):
        yield Case(formulation, task, condition, solver, n, limit)


@cache
def taken() -> list[tuple[str, str, str, str]]:
    from optmodels import registry

    found = []
    for formulation, condition, task in product(registry.formulation_names(), CONDITIONS, ("solve", "pareto")):
        problem = problem_of(Case(formulation, task, condition, "", min(SIZES), 1.0))
        for name in registry.solver_names():
            kind = registry.solver(name)
            refuses = kind().refuses_front if task == "pareto" else kind().refuses
            if kind.missing() is None and refuses(problem) is None:
                found.append((formulation, task, condition, name))
    return found


def report(results: list[dict[str, Any]], most: int) -> None:
    crashed = [one for one in results if one["error"]]
    frame = pd.DataFrame([one for one in results if not one["error"]])
    print()
    if len(frame):
        frame["over"] = frame["seconds"] - frame["limit"]
        broken = frame[frame["over"] > np.maximum(2.0, 0.1 * frame["limit"])]
        print(f"{len(frame)} cases, {len(broken)} beyond 2 s or a tenth; the worst:")
        columns = ["formulation", "task", "condition", "solver", "n", "limit"]
        columns += ["seconds", "processor", "over", "build", "release", "found"]
        print(frame.sort_values("over", ascending=False)[columns].head(most).round(2).to_string(index=False))
    for one in crashed:
        names = (one[key] for key in ("formulation", "task", "condition", "solver", "n", "limit"))
        print("failed:", *names, one["error"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="property=value, separated by commas")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--limits", default=",".join(map(str, LIMITS)))
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/overshoot.jsonl"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--rows", type=int, default=25, help="of the table of the worst")
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    sizes = tuple(int(one) for one in arguments.sizes.split(","))
    wanted = list(cases(sizes, tuple(float(one) for one in arguments.limits.split(","))))
    for part in filter(None, arguments.only.split(",")):
        key, _, value = part.partition("=")
        wanted = [case for case in wanted if str(getattr(case, key)) in value.split("|")]
    if arguments.quick:
        from optmodels import matrix

        wanted = matrix.covering(wanted, [field.name for field in fields(Case)])
    known: dict[Case, dict[str, Any]] = {}
    if arguments.out.exists():
        for line in arguments.out.read_text().splitlines():
            one = json.loads(line)
            known[Case(**{key: one[key] for key in Case.__dataclass_fields__})] = one
    missing = [case for case in wanted if arguments.again or case not in known]
    worker = Worker()
    with arguments.out.open("a") as file:
        for place, case in enumerate(missing):
            answer = worker.answer(case)
            told = {"error": answer} if isinstance(answer, str) else {"error": "", **asdict(answer)}
            known[case] = {**asdict(case), **told}
            file.write(json.dumps(known[case]) + "\n")
            file.flush()
            late = isinstance(answer, str) or answer.seconds > case.limit + case.allowed
            if late or sys.stdout.isatty():
                print(f"{place + 1} of {len(missing)}", *asdict(case).values(), *told.values(), flush=True)
    worker.end()
    report([known[case] for case in wanted if case in known], arguments.rows)


if __name__ == "__main__":
    main()
