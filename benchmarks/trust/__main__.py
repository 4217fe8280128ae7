"""`make trust`: is anything wrong ever released, any bound ever wrong, any file ever lost?

    python -m benchmarks.trust --tables 10000 --jobs 2 --out trust.json

Every table is random and awkward: ties, constants, nearly equal numbers, magnitudes from 1e-300 to 1e300, whole
numbers beyond 2^53, unicode, line breaks, empty text, gaps, repeated people, as many records as k or one more. On each
some formulation, solver and condition of the matrix is solved; brute force over every partition is the reference.
Releases are written, read again by the verifier, and mutated; certificates are written and checked again. Then commands
are stopped and killed, disks are full, memory is short, solvers misbehave, and files are damaged.

`--first` makes other tables: those from that number on.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable
from multiprocessing import get_context
from pathlib import Path

from benchmarks.trust.damage import fuzzed
from benchmarks.trust.faults import LATE, Lateness, faults
from benchmarks.trust.nonsense import nonsense
from benchmarks.trust.outcome import KEPT, Outcome
from benchmarks.trust.properties import case


class Count:
    """How often everything was tried, and what failed."""

    def __init__(self) -> None:
        self.tried: dict[str, Counter[str]] = {}
        self.failures: list[tuple[str, str, str]] = []

    def note(self, part: str, outcomes: Iterable[Outcome]) -> None:
        tried = self.tried.setdefault(part, Counter())
        for what, said in outcomes:
            tried[what] += 1
            if said != KEPT:
                self.failures.append((part, what, said))
                print(f"FAILED {what}: {said}", flush=True)

    def failed(self, part: str, what: str) -> int:
        return sum(1 for one, other, _ in self.failures if (one, other) == (part, what))

    def print(self) -> None:
        for part, tried in self.tried.items():
            print(f"\n{part:72} {'tried':>8} {'failed':>7}")
            for what, count in sorted(tried.items()):
                print(f"  {what:70} {count:8,} {self.failed(part, what):7,}")

    def of(self, *beginnings: str) -> tuple[int, int]:
        """How often whatever begins like this was tried, and how often it failed."""
        names = [(part, what) for part, tried in self.tried.items() for what in tried if what.startswith(beginnings)]
        tried = sum(self.tried[part][what] for part, what in names)
        return tried, sum(self.failed(part, what) for part, what in names)


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
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of whoever a shell starts in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # or commands would take no notice of Ctrl-C either
    began, tally, lateness, tables = time.monotonic(), Count(), Lateness(), 0
    if asked.tables:
        with get_context("spawn").Pool(asked.jobs, maxtasksperchild=2000) as pool:
            for _, outcomes in pool.imap_unordered(case, range(asked.first, asked.first + asked.tables), chunksize=4):
                tally.note("properties of random tables", outcomes)
                tables += 1
                if tables % 100 == 0:  # so that a campaign that is cut short has told something
                    print(
                        f"{tables:,} tables, {len(tally.failures):,} failures, {time.monotonic() - began:.0f} s",
                        flush=True,
                    )
                if time.monotonic() - began > asked.seconds:
                    pool.terminate()
                    break
    tables_seconds = time.monotonic() - began
    if asked.fuzz:
        tally.note("damaged and hostile input", fuzzed(asked.fuzz, asked.first))
        tally.note("damaged and hostile input", nonsense(max(1, asked.fuzz // 6), asked.first))
    if asked.faults:
        tally.note("faults", faults(asked.faults, lateness))
    tally.print()
    mutations, missed = tally.of("mutation found")
    certificates, wrong = tally.of("certificates")
    stopped, lost = tally.of(*(f"{name} during" for name in ("SIGINT", "SIGTERM", "SIGKILL")))
    damaged, _ = tally.of("damaged", "requests", "nonsense")
    seconds = time.monotonic() - began
    print(
        f"\n{tables:,} random tables in {tables_seconds:.0f} s with {asked.jobs} processes"
        f"\n{damaged:,} damaged files and requests"
        f"\n{mutations - missed:,} of {mutations:,} mutations found"
        f"\n{certificates - wrong:,} of {certificates:,} certificates hold when checked again"
        f"\n{stopped:,} checks of commands that were stopped, {lost} failed"
        f"\nworst overshoot {lateness.worst:.2f} s, {LATE:.1f} s allowed"
        f"\n{sum(sum(tried.values()) for tried in tally.tried.values()):,} checks, {len(tally.failures):,} failures, "
        f"{seconds:.0f} s"
    )
    if asked.out:
        record = {
            "tables": tables,
            "tables_seconds": tables_seconds,
            "seconds": seconds,
            "worst_overshoot": lateness.worst,
            "tried": {part: dict(tried) for part, tried in tally.tried.items()},
            "failures": tally.failures,
        }
        asked.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
