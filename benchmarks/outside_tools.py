"""What a tool of other people finds in our releases: pycanon's k, alpha, l, entropy l, t, beta and delta, and ours.

    python -m benchmarks.outside_tools                 # pycanon in an environment of its own, in a temporary folder
    python -m benchmarks.outside_tools --python ENV/bin/python --releases 100

Releases are random and written as CSV; pycanon reads the files, in a process of its own that has nothing of ours.

Definitions that differ, and how they are compared:

- entropy l: pycanon cuts off what is behind the point, so that 2 becomes 1 where its logarithms leave 1.999...; ours is
  cut off likewise, a billionth above or below.
- delta: pycanon leaves out values that a class does not have; ours is infinite there, as in the definition, which asks
  that every value of the table be in every class. Compared where ours is finite.
- t: pycanon takes every numeric attribute for ordered and every other for nominal; so it is told to ours.
- recursive (c, l): pycanon divides the rarest count of a class, not the most frequent, by those from the l-th on, and
  rounds up. Not compared.
- enhanced beta: pycanon gives min(beta, -ln of the rarest share) whether or not a class gains more than -ln q; ours is
  infinite where one does. Compared where ours is finite: pycanon's is then the lesser of ours and that logarithm.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from optmodels.conditions import Conditions
from optmodels.release import release
from optmodels.table import Table

_OUTSIDE = """
import json, sys
import pandas as pd
from pycanon import anonymity as a
for line in sys.stdin:
    path = json.loads(line)
    data, qi, s = pd.read_csv(path, dtype={"age": str, "town": str}), ["age", "town"], ["illness"]
    print(json.dumps({
        "k": int(a.k_anonymity(data, qi)), "alpha": float(a.alpha_k_anonymity(data, qi, s)[0]),
        "distinct l": int(a.l_diversity(data, qi, s)), "entropy l": int(a.entropy_l_diversity(data, qi, s)),
        "t": float(a.t_closeness(data, qi, s)), "basic beta": float(a.basic_beta_likeness(data, qi, s)),
        "enhanced beta": float(a.enhanced_beta_likeness(data, qi, s)),
        "delta": float(a.delta_disclosure(data, qi, s)),
    }), flush=True)
"""


def written(number: int, place: Path) -> tuple[Path, dict[str, float]]:
    """A random release, and what our audit says of it."""
    draw = np.random.default_rng([4, number])
    n = int(draw.integers(6, 120))
    values = int(draw.integers(2, 5))
    numeric = bool(number % 2)
    weights = draw.dirichlet(np.full(values, 2.0))
    places = np.append(
        [0, 1], draw.choice(values, n - 2, p=weights)
    )  # two values at least: pycanon divides by one less
    frame = pd.DataFrame(
        {
            "age": draw.integers(18, 90, n),
            "town": draw.choice(["Ulm", "Bonn", "Köln"], n),
            "illness": (np.arange(values) / 2 + 0.5 if numeric else np.array(list("uvwxyz")))[places],
        }
    )
    values_are: dict[str, Any] = {"ordered": "illness"} if numeric else {"nominal": "illness"}
    table = Table(
        frame,
        quasi={"age": "numeric", "town": "categorical"},
        sensitive="illness",
        **values_are,
    )
    size = int(draw.integers(2, 9) if number % 4 < 2 else draw.integers(20, 60))  # large ones mostly have every value
    classes = max(1, n // size)
    made = release(table, draw.permutation(n) % classes, promise=Conditions(k=2))
    path = made.to_csv(place / f"{number}.csv")
    found = made.audit.sensitive["illness"]
    rarest = float(made.frame["illness"].value_counts(normalize=True).min())
    return path, {
        "k": made.audit.k,
        "alpha": found.alpha,
        "distinct l": found.distinct_l,
        "entropy l": found.entropy_l,
        "t": found.t_emd,
        "basic beta": found.basic_beta,
        "enhanced beta": min(found.enhanced_beta, -math.log(rarest))
        if math.isfinite(found.enhanced_beta)
        else math.inf,
        "delta": found.delta_disclosure,
    }


def environment(place: Path) -> Path:
    """A Python that has pycanon and nothing of ours."""
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    python = place / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "pycanon"], check=True)
    return python


def differences(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, str]:
    """By quantity what differs; nothing of what is infinite with us, which pycanon has no word for."""
    return {
        name: f"{value!r} and {theirs[name]!r}"
        for name, value in ours.items()
        if math.isfinite(value) and not _same(name, value, theirs[name])
    }


def _same(name: str, ours: float, theirs: float) -> bool:
    if name == "entropy l":
        return theirs in (math.floor(ours - 1e-9), math.floor(ours + 1e-9))
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)


def main() -> int:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--python", type=Path, help="of an environment that has pycanon; one is made unless given")
    given.add_argument("--releases", type=int, default=100)
    asked = given.parse_args()
    with tempfile.TemporaryDirectory(prefix="outside-") as folder:
        place = Path(folder)
        python = asked.python or environment(place / "env")
        made = [written(number, place) for number in range(asked.releases)]
        done = subprocess.run(
            [str(python), "-W", "ignore", "-c", _OUTSIDE],
            input="".join(json.dumps(str(path)) + "\n" for path, _ in made),
            capture_output=True,
            text=True,
            check=True,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
    compared, wrong = Counter[str](), Counter[str]()
    for (path, ours), theirs in zip(made, answers, strict=True):
        compared.update(name for name, value in ours.items() if math.isfinite(value))
        for name, said in differences(ours, theirs).items():
            wrong[name] += 1
            print(f"{path.name}: {name} {said}")
    print(f"{'quantity':16} {'compared':>8} {'differ':>7}")
    for name, count in compared.items():
        print(f"{name:16} {count:8} {wrong[name]:7}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
