"""What every step from folder to folder has to know, and how it poses the problem of some of the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from optmodels.folders.pieces import Columns, frame_together, whose_in
from optmodels.price import EXTENT
from optmodels.problem import Formulation, Problem
from optmodels.structures import Priced
from optmodels.table import Table
from optmodels.table.roles import Roles
from optmodels.table.summary import Whole

if TYPE_CHECKING:
    from solvers.blocks import Blocks


@dataclass(frozen=True)
class Plan:
    """What every step has to know."""

    roles: Roles
    columns: Columns
    formulation: Formulation
    solver: Blocks  # of one group, by one worker
    seed: int
    whole: Whole
    scratch: Path
    told: bool = False  # whether a report is to be written, for which values are counted

    @property
    def stop_file(self) -> Path:
        """What tells all workers to stop once it is there: threads, processes and other machines see the same files."""
        return self.scratch / "stop"

    def stopped(self) -> bool:
        """Whether that file is there, or the folder that it would be in is gone."""
        return self.stop_file.exists() or not self.scratch.exists()

    @property
    def roles_once_cleaned(self) -> Roles:
        """The roles of records that were cleaned and binned before."""
        labels = {name: tuple(self.whole.sensitive[name].values) for name in self.roles.bins}
        return self.roles.revised(missing="error", bins={}, orders={**self.roles.orders, **labels}, clean={})

    def posed(self, table: Table) -> Problem:
        """The problem of some of the records, measured as the whole is; leaving one out costs what it costs there."""
        problem = self.formulation.build(table.part_of(self.whole), self.seed)
        priced = problem.structure(Priced) if self.formulation.suppress else None
        if priced is None or priced.compiled is None or priced.compiled.kind != EXTENT:
            return problem
        if self.formulation.suppression_price is not None:
            return problem
        wide = [name for name in problem.table.quasi if self._varies(name)]
        return problem.with_left_out_price(sum(problem.table.weights[name] for name in wide) / priced.scale)

    def _varies(self, name: str) -> bool:
        if name in self.whole.levels:
            return len(self.whole.levels[name].values) > 1
        return self.whole.moments[name].high > self.whole.moments[name].low

    def read(self, members: Sequence[tuple[str, int]]) -> Problem:
        """The problem of a group that lies in so many row groups of files."""
        return self.read_records(members)[0]

    def read_records(self, members: Sequence[tuple[str, int]]) -> tuple[Problem, pd.Series | None]:
        """The same, and whose each record is, where that is known."""
        frame = frame_together(members)
        table = Table.with_roles(frame, self.roles_once_cleaned)
        return self.posed(table), whose_in(frame, table)
