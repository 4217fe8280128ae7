from __future__ import annotations

import os
import signal
import sys

from hypothesis import settings

# The first call of a compiled kernel takes as long as its compilation, so a test case has no deadline; a suite that
# fails must fail again, so examples are drawn from a fixed seed.
settings.register_profile("optmodels", deadline=None, derandomize=True)
settings.load_profile("optmodels")

# Dozens of processes are started, and each would compile pandas, numba and our sources anew where Python is told to
# keep no bytecode: several seconds each time, and most of what many a test takes.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Whoever is started in the background by a shell ignores Ctrl-C, and so do all that it starts: tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
