"""Runs on a Dask cluster: its workers have places like those of one machine."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from distributed import Client, KilledWorker, WorkerPlugin, get_worker

from optmodels.errors import InputError
from optmodels.study.supervise import Place, Record, WorkerError
from optmodels.study.trials import Trial
from optmodels.study.workers import Ended

_CONNECT_SECONDS = 10
_PREFIX = "optmodels-study-"


class Places(WorkerPlugin):  # type: ignore[misc]  # distributed carries no types
    """What every Dask worker gets: places for runs, one for each of its threads that makes one.

    The name is that of one study on the cluster: by it several of them share the workers and leave each other alone.
    """

    def __init__(self, name: str, threads: int) -> None:
        self.name = name
        self._threads = threads

    def setup(self, worker: Any) -> None:
        """Called by Dask when a worker joins."""
        self._all: list[Place] = []
        self._idle: queue.SimpleQueue[Place] = queue.SimpleQueue()

    def teardown(self, worker: Any) -> None:
        """Called by Dask when a worker leaves, or the study ends."""
        for place in self._all:
            place.stop()
        for place in self._all:
            place.close()

    def run(self, trial: Trial) -> Record:
        """Make a run in an idle place, or a new one."""
        try:
            place = self._idle.get_nowait()
        except queue.Empty:
            place = Place(self._threads)
            self._all.append(place)
        try:
            return place.run(trial)
        finally:
            self._idle.put(place)


def make(name: str, text: str) -> Record:
    """Make a run in one of the places that a study has on the Dask worker that this is called on."""
    places: Places | None = get_worker().plugins.get(name)
    if places is None:
        raise WorkerError("The study has no places on this Dask worker, or has them no more.")
    return places.run(Trial.from_json(text))


class DaskWorkers:
    """The workers of a cluster."""

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._futures: set[Any] = set()

    @property
    def size(self) -> int:
        """Threads of all workers, as many as there are now."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def begin(self, trial: Trial, ended: Ended) -> None:
        """Submit the run."""
        key = f"{self._name}-{trial.key}"
        future = self._client.submit(make, self._name, trial.to_json(), key=key, pure=False, retries=2)
        self._futures.add(future)

        def finish(done: Any) -> None:
            self._futures.discard(done)
            ended(trial, _came_of(done))

        future.add_done_callback(finish)

    def close(self) -> None:
        """Let go of what is under way."""
        self._client.cancel(list(self._futures), force=True)


def _came_of(done: Any) -> Record | BaseException:
    """The record of a run that is over; one whose Dask workers died, as often as Dask tries, has crashed them."""
    try:
        error: BaseException | None = done.exception()
        if error is None:
            return dict(done.result())
    except BaseException as problem:  # it was cancelled, or the scheduler is gone
        return problem
    if isinstance(error, KilledWorker):
        tried = error.allowed_failures + 1
        times = "once" if tried == 1 else f"{tried} times"
        return {
            "outcome": "crashed",
            "reason": f"its Dask worker was lost ({times}, at last {error.last_worker.address})",
        }
    return error


@contextmanager
def dask_workers(address: str, threads: int) -> Iterator[DaskWorkers]:
    """The workers of the cluster at an address, with places for runs while the study lasts."""
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"There is no Dask cluster at '{address}': {error}.") from error
    with client:
        with suppress(Exception):  # a scheduler that knows nothing of optmodels cannot be asked
            for name in client.run_on_scheduler(_left_behind):
                _let_go(client, name)
        name = f"{_PREFIX}{client.id}"
        client.register_plugin(Places(name, threads))
        workers = DaskWorkers(client, name)
        try:
            yield workers
        finally:
            workers.close()
            _let_go(client, name)


def _left_behind(dask_scheduler: Any) -> list[str]:
    """The places of studies that were killed before they could let go of them."""
    theirs = [name for name in dask_scheduler.worker_plugins if name.startswith(_PREFIX)]
    return [name for name in theirs if name.removeprefix(_PREFIX) not in dask_scheduler.clients]


def _let_go(client: Any, name: str) -> None:
    with suppress(ValueError):  # there are none
        client.unregister_worker_plugin(name)
