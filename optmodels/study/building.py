"""The table and the problem that a run is about, and whether there are any: found out before the first run is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from optmodels import registry
from optmodels.datasets import frame
from optmodels.errors import InputError, OptmodelsError
from optmodels.jsonable import with_tuples
from optmodels.problem import Problem
from optmodels.study.spec import Study
from optmodels.study.trials import Trial, trials_of
from optmodels.table import Table
from optmodels.table.roles import Roles

_FEW_RECORDS = 200


def planned(study: Study) -> tuple[Trial, ...]:
    """The runs of a study, whose tables can all be read and whose models can be built on one of them at least.

    A model that suits some of the datasets and not others is no mistake: its runs on those are rows with the reason.

    Raises:
        InputError: something is wrong with the study; the message names its file if it has one.
    """
    try:
        trials = trials_of(study)
        _rehearse(trials)
    except InputError as problem:
        if study.file is None:
            raise
        raise InputError(f"In the study file '{study.file}': {problem}") from problem
    return trials


def _rehearse(trials: Iterable[Trial]) -> None:
    pairs = {(trial.dataset, trial.model): trial for trial in trials}
    datasets = {trial.dataset: trial.source for trial in pairs.values()}
    reasons: dict[str, InputError] = {}  # of models that could not be built so far
    built: set[str] = set()
    for dataset, source in datasets.items():
        try:
            table = table_of(source)
        except OptmodelsError as problem:
            raise InputError(f"The dataset '{dataset}' cannot be used: {problem}") from problem
        for trial in (trial for (of, _), trial in pairs.items() if of == dataset):
            if trial.model in built:
                continue
            if (why := _reason_against(trial, table)) is None:
                built.add(trial.model)
            else:
                reasons.setdefault(trial.model, InputError(f"{trial.model} on the dataset '{dataset}': {why}"))
    for model, reason in reasons.items():
        if model not in built:
            raise reason


def _reason_against(trial: Trial, table: Table) -> str | None:
    """Why the problem cannot be built, tried on a few records first, which is quick and mostly says enough."""
    reason = None
    for part in (first_records(table, _FEW_RECORDS), table):
        try:
            problem_of(trial, part)
        except OptmodelsError as problem:
            reason = str(problem)
        except (TypeError, ValueError, ArithmeticError, LookupError) as problem:
            reason = f"it cannot be built ({type(problem).__name__}: {problem})."
        else:
            return None
    return reason


def table_of(source: Mapping[str, Any]) -> Table:
    """The table of a trial's source: the same records in every run."""
    roles = Roles.from_toml(source["roles"])
    if source.get("name") is not None:
        table = Table.with_roles(frame(source["name"]), roles)
    else:
        table = Table.from_file(source["file"], roles=roles)
    if source["rows"] is not None:
        return first_records(table, source["rows"])
    if source["sample"] is not None:
        drawn = np.random.default_rng(source["draw"]).choice(table.n, min(source["sample"], table.n), replace=False)
        return table.take(np.sort(drawn))
    return table


def first_records(table: Table, many: int) -> Table:
    """The first records of a table, so many or all."""
    return table.take(np.arange(min(many, table.n)))


def problem_of(trial: Trial, table: Table) -> Problem:
    """The problem that the trial's formulation makes of a table, judged by the trial's objectives."""
    model = registry.configured(registry.formulation(trial.formulation), with_tuples(trial.parameters))
    problem = model.build(table, trial.build_seed)
    return problem.with_objectives(*trial.objectives) if trial.objectives else problem
