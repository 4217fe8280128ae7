"""Files that must not outlive the process that needs them, however it ends: they hold original records.

A process that is killed cleans nothing up. So a small process beside it waits for its end and removes what it left; and
should both be killed, whoever makes the next such file in the same place removes those that nobody holds a lock on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep

from optmodels.solver.interrupt import Interrupt

if sys.platform != "win32":
    import fcntl

_LOCK = "owner.lock"  # in every such folder, held by the process that made it
_REMOVALS = 50  # attempts, for a worker may be about to write
_PAUSE_SECONDS = 0.1
# Waits for the end of its input, which comes with the end of the process that started it.
_WATCHER = f"""
import shutil, sys, time
from pathlib import Path
sys.stdin.buffer.read()
for _ in range({_REMOVALS}):
    shutil.rmtree(sys.argv[1], ignore_errors=True)
    if not Path(sys.argv[1]).exists():
        break
    time.sleep({_PAUSE_SECONDS})
"""


@contextmanager
def scratch_folder(prefix: str, beside: Path) -> Iterator[Path]:
    """A folder that only this user may look into; gone in the end, or soon after this process is killed.

    >>> with scratch_folder("example-", Path(tempfile.gettempdir())) as folder:
    ...     written = (folder / "records").write_text("original")
    >>> folder.exists()
    False
    """
    _sweep(prefix, beside)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=beside))
    lock = None
    watcher = _watcher_of(folder)
    try:
        lock = _locked(folder)
        yield folder
    finally:
        with Interrupt().listening():  # an impatient Ctrl-C is not to leave half of it
            _remove(folder)
            if lock is not None:
                os.close(lock)
            if watcher is not None:
                assert watcher.stdin is not None
                with suppress(OSError):
                    watcher.stdin.close()
                watcher.wait()


def _remove(folder: Path) -> None:
    for _ in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        sleep(_PAUSE_SECONDS)


def _watcher_of(folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that removes the folder when this one has ended; None where none can be started."""
    with suppress(OSError):
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _WATCHER, str(folder.resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what is sent to the group of this process is not for it
        )
    return None


def _locked(folder: Path) -> int | None:
    """A lock that is let go of by the end of this process; there only under its name once it is held."""
    if sys.platform == "win32":
        return None
    draft = folder / f"{_LOCK}.new"
    lock = os.open(draft, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft.rename(folder / _LOCK)
    except OSError:  # a file system without locks: then nobody sweeps here
        os.close(lock)
        draft.unlink(missing_ok=True)
        return None
    return lock


def _sweep(prefix: str, place: Path) -> None:
    """Remove the folders of processes that are gone: the system has let go of their locks."""
    if sys.platform == "win32":
        return
    for lock in place.glob(f"{prefix}*/{_LOCK}"):
        with suppress(OSError):  # another user's, or removed in the meantime
            handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(handle)
