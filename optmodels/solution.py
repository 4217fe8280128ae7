"""What a solver answers: why it stopped, what may be claimed, the incumbent and the bound, each on its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from optmodels.errors import InfeasibleError, NoSolutionError
from optmodels.evidence import Evidence
from optmodels.markup import notebook
from optmodels.partition import Labels, class_sizes
from optmodels.plot.classes import class_size_bands

if TYPE_CHECKING:
    from optmodels.plot.figures import Backend
    from optmodels.problem import Problem
    from optmodels.release import Method, Release, Suppressed


class Status(StrEnum):
    """What may be claimed about the answer."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NONE = "none"


class Stop(StrEnum):
    """Why the solver stopped."""

    CONVERGED = "converged"
    TIME = "time"
    ITERATIONS = "iterations"
    INTERRUPTED = "interrupted"
    ERROR = "error"


@dataclass(frozen=True)
class Moment:
    """One point of the anytime curve: the incumbent and the bound after so many seconds."""

    seconds: float
    value: float | None
    bound: float | None


def relative_gap(value: float | None, bound: float | None) -> float | None:
    """How far the value can be from optimal, as a fraction of it; None where nothing is proven.

    >>> relative_gap(10.0, 9.5)
    0.05
    >>> relative_gap(0.0, 0.0)
    0.0
    """
    if value is None or bound is None:
        return None
    difference = abs(value - bound)
    if difference == 0.0:
        return 0.0
    return difference / abs(value) if value else float("inf")


class Worth:
    """How good the best partition is: its value of the target, and how far that can be from optimal."""

    problem: Problem
    values: Mapping[str, float]
    bound: float | None

    @property
    def value(self) -> float | None:
        """The value of the problem's target objective."""
        return self.values.get(self.problem.target.name)

    @property
    def gap(self) -> float | None:
        """How far from optimal the target can be, as a fraction; None where nothing is proven."""
        return relative_gap(self.value, self.bound)


@dataclass(frozen=True, eq=False)
class Solution(Worth):
    """A partition with the values its Problem gave it, and what is proven about it."""

    problem: Problem
    solver: str
    status: Status
    stop: Stop
    labels: Labels | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    bound: float | None = None
    seconds: float = 0.0
    seed: int = 0
    reason: str = ""
    details: Mapping[str, object] = field(default_factory=dict)
    history: tuple[Moment, ...] = ()
    evidence: Evidence | None = None

    @property
    def attribute_losses(self) -> dict[str, float]:
        """What is lost of each quasi-identifier, of what one class of everybody would lose; see `metrics.loss`."""
        return self.problem.attribute_losses(self.require())

    def require(self) -> Labels:
        """The labels, or the error that says why there are none.

        Raises:
            InfeasibleError: nothing can satisfy the conditions.
            NoSolutionError: the solver stopped before it had a solution.
        """
        if self.labels is not None:
            return self.labels
        if self.status is Status.INFEASIBLE:
            raise InfeasibleError(self.reason or "No partition satisfies the conditions.")
        remark = self.reason or self.details.get("remark", "")
        raise NoSolutionError(f"The solver '{self.solver}' stopped ({self.stop}) without a solution. {remark}".rstrip())

    def release(self, *, method: Method | None = None, suppressed: Suppressed = "drop") -> Release:
        """The anonymised table, audited against what was promised.

        Records that are left out are dropped, or with `suppressed="star"` are rows that say nothing.
        """
        from optmodels.problem import released

        release = released(self.problem, self.require(), method, suppressed)
        return release.with_provenance(self.to_dict())

    def certificate(self, *, sha256: str | None = None) -> dict[str, Any]:
        """What an independent check needs, as plain values: see `optmodels.verifier.verify_certificate`.

        It holds the encoded records, and so is as confidential as they are; `sha256` is that of their file.

        Raises:
            RefusedError: no verifier without the model could work out the value.
        """
        from optmodels.certificate import certified

        run = self.solver, self.value, self.bound, self.evidence
        return certified(self.problem, self.require(), *run, sha256=sha256)

    def to_dict(self) -> dict[str, object]:
        """The run record as plain values, ready for JSON."""
        return {
            "status": str(self.status),
            "stop": str(self.stop),
            "formulation": self.problem.formulation.name,
            "parameters": self.problem.formulation.to_dict(),
            "solver": self.solver,
            "values": dict(self.values),
            "bound": self.bound,
            "gap": self.gap,
            "seconds": self.seconds,
            "seed": self.seed,
            "reason": self.reason,
            "details": dict(self.details),
        }

    def plot_classes(self, *, backend: Backend = "plotly") -> Any:
        """How many classes there are of each size, as a figure; `optmodels.plot.classes` has the data."""
        from optmodels.plot.figures import bars_figure, in_backend

        labels = self.require()
        found = class_size_bands(class_sizes(labels[labels >= 0]))
        bars = found[["label", "classes"]].rename(columns={"label": "records"})
        title = f"{int(found['classes'].sum()):,} classes by the number of their records"
        return in_backend(bars_figure({"records in a class": bars}, title=title, value="classes"), backend)

    def _repr_html_(self) -> str:
        facts = {
            "status": f"{self.status} by {self.solver}, stopped: {self.stop}",
            "conditions": self.problem.conditions.describe(),
            **{name: f"{value:.6g}" for name, value in self.values.items()},
            "gap": "nothing is proven" if self.gap is None else f"{self.gap:.3%}",
            "seconds": f"{self.seconds:.2f}",
        }
        if self.labels is None:
            return notebook(f"Solution of {self.problem.formulation.name}: none", {**facts, "reason": self.reason})
        return notebook(f"Solution of {self.problem.formulation.name}", facts)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value:.6g}" for name, value in self.values.items())
        gap = "" if self.gap is None else f", gap={self.gap:.3%}"
        return f"Solution({self.status} by {self.solver}, {values or 'no partition'}{gap}, {self.seconds:.2f} s)"
