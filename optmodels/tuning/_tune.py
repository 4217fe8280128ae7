"""Parameters chosen by a rule, and chosen again on parts of the table to see how sure the choice is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from optmodels import registry
from optmodels.errors import InputError, unknown, whole
from optmodels.metrics.utility import Protocol, utility
from optmodels.metrics.utility.classifiers import checked_classifiers
from optmodels.parallel import in_parallel
from optmodels.problem import Formulation
from optmodels.solver import FrontSolver, Solver
from optmodels.table import Table
from optmodels.tuning.candidates import LADDER, TuningPoint, candidates, frame_of, ladder
from optmodels.tuning.rules import RULES, Scores, Stakes, chosen

OnStep = Callable[[int, int], object]

_PART = 0.8  # of the records, in every repetition
_TRIALS = 10
_SCORED = 3  # points of each k that classifiers learn from: the ends of its front and the middle


@dataclass(frozen=True)
class Tuning:
    """What a rule chose, from what, and what it chose on parts of the table.

    `candidates` has a row for every point that there was to choose from, `repeated` one for every repetition. `remarks`
    say what to know about how it was done. `records` are those that were chosen on, of the `whole` table's.
    """

    rule: str
    choice: TuningPoint = field(repr=False)
    candidates: pd.DataFrame = field(repr=False)
    repeated: pd.DataFrame = field(repr=False)
    model: Formulation = field(repr=False)
    records: int
    whole: int
    remarks: tuple[str, ...] = ()

    @property
    def agreement(self) -> float:
        """The share of repetitions that chose the same k or a neighbour on the ladder; missing where there were none.

        They have a fifth fewer records, so that the same density of people is at a k between two of the ladder.
        """
        return float(np.mean([self._near(k) for k in self.repeated["k"]])) if len(self.repeated) else float("nan")

    def _near(self, k: int) -> bool:
        return abs(LADDER.index(k) - LADDER.index(self.choice.k)) <= 1

    @property
    def parameters(self) -> dict[str, Any]:
        """The choice as parameters of the formulation, as far as it has them; classes as large as those of the part."""
        known = self.model.parameters()
        found: dict[str, Any] = {"k": self.choice.k}
        if "n_clusters" in known:
            found["n_clusters"] = round(self.choice.classes * self.whole / self.records)
        if "lam" in known and "objective" in known and not np.isnan(self.choice.lam):
            found |= {"objective": "lambda", "lam": float(f"{self.choice.lam:.3g}")}
        return found

    @property
    def wish(self) -> dict[str, float]:
        """The loss and the entropy of the choice, where its parameters alone do not lead there; else nothing."""
        if not self.choice.entropy or {"n_clusters", "lam"} <= self.parameters.keys():
            return {}
        return {"loss": float(f"{self.choice.loss:.4g}"), "entropy": float(f"{self.choice.entropy:.4g}")}

    def lines(self) -> list[str]:
        """The choice, the rule and how sure it is, in sentences."""
        one, sizes = self.choice, self.repeated
        told = [
            f"Rule: {self.rule}: {RULES[self.rule]}.",
            f"Chosen of {len(self.candidates)} points with k from {self.candidates['k'].min()} to "
            f"{self.candidates['k'].max()}: "
            f"k = {one.k}, {one.classes} classes of {self.records / one.classes:.1f} on average"
            + (
                ""
                if "lam" not in self.parameters
                else f", lambda = {one.lam:.3g} (any from {one.low:.3g} to {one.high:.3g})"
                if one.high < np.inf
                else f", any lambda from {one.low:.3g} on"
            )
            + f"; {one.lost:.1%} of what one class loses, {one.found:.2%} of people found"
            + (f", sensitive values guessed {one.guessed:.1%} of the time." if one.guessed else "."),
        ]
        if np.isnan(one.lam) and one.entropy:
            told.append("No weight lambda leads to this point: it lies above a line between two others of its front.")
        if self.wish:
            told.append(
                f"What '{self.model.name}' can be told does not lead there; a wish for this loss and entropy does."
            )
        if len(sizes):
            told.append(
                f"How sure: {int((sizes['k'] == one.k).sum())} of {len(sizes)} repetitions on {_PART:.0%} of the "
                f"records choose the same k, {sum(map(self._near, sizes['k']))} that one or its "
                f"neighbour; k from {sizes['k'].min()} to {sizes['k'].max()}, classes of "
                f"{sizes['size'].min():.1f} to {sizes['size'].max():.1f} on average"
                + (
                    f", lambda from {sizes['lam'].min():.2g} to {sizes['lam'].max():.2g}."
                    if sizes["lam"].notna().any()
                    else "."
                )
            )
        return [*told, *self.remarks]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values; what is missing is None."""

        def plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
            rows = frame.replace([np.inf, -np.inf], np.nan).astype(object)
            return [dict(row) for row in rows.where(rows.notna(), None).to_dict("records")]  # type: ignore[arg-type]

        return {
            "rule": self.rule,
            "meaning": RULES[self.rule],
            "parameters": self.parameters,
            "choice": plain(frame_of([self.choice]))[0],
            "agreement": None if np.isnan(self.agreement) else self.agreement,
            "candidates": plain(self.candidates),
            "repeated": plain(self.repeated),
            "remarks": list(self.remarks),
        }


