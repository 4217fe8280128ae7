"""A job's own process: `python -m optmodels.explorer.work KIND FOLDER` reads a request there and leaves a result."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

from optmodels.errors import OptmodelsError
from optmodels.explorer import work_front, work_utility, work_wish
from optmodels.explorer.jobs import REQUEST, RESULT
from optmodels.explorer.telling import Teller
from optmodels.files import write_whole
from optmodels.jsonable import plain

_KINDS = {"front": work_front.run, "wish": work_wish.run, "utility": work_utility.run}


def main(kind: str, folder: Path) -> None:
    """Do one job: its result is a document, or the error that says why there is none."""
    _end_with_explorer()
    request = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    try:
        found = _KINDS[kind](request, Teller(folder))
    except OptmodelsError as error:
        found = {"error": str(error)}
    except KeyboardInterrupt:
        found = {"error": "Stopped before anything was found: nothing was written."}
    except Exception as error:  # the page is told, and the traceback is in the job's folder
        traceback.print_exc()
        found = {"error": f"A mistake in optmodels: {type(error).__name__}: {error}"}
    text = json.dumps(plain(found), allow_nan=False)
    write_whole(folder / RESULT, lambda file: file.write_text(text, encoding="utf-8"))


def _end_with_explorer() -> None:
    """End when the explorer is gone: its end of our input closes with it, whatever killed it."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.killpg(os.getpgid(0), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
