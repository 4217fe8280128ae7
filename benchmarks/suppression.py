"""Proven loss against the share of records that may be left out, by column generation.

    python benchmarks/suppression.py            # 200, 500 and 1,000 records, 0, 1 and 5% left out
    python benchmarks/suppression.py --quick    # 60 and 120 records, seconds each

Two models of German credit's quasi-identifiers, k = 3: squared distances (microaggregation) and interval widths
(liang-samavi), at the usual price of a record that is left out and at none. Losses and bounds are shares of what one
class of everybody would lose.
"""

from __future__ import annotations

import argparse

import numpy as np

import optmodels as om
from formulations import LiangSamavi, Microaggregation
from optmodels import Table
from optmodels.suppression import left_out
from solvers import Columns

SHARES = (0.0, 0.01, 0.05)
MODELS = (Microaggregation, LiangSamavi)


def records(n: int) -> Table:
    """The first n records of German credit, by its usual quasi-identifiers."""
    return om.dataset("german").take(np.arange(n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=None)
    asked = parser.parse_args()
    sizes = (60, 120) if asked.quick else (200, 500, 1000)
    seconds = asked.seconds or (15.0 if asked.quick else 120.0)
    print("records  model             price  share  left out  loss      bound     gap     status    seconds")
    for n in sizes:
        table = records(n)
        for model in MODELS:
            for price in (None, 0.0):
                for share in SHARES:
                    if share == 0.0 and price is not None:
                        continue
                    problem = model(k=3, suppress=share, suppression_price=price if share else None).build(table)
                    whole = problem.evaluate(np.zeros(n, np.int64)).values["loss"]
                    found = Columns().solve(problem, time_limit=seconds)
                    value, bound = found.value or float("nan"), found.bound or float("nan")
                    print(
                        f"{n:7}  {model.name:16}  {'usual' if price is None else f'{price:g}':>5}  {share:5}  "
                        f"{left_out(found.require()):8}  {value / whole:.6f}  {bound / whole:.6f}  "
                        f"{found.gap or 0.0:6.2%}  {found.status:8}  {found.seconds:7.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
