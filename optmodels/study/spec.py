"""A study as it is declared: data, formulations, solvers and seeds, whose product are its runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from numbers import Real
from pathlib import Path
from typing import Any, Literal, get_args

from optmodels.errors import InputError, finite, is_finite, unknown, whole

Answer = Literal["solution", "front"]
Settings = Mapping[str, Any]

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_GRACE_SECONDS, _GRACE_SHARE = 10.0, 0.5  # of the time limit, before a process that overruns it is killed
_MOST_SEEDS = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one run may use.

    `time` is told to the solver, which returns its best so far. A run against the clock is never quite the same twice:
    where results must be reproducible, limit the solver by its own `iterations` or `evaluations` and leave `time` out.
    `kill` ends the process after so many seconds of solving, whatever it does (by default half as long again as `time`
    and ten seconds more); `setup` does so while data is read, the model built and kernels compiled. `memory` is what
    the processes of a run may hold together, as a number of bytes or as "2 GB".

    >>> Limits(time=4).kill_after, Limits(memory="1.5 GB").memory_bytes
    (16.0, 1500000000)
    """

    time: float | None = None
    kill: float | None = None
    setup: float = 600.0
    memory: int | str | None = None

    def __post_init__(self) -> None:
        for name in ("time", "kill", "setup"):
            if (seconds := getattr(self, name)) is not None:
                finite(f"limits.{name}", seconds, positive=True)
        if self.time is not None and self.kill is not None and self.kill < self.time:
            raise InputError(f"limits.kill is {self.kill:g} s and ends runs before limits.time, {self.time:g} s, does.")
        _ = self.memory_bytes

    @property
    def kill_after(self) -> float | None:
        """Seconds of solving after which the process is killed, or None."""
        if self.kill is not None or self.time is None:
            return self.kill
        return self.time + _GRACE_SECONDS + _GRACE_SHARE * self.time

    @property
    def memory_bytes(self) -> int | None:
        """The memory limit in bytes, or None."""
        if self.memory is None:
            return None
        if isinstance(self.memory, str) and (found := re.fullmatch(r"\s*([\d.]+)\s*([A-Za-z]+)\s*", self.memory)):
            number, unit = found.groups()
            if unit.upper() in _UNITS and number.count(".") <= 1 and float(number) > 0:
                return int(float(number) * _UNITS[unit.upper()])
        elif isinstance(self.memory, int) and not isinstance(self.memory, bool) and self.memory > 0:
            return self.memory
        raise InputError(f"limits.memory must be a number of bytes or a size such as '2 GB', not {self.memory!r}.")


@dataclass(frozen=True)
class DatasetSpec:
    """Data by the `name` of a known dataset or by `file`.

    `roles` are those of the columns: the name of a role file, or entries of one ({"scaling": "standard"}), which for a
    known dataset replace its own. `rows` takes the first so many records, `sample` draws so many, the same ones in
    every run; a list of them is a grid. Datasets of one `family` are one table in several sizes, over which scaling is
    fitted: by default the sizes of one such list are; files of several sizes are where each names the same family.
    """

    name: str | None = None
    file: str | Path | None = None
    roles: str | Path | Settings = field(default_factory=dict)
    rows: int | list[int] | None = None
    sample: int | list[int] | None = None
    label: str | None = None
    family: str | None = None

    def __post_init__(self) -> None:
        if (self.name is None) == (self.file is None):
            raise InputError("A dataset has either a name (see 'optmodels list datasets') or a file, and not both.")
        if self.rows is not None and self.sample is not None:
            raise InputError(f"The dataset '{self.title}' has rows and sample: give one of them.")
        for name in ("rows", "sample"):
            if getattr(self, name) == []:
                raise InputError(f"{name} of the dataset '{self.title}' is an empty list: give a size or leave it out.")
            for size in _choices(getattr(self, name)):
                if size is not None:
                    whole(f"{name} of the dataset '{self.title}'", size, 1)

    @property
    def title(self) -> str:
        """What it is called where it is not cut to a size."""
        return self.label or self.name or Path(str(self.file)).stem

    def each(self) -> Iterator[tuple[str, DatasetSpec]]:
        """The label and the spec of every size."""
        for rows, sample in product(_choices(self.rows), _choices(self.sample)):
            size = rows or sample
            is_grid = isinstance(self.rows if rows else self.sample, list)
            yield (f"{self.title}[{size}]" if is_grid else self.title), replace(self, rows=rows, sample=sample)


@dataclass(frozen=True)
class FormulationSpec:
    """A formulation by name; a parameter that is a list is a grid. `objectives` judge it instead of its own.

    A formulation that draws at random when it is built (the first centres of k-means, a forest) draws the same in all
    repetitions and for all solvers, which so solve one problem. With `draws` it is built so many times, each time with
    another seed: these are problems of their own, told apart by `draw` in their labels.
    """

    name: str
    parameters: Settings = field(default_factory=dict)
    objectives: Sequence[str] = ()
    label: str | None = None
    draws: int = 1

    def __post_init__(self) -> None:
        whole(f"draws of '{self.name}'", self.draws, 1)
        if isinstance(self.objectives, str):
            raise InputError(f"objectives of '{self.name}' is the text {self.objectives!r}: give a list of names.")
        for name in self.objectives:
            if not isinstance(name, str):
                raise InputError(f"objectives of '{self.name}' must be names of objectives, not {name!r}.")

    def each(self) -> Iterator[tuple[str, Settings, int]]:
        """The label, the parameters and the number of the draw of every problem."""
        for parameters, draw in product(grid(self.parameters), range(self.draws)):
            shown = {**parameters, "draw": draw} if self.draws > 1 else parameters
            yield _labelled(self.label or self.name, shown), parameters, draw


