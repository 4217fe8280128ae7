"""Utility of partitions, of released frames, and of methods that anonymise the training rows of every split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from optmodels.errors import InputError, nearest, unknown
from optmodels.metrics.utility.features import FeatureSpace
from optmodels.metrics.utility.overlap import overlap_note
from optmodels.metrics.utility.protocol import Protocol, Split
from optmodels.metrics.utility.result import Asked, Utility
from optmodels.metrics.utility.scoring import Rows
from optmodels.metrics.utility.targets import Target, codes_of, encoded_target, target_of, with_target
from optmodels.metrics.utility.trials import ORIGINAL, OnProgress, Trial, Trials, Version, learn_as, prepared_trial, run
from optmodels.recoding import Method, recode
from optmodels.table.hierarchy import Hierarchy
from optmodels.table.role_types import Kind

if TYPE_CHECKING:
    from optmodels.table import Table

Anonymise = Callable[["Table", int], pd.DataFrame]
Releases = ArrayLike | pd.DataFrame | Mapping[str, ArrayLike | pd.DataFrame]

RELEASE = "release"


def utility(
    table: Table,
    releases: Releases,
    protocol: Protocol | None = None,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    method: Method = "centroid",
    on_progress: OnProgress | None = None,
    trials: Trials | None = None,
) -> Utility:
    """What classifiers learn from releases of a table whose rows are still linked to the table's.

    A release is a partition (class labels, recoded by `method`) or a frame with the table's rows in the table's
    order; several go into a mapping by name and share one baseline. In every split the models learn from some
    people's released rows and are asked about other people, whose rows, original or released as the protocol says,
    no model has seen. The released values of a class do come from all its people, asked about or not:
    `utility_of_method` anonymises inside each split instead. `trials(trial, count)` gives what trial(0), trial(1), ...
    find, in place of `protocol.jobs` processes: to keep them, or to end before all of them.

    >>> import optmodels as om
    >>> table = om.dataset("german")
    >>> age = table.frame["age"].to_numpy()
    >>> found = utility(table, age // 10, Protocol(classifiers=["lr"], metrics=["accuracy"], splits=4, jobs=1))
    >>> found.summary[["version", "classifier", "metric"]].to_dict("list")
    {'version': ['original', 'release'], 'classifier': ['lr', 'lr'], 'metric': ['accuracy', 'accuracy']}
    >>> bool(90 < found.summary["retention"].iloc[1] < 110)
    True
    """
    how = protocol or Protocol()
    name = target_of(table, target)
    frame = table.frame
    goal, codes = encoded_target(frame, name, how)
    space = _space(table, name, features, how)
    original = Rows(space.encode(frame), codes)
    splits = list(how.rows(codes, goal.levels))
    versions = [_linked(ORIGINAL, original, original, splits)]
    for title, released in _named(releases).items():
        rows = released if isinstance(released, pd.DataFrame) else recode(table, released, method)
        if len(rows) != table.n:
            raise InputError(
                f"The release '{title}' has {len(rows)} rows and the table {table.n}: a release that is linked to its "
                "table has a row for each of its rows. For others use utility_of_frames."
            )
        known = Rows(space.encode(rows), codes)
        versions.append(_linked(title, known, known if how.tested_on == "release" else original, splits))
    trial = partial(prepared_trial, versions=versions, protocol=how, target=goal)
    asked: Asked = "released" if how.tested_on == "release" else "original"
    return Utility(*run(trial, how, space, on_progress, trials), how, goal, asked, paired=True)


def utility_of_method(
    table: Table,
    methods: Anonymise | Mapping[str, Anonymise],
    protocol: Protocol | None = None,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    on_progress: OnProgress | None = None,
) -> Utility:
    """What classifiers learn from what a method releases of the rows they may see, asked about rows it never saw.

    The strictest protocol, and Aminifar et al.'s: in every split `method(part, seed)` gets the table of the rows to
    learn from and returns their release, target included, in any order.

    >>> import optmodels as om
    >>> from optmodels.recoding import recode
    >>> def by_decade(part, seed):
    ...     return recode(part, part.frame["age"].to_numpy() // 10, "interval")
    >>> found = utility_of_method(om.dataset("german"), by_decade, Protocol(["nb"], ["accuracy"], splits=2, jobs=1))
    >>> found.versions
    ('release',)
    """
    how = protocol or Protocol()
    name = target_of(table, target)
    goal, codes = encoded_target(table.frame, name, how)
    space = _space(table, name, features, how)
    named = methods if isinstance(methods, Mapping) else {RELEASE: methods}
    _check_names(named)
    trial = partial(
        _anonymised_trial,
        table=table,
        methods=named,
        splits=list(how.rows(codes, goal.levels)),
        rows=Rows(space.encode(table.frame), codes),
        space=space,
        protocol=how,
        target=goal,
    )
    return Utility(*run(trial, how, space, on_progress), how, goal, "original", paired=True)


def utility_of_frames(
    original: pd.DataFrame,
    releases: pd.DataFrame | Mapping[str, pd.DataFrame],
    protocol: Protocol | None = None,
    *,
    target: str,
    held_out: pd.DataFrame | None = None,
    linked: bool = False,
    features: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    orders: Mapping[str, Sequence[object]] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    on_progress: OnProgress | None = None,
) -> Utility:
    """What classifiers learn from released frames, beside what they learn from the original.

    Whose row is whose is not known of a release, so who is asked about depends on what there is:

    - `held_out`: rows that are neither in `original` nor in a release; all models are asked about these. Rows that
      are in the original after all are noted, as far as they are more than chance makes equal; if all are, that is
      an error.
    - `linked`: the rows of each release are in the order of the original; splits are by person.
    - neither: models of the release are asked about other rows of the release (`tested_on="release"`, nobody is on
      both sides) or about rows drawn from the original, many of which were learned from in released form, so that
      models which learn by heart look better than they are; a note says so.

    >>> original = pd.DataFrame({"age": range(40), "ill": [0, 1] * 20})
    >>> release = original.assign(age=original["age"] // 4 * 4)
    >>> how = Protocol(["nb"], ["accuracy"], tested_on="release", splits=3, jobs=1)
    >>> utility_of_frames(original, release, how, target="ill").notes
    ()
    """
    how = protocol or Protocol()
    named = _frames(releases)
    _check_columns(original, {**named, **({"held-out rows": held_out} if held_out is not None else {})}, target)
    chosen = _common(original, named, target) if features is None else list(features)
    for feature in chosen:
        if feature not in original.columns:
            raise unknown("column of the original", feature, map(str, original.columns))
        if feature == target:
            raise InputError(f"The target '{target}' cannot be a feature as well.")
    if not chosen:
        raise InputError("The original and the release have no column in common but the target.")
    space = FeatureSpace.of_frame(
        original[chosen], kinds=kinds, orders=orders, hierarchies=hierarchies, categories=how.categories
    )
    goal, codes = encoded_target(original, target, how)
    known = Rows(space.encode(original), codes)
    splits = list(how.rows(codes, goal.levels))
    versions, notes = [], [_left_out(original, named, chosen, target)] if features is None else []
    if held_out is not None:
        asked = Rows(space.encode(held_out), codes_of(held_out[target], goal))
        notes.append(overlap_note(original, held_out, [*chosen, target]))
        everyone = [np.arange(len(asked))] * how.trials
        versions.append(Version(ORIGINAL, known, asked, [learned for learned, _ in splits], everyone))
    else:
        versions.append(_linked(ORIGINAL, known, known, splits))
    for title, whole in named.items():
        frame = whole if linked else with_target(whole, goal)
        if len(frame) < len(whole):
            notes.append(
                f"{len(whole) - len(frame):,} of {len(whole):,} rows of '{title}' are left out: their '{target}' is "
                "suppressed or missing, so there is nothing to learn from them."
            )
        rows = Rows(space.encode(frame), codes_of(frame[target], goal))
        if held_out is not None:
            drawn = [learned for learned, _ in how.rows(rows.target, goal.levels)]
            versions.append(Version(title, rows, asked, drawn, everyone))
        elif linked:
            if len(frame) != len(original) or (rows.target != codes).any():
                raise InputError(
                    f"The rows of '{title}' are not those of the original in the same order: their number or their "
                    f"'{target}' differs. Leave out 'linked'."
                )
            versions.append(_linked(title, rows, rows if how.tested_on == "release" else known, splits))
        elif how.tested_on == "release":
            versions.append(_linked(title, rows, rows, list(how.rows(rows.target, goal.levels))))
        else:
            drawn = [learned for learned, _ in how.rows(rows.target, goal.levels)]
            versions.append(Version(title, rows, known, drawn, [asked for _, asked in splits]))
            share = len(drawn[0]) / len(rows)
            notes.append(
                f"Rows of '{title}' are not linked to the original: about {share:.0%} of the people asked about were "
                "also learned from in released form, so models that learn by heart look better than they are."
            )
    trial = partial(prepared_trial, versions=versions, protocol=how, target=goal)
    about: Asked = "held-out" if held_out is not None else "released" if how.tested_on == "release" else "original"
    paired = linked and held_out is None
    return Utility(*run(trial, how, space, on_progress), how, goal, about, paired, tuple(filter(None, notes)))


def _anonymised_trial(
    number: int,
    *,
    table: Table,
    methods: Mapping[str, Anonymise],
    splits: Sequence[Split],
    rows: Rows,
    space: FeatureSpace,
    protocol: Protocol,
    target: Target,
) -> Trial:
    learned, asked_rows = splits[number]
    part = table.take(learned)
    versions = {ORIGINAL: (rows.take(learned), rows.take(asked_rows))}
    for title, anonymise in methods.items():
        released = anonymise(part, protocol.trial_seed(number))
        known = Rows(space.encode(released), codes_of(released[target.name], target))
        if protocol.tested_on == "release":
            raise InputError("Rows that a method has not seen have no released form: test on the original.")
        versions[title] = (known, rows.take(asked_rows))
    return number, {
        (title, classifier): learn_as(classifier, known, asked, number, protocol, target)
        for title, (known, asked) in versions.items()
        for classifier in protocol.classifiers
    }


def _space(table: Table, target: str, features: Sequence[str] | None, protocol: Protocol) -> FeatureSpace:
    chosen = [name for name in table.frame.columns if name != target] if features is None else list(features)
    if target in chosen:
        raise InputError(f"The target '{target}' cannot be a feature as well.")
    return FeatureSpace.of_table(table, chosen, categories=protocol.categories)


def _linked(name: str, known: Rows, asked: Rows, splits: Sequence[Split]) -> Version:
    return Version(name, known, asked, [learned for learned, _ in splits], [others for _, others in splits])


def _named(releases: Releases) -> dict[str, ArrayLike | pd.DataFrame]:
    named = dict(releases) if isinstance(releases, Mapping) else {RELEASE: releases}
    _check_names(named)
    return named


def _frames(releases: pd.DataFrame | Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    named = {RELEASE: releases} if isinstance(releases, pd.DataFrame) else dict(releases)
    _check_names(named)
    return named


def _check_names(named: Mapping[str, object]) -> None:
    if not named:
        raise InputError("Give at least one release.")
    if ORIGINAL in named:
        raise InputError(f"A release cannot be called '{ORIGINAL}': that is the baseline's name.")


def _check_columns(original: pd.DataFrame, others: Mapping[str, pd.DataFrame], target: str) -> None:
    for title, frame in {ORIGINAL: original, **others}.items():
        if target not in frame.columns:
            columns = [str(name) for name in frame.columns]
            raise InputError(
                f"The {title} has no column '{target}' to be predicted.{nearest(target, columns)} Its columns are "
                f"{', '.join(columns)}."
            )


def _left_out(original: pd.DataFrame, named: Mapping[str, pd.DataFrame], chosen: Sequence[str], target: str) -> str:
    """Which columns nobody learns from because a release lacks them, in words."""
    absent = [str(name) for name in original.columns if name not in chosen and name != target]
    if not absent:
        return ""
    lacking = [title for title, frame in named.items() if not {*absent} <= {*map(str, frame.columns)}]
    return f"Not learned from, because {' and '.join(lacking)} lacks them: {', '.join(absent)}."


def _common(original: pd.DataFrame, named: Mapping[str, pd.DataFrame], target: str) -> list[str]:
    return [
        column
        for column in original.columns
        if column != target and all(column in frame.columns for frame in named.values())
    ]