def tune(
    table: Table,
    formulation: str | Formulation = "mo-obam",
    *,
    rule: str = "knee",
    repeats: int = 5,
    evaluations: int = 300,
    solver: str = "nsga2",
    cost: float = Stakes().cost,
    harm: float = Stakes().harm,
    classifier: str = "lr",
    most_records: int = 5_000,
    seed: int = 0,
    jobs: int | None = None,
    on_step: OnStep = lambda done, total: None,
    **parameters: Any,
) -> Tuning:
    """Choose k, the number of classes and the weight lambda of entropy by a rule; nobody has to give a grid.

    For every k of a ladder one front of loss and entropy is found (without a sensitive attribute one partition of the
    least loss), and `rule` picks from all of their points:

    - 'knee': the furthest below the plane through the extremes of what is lost, found and guessed;
    - 'one-se': the fewest people found, among those from which `classifier` predicts the target within a standard
      error of the best (Breiman's rule; the error allows for splits that overlap);
    - 'cost': the largest benefit, where an attacker attacks if 1 / the size of a class exceeds `cost`, and a person who
      is found does `harm`, in units of what a complete record is worth.

    The choice is made again on `repeats` random parts of the table with other seeds: how often it comes out the same
    is how sure it is. Of tables with more than `most_records` a random part stands for the whole.

    >>> import optmodels as om
    >>> found = tune(om.dataset("german").take(range(60)), rule="cost", repeats=1, evaluations=60, jobs=1)
    >>> sorted(found.parameters), found.choice.k >= 2
    (['k', 'lam', 'n_clusters', 'objective'], True)

    Raises:
        InputError: there is no such rule, the formulation has no k, or no k has a feasible partition.
    """
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    whole("repeats", repeats, 0)
    whole("evaluations", evaluations, 1)
    checked_classifiers((classifier,))
    _check_fronts(solver)
    stakes = Stakes(cost, harm)
    model = _model(formulation, parameters)
    if rule == "one-se" and table.target is None:
        raise InputError("The rule 'one-se' is about what a classifier learns, and no target is named: give target=.")
    draw = np.random.default_rng(seed)
    remarks, everyone = [], table.n
    if table.n > most_records:
        remarks.append(
            f"Chosen on {most_records:,} of {table.n:,} records, drawn at random: at the same k the whole table loses "
            "less. The number of classes below is for the whole table, at the same average size."
        )
        table = table.take(np.sort(draw.choice(table.n, most_records, replace=False)))
    size = max(2, int(_PART * table.n))
    parts = [table, *(table.take(np.sort(draw.choice(table.n, size, replace=False))) for _ in range(repeats))]
    work = [(part, k) for part in range(len(parts)) for k in ladder(size)]
    one = partial(_one, parts=parts, work=work, model=model, solver=solver, evaluations=evaluations, seed=seed)
    found: dict[int, list[TuningPoint]] = {part: [] for part in range(len(parts))}
    for done, (points, (part, _)) in enumerate(zip(in_parallel(one, len(work), jobs), work, strict=True), start=1):
        found[part] += points
        on_step(done, len(work))
    choices = []
    for part, points in found.items():
        offered = _thinned(points) if rule == "one-se" else points
        scores = _scored(parts[part], offered, classifier, seed, jobs) if rule == "one-se" and offered else None
        choices.append(offered[chosen(rule, offered, stakes, scores)])
        if part == 0:
            listed = frame_of(offered)
            if scores is not None:
                listed = listed.assign(f1=scores.mean, f1_error=scores.error)
            if rule == "cost":
                listed = listed.assign(benefit=[stakes.benefit(each) for each in offered])
    again = [
        {"k": each.k, "classes": each.classes, "size": size / each.classes, "lam": each.lam, "lost": each.lost}
        for each in choices[1:]
    ]
    repeated = pd.DataFrame(again, columns=["k", "classes", "size", "lam", "lost"])
    return Tuning(rule, choices[0], listed, repeated, model, table.n, everyone, tuple(remarks))


