"""A certificate checked: the partition, its value, and that no partition has a lower one than the bound says.

How a bound is proven depends on the kind of certificate. What rounding could decide is decided in fractions; see
docs/verification.md for the theorems that each kind rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from optmodels.errors import InputError
from optmodels.verifier._verifier import Verdict
from optmodels.verifier.attributes import Attribute
from optmodels.verifier.cells import Cells
from optmodels.verifier.check import Check
from optmodels.verifier.class_lists import TooManyError, below, cheaper_cover
from optmodels.verifier.class_prices import ClassPrices, Floats, Ints
from optmodels.verifier.promise_file import file_sha256, load_sealed

FORMAT = "optmodels certificate 1"
_UNIT = Fraction(1, 2**52)  # by which one operation on floats may be wrong, of its result
_HAIR = 1e-11


def load_certificate(path: str | Path) -> dict[str, Any]:
    """The certificate in a file.

    Raises:
        InputError: there is no such file, or it holds no certificate.
        BrokenPromiseError: it was changed since it was written.
    """
    return load_sealed(path, "certificate", FORMAT)


def verify_certificate(said: Mapping[str, Any], data: str | Path | None = None) -> Verdict:
    """Check a certificate; `data` is the file that it should be about.

    Raises:
        InputError: a file cannot be read, or the certificate is none.
    """
    try:
        return Verdict(tuple(_checks(said, data)))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ArithmeticError) as problem:
        raise InputError(
            f"The certificate is not as 'optmodels' writes it ({type(problem).__name__}: {problem})."
        ) from problem


def _checks(said: Mapping[str, Any], data: str | Path | None) -> Iterator[Check]:
    if data is not None:
        found = file_sha256(data)
        yield Check("data", f"SHA-256 {said['data']['sha256']}", f"SHA-256 {found}", found == said["data"]["sha256"])
    if said["kind"] not in ("partition", *_WAYS):
        raise ValueError(f"it is of a kind called {said['kind']!r}")
    labels = np.array(said["labels"], np.int64)
    if len(labels) != said["data"]["records"] or labels.min(initial=0) < -1 or labels.max(initial=-1) < 0:
        yield Check("partition", f"{said['data']['records']:,} records in classes", "otherwise", False)
        return
    checks = list(_feasible(said["conditions"], labels))
    if "points" in said["price"]:
        checks += _sized(said, labels)
    value, hair = _value(said, labels)
    near = abs(Fraction(said["value"]) - value) <= hair
    checks.append(Check(f"value of '{said['target']}'", repr(said["value"]), repr(float(value)), near))
    bound = said["bound"]
    if bound is not None:
        checks.append(Check("bound", "no more than the value", repr(bound), Fraction(bound) <= value + hair))
    yield from checks
    if not all(one.kept for one in checks):
        yield Check("bound", repr(bound), "what is said before it is not so", None)
    elif bound is None:
        yield Check("bound", "none", said["rests_on"], None)
    else:
        kept, why = proven(said, Fraction(bound))
        yield Check("bound", f"no partition below {bound!r}", why, kept)


def _feasible(asked: Mapping[str, Any], labels: Ints) -> Iterator[Check]:
    """Every condition on the classes, and on those in none."""
    inside = labels >= 0
    classes, own = np.unique(labels[inside], return_inverse=True)
    heads = np.bincount(own)
    if asked["people"] is not None:
        pairs = np.unique(np.stack([own, np.array(asked["people"], np.int64)[inside]]), axis=1)
        heads = np.bincount(pairs[0])
    what = "records" if asked["people"] is None else "people"
    yield Check("k", f"at least {asked['k']} {what}", f"{heads.min()}", bool(heads.min() >= asked["k"]))
    out, most = int((~inside).sum()), asked["left_out"]["most"]
    yield Check("left out", f"at most {most}", f"{out}", out <= most)
    if asked["n_classes"] is not None:
        yield Check("classes", f"{asked['n_classes']}", f"{len(classes)}", len(classes) == asked["n_classes"])
    for name, attribute, cells in _attributes(asked):
        yield from attribute.checks(name, [attribute.mix(own, cells.take(np.flatnonzero(inside)))], None)


def _sized(said: Mapping[str, Any], labels: Ints) -> Iterator[Check]:
    """Every centre has a class of its own, of a size that it may have."""
    centres, least, most = (np.array(said[name], np.int64) for name in ("centre_of", "least", "most"))
    sizes = np.bincount(labels[labels >= 0], minlength=len(centres))
    own = np.array_equal(np.sort(centres), np.arange(len(least))) and len(sizes) == len(centres)
    kept = own and bool(((least[centres] <= sizes) & (sizes <= most[centres])).all())
    yield Check("sizes", "as every centre's class may have", "so" if kept else "otherwise", kept)


_Sensitive = list[tuple[str, Attribute, Cells]]


def _attributes(asked: Mapping[str, Any]) -> Iterator[tuple[str, Attribute, Cells]]:
    for name, own in asked["sensitive"].items():
        codes, places = np.unique(np.array(asked["codes"][name], np.int64), return_inverse=True)
        cells = Cells(places, [str(code) for code in codes.tolist()])
        yield name, Attribute.of(own, cells.counts(), None, "."), cells


def _value(said: Mapping[str, Any], labels: Ints) -> tuple[Fraction, Fraction]:
    """What the partition costs, and how far from it floats may be that say so."""
    n, out = len(labels), said["conditions"]["left_out"]
    paid = int((labels < 0).sum()) * Fraction(out["price"])
    if "points" in said["price"]:
        costs, hair = _arc_costs(said["price"], n)
        inside = np.flatnonzero(labels >= 0)
        return paid + Fraction(fsum(costs[inside, np.array(said["centre_of"], np.int64)[labels[inside]]])), hair
    prices = ClassPrices.of(said["price"], n)
    rows = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels + 1))[:-1])[1:]
    total = paid + sum((prices.exactly(part.tolist()) for part in rows if len(part)), Fraction(0)) / prices.scale
    return total, total * _UNIT * (n + 8) * (prices.numeric.shape[1] + prices.codes.shape[1] + 4)


def proven(said: Mapping[str, Any], bound: Fraction) -> tuple[bool, str]:
    """Whether no partition has a value below the bound, by what the certificate says; and how that is known."""
    try:
        return _WAYS[said["kind"]](said, bound)
    except TooManyError:
        return False, "there are more classes to be looked at than this verifier does look at"


def _by_classes(said: Mapping[str, Any], bound: Fraction) -> tuple[bool, str]:
    """Duals of records: a partition costs the sum of them and what its classes cost beyond theirs."""
    asked, duals = said["conditions"], [Fraction(dual) for dual in said["duals"]]
    n, k, prices = len(duals), asked["k"], ClassPrices.of(said["price"], len(duals))
    if n != said["data"]["records"]:
        return False, f"it has {n} duals"
    most, price = asked["left_out"]["most"], Fraction(asked["left_out"]["price"]) * prices.scale
    gains = sorted((max(dual - price, Fraction(0)) for dual in duals), reverse=True)[:most]
    missing = bound * prices.scale - sum(duals) + sum(gains)
    simple = not asked["sensitive"] and asked["people"] is None and asked["n_classes"] is None
    if missing <= 0:
        # The k-subsets of a class of m cost k/m of its price on average, at most: classes of k are enough.
        floor = missing * k / n
        if not (found := below(prices, duals, k, floor)):
            return True, f"no class of {k} records costs less than its duals, but for {float(-floor):.3g}"
        if simple:
            return False, f"a class costs {float(-min(found.values())):.6g} less than its duals"
    # What classes cost beyond their duals must make up, in any partition, for what the duals lack.
    sizes = range(k, (min(2 * k - 1, n) if simple else n) + 1)
    missing = bound * prices.scale - sum(duals)
    alone = {i: price - dual for i, dual in enumerate(duals)} if most else {}
    attributes, worst = list(_attributes(asked)), min([Fraction(0), *alone.values()])
    for _ in range(2):  # the second time with room for what classes below their duals leave over
        ceiling = missing - worst * (n if most else n // k)
        found = {rows: cost for size in sizes for rows, cost in below(prices, duals, size, ceiling).items()}
        found = {rows: cost for rows, cost in found.items() if _meets(asked, attributes, rows)}
        if (worst := min([worst, *found.values()])) == 0:
            break
    cheaper = cheaper_cover(found, n, missing, k, alone, most, asked["n_classes"])
    if cheaper is not None:
        return False, f"a partition of {len(cheaper)} classes is below it"
    return True, f"{len(found)} classes can be in a partition below it, and no partition is made of them"


def duals_bound(said: Mapping[str, Any]) -> Fraction:
    """What no partition costs less than by the duals of its records alone."""
    asked, duals = said["conditions"], [Fraction(dual) for dual in said["duals"]]
    prices, most = ClassPrices.of(said["price"], len(duals)), asked["left_out"]["most"]
    price = Fraction(asked["left_out"]["price"]) * prices.scale
    gains = sorted((max(dual - price, Fraction(0)) for dual in duals), reverse=True)[:most]
    worst = min(below(prices, duals, asked["k"], Fraction(0)).values(), default=Fraction(0))
    return (sum(duals, Fraction(0)) - sum(gains) + worst * Fraction(len(duals), int(asked["k"]))) / prices.scale


def _meets(asked: Mapping[str, Any], attributes: _Sensitive, rows: tuple[int, ...]) -> bool:
    """Whether a class meets all conditions."""
    one, nothing = np.array(rows), np.zeros(len(rows), np.int64)
    if asked["people"] is not None and len(np.unique(np.array(asked["people"])[one])) < asked["k"]:
        return False
    checks = (of.checks(name, [of.mix(nothing, cells.take(one))], None) for name, of, cells in attributes)
    return all(check.kept for some in checks for check in some)


def _by_path(said: Mapping[str, Any], bound: Fraction) -> tuple[bool, str]:
    """One attribute varies, and classes are neighbours along it: heights, as far apart as classes cost at most."""
    reached = path_bound(said)
    return reached >= bound, f"neighbours along the one attribute cost at least {float(reached)!r}"


def path_bound(said: Mapping[str, Any]) -> Fraction:
    """What no partition into neighbours costs less than, by their heights."""
    asked, heights = said["conditions"], np.array(said["heights"], np.float64)
    n, k = said["data"]["records"], asked["k"]
    prices = ClassPrices.of(said["price"], n)
    varying = [column for column in prices.numeric.T if np.ptp(column) > 0]
    named = [column for column, weight in zip(prices.codes.T, prices.weights, strict=True) if weight and np.ptp(column)]
    if len(varying) > 1 or named or prices.name != "spread" or asked["left_out"]["most"] or asked["n_classes"]:
        raise ValueError("heights are for squares of one attribute that varies, and for all records")
    if len(heights) != n + 1 or not np.isfinite(heights).all():
        raise ValueError(f"it has {len(heights)} heights")
    order = np.argsort(varying[0], kind="stable") if varying else np.arange(n)
    worst = Fraction(0)
    for size in range(k, min(2 * k - 1, n) + 1):
        rows = np.lib.stride_tricks.sliding_window_view(order, size)
        steps = heights[size:] - heights[:-size]
        near = np.flatnonzero(prices.roughly(rows) - steps < _HAIR * (np.abs(heights[size:]) + np.abs(heights[:-size])))
        for at in near.tolist():
            risen = Fraction(heights[at + size]) - Fraction(heights[at])
            worst = min(worst, prices.exactly(rows[at].tolist()) - risen)
    return (Fraction(heights[-1]) - Fraction(heights[0]) + worst * Fraction(int(n), int(k))) / prices.scale


def _arc_costs(said: Mapping[str, Any], n: int) -> tuple[Floats, Fraction]:
    """(records, centres) what records pay at centres, and how far all of that together can be from what it says."""
    points, centres = np.array(said["points"], np.float64).reshape(n, -1), np.array(said["centres"], np.float64)
    if points.shape[1] != centres.shape[-1] or not (np.isfinite(points).all() and np.isfinite(centres).all()):
        raise ValueError("its records and centres lie in different places")
    costs = np.zeros((n, len(centres)))
    for axis in range(points.shape[1]):
        step = np.abs(points[:, axis, None] - centres[:, axis])
        costs += step if said["metric"] == "manhattan" else step * step
    if said["metric"] == "euclidean":
        costs = np.sqrt(costs)
    elif said["metric"] not in ("manhattan", "sqeuclidean"):
        raise ValueError(f"it has a metric called {said['metric']!r}")
    return costs, Fraction(fsum(costs.max(axis=1))) * _UNIT * (2 * points.shape[1] + 8)


def _by_centres(said: Mapping[str, Any], bound: Fraction) -> tuple[bool, str]:
    """Prices of centres: every record pays for its cheapest one, and a centre pays back for as few as it can have."""
    reached = centres_bound(said)
    return reached >= bound, f"records at their cheapest centres, with these prices, cost at least {float(reached)!r}"


def centres_bound(said: Mapping[str, Any]) -> Fraction:
    """What no assignment costs less than, by the prices of centres."""
    n, out, tolls = said["data"]["records"], said["conditions"]["left_out"], np.array(said["tolls"], np.float64)
    costs, hair = _arc_costs(said["price"], n)
    sizes = [(Fraction(int(low)), Fraction(int(high))) for low, high in zip(said["least"], said["most"], strict=True)]
    if out["most"]:  # those left out go to a centre of their own
        costs = np.column_stack([costs, np.full(n, float(out["price"]))])
        sizes.append((Fraction(0), Fraction(int(out["most"]))))
    if len(tolls) != costs.shape[1] or len(sizes) != len(tolls) or not np.isfinite(tolls).all():
        raise ValueError("it has prices of other centres than it has")
    with_tolls = costs + tolls
    hair += Fraction(fsum(np.abs(with_tolls).max(axis=1))) * _UNIT * 2
    back = sum((Fraction(t) * (high if t > 0 else low) for t, (low, high) in zip(tolls.tolist(), sizes, strict=True)))
    return Fraction(fsum(with_tolls.min(axis=1))) - back - hair


_WAYS = {"classes": _by_classes, "path": _by_path, "centres": _by_centres}
