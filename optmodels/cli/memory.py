"""Memory that is not enough: noticed before libraries are loaded that would crash or never end, and known in errors."""

from __future__ import annotations

import os
from pathlib import Path

from optmodels.errors import InputError
from optmodels.parallel import cores

NO_MEMORY = (
    "There is not enough memory for this: nothing was written. Take fewer records or columns, or a folder of "
    "Parquet files, which is worked on part by part."
)
# How libraries that do not fit, readers of files, and threads that get no stack are reported by who starts them.
_OUT_OF_MEMORY = (
    *("failed to map segment", "cannot allocate memory", "can't start new thread", "failed to launch worker thread"),
    "malloc of size",
)
_MEGABYTES, _A_CORE, _CORES = 1200, 150, 8  # of addresses for libraries, for the threads of a core, of so many cores
_NEAR = 0.9  # of all addresses that there may be: whatever fails there fails for want of them


def check_room() -> None:
    """Refuse to start where `ulimit -v` leaves no room for the libraries that every command needs.

    Some of them crash there, and linear algebra waits for ever for a buffer that it cannot have. Under a limit Arrow
    takes its memory from the system: its own pool would keep a gigabyte of addresses for itself, and threads get none.

    Raises:
        InputError: there is a limit, and it is less than that.
    """
    limit = _limit()
    if limit is None:
        return
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    least = _MEGABYTES + _A_CORE * min(cores(), _CORES)
    if limit < least << 20:
        raise InputError(
            f"There is not enough memory: 'ulimit -v' lets this process have {limit >> 20:,} MB of addresses, and its "
            f"libraries and threads alone need {least:,} MB. Nothing was read or written. Raise the limit."
        )


def is_short_of_memory(error: BaseException | None) -> bool:
    """Whether this, or what it followed from, is a want of memory, which is no mistake of ours."""
    while error is not None:
        if isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _OUT_OF_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


def was_near_limit() -> bool:
    """Whether this process once had nearly all the addresses that it may have; libraries then fail in any words."""
    limit = _limit()
    if limit is None:
        return False
    try:
        said = Path("/proc/self/status").read_text()
    except OSError:  # not on every system
        return False
    peak = next((int(line.split()[1]) << 10 for line in said.splitlines() if line.startswith("VmPeak")), 0)
    return peak > _NEAR * limit


def _limit() -> int | None:
    """Bytes of addresses that this process may have, if there is a limit."""
    try:
        import resource
    except ImportError:  # not on every system
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft
