"""How a wheel is made: compiled kernels go into it, so that nobody who installs it has to wait for them.

Everything else is hatchling's. Compiling takes a few minutes, for which the packages that optmodels needs must be at
hand; OPTMODELS_KERNELS=0 makes a wheel without. Editable installations, and machines on which compiling fails, go
without as well: kernels are then compiled when they are first used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

from hatchling import build as hatchling
from hatchling.build import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_wheel",
]

_COLLECTED = "OPTMODELS_KERNELS_COLLECTED"  # where `build_wheel` leaves them for the hook
_ROOT = Path(__file__).resolve().parent
_WANTED = os.environ.get("OPTMODELS_KERNELS", "1") != "0"


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """Hatchling's requirements, and those of the package that is to compile itself."""
    own = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    return [*hatchling.get_requires_for_build_wheel(config_settings), *(own if _WANTED else ())]


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """What is said of the package, which needs no kernels."""
    with TemporaryDirectory() as folder:
        unpacked = _unpacked(Path(folder), config_settings)
        (info,) = unpacked.glob("*.dist-info")
        shutil.copytree(info, Path(metadata_directory) / info.name)
        return info.name


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Make a wheel, with kernels unless they are not wanted or cannot be compiled."""
    with TemporaryDirectory() as folder:
        if _WANTED and _compiled(Path(folder), config_settings):
            os.environ[_COLLECTED] = str(Path(folder) / "kernels")
        try:
            return hatchling.build_wheel(wheel_directory, config_settings, metadata_directory)
        finally:
            os.environ.pop(_COLLECTED, None)


def _compiled(folder: Path, config_settings: dict[str, Any] | None) -> bool:
    """Let a wheel without kernels, unpacked, compile them: it knows its solvers, as an installed package does."""
    package, kernels = _unpacked(folder, config_settings), folder / "kernels"
    command = [sys.executable, "-m", "optmodels", "warm-up", "--into", str(kernels)]
    found = os.pathsep.join([str(package), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, cwd=package, env={**os.environ, "PYTHONPATH": found}, check=False)
    if done.returncode or not kernels.is_dir() or not any(kernels.iterdir()):
        sys.stderr.write("Kernels could not be compiled: they will be when they are first used.\n")
        return False
    return True


def _unpacked(folder: Path, config_settings: dict[str, Any] | None) -> Path:
    """A wheel without kernels, unpacked."""
    package = folder / "package"
    with ZipFile(folder / hatchling.build_wheel(str(folder), config_settings)) as plain:
        plain.extractall(package)
    return package


class KernelHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts collected kernels into the wheel, which then is for this Python and this kind of machine."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, where there are any."""
        if folder := os.environ.get(_COLLECTED):
            build_data["force_include"][folder] = "optmodels/compiled"
            build_data["pure_python"], build_data["infer_tag"] = False, True
