"""What classifiers learn from a point's release, measured in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optmodels import front_folder
from optmodels.explorer.telling import Teller
from optmodels.metrics.utility import Protocol, utility


def run(request: Mapping[str, Any], tell: Teller) -> dict[str, Any]:
    """Train classifiers on the point's release and on the original, and ask both about original rows."""
    tell({"note": "reading the data"}, always=True)
    front = front_folder.reopened(Path(request["folder"]), None)
    point = front.judged(int(request["point"]))
    release = point.release(method=request.get("method"))
    assert release.recoded is not None
    how = Protocol(classifiers=tuple(request["classifiers"]), splits=int(request["splits"]))

    def on_progress(done: int, total: int) -> None:
        tell({"note": f"{done} of {total} trials", "done": done, "total": total}, always=done == total)

    table = release.recoded.table
    found = utility(table, release.recoded.frame, how, target=request.get("target"), on_progress=on_progress)
    rows = found.summary[found.summary["version"] != "original"]
    return {
        "protocol": how.describe(),
        "rows": rows[["classifier", "metric", "original", "mean", "retention"]].to_dict("records"),
        "notes": list(found.notes),
    }
