"""Whether bounds on several attributes can be met at once, and the smallest alpha with which they can.

Groups of one attribute, or of two, can always be dealt out so that every class gets its share rounded down or up:
their incidence matrix is totally unimodular, and such matrices have equitable colourings (de Werra 1971). So
there each value alone decides. With three attributes that fails, and a small integer program decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, hstack, kron
from scipy.sparse import eye_array as eye

from formulations.aminifar.capped import Cap
from formulations.aminifar.value_bounds import Between
from formulations.aminifar.whole_records import Sizes, whole_caps
from optmodels.partition import group_rows

MOST_SURE = 2  # attributes up to which no integer program is needed
_SECONDS = 5.0
_MOST_VARIABLES = 50_000


def smallest_alpha(caps: Sequence[Cap], sizes: Sizes) -> tuple[float, bool]:
    """An alpha below which nothing works, and whether it is known to work itself."""
    m = len(sizes.least)
    counts = [cap.counts[: cap.n_chosen] for cap in caps if cap.n_chosen]
    alone = max(float((m * np.ceil(count / m) / count).max()) for count in counts)
    if len(caps) <= MOST_SURE:
        return alone, True
    # Whole caps change only where alpha times an average passes a whole number.
    steps = np.concatenate([m * np.arange(1, c + 1) / c for count in counts for c in count])
    steps = np.unique(np.concatenate([[alone], steps[steps > alone]]))
    low, high = 0, len(steps) - 1  # at m every class may hold all records of a value
    while low < high:
        middle = (low + high) // 2
        fits = fits_together(caps, sizes, [_at(cap, sizes, float(steps[middle])) for cap in caps])
        if fits is None:
            return float(steps[low]), False
        low, high = (low, middle) if fits else (middle + 1, high)
    return float(steps[low]), True


def _at(cap: Cap, sizes: Sizes, alpha: float) -> Between:
    """The bounds of an attribute if alpha were this."""
    low, high = cap.over(int(sizes.least.min()), int(sizes.most.max()), capped=False)
    chosen = slice(cap.n_chosen)
    high[chosen] = np.minimum(high[chosen], whole_caps(alpha, cap.counts / len(sizes.least))[chosen])
    return Between(low, high)


def fits_together(caps: Sequence[Cap], sizes: Sizes, bounds: Sequence[Between]) -> bool | None:
    """Whether classes of these sizes can hold all records within the bounds of each group; None: not known.

    Records with the same groups are interchangeable: the unknowns are how many of each kind a class takes.
    """
    kind = group_rows([cap.groups for cap in caps])
    first, supply = np.unique(kind, return_index=True)[1], np.bincount(kind)
    m, kinds = len(sizes.least), len(supply)
    if m * kinds > _MOST_VARIABLES:
        return None
    rows = [LinearConstraint(hstack([eye(kinds)] * m), supply, supply)]
    rows.append(LinearConstraint(kron(eye(m), np.ones((1, kinds))), sizes.least, sizes.most))
    for cap, (low, high) in zip(caps, bounds, strict=True):
        of_group = csr_array((np.ones(kinds), (cap.groups[first], np.arange(kinds))), shape=(len(low), kinds))
        rows.append(LinearConstraint(kron(eye(m), of_group), np.tile(low, m), np.tile(high, m)))
    whole = np.ones(m * kinds, np.int64)
    answer = milp(
        np.zeros(m * kinds),
        integrality=whole,
        bounds=Bounds(0, np.inf),
        constraints=rows,
        options={"time_limit": _SECONDS},
    )
    return {0: True, 2: False}.get(answer.status)
