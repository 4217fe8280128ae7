"""A problem in memory that several processes map: its arrays are laid out once in a file, nothing is sent around.

Python's pickles hand arrays over separately. Those go into a temporary file that every worker maps (a page that a
worker writes to becomes its own, the file stays as it is); what is left is small and handed to workers as they start.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from solvers.blocks.scratch import scratch_folder

_ALIGNED = 64


@dataclass(frozen=True)
class Shared:
    """Where an object's arrays lie and what is left of the object without them."""

    file: str
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    rest: bytes

    def load(self) -> Any:
        """The object, its arrays read from the file as they are looked at."""
        with open(self.file, "rb") as source:
            whole = memoryview(mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_COPY))
        buffers = [whole[start : start + length] for start, length in zip(self.starts, self.lengths, strict=True)]
        return pickle.loads(self.rest, buffers=buffers)


@contextmanager
def shared(thing: object) -> Iterator[Shared]:
    """The thing laid out in a temporary file, which is removed at the end, even by whoever outlives this process."""
    found: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(thing, protocol=5, buffer_callback=found.append)
    buffers = [buffer.raw() for buffer in found]
    starts = [0]
    for buffer in buffers:
        starts.append(-(-(starts[-1] + buffer.nbytes) // _ALIGNED) * _ALIGNED)
    # /dev/shm is memory itself; elsewhere the file is in the cache that the system keeps of its disks
    folder = "/dev/shm" if os.access("/dev/shm", os.W_OK) and _room("/dev/shm") > 2 * starts[-1] else None
    with scratch_folder("optmodels-blocks-", Path(folder or tempfile.gettempdir())) as scratch:
        file = scratch / "arrays"
        with open(file, "wb") as target:
            for buffer, (start, end) in zip(buffers, pairwise(starts), strict=True):
                target.write(buffer)
                target.write(bytes(end - start - buffer.nbytes))
            target.write(bytes(1))  # an empty file cannot be mapped
        yield Shared(str(file), tuple(starts[:-1]), tuple(buffer.nbytes for buffer in buffers), rest)


def _room(folder: str) -> int:
    state = os.statvfs(folder)
    return state.f_bavail * state.f_frsize
