"""What the runs of a study attain on each problem of two objectives, solver by solver, and where two of them differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.objectives import OWN
from optmodels.plot.attainment import SHARES, attainment_difference, attainment_surfaces
from optmodels.study.measures import INSTANCE


@dataclass(frozen=True)
class Fronts:
    """The points of all fronts of one dataset and model in its two objectives; `of` has them by solver."""

    dataset: str
    model: str
    senses: dict[str, str]
    of: dict[str, pd.DataFrame]  # columns run, and both objectives

    @property
    def names(self) -> list[str]:
        """The objectives: across and upward."""
        return list(self.senses)

    def points(self, solver: str) -> NDArray[np.float64]:
        """The points of a solver's fronts."""
        return self.of[solver][self.names].to_numpy(float)

    def runs(self, solver: str) -> list[object]:
        """The run that each of these points is of."""
        return self.of[solver]["run"].tolist()

    def surfaces(self, shares: Sequence[float] = SHARES) -> pd.DataFrame:
        """The attainment surfaces of every solver: columns solver, share, and both objectives."""
        frames = [
            attainment_surfaces(self.points(solver), self.runs(solver), list(self.senses.values()), shares).assign(
                solver=solver
            )
            for solver in self.of
        ]
        found = pd.concat(frames, ignore_index=True).rename(columns=dict(zip("xy", self.names, strict=True)))
        return found[["solver", "share", *self.names]]

    def differences(self) -> Iterator[tuple[str, str, pd.DataFrame]]:
        """For every two solvers the rectangles in which they differ."""
        for one, other in combinations(self.of, 2):
            senses = list(self.senses.values())
            yield (
                one,
                other,
                attainment_difference(self.points(one), self.runs(one), self.points(other), self.runs(other), senses),
            )


def fronts_of(runs: pd.DataFrame, points: pd.DataFrame) -> Iterator[Fronts]:
    """The fronts of every dataset and model that was solved for two objectives."""
    if not len(runs) or not len(points):
        return
    done = runs[(runs["outcome"] == "done") & (runs["answer"] == "front") & runs["senses"].notna()]
    for (dataset, model), instance in done.groupby(INSTANCE, sort=False):
        senses: dict[str, str] = json.loads(str(instance["senses"].iat[0]))
        if len(senses) != 2:
            continue
        ordered = {name: senses[name] for name in sorted(senses, key=lambda name: name != OWN)}
        of = {}
        for solver, group in instance.groupby("solver", sort=False):
            mine = points[points["run"].isin(group["key"])].dropna(subset=list(ordered))
            if len(mine):
                of[str(solver)] = mine[["run", *ordered]].reset_index(drop=True)
        if of:
            yield Fronts(str(dataset), str(model), ordered, of)
