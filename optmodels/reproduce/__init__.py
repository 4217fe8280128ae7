"""The published studies run again: our figures beside theirs, with the difference and the reason for it.

>>> from optmodels.reproduce import STUDIES
>>> sorted(STUDIES)[0]
'aminifar'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

from optmodels.errors import unknown

if TYPE_CHECKING:
    from optmodels.reproduce.report import Report
    from optmodels.reproduce.setting import Setting

__all__ = ["STUDIES", "Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """A study that can be run again; `module` has a function `run(setting)`."""

    module: str
    covers: str
    data: str
    own_data: bool = False  # whether it also takes a file of the user's own
    repeats: bool = True  # whether anything is repeated, so that a number of rounds means something


STUDIES: Mapping[str, Reproduction] = {
    "aminifar": Reproduction(
        "optmodels.reproduce.aminifar", "Aminifar et al. 2021: tables II and III, figures 2 and 3", "heart"
    ),
    "microaggregation": Reproduction(
        "optmodels.reproduce.microaggregation",
        "MDAV, local search and proven bounds beside published losses, k = 3, 5, 10",
        "census, tarragona, or --data FILE",
        own_data=True,
        repeats=False,
    ),
    "mo-obam": Reproduction(
        "optmodels.reproduce.mo_obam",
        "Wei et al. 2025: tables 5-11, B2, B3, B5-B7, C8-C11, figures 3, B1 (sepsis on a synthetic look-alike)",
        "german, adult",
    ),
    "mass": Reproduction(
        "optmodels.reproduce.mass",
        "Thammanna Gowda et al. 2026: tables 2-6, figures 3-7",
        "synthetic records of the same shape",
    ),
    "majeed-hwang": Reproduction(
        "optmodels.reproduce.majeed_hwang",
        "Majeed and Hwang 2023: tables 5-9, figures 8-10 and problem 1 on Adult (their second dataset is not public)",
        "adult",
    ),
    "liang-samavi": Reproduction(
        "optmodels.reproduce.liang_samavi",
        "Liang and Samavi 2020: their instances, their algorithms' losses beside optima",
        "person20, census_20k, ipums_1k_8attr",
        repeats=False,
    ),
}


def reproduce(name: str, setting: Setting | None = None) -> Report:
    """Run a study again, as much of it as the setting says; `quick` unless told otherwise."""
    from optmodels.reproduce.setting import Setting

    if name not in STUDIES:
        raise unknown("reproduction", name, STUDIES)
    began = perf_counter()
    asked = setting or Setting()
    report: Report = import_module(STUDIES[name].module).run(asked)
    if asked.interruption.where:
        report = replace(report, remarks=(_interrupted(asked.interruption.where, name), *report.remarks))
    return replace(report, seconds=perf_counter() - began)


def _interrupted(where: str, name: str) -> str:
    fewer = ", or fewer of them with --rounds" if STUDIES[name].repeats else ""
    return (
        f"Interrupted at {where}: tables, figures and verdicts are about what was finished until then. Nothing is kept "
        f"for another run: run the same command again for all{fewer}."
    )
