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
    reads: tuple[str, ...] = ()  # data sets that its figures follow from
    little: tuple[str, ...] | None = None  # those in miniature, where they are fewer

    def data_read(self, scale: str) -> tuple[str, ...]:
        """The data sets that a study of this scale reads."""
        return self.little if scale == "miniature" and self.little is not None else self.reads


STUDIES: Mapping[str, Reproduction] = {
    "aminifar": Reproduction(
        "optmodels.reproduce.aminifar",
        "Aminifar et al. 2021: tables II and III, figures 2 and 3",
        "heart",
        reads=("heart",),
    ),
    "microaggregation": Reproduction(
        "optmodels.reproduce.microaggregation",
        "MDAV, local search and proven bounds beside published losses, k = 3, 5, 10",
        "census, tarragona, or --data FILE",
        own_data=True,
        repeats=False,
        reads=("census", "tarragona"),
    ),
    "mo-obam": Reproduction(
        "optmodels.reproduce.mo_obam",
        "Wei et al. 2025: tables 5-11, B2, B3, B5-B7, C8-C11, figures 3, B1 (sepsis on a synthetic look-alike)",
        "german, adult",
        reads=("german", "adult"),
        little=("german",),
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
        reads=("adult",),
    ),
    "liang-samavi": Reproduction(
        "optmodels.reproduce.liang_samavi",
        "Liang and Samavi 2020: their instances, their algorithms' losses beside optima",
        "person20, census_20k, ipums_1k_8attr",
        repeats=False,
        reads=("person20", "census_20k", "ipums_1k_8attr"),
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
    told: list[str] = [] if asked.kept is None else [*asked.kept.told()]
    if asked.interruption.where:
        told.append(_interrupted(asked, name))
    return replace(
        report,
        remarks=(*told, *report.remarks),
        seconds=perf_counter() - began,
        spent=tuple(asked.spent.values()),
        complete=not asked.interruption.where,
        failed=bool(asked.interruption.failure),
    )


def _interrupted(setting: Setting, name: str) -> str:
    stop = setting.interruption
    fewer = ", or fewer of them with --rounds" if STUDIES[name].repeats else ""
    again = (
        f"Nothing is kept for another run: run the same command again for all{fewer}."
        if setting.kept is None
        else "Finished pieces are kept: run the same command again, and it goes on from here."
    )
    where = f"Failed at {stop.where} ({stop.failure})" if stop.failure else f"Interrupted at {stop.where}"
    return f"{where}: tables, figures and verdicts are about what was finished until then. {again}"
