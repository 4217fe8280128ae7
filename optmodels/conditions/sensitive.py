"""What may be asked of the sensitive attributes in every class: once for all of them, or attribute by attribute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from optmodels.conditions.asked import BetaKind, TDistance


@dataclass(frozen=True, kw_only=True)
class SensitiveConditions:
    """Conditions on the mix of sensitive values in a class; None where one is not asked for.

    Each holds for every sensitive attribute or, given as a mapping, for those that it names. Of two classes that
    satisfy any of them the union does.

    - `distinct_l`: how many different values there are at least.
    - `entropy_l`: e to the entropy, the effective number of values, is at least this.
    - `recursive`: (c, l), the most frequent value is rarer than c times the l-th and all rarer ones together.
    - `most_share`: the largest share of one value, the alpha of (alpha, k)-anonymity.
    - `beta`: by how much, relative to its share in the table, a value's share in a class may be larger
      (beta-likeness); with `beta_kind='enhanced'` by no more than -ln of its share in the table, either.
    - `delta`: every value of the table occurs, and |ln(share in the class / share in the table)| is less than this.
    - `t`: the distance from the table's distribution is at most this. `t_distance` says which: the variational one, or
      the earth mover's with values equally far apart, in an order, or in a hierarchy; 'emd' takes the last of these
      three that the attribute has.
    """

    distinct_l: int | Mapping[str, int] | None = None
    entropy_l: float | Mapping[str, float] | None = None
    recursive: tuple[float, int] | Mapping[str, tuple[float, int]] | None = None
    most_share: float | Mapping[str, float] | None = None
    beta: float | Mapping[str, float] | None = None
    beta_kind: BetaKind | Mapping[str, BetaKind] = "basic"
    delta: float | Mapping[str, float] | None = None
    t: float | Mapping[str, float] | None = None
    t_distance: TDistance | Mapping[str, TDistance] = "emd"


# Parameters that say how a condition is meant; all others are conditions.
HOW = {"beta": "beta_kind", "t": "t_distance"}
CONDITIONS = tuple(field.name for field in fields(SensitiveConditions) if field.name not in HOW.values())
