"""`make trust`: is anything wrong ever released, any bound ever wrong, any file ever lost?

    python -m benchmarks.trust --tables 10000 --jobs 2 --out trust.json

Every table is random and awkward: ties, constants, nearly equal numbers, magnitudes from 1e-300 to 1e300, whole
numbers beyond 2^53, unicode, line breaks, empty text, repeated people, as many records as k or one more. On each some
formulation, solver and condition of the matrix is solved; brute force over every partition is the reference. Releases
are written, read again by the verifier, and mutated. Then commands are killed, folders are full or read-only, and files
are damaged.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from optmodels import registry
from optmodels.errors import InputError, OptmodelsError, RefusedError
from optmodels.problem import Problem
from optmodels.solution import Solution, Status, Stop
from optmodels.table import Table
from optmodels.testing import brute_force
from optmodels.testing.solvers import quick
from optmodels.testing.tables import CONDITION_LEVELS
from optmodels.verifier import beside, load_promise, verify

_FRONTS_ONLY = {"epsilon", "pymoo"}  # of which one answer is a point of a front, and slow
_SECONDS = 2.0  # a solve may take
_TEXTS = ["a", "b", "ü", "c d", "x,y", 'q"q', "line\nbreak", "", "*", "-0", "NA", "東京", "=1+1", "\t", "a" * 300]
_RELATIVE, _OF_EVERYBODY = 1e-9, 1e-12  # how far rounding may move a bound: of the optimum, of one class of everybody

Outcome = tuple[str, str]  # property, and "kept" or what is wrong


def numbers(draw: np.random.Generator, n: int) -> np.ndarray[Any, Any]:
    """A column of awkward numbers."""
    kind = int(draw.integers(0, 11))
    base = draw.integers(0, 4, n)
    match kind:
        case 0:
            return base
        case 1:
            return np.full(n, 7.5)
        case 2:
            return 1e9 + base * 1e-6
        case 3:
            return draw.normal(size=n) * 10.0 ** draw.integers(-300, 300)
        case 4:
            return 2**53 + base.astype(np.int64)
        case 5:
            return np.where(base > 0, 0.0, -0.0) + (base > 2)
        case 6:
            return 1.0 + base * np.finfo(float).eps
        case 7:
            return draw.lognormal(0, 8, n)
        case 8:
            return draw.normal(size=n) * 10.0 ** draw.integers(-130, 130)
        case 9:
            return np.array([-(2**62), 2**62, 1, 0], np.int64)[base]
        case _:
            return draw.normal(size=n).round(2)


def random_frame(draw: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A random table of a few records, and its roles."""
    n = int(draw.integers(2, 8))
    many = bool(draw.integers(0, 2))
    texts = draw.permutation(_TEXTS)[: len(_TEXTS) if many else 3]
    frame = pd.DataFrame({"x": numbers(draw, n), "y": numbers(draw, n), "c": draw.choice(texts, n)})
    frame["s"] = draw.choice(["flu", "cold", "rare"][: int(draw.integers(1, 4))], n)
    quasi = {"x": "numeric", "y": "numeric", "c": "categorical"}
    for name in draw.permutation(list(quasi))[: int(draw.integers(0, 3))]:
        quasi.pop(str(name))
        frame = frame.drop(columns=str(name))
    roles: dict[str, Any] = {"quasi": quasi, "sensitive": "s", "scaling": str(draw.choice(["alike", "none", "range"]))}
    if draw.integers(0, 6) == 0:
        frame["who"] = draw.integers(0, max(2, n - 1), n)
        roles["person"] = "who"
    if draw.integers(0, 6) == 0:
        frame.loc[int(draw.integers(0, n)), "s"] = None
        roles["missing"] = str(draw.choice(["drop", "category", "impute"]))
    return frame, roles


def posed(draw: np.random.Generator, table: Table, k: int) -> tuple[Problem, str]:
    """Some formulation and condition on a table, and the name of some solver that takes it."""
    name = str(draw.choice(registry.formulation_names()))
    kind = registry.formulation(name)
    conditions = dict(CONDITION_LEVELS[str(draw.choice(list(CONDITION_LEVELS)))]) if draw.integers(0, 2) else {}
    if draw.integers(0, 5) == 0:
        conditions["suppress"] = 0.34
    least = {"k": k} if "k" in kind.parameters() else {}
    problem = registry.configured(kind, {**least, **conditions}).build(table, seed=0)
    solvers = [one for one in registry.solvers_for(problem) if one not in _FRONTS_ONLY]
    return problem, str(draw.choice(solvers))


