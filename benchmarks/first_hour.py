"""What a stranger gets: the wheel in a fresh environment, the README's commands on a hospital's file, cold and warm.

    python -m benchmarks.first_hour              # wheel, environment, installation, every command twice
    python -m benchmarks.first_hour --limit 20   # seconds that each search has; 60 as in the README unless given
    python -m benchmarks.first_hour --plain      # a wheel without compiled kernels, as if its numba was another one

Cold is the first run after the installation, warm the one after it. What each command found is beside its seconds: a
cold run is to find what a warm one finds, since compiling does not count against a time limit. At the end the bounds:
how many seconds more a cold run may take, and whether it did. Everything is left in --folder if one is given.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROLES = ["--numeric", "age", "--categorical", "postcode", "--sensitive", "illness", "--identifier", "name", "--k", "5"]
# Seconds that a first run may take longer than a later one, on two cores that are idle.
MORE = {"inspect": 5.0, "anonymize": 15.0, "pareto": 20.0, "audit": 5.0, "verify": 5.0}
WARM_UP = 90.0


class Ran(NamedTuple):
    """A command that was run: how long it took and what it found."""

    seconds: float
    found: str


def hospital(file: Path, people: int = 1_500) -> None:
    """A hospital's file: names, ages, postcodes of a few towns, illnesses that come with age."""
    draw = random.Random(7)
    towns = [f"{draw.randint(10, 99)}{draw.randint(0, 9)}0" for _ in range(12)]
    with file.open("w", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(["name", "age", "postcode", "illness"])
        for number in range(people):
            age = min(99, max(0, round(draw.gauss(52, 21))))
            illness = draw.choice(
                ["flu", "asthma", "fracture", *(["diabetes", "cancer", "stroke"] if age > 45 else [])]
            )
            rows.writerow([f"patient {number}", age, draw.choice(towns), illness])


def run(command: list[str], folder: Path) -> Ran:
    """Run a command; its JSON, where it prints some, says what was found."""
    began = perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})
    seconds = perf_counter() - began
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return Ran(seconds, found(done.stdout))


def found(printed: str) -> str:
    """The few values of a command's JSON that say how good its answer is."""
    try:
        answer: dict[str, Any] = json.loads(printed)
    except ValueError:
        return ""
    names = ("values", "gap", "points", "loss", "k", "status")
    return ", ".join(f"{name} {_short(answer[name])}" for name in names if answer.get(name) is not None)


def _short(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return " ".join(f"{name}={_short(one)}" for name, one in value.items())
    return len(value) if isinstance(value, list) else value


def commands(optmodels: str, limit: float) -> dict[str, list[str]]:
    """The README's commands in their order."""
    seconds = ["--time-limit", f"{limit:g}"]
    search = [*ROLES, *seconds, "--json"]
    return {
        "inspect": [optmodels, "inspect", "patients.csv", "--out", "roles.toml"],
        "anonymize": [optmodels, "anonymize", "patients.csv", *search, "--distinct-l", "2", "--out", "release.csv"],
        "pareto": [optmodels, "pareto", "patients.csv", *search, "--objectives", "loss,entropy", "--out", "front"],
        "audit": [optmodels, "audit", "release.csv", "--quasi", "age,postcode", "--sensitive", "illness", "--json"],
        "verify": [optmodels, "verify", "release.csv", "--original", "patients.csv"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--plain", action="store_true", help="a wheel without compiled kernels")
    parser.add_argument(
        "--warm-up", action="store_true", help="compile everything as well, in an environment of its own"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        binaries = installed(folder, kernels=not given.plain)
        hospital(folder / "patients.csv")
        held = True
        rounds = []
        for name in ("cold", "warm"):
            place = folder / name
            place.mkdir()
            (place / "patients.csv").write_bytes((folder / "patients.csv").read_bytes())
            rounds.append(
                {key: run(one, place) for key, one in commands(str(binaries / "optmodels"), given.limit).items()}
            )
        print(f"\n{'command':10} {'cold':>8} {'warm':>8} {'more':>7} {'bound':>6}  found cold | found warm")
        for name, cold in rounds[0].items():
            warm = rounds[1][name]
            more = cold.seconds - warm.seconds
            held &= more <= MORE[name]
            line = f"{name:10} {cold.seconds:7.1f}s {warm.seconds:7.1f}s {more:6.1f}s {MORE[name]:5.0f}s"
            print(f"{line}  {cold.found} | {warm.found}")
        if given.warm_up:
            cache = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "from-nothing")}
            began = perf_counter()
            subprocess.run([str(binaries / "optmodels"), "warm-up"], check=True, env=cache, stdout=subprocess.DEVNULL)
            seconds = perf_counter() - began
            held &= seconds <= WARM_UP
            print(f"{'warm-up':10} {seconds:7.1f}s {'':8} {'':7} {WARM_UP:5.0f}s")
    print("All bounds held." if held else "A bound was broken.")
    sys.exit(not held)


def installed(folder: Path, *, kernels: bool) -> Path:
    """Build the wheel from this checkout and install it in an environment of its own; where its commands are."""
    began = perf_counter()
    wheels = folder / "wheels"
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(ROOT)],
        check=True,
        env={**os.environ, "OPTMODELS_KERNELS": "1" if kernels else "0"},
    )
    (wheel,) = wheels.glob("optmodels-*.whl")
    print(f"built {wheel.name} ({wheel.stat().st_size / 1e6:.1f} MB) in {perf_counter() - began:.0f} s")
    began = perf_counter()
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([str(binaries / "python"), "-m", "pip", "install", "-q", str(wheel)], check=True)
    size = sum(file.stat().st_size for file in environment.rglob("*") if file.is_file() and not file.is_symlink())
    print(f"installed in {perf_counter() - began:.0f} s: {size / 1e9:.2f} GB")
    return binaries


if __name__ == "__main__":
    main()
