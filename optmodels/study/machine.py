"""What a run was made with: the machine, and the versions of everything that takes part."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import distribution, entry_points
from pathlib import Path
from typing import Any

import psutil

from optmodels.registry import FORMULATIONS, SOLVERS

_CPU = Path("/proc/cpuinfo")


def environment() -> dict[str, Any]:
    """The machine, Python and the versions of optmodels, of what it depends on and of all plug-ins, as plain values."""
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory": psutil.virtual_memory().total,
        "python": platform.python_version(),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The version of every distribution that takes part, by name.

    >>> "numpy" in versions()
    True
    """
    ours = distribution("optmodels")
    required = (text for text in ours.requires or () if "extra ==" not in text)
    found = {"optmodels": ours.version}
    for text in required:
        name = re.split(r"[^\w.-]", text, maxsplit=1)[0]
        found[name] = distribution(name).version
    for group in (FORMULATIONS, SOLVERS):
        for entry in entry_points(group=group):
            if entry.dist is not None:
                found[entry.dist.name] = entry.dist.version
    return dict(sorted(found.items()))


def _cpu() -> str:
    named = re.search(r"^model name\s*:\s*(.+)$", _CPU.read_text(), re.MULTILINE) if _CPU.is_file() else None
    return named.group(1) if named else platform.processor() or platform.machine()
