"""A real SIGINT, in a process of its own: the best so far comes back, whatever compiled code was running."""

import json
import subprocess
import sys

import pytest

CHILD = """
import json, os, signal, sys, threading
import numpy as np
import optmodels as om
from formulations import LiangSamavi, MoObam
from solvers import pareto, solve

name, front = sys.argv[1], sys.argv[2] == "front"
german = om.dataset("german")
problem = MoObam(k=5).build(german if name != "epsilon" else german.take(np.arange(40)))
if name == "milp":
    problem = LiangSamavi(k=3).build(german.take(np.arange(20)))
# Ctrl-C half a second after the first sign of life: compilation and imports are over by then, the search is not.
pressed = []
def on_progress(state):
    if not pressed:
        pressed.append(threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)))
        pressed[0].start()
if front:
    found = pareto(problem, solver=name, time_limit=60, on_progress=on_progress)
    print(json.dumps({"stop": found.details["stop"], "points": len(found), "seconds": found.details["seconds"]}))
else:
    found = solve(problem, solver=name, time_limit=60, on_progress=on_progress)
    feasible = found.labels is not None and found.problem.evaluate(found.labels).feasible
    print(json.dumps({"stop": str(found.stop), "points": int(feasible), "seconds": found.seconds}))
"""


@pytest.mark.parametrize(
    ("solver", "kind"),
    [
        ("nsga2", "front"),
        ("pso", "front"),
        ("epsilon", "front"),
        ("columns", "one"),
        ("local_search", "one"),
        ("milp", "one"),
    ],
)
def test_ctrl_c_returns_the_best_so_far(solver: str, kind: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, solver, kind], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    assert answer["stop"] == "interrupted"
    assert answer["points"] >= 1
