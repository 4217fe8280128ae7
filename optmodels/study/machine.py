"""What a run was made with: the machine, the versions of everything that takes part, and the code itself."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil

from optmodels.parallel import cores
from optmodels.registry import FORMULATIONS, SOLVERS

_CPU = Path("/proc/cpuinfo")
# What may take part in a run although no distribution here asks for it: solvers behind Pyomo, and what others bring.
_PERHAPS = (
    *("coptpy", "cplex", "distributed", "gurobipy", "llvmlite", "mosek", "ortools", "pyscipopt", "xgboost", "xpress"),
)
_TOOLS = re.compile(r"""extra == ['"]dev['"]""")


def environment() -> dict[str, Any]:
    """The machine, Python, the versions and the code of optmodels and of all that takes part, as plain values."""
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "cpu": _cpu(),
        "cores": cores(),
        "memory": psutil.virtual_memory().total,
        "python": platform.python_version(),
        "versions": versions(),
        "sources": sources(),
    }


def versions() -> dict[str, str]:
    """The version of every distribution that takes part, by name: also of extras and solvers that are installed.

    >>> "numpy" in versions()
    True
    """
    ours = distribution("optmodels")
    found = {"optmodels": ours.version}
    asked = (re.split(r"[^\w.-]", text, maxsplit=1)[0] for text in ours.requires or () if not _TOOLS.search(text))
    for name in (*asked, *_PERHAPS):
        with suppress(PackageNotFoundError):
            found[name] = distribution(name).version
    for entry in _plug_ins():
        found[entry.dist.name] = entry.dist.version
    return dict(sorted(found.items()))


def sources() -> dict[str, str]:
    """A fingerprint of the Python files of optmodels and of every plug-in, by distribution: versions lag behind code.

    >>> len(sources()["optmodels"])
    16
    """
    modules = {"optmodels": {"optmodels"}}
    for entry in _plug_ins():
        modules.setdefault(entry.dist.name, set()).add(entry.module.partition(".")[0])
    return {name: _fingerprint(sorted(roots)) for name, roots in sorted(modules.items())}


def differing(environments: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """What is not the same in all of them, by name, each with its different values.

    >>> differing([{"host": "a", "versions": {"numpy": "2.0"}}, {"host": "a", "versions": {"numpy": "2.1"}}])
    {'versions: numpy': ['2.0', '2.1']}
    """
    flat = [_flat(one) for one in environments]
    names = dict.fromkeys(name for one in flat for name in one)
    values = {name: list(dict.fromkeys(one.get(name, "none") for one in flat)) for name in names}
    return {name: found for name, found in values.items() if len(found) > 1}


def _flat(environment: Mapping[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in environment.items():
        inner = {f"{name}: {key}": str(text) for key, text in value.items()} if isinstance(value, Mapping) else None
        found |= {name: str(value)} if inner is None else inner
    return found


def _plug_ins() -> Iterable[Any]:
    """Entry points of formulations and solvers, anyone's, of which the distribution is known."""
    return [entry for group in (FORMULATIONS, SOLVERS) for entry in entry_points(group=group) if entry.dist is not None]


def _fingerprint(modules: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for module in modules:
        for name, path in _files(module):
            digest.update(f"{name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _files(module: str) -> list[tuple[str, Path]]:
    """The Python files of a module or package, found without importing it, by names that are the same everywhere."""
    spec = find_spec(module)
    if spec is None:
        return []
    if spec.submodule_search_locations is None:
        return [(module, Path(spec.origin))] if spec.origin and Path(spec.origin).is_file() else []
    folders = [Path(folder) for folder in spec.submodule_search_locations]
    return sorted(
        (f"{module}/{path.relative_to(folder).as_posix()}", path) for folder in folders for path in folder.rglob("*.py")
    )


def _cpu() -> str:
    named = re.search(r"^model name\s*:\s*(.+)$", _CPU.read_text(), re.MULTILINE) if _CPU.is_file() else None
    return named.group(1) if named else platform.processor() or platform.machine()
