"""What is asked of one sensitive attribute, and whether that makes sense for any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from optmodels.errors import InputError, finite, unknown, whole

TDistance = Literal["emd", "equal", "ordered", "hierarchical", "variational"]
BetaKind = Literal["basic", "enhanced"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The conditions of one attribute in every class; see `SensitiveConditions`."""

    distinct_l: int | None = None
    entropy_l: float | None = None
    recursive: tuple[float, int] | None = None
    most_share: float | None = None
    beta: float | None = None
    beta_kind: BetaKind = "basic"
    delta: float | None = None
    t: float | None = None
    t_distance: TDistance = "emd"

    def check(self, of: str) -> None:
        """Nothing if every condition makes sense; `of` says in messages whose they are."""
        if self.distinct_l is not None:
            whole(f"distinct_l{of}", self.distinct_l, 1, "it counts the values that a class has")
        if self.entropy_l is not None:
            finite(f"entropy_l{of}", self.entropy_l, "it is an effective number of values")
            if self.entropy_l < 1:
                raise InputError(
                    f"entropy_l{of} must be at least 1, not {self.entropy_l!r}: 1 is a class with one value."
                )
        if self.recursive is not None:
            _check_recursive(of, self.recursive)
        if self.most_share is not None:
            finite(f"most_share{of}", self.most_share, "it is a share of a class", positive=True)
            if self.most_share > 1:
                raise InputError(
                    f"most_share{of} must be a share of a class, above 0 and at most 1, not {self.most_share!r}."
                )
        if self.beta is not None:
            finite(f"beta{of}", self.beta, "at 1 a value may be twice as frequent in a class as in the table")
        if self.beta_kind not in get_args(BetaKind):
            raise unknown(f"beta_kind{of}", str(self.beta_kind), get_args(BetaKind))
        if self.delta is not None:
            finite(f"delta{of}", self.delta, "it bounds the logarithm of a ratio of shares", positive=True)
        if self.t_distance not in get_args(TDistance):
            raise unknown(f"t_distance{of}", str(self.t_distance), get_args(TDistance))
        if self.t is not None:
            self._check_t(of)

    def _check_t(self, of: str) -> None:
        most = 2 if self.t_distance == "variational" else 1
        number = isinstance(self.t, (int, float)) and not isinstance(self.t, bool)
        if not number or not 0 <= self.t <= most:  # type: ignore[operator]
            raise InputError(
                f"t{of} must be a distance between distributions, from 0 where they are equal to {most} where they "
                f"have nothing in common, not {self.t!r}."
            )

    def said(self, name: str) -> str:
        """One condition in words; nothing where it is not asked for."""
        value = getattr(self, name)
        if value is None:
            return ""
        if name == "recursive":
            return f"recursive ({value[0]:g}, {value[1]})"
        how = {"beta": f" ({self.beta_kind})", "t": f" ({self.t_distance})"}.get(name, "")
        return f"{_WORDS[name]} {value:g}{how}"


_WORDS = {
    "distinct_l": "distinct l >=",
    "entropy_l": "entropy l >=",
    "most_share": "largest share <=",
    "beta": "beta <=",
    "delta": "delta <",
    "t": "t <=",
}


def _check_recursive(of: str, pair: object) -> None:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise InputError(f"recursive{of} must be a pair (c, l) such as (3, 2), not {pair!r}.")
    finite(f"c of recursive{of}", pair[0], "the most frequent value is rarer than c times the rare ones", positive=True)
    whole(f"l of recursive{of}", pair[1], 1, "the rare values are the l-th most frequent one and all rarer ones")
