"""Work side by side: how many cores there are, threads for kernels that let go of the interpreter, and processes.

What is computed never depends on the number of cores, only how soon: a result that is to be the same for the same seed
is the same on any machine. Where work is cut into shares and the cut matters, their number is a constant.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from math import ceil
from pathlib import Path
from typing import TypeVar

from optmodels.errors import InputError

Result = TypeVar("Result")

CORES = "OPTMODELS_CORES"  # the environment variable that says how many cores to use
_CONTROL_GROUPS = Path("/sys/fs/cgroup")


# The share of a thread that works beside others: what it starts side by side in turn is not to take all cores again.
_own = threading.local()


def cores() -> int:
    """The cores to use: what `OPTMODELS_CORES` says, else as many as this process may use of the machine.

    A worker among several has its share of them.

    >>> with limited_to(1):
    ...     cores()
    1
    """
    share: int | None = getattr(_own, "cores", None)
    if share is not None:
        return share
    asked = os.environ.get(CORES, "").strip()
    if not asked:
        return _cores_of_machine()
    if not asked.isdecimal() or int(asked) < 1:
        raise InputError(f"The environment variable {CORES} must be a whole number of at least 1, not '{asked}'.")
    return int(asked)


@cache
def _cores_of_machine() -> int:
    """The cores that the system lets this process use, and the container that it runs in."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        allowed = os.process_cpu_count() or 1
    elif hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, container_cores(_CONTROL_GROUPS, Path("/proc/self/cgroup")) or allowed))


def container_cores(root: Path, own: Path) -> int | None:
    """The cores that a control group of Linux grants its processes, rounded up; None where it sets no limit.

    `root` is where control groups are mounted and `own` the file that says which of them this process is in.
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return None
    groups = {controllers: group.lstrip("/") for _, controllers, group in (line.split(":", 2) for line in lines)}
    # version 2: one file with the quota and the period; version 1: a file for each
    limits = [_ratio(*_words(place / "cpu.max")) for place in _upwards(root, groups.get("", ""))]
    limits += [
        _ratio(*_words(place / "cpu.cfs_quota_us"), *_words(place / "cpu.cfs_period_us"))
        for controllers, group in groups.items()
        if "cpu" in controllers.split(",")
        for place in _upwards(root / "cpu", group)
    ]
    found = [limit for limit in limits if limit is not None]
    return min(found) if found else None


def _upwards(root: Path, group: str) -> list[Path]:
    """A control group, those that it is in, and the root; within a container only the root may be there."""
    place = root / group
    return [one for one in (place, *place.parents) if one == root or root in one.parents]


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _ratio(*words: str) -> int | None:
    if len(words) != 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
        return None  # no such file, or 'max' and -1, which are no limits
    quota, period = map(int, words)
    return ceil(quota / period)


@contextmanager
def limited_to(number: int) -> Iterator[None]:
    """While it lasts, this thread and what it starts make do with so many cores."""
    before: int | None = getattr(_own, "cores", None)
    _own.cores = number
    try:
        yield
    finally:
        _own.cores = before


def begin_worker(share: int) -> None:
    """From now on this thread, one of several that work side by side, makes do with its share of the cores."""
    _own.cores = share


def share_of(workers: int) -> int:
    """The cores of each of so many workers."""
    return max(1, cores() // workers)


def threads(most: int | None = None) -> ThreadPoolExecutor:
    """A thread for each core, but at most so many: for kernels that let go of the interpreter.

    >>> with threads() as pool:
    ...     list(pool.map(abs, [-1, 2]))
    [1, 2]
    """
    workers = cores() if most is None else max(1, min(most, cores()))
    return ThreadPoolExecutor(workers, initializer=begin_worker, initargs=(share_of(workers),))


@contextmanager
def beside(work: Callable[[], None], over: threading.Event, name: str) -> Iterator[None]:
    """While it lasts, a thread does some work, which is to end soon once it is over.

    >>> over, done = threading.Event(), []
    >>> with beside(lambda: done.append(over.wait()), over, "waiting"):
    ...     done
    []
    >>> done
    [True]
    """
    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def in_parallel(work: Callable[[int], Result], count: int, jobs: int | None = None) -> Iterator[Result]:
    """work(0), work(1), ... as they are needed, `jobs` processes at a time; one for each core unless given.

    Each piece of work has one thread: more of them would wait for each other, as the pieces are small. Where there is
    one at a time it is done here.

    >>> list(in_parallel(abs, 3, jobs=1))
    [0, 1, 2]
    """
    from joblib import Parallel, delayed

    at_a_time = min(count, jobs or cores())
    if at_a_time <= 1:
        return (_on_one_thread(work, number) for number in range(count))
    found: Iterator[Result] = Parallel(n_jobs=at_a_time, return_as="generator")(
        delayed(_elsewhere)(work, number, _settings()) for number in range(count)
    )
    return found


def _elsewhere(work: Callable[[int], Result], number: int, settings: Mapping[str, str]) -> Result:
    """In a process that may have been kept from earlier work, and has the settings of then."""
    for name in _settings().keys() - settings.keys():
        del os.environ[name]
    os.environ.update(settings)
    return _on_one_thread(work, number)


def _settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("OPTMODELS_")}


def _on_one_thread(work: Callable[[int], Result], number: int) -> Result:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), limited_to(1):
        return work(number)
