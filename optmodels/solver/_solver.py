"""The solver's contract.

A solver only searches: it offers partitions and raises bounds on its Run. What is done once for all of them is here:
refusing, infeasibility known beforehand, the time limit, Ctrl-C, the record.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import wraps
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optmodels.clock import telling
from optmodels.errors import InputError, RefusedError, whole
from optmodels.files import check_writable
from optmodels.front import ParetoFront
from optmodels.kept_search import Earlier, SoFar, load, save
from optmodels.problem import Problem
from optmodels.solution import Solution, Stop
from optmodels.solver.dealing_out import deal_out
from optmodels.solver.installed import installed
from optmodels.solver.keeping import kept_in
from optmodels.solver.leaving_out import leave_out, leave_out_on_front
from optmodels.solver.run import PROVEN, OnProgress, Run
from optmodels.solver.shared_bounds import with_shared_bounds
from optmodels.structures import Structure

SOLVERS = "optmodels.solvers"  # the entry points by which solvers are found


def _only_ctrl_c(error: BaseException) -> None:
    """Raise the error again unless it is Ctrl-C, which can reach us as SystemErrors from within compiled calls."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    if cause is None:
        raise error


class Solver(ABC):
    """How a problem is solved; subclasses are frozen dataclasses whose fields are the solver's options."""

    name: ClassVar[str]
    summary: ClassVar[str]
    exact: ClassVar[bool] = False  # whether it can prove an answer best; `proves` says of which problems
    requires: ClassVar[tuple[str, ...]] = ()  # modules it needs beyond the core's

    needs: ClassVar[tuple[type[Structure], ...]] = ()  # what it must know of a problem
    rejects: ClassVar[tuple[type[Structure], ...]] = ()  # what it cannot cope with
    only: ClassVar[str] = ""  # what `cannot` asks for beyond that, in words
    leaves_out: ClassVar[bool] = False  # whether it decides itself which records are left out, where some may be

    def refuses(self, problem: Problem) -> str | None:
        """Why this solver cannot work on the problem, or None: by what it needs and rejects, and `cannot`."""
        for kind in self.needs:
            if problem.structure(kind) is None:
                return f"it needs {kind.title}, and '{problem.formulation.name}' lacks that: {kind.absent}"
        for kind in self.rejects:
            if problem.structure(kind) is not None:
                return kind.present
        return self.cannot(problem)

    def cannot(self, problem: Problem) -> str | None:
        """What else is in the way of a problem that has all it needs: its size, its conditions, an option."""
        return None

    def refuses_front(self, problem: Problem) -> str | None:
        """Why there is no front of the problem by this solver, or None."""
        return "it answers with one solution, not with a front."

    def proves(self, problem: Problem, *, front: bool = False) -> bool:
        """Whether what it finds of a problem that it takes is proven best, given the time; of a front, every point."""
        if problem.suppression.most and not self.decides_suppression(problem):
            return False
        return self.exact and not front

    @classmethod
    def takes(cls) -> str:
        """The problems that it takes, in words.

        >>> from optmodels.registry import solver
        >>> solver("columns").takes()
        'a price for each class; up to 6,000 records; 100,000 if no more differ, under k alone'
        """
        needed = [kind.title for kind in cls.needs if not kind.usual] or ["any problem"]
        without = " or ".join(kind.title for kind in cls.rejects)
        has = " and ".join(needed) + (f", without {without}" if without else "")
        return f"{has}; {cls.only}" if cls.only else has

    @abstractmethod
    def search(self, problem: Problem, run: Run) -> None:
        """Offer partitions to the run and prove bounds on it until done or expired."""

    def solve(
        self,
        problem: Problem,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
        start: NDArray[np.integer[Any]] | Solution | None = None,
        resume: str | Path | None = None,
    ) -> Solution:
        """The best partition found, with what is proven about it.

        `start` is a partition to begin from, or an answer of this problem: what is proven of it is kept. `resume` names
        a file in which the search is kept, now and then and at its end; it goes on from what is there already. A time
        limit or Ctrl-C returns the best so far; a search that takes no notice of its limit is broken off soon after it.
        Kernels that are compiled on the way, once on a machine, do not count against the limit.
        """
        _check(time_limit, seed)
        _raise(self.name, self.refuses(problem), solvers_for(problem))
        known = start if isinstance(start, Solution) else None
        earlier = _earlier(problem, known, resume, front=False)
        begin = next((point.labels for point in earlier.points), None) if earlier is not None else None
        warm = begin if start is None or isinstance(start, Solution) else problem.check(start)
        problem.prepare()
        run = Run(
            problem, self.name, time_limit=time_limit, seed=seed, on_progress=on_progress, start=warm, earlier=earlier
        )
        try:
            with (
                kept_in(resume, problem, lambda: run.standing(front=False), run.details, front=False),
                run.watched(),
                telling(run.compiling),
            ):
                if warm is not None:
                    run.offer(warm)
                _begin_from(run)
                if reason := problem.impossible():
                    run.infeasible(reason)
                    return run.solution()
                if run.gap is None or run.gap > PROVEN or earlier is None:
                    self._searched(problem, run)
                    if not self.as_published:
                        deal_out(problem, run)
        except (KeyboardInterrupt, SystemError) as error:
            _only_ctrl_c(error)
            run.stop = Stop.TIME if run.interrupt.overdue else Stop.INTERRUPTED
        found = run.solution()
        if resume is not None and found.labels is not None:
            _keep(resume, problem, run.standing(front=False), run.details, front=False)
        return found

    @property
    def as_published(self) -> bool:
        """Whether it is to answer as a published heuristic does, so that nothing is found for it where it fails."""
        return False

    def decides_suppression(self, problem: Problem) -> bool:
        """Whether it decides itself which records of this problem are left out, so that what it proves is proven."""
        return self.leaves_out

    def _searched(self, problem: Problem, run: Run) -> None:
        """The search, and where records may be left out of which the solver knows nothing, leaving them out."""
        if not problem.suppression.most or self.decides_suppression(problem):
            self.search(problem, run)
            return
        run.leaves_out = False
        if problem.allowing(0).impossible() is None:  # else there is nothing to be found that has a place for everybody
            self.search(problem, run)
        leave_out(self.search, problem, run)

    @classmethod
    def missing(cls) -> str | None:
        """Which module the solver lacks on this machine, found without importing it, or None."""
        return next((module for module in cls.requires if find_spec(module) is None), None)

    @classmethod
    def options(cls) -> tuple[str, ...]:
        """The names of the solver's options."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]


class FrontSolver(Solver):
    """A solver that also answers problems of several objectives with a Pareto front.

    Subclasses explore; what leaves `pareto` is judged. One that answers by a `pareto` of its own is judged all the
    same, and what it claims to have proven, of which no run knows, is not passed on.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "pareto" in vars(cls):
            cls.pareto = _judged(cls.pareto)  # type: ignore[method-assign]

    @abstractmethod
    def explore(self, problem: Problem, run: Run) -> None:
        """Let the run keep partitions, with bounds where they are proven, until the front is complete or it expired."""

    def refuses_front(self, problem: Problem) -> str | None:
        """One objective has no front; beyond that it is as with one answer."""
        if len(problem.objectives) < 2:
            return f"'{problem.formulation.name}' has one objective, {problem.target.name}: a front needs two or more."
        return self.refuses(problem)

    def pareto(
        self,
        problem: Problem,
        *,
        time_limit: float | None = None,
        seed: int = 0,
        on_progress: OnProgress | None = None,
        start: ParetoFront | None = None,
        resume: str | Path | None = None,
    ) -> ParetoFront:
        """The front found; a time limit or Ctrl-C returns what there is so far.

        `start` is a front of this problem to go on from: its points, and what is proven of them, are kept unless better
        ones are found. `resume` names a file in which the search is kept, now and then and at its end, and goes on from
        what is there already.
        """
        _check(time_limit, seed)
        _raise(self.name, self.refuses_front(problem), solvers_for(problem, front=True))
        earlier = _earlier(problem, start, resume, front=True)
        problem.prepare()
        run = Run(problem, self.name, time_limit=time_limit, seed=seed, on_progress=on_progress, earlier=earlier)
        _begin_from(run)
        try:
            if reason := problem.impossible():
                run.details["infeasible"] = reason
            elif earlier is None or earlier.details.get("complete") is not True:
                with (
                    kept_in(resume, problem, lambda: run.standing(front=True), run.details, front=True),
                    run.watched(),
                    telling(run.compiling),
                ):
                    run.leaves_out = not problem.suppression.most or self.decides_suppression(problem)
                    if run.leaves_out or problem.allowing(0).impossible() is None:
                        self.explore(problem, run)
                    if not self.as_published:
                        deal_out(problem, run, front=True)
                    if not run.leaves_out:
                        leave_out_on_front(problem, run)
                        run.details |= {"complete": False} if "complete" in run.details else {}
        except (KeyboardInterrupt, SystemError) as error:
            _only_ctrl_c(error)
            run.stop = Stop.TIME if run.interrupt.overdue else Stop.INTERRUPTED
        record = {"solver": self.name, "stop": str(run.stop), "seconds": run.seconds, "seed": seed}
        return _front_of(problem, run, earlier, record, resume)


