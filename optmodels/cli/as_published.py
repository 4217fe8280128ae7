"""`anonymize --as-published`: what a published swarm would hand out, labelled wherever it breaks what is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from optmodels.cli import show
from optmodels.cli.output import put_json, write_together
from optmodels.errors import BrokenPromiseError, InputError
from optmodels.verifier import beside

if TYPE_CHECKING:
    import pandas as pd

    from optmodels.problem import Problem
    from optmodels.solver import Solver
    from solvers.pso.published import PublishedRelease


def check(search: Solver, asked: Mapping[str, object], out: Path | None) -> None:
    """Only a swarm can be asked for what was published, and nothing is promised or proven of what it hands out.

    `asked` are the options that do not go with it, by their names. No promise of an earlier release may stand beside
    the file.
    """
    from solvers import Pso

    if not (isinstance(search, Pso) and search.unmended):
        raise InputError(
            "--as-published hands out what a published swarm finds, whether it keeps k or not: use it with --solver "
            "pso --option swarm=authors, or --option faithful=true."
        )
    if given := [option for option, value in asked.items() if value]:
        raise InputError(
            "--as-published promises nothing, and makes the steps that --option iterations=N says: leave out "
            f"{given[0]}."
        )
    if out is not None and beside(out).exists():
        raise InputError(f"--out '{out}' has the promise of a release beside it, '{beside(out)}': name another file.")


def put(search: Solver, problem: Problem, *, seed: int, out: Path | None, json: bool) -> None:
    """Write the table at the swarm's raw centroids, and say what it loses and breaks.

    Raises:
        BrokenPromiseError: conditions are broken; the file is written all the same, with a column that says for whom.
    """
    from solvers import Pso

    assert isinstance(search, Pso)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said below, as the error that it is on a command line
        found = search.published(problem, seed)
    frame = found.frame
    if out is not None:
        write_together([(out, lambda file: _write(frame, file))])
    if json:
        put_json(_record(found))
    else:
        values = ", ".join(f"{name} {show.number(value)}" for name, value in found.values.items())
        show.say(
            f"As published, and no release: nothing is promised of it. A loss of [bold]{show.number(found.loss)}[/] "
            f"around the centroids that it hands out; around means and modes {values}."
        )
        if out is not None:
            show.say(f"Written: {show.escaped(out)}")
    if found.broken:
        raise BrokenPromiseError(found.broken)


def _record(found: PublishedRelease) -> dict[str, object]:
    return {
        "as_published": True,
        "broken": found.broken or None,
        "people_below_k": found.people_below_k,
        "loss_around_centroids": found.loss,
        "values": found.values,
        "classes": int(found.labels.max()) + 1,
    }


def _write(frame: pd.DataFrame, file: Path) -> None:
    if file.suffix.lower() == ".parquet":
        frame.to_parquet(file, index=False)
    else:
        frame.to_csv(file, index=False)
