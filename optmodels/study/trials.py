"""The runs of a study, each with its coordinates, its key and its seeds; all that can be wrong is found here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from optmodels import registry
from optmodels.datasets import dataset, locate
from optmodels.errors import InputError, unknown
from optmodels.problem import Formulation
from optmodels.solver import FrontSolver, Solver
from optmodels.study.spec import Answer, DatasetSpec, Limits, SolverSpec, Study
from optmodels.table.reading import column_names
from optmodels.table.roles import Roles, role_entries

# Solvers of other libraries by name: the adapter, and its option that takes the name.
ADAPTERS = {"pyomo": ("milp", "solver"), "pymoo": ("pymoo", "which")}
_SEEDS = 2**31


@dataclass(frozen=True)
class Trial:
    """One run: everything a process needs to do it, as plain values."""

    key: str
    dataset: str
    family: str  # the dataset whatever its size
    source: Mapping[str, Any]  # name or file, roles as TOML, rows, sample, draw
    model: str
    formulation: str
    parameters: Mapping[str, Any]
    objectives: tuple[str, ...]
    solver: str
    method: str  # the registered name behind the solver's label
    options: Mapping[str, Any]
    repetition: int
    build_seed: int  # the same for all solvers and repetitions, which so solve the same problem
    seed: int
    answer: Answer
    limits: Mapping[str, Any]
    warm_up: bool

    def to_json(self) -> str:
        """The trial as one line."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Trial:
        """The trial of such a line."""
        return cls(**json.loads(text))


def trials_of(study: Study) -> tuple[Trial, ...]:
    """The runs of a study, in the order in which they are run; seeds vary slowest, so that much is known early.

    Raises:
        InputError: a name, a parameter, an option or a file is wrong, or two runs would be the same.
    """
    data = [(label, one.family or one.title, *_source(spec)) for one in study.datasets for label, spec in one.each()]
    models = [
        (label, spec.name, _checked_model(spec.name, parameters), tuple(spec.objectives), draw)
        for spec in study.formulations
        for label, parameters, draw in spec.each()
    ]
    methods = [
        (label, name, options, study.limits_of(spec))
        for spec in study.solvers
        for label, name, options in _methods(spec, study.answer)
    ]
    for what, labels in (
        ("dataset", [label for label, *_ in data]),
        ("formulation", [label for label, *_ in models]),
        ("solver", [label for label, *_ in methods]),
    ):
        _check_distinct(what, labels)
    found = [
        _trial(study, dataset, model, method, repetition)
        for repetition in study.repetitions
        for dataset in data
        for model in models
        for method in methods
    ]
    _check_different(found)
    return tuple(found)


def _trial(
    study: Study,
    dataset: tuple[str, str, Mapping[str, Any], str],
    model: tuple[str, str, Mapping[str, Any], tuple[str, ...], int],
    method: tuple[str, str, Mapping[str, Any], Limits],
    repetition: int,
) -> Trial:
    label, family, source, identity = dataset
    model_label, formulation, parameters, objectives, draw = model
    solver_label, name, options, limits = method
    problem = [identity, formulation, dict(parameters), list(objectives), *([f"draw {draw}"] if draw else [])]
    solved = [*problem, repetition, name, dict(options)]
    return Trial(
        key=hashed([*solved, study.answer, asdict(limits), study.threads, study.warm_up]),
        dataset=label,
        family=family,
        source=source,
        model=model_label,
        formulation=formulation,
        parameters=parameters,
        objectives=objectives,
        solver=solver_label,
        method=name,
        options=options,
        repetition=repetition,
        build_seed=int(hashed(problem), 16) % _SEEDS,
        seed=int(hashed(solved), 16) % _SEEDS,
        answer=study.answer,
        limits=asdict(limits),
        warm_up=study.warm_up,
    )


