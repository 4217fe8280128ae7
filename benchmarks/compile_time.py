"""What compiling costs: CPU seconds per kernel and signature, and what each command pays on a machine that has nothing.

    python -m benchmarks.compile_time                     # anonymize, pareto, everything (warm-up)
    python -m benchmarks.compile_time anonymize --top 40

Every command runs in a process of its own with an empty cache. "Own" seconds are without those of the kernels that were
compiled on the way; seconds are of the processor, so that other work on the machine changes them little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

COMMANDS = {
    "anonymize": ["anonymize", "german", "--k", "5", "--time-limit", "5"],
    "pareto": ["pareto", "german", "--k", "20", "--time-limit", "5"],
    "everything": ["warm-up"],
}


def record(arguments: list[str], out: Path) -> None:
    """Run a command in this process and write what was compiled."""
    from numba.core import event

    under_way: list[list[Any]] = []
    compiled: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    class Recorder(event.Listener):  # type: ignore[misc]
        def on_start(self, started: event.Event) -> None:
            function = started.data["dispatcher"].py_func
            under_way.append([f"{function.__module__}.{function.__qualname__}", process_time(), 0.0])

        def on_end(self, ended: event.Event) -> None:
            name, began, within = under_way.pop()
            spent = process_time() - began
            if under_way:
                under_way[-1][2] += spent
            compiled[name][0] += 1
            compiled[name][1] += spent - within

    event.register("numba:compile", Recorder())
    sys.argv = ["optmodels", *arguments]
    from optmodels.cli import main

    began, cpu = perf_counter(), process_time()
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        record = {"compiled": compiled, "seconds": perf_counter() - began, "cpu": process_time() - cpu}
        out.write_text(json.dumps(record))


def measured(command: str, cache: Path) -> dict[str, Any]:
    """The record of a command in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "record.json"
        arguments = COMMANDS[command]
        if command != "everything":
            arguments = [*arguments, "--out", str(Path(folder) / ("front" if command == "pareto" else "release.csv"))]
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "OPTMODELS_CORES": "1"}
        subprocess.run(
            [sys.executable, "-m", "benchmarks.compile_time", "--record", str(out), *arguments],
            check=True,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        found: dict[str, Any] = json.loads(out.read_text())
    return found


def main() -> None:
    if "--record" in sys.argv:
        at = sys.argv.index("--record")
        record(sys.argv[at + 2 :], Path(sys.argv[at + 1]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", choices=[*COMMANDS, []], default=list(COMMANDS))
    parser.add_argument("--top", type=int, default=15)
    given = parser.parse_args()
    for command in given.commands:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (measured(command, Path(cache)) for _ in range(2))
        compiled = cold["compiled"]
        total = sum(seconds for _, seconds in compiled.values())
        left = sum(seconds for _, seconds in warm["compiled"].values())
        print(f"\n{command}: {len(compiled)} kernels, {sum(int(n) for n, _ in compiled.values())} signatures,", end=" ")
        print(f"{total:.1f} CPU s of compiling; a second run compiles for {left:.1f} s")
        print(f"  cold {cold['seconds']:.1f} s ({cold['cpu']:.1f} CPU), warm {warm['seconds']:.1f} s", end=" ")
        print(f"({warm['cpu']:.1f} CPU)")
        for name, (signatures, own) in sorted(compiled.items(), key=lambda one: -one[1][1])[: given.top]:
            print(f"  {own:7.2f} s  {int(signatures):3}  {name}")


if __name__ == "__main__":
    main()
