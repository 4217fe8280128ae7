"""What the worst class protects of one sensitive attribute, and where that falls short of a promise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from optmodels.metrics import privacy, risk
from optmodels.metrics.privacy import TOLERANCE, Transport
from optmodels.partition import Histograms

if TYPE_CHECKING:
    from optmodels.conditions import Asked, TDistance
    from optmodels.table.hierarchy import Hierarchy


@dataclass(frozen=True)
class SensitiveLevels:
    """What the worst class protects of one sensitive attribute; infinite where a model cannot hold at any level.

    `recursive` has the least c of recursive (c, l)-diversity for l = 1, 2 and so on up to distinct l, which is where
    `recursive_c` is taken. `t_emd` is the earth mover's distance with the ground `t_ground`; other grounds are None
    where the attribute has no order, or no hierarchy. `skewed` and `alike` count the records that are open to skewness
    and to similarity attacks on it, at the usual factor and distance (`risk.skewness`, `risk.similarity`).
    """

    distinct_l: int
    entropy_l: float
    recursive_c: float
    recursive: tuple[float, ...]
    t_variational: float
    t_emd: float
    t_ground: Literal["equal", "ordered", "hierarchical"]
    t_equal: float
    t_ordered: float | None
    t_hierarchical: float | None
    alpha: float
    basic_beta: float
    enhanced_beta: float
    delta_disclosure: float
    skewed: int
    alike: int

    def t(self, distance: TDistance) -> float | None:
        """The largest distance of a class from the table by a ground; None where the attribute has no such ground."""
        by_ground = {
            "emd": self.t_emd,
            "equal": self.t_equal,
            "ordered": self.t_ordered,
            "hierarchical": self.t_hierarchical,
            "variational": self.t_variational,
        }
        return by_ground[distance]


def sensitive_levels(
    found: Histograms,
    values: pd.Index,
    has_order: bool,
    hierarchy: Hierarchy | None,
    *,
    shares: NDArray[np.float64] | None = None,
) -> SensitiveLevels:
    """What the worst class protects of an attribute; `shares`, the table's, are those of all classes unless given."""
    size = len(values)
    whole = privacy.shares(found, size) if shares is None else shares

    def worst(distance: Transport) -> float:
        return float(privacy.transport_distance(found, whole, distance).max(initial=0.0))

    variational, apart = worst(Transport.variational(size)), Transport.equal(size)
    grounds: dict[Literal["equal", "ordered", "hierarchical"], float] = {"equal": variational / 2}
    if has_order:
        apart = Transport.ordered(size)
        grounds["ordered"] = worst(apart)
    if hierarchy is not None:
        apart = Transport.hierarchical(hierarchy, values)
        grounds["hierarchical"] = worst(apart)
    ground = list(grounds)[-1]
    recursive = privacy.recursive_cs(found)
    return SensitiveLevels(
        distinct_l=privacy.distinct_l(found),
        entropy_l=privacy.entropy_l(found),
        recursive_c=recursive[-1],
        recursive=recursive,
        t_variational=variational,
        t_emd=grounds[ground],
        t_ground=ground,
        t_equal=grounds["equal"],
        t_ordered=grounds.get("ordered"),
        t_hierarchical=grounds.get("hierarchical"),
        alpha=privacy.alpha(found),
        basic_beta=privacy.basic_beta(found, whole),
        enhanced_beta=privacy.enhanced_beta(found, whole),
        delta_disclosure=privacy.delta_disclosure(found, whole),
        skewed=risk.skewness([found], [whole]),
        alike=risk.similarity([found], [apart]),
    )


def worse(one: SensitiveLevels, other: SensitiveLevels) -> SensitiveLevels:
    """What the worst class of two tables protects, both measured against the same distribution."""

    def most(name: str) -> float:
        return float(max(getattr(one, name), getattr(other, name)))

    def further(name: str) -> float | None:
        return None if getattr(one, name) is None else most(name)

    recursive = tuple(max(c, d) for c, d in zip(one.recursive, other.recursive, strict=False))
    return SensitiveLevels(
        distinct_l=min(one.distinct_l, other.distinct_l),
        entropy_l=min(one.entropy_l, other.entropy_l),
        recursive_c=recursive[-1],
        recursive=recursive,
        t_variational=most("t_variational"),
        t_emd=most("t_emd"),
        t_ground=one.t_ground,
        t_equal=most("t_equal"),
        t_ordered=further("t_ordered"),
        t_hierarchical=further("t_hierarchical"),
        alpha=most("alpha"),
        basic_beta=most("basic_beta"),
        enhanced_beta=most("enhanced_beta"),
        delta_disclosure=most("delta_disclosure"),
        skewed=one.skewed + other.skewed,
        alike=one.alike + other.alike,
    )


def shortfalls(name: str, levels: SensitiveLevels, asked: Asked) -> Iterator[str]:
    """Every way in which an attribute falls short of what was asked of it."""
    if asked.distinct_l is not None and levels.distinct_l < asked.distinct_l:
        yield f"distinct l of '{name}' is {levels.distinct_l}, less than {asked.distinct_l}"
    if asked.entropy_l is not None and levels.entropy_l < asked.entropy_l * (1.0 - 2 * TOLERANCE):
        yield f"entropy l of '{name}' is {levels.entropy_l:.6g}, less than {asked.entropy_l:g}"
    if asked.recursive is not None:
        c, least = asked.recursive
        reached = levels.recursive[least - 1] if least <= len(levels.recursive) else inf
        if not reached < c:
            yield f"recursive ({c:g}, {least}) of '{name}' holds only for c above {reached:.6g}"
    if asked.most_share is not None and levels.alpha > asked.most_share + 2 * TOLERANCE:
        yield f"the largest share of a value of '{name}' is {levels.alpha:.6g}, more than {asked.most_share:g}"
    if asked.beta is not None:
        beta = levels.enhanced_beta if asked.beta_kind == "enhanced" else levels.basic_beta
        if beta > asked.beta + 2 * TOLERANCE:
            yield f"beta of '{name}' is {beta:.6g} ({asked.beta_kind}), more than {asked.beta:g}"
    if asked.delta is not None and not levels.delta_disclosure < asked.delta:
        yield f"delta of '{name}' is {levels.delta_disclosure:.6g}, not less than {asked.delta:g}"
    if asked.t is not None:
        distance = levels.t(asked.t_distance)
        if distance is None:
            yield f"t of '{name}' is promised by a distance ({asked.t_distance}) that its values do not have here"
        elif distance > asked.t + 2 * TOLERANCE:
            yield f"t of '{name}' is {distance:.6g} ({asked.t_distance}), more than {asked.t:g}"
