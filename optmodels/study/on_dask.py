"""Runs on a Dask cluster: its workers have places like those of one machine."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, WorkerPlugin, get_worker

from optmodels.errors import InputError
from optmodels.study.engine import Ended
from optmodels.study.supervise import Place, Record
from optmodels.study.trials import Trial

_CONNECT_SECONDS = 10
_PLUGIN = "optmodels-study"


class Places(WorkerPlugin):  # type: ignore[misc]  # distributed carries no types
    """What every Dask worker gets: places for runs, one for each of its threads that makes one."""

    name = _PLUGIN

    def __init__(self, threads: int) -> None:
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


def make(text: str) -> Record:
    """Make a run in one of the places of the Dask worker that this is called on."""
    places: Places = get_worker().plugins[_PLUGIN]
    return places.run(Trial.from_json(text))


class DaskCrew:
    """The workers of a cluster."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: set[Any] = set()

    @property
    def size(self) -> int:
        """Threads of all workers, as many as there are now."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def begin(self, trial: Trial, ended: Ended) -> None:
        """Submit the run."""
        future = self._client.submit(make, trial.to_json(), key=f"{_PLUGIN}-{trial.key}", pure=False, retries=2)
        self._futures.add(future)

        def finish(done: Any) -> None:
            self._futures.discard(done)
            error = done.exception()
            ended(trial, done.result() if error is None else error)

        future.add_done_callback(finish)

    def close(self) -> None:
        """Let go of what is under way."""
        self._client.cancel(list(self._futures), force=True)


@contextmanager
def dask_crew(address: str, threads: int) -> Iterator[DaskCrew]:
    """The workers of the cluster at an address, with places for runs while the study lasts."""
    try:
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"There is no Dask cluster at '{address}': {error}.") from error
    with client:
        client.register_plugin(Places(threads), name=_PLUGIN)
        crew = DaskCrew(client)
        try:
            yield crew
        finally:
            crew.close()
            client.unregister_worker_plugin(_PLUGIN)