@dataclass(frozen=True)
class SolverSpec:
    """A solver by name; an option that is a list is a grid. `limits` replace those of the study.

    'pyomo:gurobi' is any solver that Pyomo knows, 'pymoo:unsga3' any algorithm of pymoo's, or of another package's by
    its import path ('pymoo:package.module:Class').
    """

    name: str
    options: Settings = field(default_factory=dict)
    limits: Settings = field(default_factory=dict)
    label: str | None = None

    def each(self) -> Iterator[tuple[str, Settings]]:
        """The label and the options of every point of the grid; what does not vary is not in the label."""
        varying = {name for name, value in self.options.items() if len(_choices(value)) > 1}
        for options in grid(self.options):
            shown = {name: value for name, value in options.items() if name in varying}
            yield _labelled(self.label or self.name, shown), options


@dataclass(frozen=True)
class Study:
    """Datasets x formulations x solvers x seeds.

    `seeds` is a number of repetitions or a list of their numbers; the seed of a run is hashed from it and from what is
    run, so that it does not depend on the order or on the rest of the study. It is the solver's seed: the problem is
    the same in all repetitions (see `FormulationSpec.draws`). `answer` is 'solution' or 'front'.
    `threads` is what BLAS, OpenMP and numba may use in a run; `warm_up` runs the solver on a few records first, so that
    loading and compiling kernels is not timed.

    >>> study = Study("sizes", [DatasetSpec("german")], [FormulationSpec("microaggregation", {"k": [3, 5]})],
    ...               [SolverSpec("mdav"), SolverSpec("local_search", {"iterations": 500})], seeds=4)
    >>> study.size
    16
    """

    name: str
    datasets: Sequence[DatasetSpec]
    formulations: Sequence[FormulationSpec]
    solvers: Sequence[SolverSpec]
    seeds: int | Sequence[int] = 1
    limits: Limits = field(default_factory=Limits)
    answer: Answer = "solution"
    threads: int = 1
    warm_up: bool = True
    file: Path | None = field(default=None, compare=False, repr=False)  # the file that declares it

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"The name of a study must be text, not {self.name!r}.")
        for part in ("datasets", "formulations", "solvers"):
            if not getattr(self, part):
                raise InputError(
                    f"The study '{self.name}' has no {part}, so there is nothing to run: name one or more."
                )
        if self.answer not in get_args(Answer):
            raise unknown("answer", self.answer, get_args(Answer))
        whole("threads", self.threads, 1)
        if not isinstance(self.warm_up, bool):
            raise InputError(f"warm_up must be true or false, not {self.warm_up!r}.")
        repetitions = self.repetitions
        if not repetitions or len(set(repetitions)) < len(repetitions):
            raise InputError(f"seeds must be one number or more, each once, not {self.seeds!r}.")

    @property
    def repetitions(self) -> tuple[int, ...]:
        """The numbers of the repetitions."""
        if isinstance(self.seeds, Sequence) and not isinstance(self.seeds, str):
            for seed in self.seeds:
                whole("Each of seeds", seed, 0)
            return tuple(self.seeds)
        whole("seeds", self.seeds, 1, "it is the number of repetitions")
        assert isinstance(self.seeds, int)
        if self.seeds > _MOST_SEEDS:
            raise InputError(f"seeds must be at most {_MOST_SEEDS:,}, not {self.seeds!r}: every run is listed.")
        return tuple(range(self.seeds))

    @property
    def size(self) -> int:
        """The number of runs."""
        parts: list[Sequence[DatasetSpec | FormulationSpec | SolverSpec]]
        parts = [self.datasets, self.formulations, self.solvers]
        total = len(self.repetitions)
        for specs in parts:
            total *= sum(len(list(spec.each())) for spec in specs)
        return total

    def limits_of(self, solver: SolverSpec) -> Limits:
        """The limits of a solver's runs."""
        known = [one.name for one in fields(Limits)]
        for name in solver.limits:
            if name not in known:
                raise unknown("limit", name, known)
        return replace(self.limits, **solver.limits)


def grid(settings: Settings) -> Iterator[dict[str, Any]]:
    """Every combination of settings in which lists are alternatives; a list within a list is one value.

    >>> list(grid({"k": [3, 5], "weights": [[1, 2]], "t": 0.2}))
    [{'k': 3, 'weights': (1, 2), 't': 0.2}, {'k': 5, 'weights': (1, 2), 't': 0.2}]
    """
    for name, value in settings.items():
        if isinstance(value, list) and not value:
            raise InputError(f"'{name}' is an empty list: a list holds the values to try.")
    for values in product(*(_choices(value) for value in settings.values())):
        frozen = (tuple(value) if isinstance(value, list) else value for value in values)
        yield dict(zip(settings, frozen, strict=True))


def _choices(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else (value,)


def _labelled(name: str, settings: Settings) -> str:
    return f"{name}({', '.join(f'{key}={_shown(value)}' for key, value in settings.items())})" if settings else name


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, Real) and is_finite(value) else str(value)