def _front_of(
    problem: Problem, run: Run, earlier: Earlier | None, record: dict[str, object], resume: str | Path | None
) -> ParetoFront:
    """What a run and those before it have found, kept where that was asked for."""
    known = () if earlier is None else earlier.points
    points = with_shared_bounds(problem, (*run.front, *known), run.details)
    before = {} if earlier is None else {name: value for name, value in earlier.details.items() if value is not False}
    front = ParetoFront.of(problem, points, {**before, **record, **run.details})
    if resume is not None and len(front):
        standing = run.standing(front=True)
        whole = SoFar(front.points, (), front.details, standing.runs, standing.seconds)
        _keep(resume, problem, whole, run.details, front=True)
        front = ParetoFront(problem, front.points, {**front.details, **run.details})
    return front


def _judged(pareto: Callable[..., ParetoFront]) -> Callable[..., ParetoFront]:
    """A way to answer with a front, of which only feasible points leave, with the problem's own values."""

    @wraps(pareto)
    def answer(
        solver: FrontSolver,
        problem: Problem,
        *,
        start: ParetoFront | None = None,
        resume: str | Path | None = None,
        **options: Any,
    ) -> ParetoFront:
        earlier = _earlier(problem, start, resume, front=True)
        run = Run(problem, solver.name, seed=options.get("seed", 0), earlier=earlier)
        found = pareto(solver, problem, **(options if earlier is None else {**options, "seed": run.seed}))
        for point in found:
            if point.labels is not None:
                run.keep(point.labels, stop=point.stop, details=point.details)
        return _front_of(problem, run, earlier, dict(found.details), resume)

    return answer


