"""Independent pieces of work, several at a time in processes of their own, results in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

Found = TypeVar("Found")


def in_parallel(work: Callable[[int], Found], count: int, jobs: int | None = None) -> Iterator[Found]:
    """work(0), work(1), ... as they are needed, `jobs` at a time; all cores unless given, and one means here.

    Each piece of work has one thread: more of them would wait for each other, as the pieces are small.

    >>> list(in_parallel(abs, 3, jobs=1))
    [0, 1, 2]
    """
    from joblib import Parallel, cpu_count, delayed

    at_a_time = min(count, jobs or int(cpu_count()))
    if at_a_time <= 1:
        return (_on_one_thread(work, number) for number in range(count))
    found: Iterator[Found] = Parallel(n_jobs=at_a_time, return_as="generator")(
        delayed(_on_one_thread)(work, number) for number in range(count)
    )
    return found


def _on_one_thread(work: Callable[[int], Found], number: int) -> Found:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return work(number)
