"""Threads of HiGHS that are late do not take the process down with them."""

from __future__ import annotations

import subprocess
import sys

_LATE = """
from time import sleep
from solvers._awaited import begun

def work():
    sleep(0.5)
    print("ended", flush=True)

begun(work)
print("left", flush=True)
"""

_HIGHS = """
import highspy
import numpy as np
from solvers.columns import integer

integer._PATIENCE_SECONDS = 0.0
draw = np.random.default_rng(0)
classes = [np.sort(draw.choice(120, 5, replace=False)) for _ in range(6_000)]
worth = {members.tobytes(): 1.0 + draw.random() for members in classes}
start = [np.arange(a, a + 5) for a in range(0, 120, 5)]
found = integer.cheapest_partition(120, classes, lambda m: worth.get(m.tobytes(), 9.0), 0.2, start=start)
assert found.classes is not None or not found.optimal
print("left", flush=True)
"""


def _ended(script: str) -> tuple[int, list[str]]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout.split()


def test_what_was_begun_is_waited_for() -> None:
    assert _ended(_LATE) == (0, ["left", "ended"])


def test_a_late_program_ends_the_process_in_peace() -> None:
    assert _ended(_HIGHS) == (0, ["left"])