def solved(problem: Problem, solver: str) -> Solution:
    return quick(solver).solve(problem, seed=0, time_limit=_SECONDS)


def case(number: int) -> tuple[int, list[Outcome]]:
    """Everything about one random table."""
    draw = np.random.default_rng([18, number])
    told: list[Outcome] = []
    where = f"table {number}"
    try:
        frame, roles = random_frame(draw)
        k = int(draw.integers(2, 4))
        try:
            table = Table(frame, **roles)
            problem, solver = posed(draw, table, k)
        except (InputError, RefusedError):
            return number, [("refused with a reason", "kept")]
        where = f"table {number}, {problem.formulation.name} by {solver}, {problem.conditions.describe()}"
        told += _answers(problem, solver)
        told += _order(draw, frame, roles, problem, solver)
        told += _larger_k(draw, table)
    except Exception as error:
        told.append(("no crash", f"{type(error).__name__}: {error}"))
    else:
        told.append(("no crash", "kept"))
    return number, [(what, said if said == "kept" else f"{where}: {said}"[:600]) for what, said in told]


def _answers(problem: Problem, solver: str) -> Iterator[Outcome]:
    best = brute_force(problem)
    solution = solved(problem, solver)
    target = problem.target
    if best is None:
        yield "infeasible where brute force finds nothing", _kept(solution.labels is None, "a solution")
        return
    yield "never infeasible where something is feasible", _kept(solution.status is not Status.INFEASIBLE, "infeasible")
    optimum = best[1].values[target.name]
    everybody = abs(problem.evaluate(np.zeros(problem.n, np.int64)).values[target.name])
    hair = _RELATIVE * abs(optimum) + _OF_EVERYBODY * everybody
    if solution.bound is not None:
        beyond = solution.bound - optimum if target.sense == "min" else optimum - solution.bound
        yield "bounds never beyond the optimum", _kept(beyond <= hair, f"bound {solution.bound!r} of {optimum!r}")
    contradicted = "contradicted_bound" in solution.details
    yield "no bound contradicted", _kept(not contradicted, str(solution.details.get("contradicted_bound")))
    if solution.labels is None:
        return
    judged = problem.evaluate(solution.labels)
    yield "a feasible partition", _kept(judged.feasible, str(dict(judged.violations)))
    yield "values are the judge's", _kept(dict(judged.values) == dict(solution.values), str(dict(solution.values)))
    if solution.status is Status.OPTIMAL and solution.value is not None:
        near = abs(solution.value - optimum) <= 1e-6 * abs(optimum) + hair
        yield "optimal is optimal", _kept(near, f"{solution.value!r}, not {optimum!r}")
    yield from _released(solution)


def _released(solution: Solution) -> Iterator[Outcome]:
    release = solution.release()
    with tempfile.TemporaryDirectory(prefix="trust-", dir=_MEMORY) as folder:
        for ending in (".csv", ".parquet"):
            path = Path(folder) / f"release{ending}"
            (release.to_csv if ending == ".csv" else release.to_parquet)(path)
            promise = load_promise(beside(path))
            broken = verify(path, promise).broken
            yield "written releases keep their promise", _kept(not broken, "; ".join(broken))
        for what, mutated in _mutations(release.frame):
            mutated.to_parquet(path, index=False)
            yield f"mutation found: {what}", _kept(bool(verify(path, promise).broken), "not found")


def _mutations(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    last = len(frame) - 1
    yield "a row dropped", frame.iloc[:last]
    yield "a row doubled", pd.concat([frame, frame.iloc[:1]], ignore_index=True)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name].dtype):
            changed = frame[name].astype(object).copy()
            changed.iloc[0] = f"{changed.iloc[0]}~"
            yield "a cell changed", frame.assign(**{str(name): changed.astype(str)})
            break
    for name in frame.columns:
        column = frame[name]
        if column.nunique() > 1:  # all of one value written as another: classes are joined
            yield (
                "classes joined",
                frame.assign(**{str(name): column.where(column != column.iloc[0], column.iloc[last])}),
            )
            break


def _order(
    draw: np.random.Generator, frame: pd.DataFrame, roles: dict[str, Any], problem: Problem, solver: str
) -> Iterator[Outcome]:
    """The same rows in another order, sorted as the command line sorts them, make the same release."""
    if solver in ("milp", "auto", "blocks"):  # whose answers may depend on a clock
        return
    bytes_of = []
    for shuffled in (frame, frame.sample(frac=1, random_state=int(draw.integers(1 << 30)))):
        table = Table(shuffled, **roles).sorted()
        other = problem.formulation.build(table, seed=0)
        found = solved(other, solver)
        if found.stop is Stop.TIME:
            return
        bytes_of.append(None if found.labels is None else found.release().frame.to_csv(index=False))
    yield "the order of rows changes no byte", _kept(bytes_of[0] == bytes_of[1], "two releases")