def hashed(value: object) -> str:
    """The SHA-256 of plain values, the same on every machine and in every version of Python.

    >>> hashed({"k": 3, "t": 0.5}) == hashed({"t": 0.5, "k": 3})
    True
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _source(spec: DatasetSpec) -> tuple[dict[str, Any], str]:
    """Where the data of a spec is, and what it is, wherever that is: contents, roles and size."""
    roles, contents = _known_source(spec) if spec.name is not None else _file_source(spec)
    what = {"contents": contents, "roles": roles.to_toml(), "rows": spec.rows, "sample": spec.sample}
    identity = hashed(what)
    place = {"name": spec.name} if spec.name is not None else {"file": str(Path(str(spec.file)).resolve())}
    draw = int(identity, 16) % _SEEDS
    return {**place, "roles": roles.to_toml(), "rows": spec.rows, "sample": spec.sample, "draw": draw}, identity


def _known_source(spec: DatasetSpec) -> tuple[Roles, list[str]]:
    known = dataset(str(spec.name))
    for source in known.sources:
        locate(source)  # now, and once, rather than in every run
    return _roles(spec, known.roles), [source.sha256 for source in known.sources]


def _file_source(spec: DatasetSpec) -> tuple[Roles, list[str]]:
    path = Path(str(spec.file))
    if not path.is_file():
        raise InputError(f"There is no file '{path}', which the dataset '{spec.title}' is to be read from.")
    roles = _roles(spec, None)
    roles.columns_kept(column_names(path, **roles.text_format))
    with path.open("rb") as file:
        return roles, [hashlib.file_digest(file, "sha256").hexdigest()]


def _roles(spec: DatasetSpec, own: Roles | None) -> Roles:
    """The roles of a file, or the entries given over the dataset's own."""
    if isinstance(spec.roles, str | Path):
        return Roles.load(spec.roles)
    try:
        entries = role_entries(spec.roles)
        return own.revised(**entries) if own is not None else Roles(**{"quasi": {}, **entries})
    except InputError as problem:
        raise InputError(f"In the roles of the dataset '{spec.title}': {problem}") from problem


def _checked_model(name: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = registry.formulation(name)
    registry.check_names(kind, parameters)
    model_fields = fields(kind)
    for one in model_fields:
        if one.default is one.default_factory is MISSING and one.name not in parameters:
            raise InputError(f"The formulation '{name}' needs {one.name}: give it as parameters.{one.name}.")
    _configured(kind, parameters)
    return parameters


def _methods(spec: SolverSpec, answer: Answer) -> list[tuple[str, str, dict[str, Any]]]:
    """The label, the registered name and the options of every solver of a spec."""
    found = []
    for label, options in spec.each():
        name, given = spec.name, dict(options)
        adapter, colon, native = spec.name.partition(":")
        if colon:
            if adapter not in ADAPTERS:
                raise unknown(f"kind of solvers (asked for by '{spec.name}')", adapter, ADAPTERS)
            name, option = ADAPTERS[adapter]
            given = {option: native, **given}
        kind = registry.solver(name)
        _configured(kind, given)
        if answer == "front" and not issubclass(kind, FrontSolver):
            raise InputError(
                f"The solver '{name}' answers with one solution and the study asks for fronts: leave it out."
            )
        found.append((label, name, given))
    return found


def _configured(kind: type[Formulation] | type[Solver], settings: Mapping[str, Any]) -> None:
    try:
        registry.configured(kind, settings)
        json.dumps(dict(settings), allow_nan=False)
    except (TypeError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"'{kind.name}' cannot take {dict(settings)}: {problem}.") from problem


def _check_distinct(what: str, labels: list[str]) -> None:
    twice = [label for i, label in enumerate(labels) if label in labels[:i]]
    if twice:
        raise InputError(f"Two entries are called '{twice[0]}': give each {what} a label of its own.")


def _check_different(trials: list[Trial]) -> None:
    seen: dict[str, Trial] = {}
    for trial in trials:
        if other := seen.get(trial.key):
            raise InputError(
                f"'{trial.solver}' on '{trial.dataset}', {trial.model}, is the same run as '{other.solver}' on "
                f"'{other.dataset}', {other.model}: leave one of them out."
            )
        seen[trial.key] = trial