def _check_fronts(solver: str) -> None:
    """Raise unless a solver finds fronts in so many evaluations."""
    if _finds_fronts(registry.solver(solver)):
        return
    able = [name for name in registry.solver_names() if _finds_fronts(registry.solver(name))]
    raise InputError(
        f"'{solver}' finds no front in a number of evaluations, which tune needs; these do: {', '.join(able)}."
    )


def _finds_fronts(kind: type[Solver]) -> bool:
    return issubclass(kind, FrontSolver) and "evaluations" in kind.options()


def _model(formulation: str | Formulation, parameters: Mapping[str, Any]) -> Formulation:
    if isinstance(formulation, Formulation):
        if parameters:
            raise InputError(f"The formulation is made already: give it '{next(iter(parameters))}' itself.")
        model = formulation
    else:
        kind = registry.formulation(formulation)
        given = {"k": ladder(0)[0]} if "k" in kind.parameters() else {}
        model = registry.configured(kind, {**given, **parameters})
    if "k" not in model.parameters():
        raise InputError(f"The formulation '{model.name}' has no k to be tuned; choose one that has, such as mo-obam.")
    return model


def _one(
    number: int,
    *,
    parts: list[Table],
    work: list[tuple[int, int]],
    model: Formulation,
    solver: str,
    evaluations: int,
    seed: int,
) -> list[TuningPoint]:
    part, k = work[number]
    return candidates(parts[part], model, k, solver=solver, evaluations=evaluations, seed=seed + part)


def _thinned(found: list[TuningPoint]) -> list[TuningPoint]:
    """The ends and the middle of every k's front: a classifier has to learn from each."""
    kept: list[TuningPoint] = []
    for k in sorted({one.k for one in found}):
        front = sorted((one for one in found if one.k == k), key=lambda one: one.loss)
        places = np.unique(np.linspace(0, len(front) - 1, _SCORED).round().astype(int))
        kept += [front[place] for place in places]
    return kept


def _scored(table: Table, found: list[TuningPoint], classifier: str, seed: int, jobs: int | None) -> Scores:
    protocol = Protocol(classifiers=(classifier,), metrics=("f1_macro",), splits=_TRIALS, seed=seed, jobs=jobs)
    scored = utility(table, {str(i): one.labels for i, one in enumerate(found)}, protocol).scores
    by_version = scored[scored["version"] != "original"].groupby("version")["f1_macro"]
    means, deviations = by_version.mean(), by_version.std(ddof=1)
    order = [str(i) for i in range(len(found))]
    wider = np.sqrt(1 / protocol.trials + protocol.asked_to_learned)  # random splits of one table overlap
    return Scores(means.reindex(order).to_numpy(), deviations.reindex(order).to_numpy() * wider)
