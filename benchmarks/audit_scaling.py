"""How the audit grows: n rows x 6 quasi-identifiers and one sensitive attribute, each size in a fresh process.

    python benchmarks/audit_scaling.py [--rows 100000 1000000 ...] [--class-size 5] [--repeats 3]

A released table of that shape is made up (classes of about five records with equal values), audited once on a few
rows so that compilation is not timed, and then audited in full. Seconds are the median of the repeats, beside them the
processor time of all threads (the two part on a busy machine); memory is the process's peak beyond what it held with
the data loaded (Linux).
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from optmodels.audit import audit

ROWS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
QUASI = ("age", "income", "height", "postcode", "sex", "job")
SECONDS, GIGABYTES = 5.0, 2.0  # what ten million rows may take


def released_table(rows: int, class_size: int) -> pd.DataFrame:
    """Floating means, whole numbers, categories and text, equal within random classes, in random order."""
    random = np.random.default_rng(7)
    classes = max(rows // class_size, 1)
    of_row = random.integers(0, classes, rows)
    postcodes = np.array([f"{code:05d}" for code in range(20_000)])
    jobs = pd.Index([f"job {code}" for code in range(300)], dtype="str")
    illnesses = [f"illness {code}" for code in range(20)]
    from_codes: Callable[..., pd.Categorical] = pd.Categorical.from_codes  # the stubs know lists alone
    return pd.DataFrame(
        {
            "age": random.normal(45, 15, classes)[of_row],
            "income": random.lognormal(10, 1, classes)[of_row],
            "height": random.integers(140, 210, classes)[of_row],
            "postcode": from_codes(random.integers(0, len(postcodes), classes)[of_row], postcodes),
            "sex": random.integers(0, 2, classes).astype(bool)[of_row],
            "job": jobs.take(random.integers(0, len(jobs), classes)[of_row]),
            "illness": from_codes(random.integers(0, len(illnesses), rows), illnesses),
        }
    )


def memory(what: str) -> int:
    """Bytes of this process: VmRSS is what it holds now, VmHWM the most it ever held."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(what))


def measure(rows: int, class_size: int, repeats: int) -> dict[str, float]:
    frame = released_table(rows, class_size)
    audit(frame.head(1000), quasi=QUASI, sensitive="illness")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forget the peak reached while the table was made
    before = memory("VmRSS")
    seconds, busy = [], []
    for _ in range(repeats):
        start, worked = time.perf_counter(), time.process_time()
        found = audit(frame, quasi=QUASI, sensitive="illness")
        seconds.append(time.perf_counter() - start)
        busy.append(time.process_time() - worked)
    extra = max(memory("VmHWM") - before, 0)
    return {
        "rows": rows,
        "classes": found.classes,
        "seconds": statistics.median(seconds),
        "processor": statistics.median(busy),
        "extra": extra,
    }


def growth(found: list[dict[str, float]], what: str) -> float:
    """The exponent p of the power law time = constant * rows^p that fits best."""
    return float(np.polyfit(np.log([one["rows"] for one in found]), np.log([one[what] for one in found]), 1)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description="Time and memory of the audit against the number of rows.")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--class-size", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.class_size, options.repeats)))
        return 0

    print(f"{'rows':>12} {'classes':>11} {'seconds':>9} {'ns/row':>8} {'processor':>10} {'extra GB':>9}")
    found = []
    for rows in sorted(options.rows):
        command = [sys.executable, __file__, "--one", str(rows)]
        command += ["--class-size", str(options.class_size), "--repeats", str(options.repeats)]
        one = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found.append(one)
        times = f"{one['seconds']:>9.3f} {one['seconds'] / rows * 1e9:>8.0f} {one['processor']:>9.3f}s"
        print(f"{rows:>12,} {one['classes']:>11,} {times} {one['extra'] / 1e9:>9.2f}", flush=True)
    if len(found) > 1:
        powers = [growth(found, "seconds"), growth(found, "processor")]
        print(f"time grows as rows to the power {powers[0]:.2f}, processor time {powers[1]:.2f}")
    largest = found[-1]
    kept = largest["seconds"] <= SECONDS and largest["extra"] <= GIGABYTES * 1e9
    print(f"at most {SECONDS:g} s and {GIGABYTES:g} GB at {largest['rows']:,} rows: {'yes' if kept else 'NO'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