def _earlier(
    problem: Problem, start: Solution | ParetoFront | None, resume: str | Path | None, *, front: bool
) -> Earlier | None:
    """What a search goes on from: an answer or a front that is handed over, or what a file keeps."""
    if resume is None:
        return None if start is None else Earlier.of(problem, start)
    found = load(resume, problem, front=front)
    check_writable(resume)
    if start is not None and found is not None:
        raise InputError(f"start and resume are one too many: '{resume}' keeps a search already.")
    return found if start is None else Earlier.of(problem, start)


def _begin_from(run: Run) -> None:
    """Let a run have what was found and proven before."""
    earlier = run.earlier
    if earlier is None:
        return
    run.details["resumed"] = earlier.resumed
    run.known = [point.labels for point in earlier.points if point.labels is not None]
    if run.start is None:
        return
    run.known = ()
    for point in earlier.points:
        run.evidence = point.evidence
        if point.bound is not None:
            run.prove(point.bound)


def _keep(path: str | Path, problem: Problem, standing: SoFar, details: dict[str, object], *, front: bool) -> None:
    """Write where a search has ended; what it found is not lost where that cannot be done, and the record says so."""
    try:
        save(path, problem, standing, front=front)
    except InputError as error:
        details["not_kept"] = str(error)


def solvers_for(problem: Problem, *, front: bool = False) -> Iterator[str]:
    """The names of the solvers on this machine that take a problem, for one answer or for a front."""
    for name, entry in installed(SOLVERS).items():
        try:
            kind: type[Solver] = entry.load()
            if kind.missing() is not None:
                continue
            solver = kind()
            able = (solver.refuses_front(problem) if front else solver.refuses(problem)) is None
        except Exception:  # one broken plug-in must not hide the others
            continue
        if able:
            yield name


def _check(time_limit: float | None, seed: int) -> None:
    is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    if time_limit is not None and not (is_number and time_limit > 0):
        raise InputError(f"time_limit must be a positive number of seconds, not {time_limit!r}.")
    whole("seed", seed, 0)


def _raise(name: str, reason: str | None, others: Iterator[str]) -> None:
    """Refuse for a reason, naming those that can."""
    if reason is not None:
        able = ", ".join(f"'{other}'" for other in others)
        remedy = f" Solvers that can: {able}." if able else " No solver here can."
        raise RefusedError(f"The solver '{name}' cannot solve this problem: {reason}{remedy}")
