"""That what a problem says of itself is true: its structures against its judge, on every partition of a few records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from optmodels.conditions import broken_classes
from optmodels.partition import Labels, canonical, class_sizes, members
from optmodels.problem import Evaluation, Problem
from optmodels.structures import (
    Assignment,
    Centroids,
    ClassCount,
    Construction,
    EntropyLevels,
    Levels,
    Parts,
    PartValues,
    Priced,
    Score,
    Structure,
)
from optmodels.testing.answers import SAME
from optmodels.testing.partitions import brute_force, partitions

Judged = Sequence[tuple[Labels, Evaluation]]  # partitions and what the judge says of them

_EVERY = 7  # records, up to which every partition is looked at
_SOME = 150  # partitions of more
_CANDIDATES = 3  # of a construction


def check_structures(problem: Problem) -> None:
    """Every structure of a problem is what the judge says: on every partition of up to seven records, or on some."""
    judged = [(labels, problem.evaluate(labels)) for labels in _looked_at(problem)]
    kinds = [type(found) for found in problem.structures()]
    assert len(set(kinds)) == len(kinds), "a structure is stated twice"
    for found in problem.structures():
        _CHECKS.get(type(found), _nothing)(problem, found, judged)


def _looked_at(problem: Problem) -> Iterator[Labels]:
    if problem.n <= _EVERY:
        yield from partitions(problem.n)
        return
    draw = np.random.default_rng(problem.n)
    for _ in range(_SOME):
        count = int(draw.integers(1, problem.n // problem.conditions.k + 1))
        labels = np.arange(problem.n) % count if draw.random() < 0.7 else draw.integers(0, count, problem.n)
        yield canonical(draw.permutation(labels))


def _nothing(problem: Problem, found: Structure, judged: Judged) -> None:
    """A kind of somebody else's is not known here."""


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=SAME)


def _meets(found: Priced | Centroids, labels: Labels) -> bool:
    """Whether every class meets the test, in the number prescribed."""
    count = int(labels.max()) + 1
    return not broken_classes(found.test, *members(labels)).any() and found.n_classes in (None, count)


def _priced(problem: Problem, found: Priced, judged: Judged) -> None:
    name = problem.target.name
    assert problem.target.sense == "min", f"Priced: a price is to be made small, and '{name}' is to be made large"
    assert found.n == problem.n, f"Priced: the price is of {found.n} records and the problem has {problem.n}"
    for labels, said in judged:
        total = found.price.total(labels) / found.scale
        assert _same(total, said.values[name]), (
            f"price and judge disagree: prices add up to {total!r} and the judge says {name} {said.values[name]!r} "
            f"of {labels.tolist()}"
        )
        assert _meets(found, labels) == said.feasible, (
            f"Priced: test and judge disagree whether {labels.tolist()} is feasible: {dict(said.violations)}"
        )
    if found.largest is not None and problem.n <= _EVERY:
        feasible = [(said.values[name], int(class_sizes(labels).max())) for labels, said in judged if said.feasible]
        if feasible:
            within = min((value for value, size in feasible if size <= found.largest), default=math.inf)
            assert _same(within, min(feasible)[0]), f"Priced: no optimal partition is within largest={found.largest}"


def _centroids(problem: Problem, found: Centroids, judged: Judged) -> None:
    assert found.price.n == problem.n, f"Centroids: places of {found.price.n} records, and the problem has {problem.n}"
    assert found.price.name == "spread", "Centroids: the price is no spread"
    # where records are assigned to centres, what is counted is what that costs, and caps are part of it
    assigned = problem.structure(Assignment) is not None
    scales = {} if assigned else found.scales
    for labels, said in judged:
        for name, scale in scales.items():
            total = found.price.total(labels) / scale
            assert _same(total, said.values[name]), f"Centroids: '{name}' is {said.values[name]!r}, not {total!r}"
        if said.feasible:
            assert _meets(found, labels), f"Centroids: the test forbids {labels.tolist()}, which the judge allows"
        elif found.sufficient and not assigned:
            assert not _meets(found, labels), (
                f"Centroids: sufficient, and the judge forbids {labels.tolist()} for {dict(said.violations)}"
            )


def _class_count(problem: Problem, found: ClassCount, judged: Judged) -> None:
    for labels, said in judged:
        assert not said.feasible or int(labels.max()) + 1 == found.n, (
            f"ClassCount: {found.n} classes are prescribed, and the judge allows {labels.tolist()}"
        )


def _assignment(problem: Problem, found: Assignment, judged: Judged) -> None:
    least, most = np.sort(found.least), np.sort(found.most)
    for labels, said in judged:
        if found.is_target:
            distance, value = found.distance(labels), said.values[problem.target.name]
            assert _same(distance, value), f"Assignment: the distance is {distance!r} and the judge says {value!r}"
        if not said.feasible:
            continue
        sizes = np.sort(class_sizes(labels))
        assert len(sizes) == len(least), f"Assignment: {len(least)} centres, and {len(sizes)} classes are allowed"
        assert (sizes >= least).all(), f"Assignment: the judge allows classes below their bounds: {sizes.tolist()}"
        assert (sizes <= most).all(), f"Assignment: the judge allows classes above their bounds: {sizes.tolist()}"
        for j, caps in enumerate(found.caps):
            for group in range(caps.shape[1]):
                counts = np.sort(np.bincount(labels, found.groups[:, j] == group, minlength=len(sizes)))
                hard = np.where(found.slopes[j][:, group] == 0, caps[:, group], problem.n)
                assert (counts <= np.sort(hard)).all(), "Assignment: the judge allows more of a group than its cap"


