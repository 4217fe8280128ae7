"""What a solver leaves behind so that its bound can be checked by whoever has no solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Numbers that prove a bound, or most of it; `optmodels.certificate` makes a document of them.

    `kind` says what they are: `classes`, a dual for each record, in the units of class prices; `path`, the heights
    before and after each record along the one attribute that varies; `centres`, what each centre charges.
    """

    kind: Literal["classes", "path", "centres"]
    numbers: NDArray[np.float64]
