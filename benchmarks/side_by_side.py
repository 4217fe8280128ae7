"""Two commits side by side: the same work by this tree and by another checkout of it, in turns.

    git worktree add --detach ../before COMMIT
    OPTMODELS_DATA=... python -m benchmarks.side_by_side ../before

Each turn is a process of its own, this tree's and the other's one after the other, kernels compiled beforehand. What is
shown is the least of all turns in seconds of the processor, which other work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

# Only what both commits have is imported; the work is done twice, and the second time is counted.
WORK = {
    "network: 200 records, 20 centres, 200 times": """
import numpy as np, pandas as pd
from formulations import Aminifar
from solvers.network import Network
from optmodels import Table
draw = np.random.default_rng(1)
frame = pd.DataFrame(draw.normal(size=(200, 8)), columns=[f"x{j}" for j in range(8)])
problem = Aminifar(k=10, n_init=1).build(Table(frame, quasi=dict.fromkeys(frame.columns, "numeric")))
def work():
    for _ in range(200):
        Network().solve(problem)
""",
    "network: 10,000 records, 1,000 centres": """
import numpy as np, pandas as pd
from formulations import Aminifar
from solvers.network import Network
from optmodels import Table
draw = np.random.default_rng(1)
frame = pd.DataFrame(draw.normal(size=(10_000, 8)), columns=[f"x{j}" for j in range(8)])
problem = Aminifar(k=10, n_init=1).build(Table(frame, quasi=dict.fromkeys(frame.columns, "numeric")))
def work():
    Network().solve(problem)
""",
    "columns: Liang-Samavi, 40 records of German, k = 3, proven": """
import optmodels as om
from formulations import LiangSamavi
from solvers.columns import Columns
problem = LiangSamavi(k=3).build(om.dataset("german").take(range(40)))
def work():
    Columns().solve(problem, time_limit=60)
""",
    "evaluations: 4,000 of German, at most 30 classes": """
import numpy as np, optmodels as om
from formulations import MoObam
native = MoObam(k=5).build(om.dataset("german")).to_pymoo(30).native
price = native.space.price
rows = np.random.default_rng(0).integers(price.n, size=(400, native.space.n_centroids))
decisions = np.concatenate([price.numeric[rows], price.codes[rows]], axis=2).reshape(400, -1)
def work():
    for _ in range(10):
        native.measures.costs(native.space.decode(decisions, native.measures.asked))
""",
    "mondrian: {rows:,} rows x 6, k = 5": """
import numpy as np, pandas as pd, optmodels as om
from formulations import Microaggregation
from solvers.mondrian import Mondrian
draw = np.random.default_rng(7)
columns = {f"x{j}": draw.normal(size=ROWS) for j in range(6)}
table = om.Table(pd.DataFrame(columns), quasi=dict.fromkeys(columns, "numeric"), scaling="standard")
Mondrian().solve(Microaggregation(k=5).build(table.take(range(1000))))
def work():
    Mondrian().solve(Microaggregation(k=5).build(table))
""",
}
_COUNTED = """
from time import process_time
if not ONCE:
    work()
began = process_time()
work()
print(process_time() - began)
"""


def seconds(tree: Path, work: str, rows: int) -> float:
    """Processor seconds of one turn in a tree."""
    once = "ROWS" in work
    script = f"ROWS, ONCE = {rows}, {once}\n{work}\n{_COUNTED}"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the checkout of the other commit")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rows", type=int, default=10_000_000, help="of mondrian")
    parser.add_argument("--only", default="", help="only work whose name begins so")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    if not given.json:
        print(f"{'work':62}{'other':>9}{'this':>9}{'ratio':>7}   processor seconds, least of {given.turns}")
    for name, work in WORK.items():
        if not name.startswith(given.only):
            continue
        turns = [
            (seconds(given.other.resolve(), work, given.rows), seconds(here, work, given.rows))
            for _ in range(given.turns)
        ]
        other, this = (min(side) for side in zip(*turns, strict=True))
        shown = name.format(rows=given.rows)
        if given.json:
            print(json.dumps({"work": shown, "other": other, "this": this}), flush=True)
        else:
            print(f"{shown:62}{other:>9.3f}{this:>9.3f}{this / other:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
