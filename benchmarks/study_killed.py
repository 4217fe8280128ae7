"""A study that is killed half-way and resumed, beside the same study left alone: do they end the same?

    OPTMODELS_DATA=... python benchmarks/study_killed.py benchmarks/studies/which_solver.toml --out killed

Steps can be made one by one (--steps whole, then killed, resumed, compared), each as long as the study or half of it.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep

import psutil

from optmodels.errors import InputError
from optmodels.parallel import cores
from optmodels.study import differences, load_study, open_study

STEPS = ("whole", "killed", "resumed", "compared")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for whole.db and killed.db")
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    total = load_study(given.spec).size
    whole, killed = given.out / "whole.db", given.out / "killed.db"
    print(f"{given.spec.stem}: {total} runs, {given.workers} at a time")
    if "whole" in given.steps:
        began = perf_counter()
        begun(given.spec, whole, given.workers).wait()
        print(f"left alone: {finished(whole)} runs in {perf_counter() - began:.0f} s")
    if "killed" in given.steps:
        kill_half_way(begun(given.spec, killed, given.workers), killed, total)
    if "resumed" in given.steps:
        before = stamps(killed)
        began = perf_counter()
        begun(given.spec, killed, given.workers).wait()
        after = stamps(killed)
        kept = all(after[key] == stamp for key, stamp in before.items())
        print(f"resumed: {len(after) - len(before)} runs in {perf_counter() - began:.0f} s; the first {len(before)} "
              f"{'were neither lost nor repeated' if kept else 'WERE MADE AGAIN'}")  # fmt: skip
    if "compared" in given.steps:
        return compare(whole, killed)
    return 0


def begun(spec: Path, out: Path, workers: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "optmodels",
        "study",
        "run",
        str(spec),
        "--out",
        str(out),
        "--workers",
        str(workers),
    ]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_half_way(study: subprocess.Popen[bytes], out: Path, total: int) -> None:
    began = perf_counter()
    while finished(out) < total // 2 and study.poll() is None:
        sleep(0.2)
    family = psutil.Process(study.pid).children(recursive=True)
    study.send_signal(signal.SIGKILL)
    study.wait()
    _, left = psutil.wait_procs(family, timeout=30)
    print(f"killed with SIGKILL after {perf_counter() - began:.0f} s, {finished(out)} runs finished and "
          f"{len(family)} processes under way; {len(left)} of these still there after it")  # fmt: skip


def finished(path: Path) -> int:
    return len(stamps(path))


def stamps(path: Path) -> dict[str, str]:
    """When each finished run was finished."""
    try:
        return dict(open_study(path).runs().set_index("key")["finished"])
    except InputError:
        return {}


def compare(whole: Path, killed: Path) -> int:
    one, other = open_study(whole), open_study(killed)
    found = differences(one, other)
    runs = one.runs()
    columns = len(one.reproducible().columns)
    print(f"{len(runs)} runs against {len(other.runs())}, {columns} columns without times and memory, solvers' notes, "
          f"ends of curves and points of fronts among them: {len(found)} differences")  # fmt: skip
    if len(found):
        print(found.to_string())
    return int(len(found) > 0 or len(runs) == 0)


if __name__ == "__main__":
    sys.exit(main())
