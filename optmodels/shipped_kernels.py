"""Compiled code that came with the package: a wheel carries it, so that a first run need not compile.

What a machine compiles for itself is for its own processor. What a wheel carries is for every processor that has what
`PROCESSOR` stands for, and for the versions of Python and numba it was made with: their own cache on disk says the
same of itself. Where any of that differs, kernels are compiled when they are first used, as they are without it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba

FOLDER = Path(__file__).with_name("compiled")
INTO = "OPTMODELS_KERNELS_INTO"  # the environment variable by which the making of a wheel says where it collects code

# What LLVM calls the x86 processors of the last ten years and more, and what they have beyond the least.
_X86 = "x86-64-v3"
_X86_HAS = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave")
_IS_X86 = platform.machine().lower() in ("x86_64", "amd64")
PROCESSOR = _X86 if _IS_X86 else "generic"


def environment(folder: Path) -> dict[str, str]:
    """The environment of a process whose kernels are collected in a folder, compiled for other machines too."""
    return {"NUMBA_CPU_NAME": PROCESSOR, "NUMBA_CPU_FEATURES": "", INTO: str(folder)}


def kept(*what: object) -> bytes | None:
    """The code that was collected under a name, if there is any and this processor runs it."""
    if runs_here():
        with suppress(OSError):
            return (FOLDER / _name(what)).read_bytes()
    return None


def collect(code: bytes, *what: object) -> None:
    """Keep code for a wheel, where one is being made."""
    if into := os.environ.get(INTO):
        file = Path(into) / _name(what)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_bytes(code)
        draft.replace(file)


@cache
def runs_here() -> bool:
    """Did this package bring code along, and has this processor what it needs?"""
    features = llvm.get_host_cpu_features() if _IS_X86 and FOLDER.is_dir() else {}
    return FOLDER.is_dir() and (not _IS_X86 or all(features.get(one, False) for one in _X86_HAS))


def count() -> int:
    """How many kernels came with the package."""
    return sum(1 for _ in FOLDER.glob("*.kernel")) if FOLDER.is_dir() else 0


def _name(what: tuple[object, ...]) -> str:
    """A file's name for code made of `what` by this Python and this numba."""
    made_by = (numba.__version__, sys.implementation.cache_tag, sys.platform, platform.machine(), PROCESSOR)
    return hashlib.sha256(repr((*made_by, *what)).encode()).hexdigest()[:32] + ".kernel"
