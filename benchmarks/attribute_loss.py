"""What each scaling loses of each quasi-identifier, on 3,000 records of a made-up hospital.

    python -m benchmarks.attribute_loss [--rows 3000] [--k 5] [--seed 0]

One class of everybody loses 100% of each. `none` is what papers do with raw numbers: the attribute with the largest
numbers has all classes to itself. `alike`, usual for files, gives every attribute the same say.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from formulations import Microaggregation
from optmodels.metrics.loss import ALL_BUT_LOST
from optmodels.table import Table
from optmodels.table.role_types import Kind, Scaling
from solvers.mdav import Mdav

QUASI: dict[str, Kind] = {
    "age": "numeric",
    "sex": "categorical",
    "postcode": "categorical",
    "income": "numeric",
    "stay": "numeric",
}
SCALINGS: tuple[Scaling, ...] = ("none", "standard", "range", "alike")


def hospital(rows: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    shares = draw.dirichlet(np.full(25, 0.6))
    return pd.DataFrame(
        {
            "age": draw.integers(18, 95, rows),
            "sex": draw.choice(["f", "m"], rows),
            "postcode": draw.choice([f"{place:05}" for place in range(1001, 1026)], rows, p=shares),
            "income": np.round(draw.lognormal(10.2, 0.6, rows)),
            "stay": draw.geometric(0.2, rows),
        }
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=3000)
    asked.add_argument("--k", type=int, default=5)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    frame = hospital(given.rows, given.seed)
    print(f"{given.rows:,} records, k = {given.k}, mdav; lost of each attribute, * where all but lost")
    print(f"{'scaling':<10}{'loss':>9}" + "".join(f"{name:>11}" for name in QUASI))
    for scaling in SCALINGS:
        table = Table(frame, quasi=QUASI, scaling=scaling)
        best = Mdav().solve(Microaggregation(k=given.k).build(table))
        cells = [f"{lost:.1%}" + ("*" if lost >= ALL_BUT_LOST else "") for lost in best.attribute_losses.values()]
        print(f"{scaling:<10}{best.value:>9.4f}" + "".join(f"{cell:>11}" for cell in cells))


if __name__ == "__main__":
    main()