def _levels(problem: Problem, found: Levels, judged: Judged) -> None:
    assert found.n == problem.n, f"Levels: leaves of {found.n} records, and the problem has {problem.n}"
    for nodes, costs in zip(found.nodes, found.costs(), strict=True):
        assert (np.diff(costs) >= -SAME).all(), "Levels: a higher level costs less"
        for lower, higher in pairwise(nodes.T):
            pairs = set(zip(lower.tolist(), higher.tolist(), strict=True))
            assert len(pairs) == len(set(lower.tolist())), "Levels: what one level joins the next one takes apart"


def _score(problem: Problem, found: Score, judged: Judged) -> None:
    losses, entropies = set(), set()
    parts = problem.unscored()
    names = [objective.name for objective in parts.objectives[:2]]
    for labels, said in judged:
        loss, entropy = (parts.values(labels)[name] for name in names)
        assert _same(found.of(loss, entropy), said.values[problem.target.name]), "Score: it is not made of its parts"
        losses.add(loss)
        entropies.add(entropy)
    some_losses, some_entropies = sorted(losses)[::20], sorted(entropies)[::20]
    for entropy in some_entropies:
        scores = [found.of(loss, entropy) for loss in some_losses]
        assert all(a <= b + SAME for a, b in pairwise(scores)), "Score: it falls with the loss"
    for loss in some_losses:
        scores = [found.of(loss, entropy) for entropy in some_entropies]
        assert all(a >= b - SAME for a, b in pairwise(scores)), "Score: it rises with the entropy"


def _entropy_levels(problem: Problem, found: EntropyLevels, judged: Judged) -> None:
    least = [found.least_of(labels) for labels, _ in judged]
    for bits in least:
        assert (bits <= found.most + SAME).all(), f"EntropyLevels: a partition has {bits} bits, more than {found.most}"
    asked = np.median([bits for bits, (_, said) in zip(least, judged, strict=True) if said.feasible] or least, axis=0)
    level = problem.with_entropy(asked.tolist())
    for bits, (labels, said) in zip(least, judged, strict=True):
        if (np.abs(bits - asked) < SAME).any():
            continue  # whether equal is enough is a matter of rounding
        expected = said.feasible and bool((bits >= asked).all())
        assert level.evaluate(labels).feasible == expected, (
            f"EntropyLevels: at {asked.tolist()} bits the judge of the level has another opinion of {labels.tolist()}"
        )


def _construction(problem: Problem, found: Construction, judged: Judged) -> None:
    for candidate in islice(found.candidates(None, lambda: False), _CANDIDATES):
        problem.check(candidate.labels)
        assert candidate.share == 1.0, "Construction: a candidate is cut short though nobody halted it"


def _parts(problem: Problem, found: Parts, judged: Judged) -> None:
    """Two halves, each solved by brute force, together are a partition of the whole."""
    half = problem.n // 2
    if half + 1 > _EVERY:
        return  # too many for brute force
    halves = np.arange(half), np.arange(half, problem.n)
    prescribed, assignment = problem.structure(ClassCount), problem.structure(Assignment)
    count = len(assignment.least) if assignment is not None else None if prescribed is None else prescribed.n
    shares: tuple[Any, Any] = (None, None)
    if count is not None:
        shares = np.arange(count // 2), np.arange(count // 2, count)
        if not count // 2:
            return
    posed = []
    for rows, classes in zip(halves, shares, strict=True):
        if assignment is not None and classes is not None:
            room = assignment.least[classes].sum(), assignment.most[classes].sum()
            if not room[0] <= len(rows) <= room[1]:
                return  # such a cut is none
        if problem.conditions.k > len(rows):
            return
        part = problem.restricted(rows, classes)
        assert part.n == len(rows), f"Parts: a part of {len(rows)} records has {part.n}"
        posed.append((part, brute_force(part)))
    labels, start, values = np.empty(problem.n, np.int64), 0, []
    for rows, (_, best) in zip(halves, posed, strict=True):
        if best is None:
            return
        labels[rows] = best[0] + start
        start = int(labels[rows].max()) + 1
        values.append(PartValues(best[1].values, len(rows), int(best[0].max()) + 1))
    whole = problem.evaluate(labels)
    centroids = problem.structure(Centroids)
    if centroids is None or centroids.sufficient:
        assert whole.feasible, f"Parts: what parts allow the whole forbids: {dict(whole.violations)}"
    if found.stand_in is None:
        name = problem.target.name
        total, value = sum(part.values[name] for part in values), whole.values[name]
        if found.pooled is None:
            assert _same(total, value), f"Parts: parts add up to {total!r}, and the whole is {value!r}"
    if found.pooled is not None:
        for name, value in found.pooled(values).items():
            assert _same(value, whole.values[name]), f"Parts: pooled to {name} {value!r}, not {whole.values[name]!r}"


_CHECKS: dict[type[Structure], Callable[[Problem, Any, Judged], None]] = {
    Priced: _priced,
    Centroids: _centroids,
    ClassCount: _class_count,
    Assignment: _assignment,
    Levels: _levels,
    Score: _score,
    EntropyLevels: _entropy_levels,
    Construction: _construction,
    Parts: _parts,
}
