"""The promise of a release in a folder, made part by part from what was written, and verified."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from optmodels.audit.parts import Ground
from optmodels.conditions import Conditions
from optmodels.errors import BrokenPromiseError
from optmodels.folders.people import PartPeople
from optmodels.folders.plan import Plan
from optmodels.recoding import Method
from optmodels.release.promise import asked_of
from optmodels.verifier import fingerprint, read_cells, sealed, total, verify


def vouched_folder(
    folder: Path,
    plan: Plan,
    conditions: Conditions,
    method: Method,
    ground: Ground,
    missing: int = 0,
    people: Sequence[PartPeople] = (),
) -> dict[str, Any]:
    """The promise of the Parquet files in a folder, after the verifier found that they keep it.

    `missing` records are left out; `people` says whose the rows of each file are, in the order of the files' names.

    Raises:
        BrokenPromiseError: they do not.
    """
    roles, rows, classes, prints, columns = plan.roles, 0, 0, list[str](), list[str]()
    for file in sorted(folder.glob("*.parquet")):
        cells = read_cells(file)
        columns = list(cells)
        rows += len(cells[columns[0]])
        prints.append(fingerprint(cells))
        # equal records share a part
        quasi = pd.DataFrame({place: cells[name].codes for place, name in enumerate(roles.quasi)})
        classes += len(quasi.drop_duplicates())
    asked = {}
    for name, levels in ground.levels.items():
        texts = dict(enumerate(map(str, levels.tolist())))
        asked[name] = asked_of(
            conditions.of(name),
            levels,
            ordered=ground.ordered[name],
            hierarchy=ground.hierarchies.get(name),
            texts=texts.copy,
        )
    document = {
        "version": version("optmodels"),
        "file": {"format": "folder"},
        "columns": columns,
        "rows": rows,
        "classes": classes,
        "fingerprint": total(prints),
        "quasi": dict(roles.quasi),
        "sensitive": list(roles.sensitive),
        "person": roles.person,
        "as_is": [],
        "dropped": [*roles.identifiers, *([] if roles.person is None else [roles.person])],
        "missing": roles.missing,
        "recoding": method,
        "suppressed": {"how": "drop", "records": missing, "most": conditions.suppress},
        "said": conditions.describe(),
        "data": {"records": plan.whole.n, "sha256": None},
        "conditions": {"k": int(conditions.k), "person": roles.person, "sensitive": asked},
    }
    whose = np.concatenate([part.rows() for part in people]) if people else None
    wholes = {
        name: dict(zip(map(str, levels.values), levels.counts.tolist(), strict=True))
        for name, levels in plan.whole.sensitive.items()
    }
    if broken := verify(folder, document, people=whose, whole=wholes if missing else None).broken:
        raise BrokenPromiseError(
            f"The release does not keep its promise, as it would be written: {'; '.join(broken)}. Nothing was written."
        )
    return sealed(document)
