"""Every error the package raises on purpose: what is wrong, where, and the remedy, in one paragraph."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from math import isfinite
from numbers import Integral, Real


class OptmodelsError(Exception):
    """The root of all errors raised on purpose; `exit_code` is what the command line returns for it."""

    exit_code = 1


class InputError(OptmodelsError, ValueError):
    """The user's data, options or parameters are wrong."""


class RefusedError(OptmodelsError):
    """A solver cannot work on this problem; the message says why and which solvers can."""


class MissingDependencyError(OptmodelsError, ImportError):
    """An optional dependency is absent; the message names the extra to install."""


class BrokenPromiseError(OptmodelsError):
    """A released table does not satisfy what was promised for it, so it may not be written."""

    exit_code = 4


class InfeasibleError(OptmodelsError):
    """No partition of this table can satisfy the conditions asked for."""

    exit_code = 2


class NoSolutionError(OptmodelsError):
    """The solver stopped before it had any solution."""

    exit_code = 3


def nearest(name: str, choices: Iterable[str]) -> str:
    """A hint at the closest known name, ready to be appended to a message, or nothing.

    >>> nearest("colums", ["columns", "milp"])
    " Did you mean 'columns'?"
    >>> nearest("zzz", ["columns", "milp"])
    ''
    """
    match = get_close_matches(str(name), [str(choice) for choice in choices], n=1)
    return f" Did you mean '{match[0]}'?" if match else ""


def unknown(what: str, name: str, choices: Iterable[str]) -> InputError:
    """The error for a name that does not exist, with the nearest one that does and the full list.

    >>> str(unknown("solver", "colums", ["columns", "milp"]))
    "There is no solver 'colums'. Did you mean 'columns'? Known: columns, milp."
    """
    known = sorted(str(choice) for choice in choices)
    return InputError(f"There is no {what} '{name}'.{nearest(name, known)} Known: {', '.join(known)}.")


_TOO_LARGE = 2**63  # for an integer of numpy


def whole(name: str, value: object, least: int, why: str = "") -> None:
    """Nothing if the value is a whole number of at least `least`; `why` ends the message otherwise.

    >>> whole("levels", 2.5, 2, "a front has two ends")
    Traceback (most recent call last):
    optmodels.errors.InputError: levels must be a whole number of at least 2, not 2.5: a front has two ends.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}{_because(why)}.")
    if int(value) >= _TOO_LARGE:
        raise InputError(f"{name} must be less than 2^63, not {value!r}{_because(why)}.")


def finite(name: str, value: object, why: str = "", *, positive: bool = False) -> None:
    """Nothing if the value is a finite number, not negative, and where asked for not 0; `why` ends the message.

    >>> finite("lam", -1.0, "it is what a bit of entropy is worth")
    Traceback (most recent call last):
    optmodels.errors.InputError: lam must not be negative, not -1.0: it is what a bit of entropy is worth.
    >>> finite("alpha", float("inf"), positive=True)
    Traceback (most recent call last):
    optmodels.errors.InputError: alpha must be a finite number, not inf.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
        raise InputError(f"{name} must be a finite number, not {value!r}{_because(why)}.")
    if value < 0 or (positive and value == 0):
        rule = "be positive" if positive else "not be negative"
        raise InputError(f"{name} must {rule}, not {value!r}{_because(why)}.")


def is_finite(value: Real | float) -> bool:
    """Whether a number is one that a float can be; some whole numbers are too large for that.

    >>> is_finite(10**400), is_finite(float("nan")), is_finite(1e300)
    (False, False, True)
    """
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _because(why: str) -> str:
    return f": {why}" if why else ""