def _larger_k(draw: np.random.Generator, table: Table) -> Iterator[Outcome]:
    if draw.integers(0, 4):
        return
    found = [
        solved(registry.configured(registry.formulation("microaggregation"), {"k": k}).build(table), "columns")
        for k in (2, 3)
        if k <= table.n
    ]
    if len(found) == 2 and all(one.status is Status.OPTIMAL for one in found):
        two, three = (one.value for one in found)
        assert two is not None
        assert three is not None
        yield "a larger k has no smaller optimum", _kept(two <= three * (1 + 1e-7) + 1e-300, f"{two!r} and {three!r}")


def _kept(so: bool, otherwise: str) -> str:
    return "kept" if so else otherwise


_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # files that need not outlive a moment


def faults(rounds: int) -> Iterator[Outcome]:
    """Commands that are stopped at any moment, and places that cannot be written to."""
    with tempfile.TemporaryDirectory(prefix="trust-faults-") as folder:
        place = Path(folder)
        draw = np.random.default_rng(7)
        data = pd.DataFrame(
            {
                "age": draw.integers(20, 80, 400),
                "pay": draw.normal(size=400).round(3),
                "s": draw.choice(list("uvw"), 400),
            }
        )
        data.to_csv(place / "data.csv", index=False)
        command = [
            sys.executable,
            "-m",
            "optmodels",
            "anonymize",
            str(place / "data.csv"),
            "--numeric",
            "age,pay",
            "--sensitive",
            "s",
            "--k",
            "3",
        ]
        command += ["--time-limit", "4", "--out"]
        for number in range(rounds):
            sent = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[number % 3]
            out = place / f"out{number}" / "release.csv"
            out.parent.mkdir()
            process = subprocess.Popen(
                [*command, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
            )
            time.sleep(float(draw.uniform(0.2, 6.0)))
            process.send_signal(sent)
            began = time.monotonic()
            _, errors = process.communicate(timeout=60)
            late = time.monotonic() - began
            yield f"{sent.name}: no traceback", _kept(b"Traceback" not in errors, errors.decode()[-300:])
            yield (
                f"{sent.name}: ends within 2 s and a tenth of its limit",
                _kept(late <= 2.4 or sent is signal.SIGKILL, f"{late:.1f} s"),
            )
            if out.exists():
                whole = beside(out).exists() and not verify(out, load_promise(beside(out))).broken
                yield f"{sent.name}: what is written is whole and verified", _kept(whole, "it is not")
            else:
                left = [path.name for path in out.parent.iterdir() if sent is not signal.SIGKILL]
                yield f"{sent.name}: or nothing is", _kept(not left, str(left))
        for what, target in (
            ("a full disk", "/dev/full"),
            ("a folder that is not there", str(place / "no" / "out.csv")),
            ("a read-only place", "/proc/out.csv"),
        ):
            done = subprocess.run([*command, target], capture_output=True, text=True, timeout=120)
            yield what, _kept(done.returncode == 1 and "Traceback" not in done.stderr, done.stderr[-300:])


def fuzzed(rounds: int) -> Iterator[Outcome]:
    """Damaged files: one paragraph and an exit code, never a traceback or a mistake of ours."""
    from typer.testing import CliRunner

    from optmodels.cli import app

    draw = np.random.default_rng(11)
    with tempfile.TemporaryDirectory(prefix="trust-fuzz-", dir=_MEMORY) as folder:
        place = Path(folder)
        frame = pd.DataFrame({"age": range(12), "c": list("abcabcabcabc"), "s": ["u", "v"] * 6})
        frame.to_csv(place / "data.csv", index=False)
        frame.to_parquet(place / "data.parquet")
        pd.DataFrame({"c": list("abc"), "up": ["x", "x", "y"]}).to_csv(place / "c.csv", index=False, header=False)
        run = CliRunner()
        words = ["--numeric", "age", "--categorical", "c", "--sensitive", "s", "--k", "2", "--solver", "mdav"]
        made = run.invoke(
            app,
            [
                "anonymize",
                str(place / "data.csv"),
                *words,
                "--save-roles",
                str(place / "roles.toml"),
                "--out",
                str(place / "release.csv"),
            ],
        )
        assert made.exit_code == 0, made.output
        out = ["--out", str(place / "new.csv"), "--force"]
        uses: dict[str, Callable[[str], list[str]]] = {
            "data.csv": lambda file: ["anonymize", file, *words, *out],
            "data.parquet": lambda file: ["anonymize", file, *words, *out],
            "roles.toml": lambda file: [
                "anonymize",
                str(place / "data.csv"),
                "--roles",
                file,
                "--k",
                "2",
                "--solver",
                "mdav",
                *out,
            ],
            "c.csv": lambda file: ["anonymize", str(place / "data.csv"), *words, "--hierarchy", f"c={file}", *out],
            "release.promise.json": lambda file: ["verify", str(place / "release.csv"), "--promise", file],
            "release.csv": lambda file: ["verify", file, "--promise", str(place / "release.promise.json")],
        }
        for number in range(rounds):
            name = list(uses)[number % len(uses)]
            bad = place / f"bad{Path(name).suffix}"
            bad.write_bytes(_damaged(draw, (place / name).read_bytes()))
            found = run.invoke(app, uses[name](str(bad)))
            mistake = "mistake in optmodels" in found.output or found.exit_code not in (0, 1, 2, 3, 4)
            yield (
                f"damaged {name}",
                _kept(not mistake, " ".join(found.output.split())[-400:] + f" ({bad.read_bytes()[:200]!r})"),
            )
            if name.startswith("release") and bad.read_bytes() != (place / name).read_bytes():
                yield (
                    f"damaged {name} is noticed",
                    _kept(found.exit_code != 0 or _only_looks(bad, place / name), "it is not"),
                )


def _only_looks(bad: Path, good: Path) -> bool:
    """Whether a damaged file still says the same: line ends, quotes and the order of rows are nobody's promise."""
    if good.suffix == ".json":
        return bool(json.loads(bad.read_text()) == json.loads(good.read_text()))
    return (
        sorted(bad.read_text().split()) == sorted(good.read_text().split())
        or bad.read_text().strip() == good.read_text().strip()
    )


def _damaged(draw: np.random.Generator, content: bytes) -> bytes:
    damaged = bytearray(content)
    for _ in range(int(draw.integers(1, 4))):
        place = int(draw.integers(0, max(len(damaged), 1)))
        match int(draw.integers(0, 5)):
            case 0:
                damaged[place : place + 1] = bytes([int(draw.integers(0, 256))])
            case 1:
                del damaged[place : place + int(draw.integers(1, 20))]
            case 2:
                damaged[place:place] = bytes(draw.integers(0, 256, int(draw.integers(1, 9))).tolist())
            case 3:
                damaged[place:place] = draw.choice(
                    [b'"', b"\n", b"\r", b",", b"\0", b"[", b"{", b"1e999", b"\xff\xfe", b"="]
                )
            case _:
                del damaged[place:]
    return bytes(damaged)


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--tables", type=int, default=10_000)
    given.add_argument("--first", type=int, default=0)
    given.add_argument("--jobs", type=int, default=2)
    given.add_argument("--faults", type=int, default=30)
    given.add_argument("--fuzz", type=int, default=600)
    given.add_argument("--seconds", type=float, default=1800.0, help="no new table after so long")
    given.add_argument("--out", type=Path)
    asked = given.parse_args()
    began, tried, failures = time.monotonic(), Counter[str](), list[Outcome]()

    def note(outcomes: Iterator[Outcome] | list[Outcome]) -> None:
        for what, said in outcomes:
            tried[what] += 1
            if said != "kept":
                failures.append((what, said))
                print(f"FAILED {what}: {said}", flush=True)

    tables = 0
    with get_context("spawn").Pool(asked.jobs, maxtasksperchild=500) as pool:
        for _, outcomes in pool.imap_unordered(case, range(asked.first, asked.first + asked.tables), chunksize=4):
            note(outcomes)
            tables += 1
            if time.monotonic() - began > asked.seconds:
                pool.terminate()
                break
    try:
        note(fuzzed(asked.fuzz))
        note(faults(asked.faults))
    except OptmodelsError as error:
        failures.append(("the campaign itself", str(error)))
    failed = Counter(what for what, _ in failures)
    print(f"\n{'property':64} {'tried':>8} {'failed':>7}")
    for what, count in sorted(tried.items()):
        print(f"{what:64} {count:8,} {failed[what]:7,}")
    seconds = time.monotonic() - began
    print(f"\n{tables:,} tables, {sum(tried.values()):,} checks, {len(failures):,} failures, {seconds:.0f} s")
    if asked.out:
        record = {"tables": tables, "seconds": seconds, "tried": dict(tried), "failures": failures}
        asked.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
