"""Points that others have published for the same data and model, to be seen beside a front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optmodels.reproduce.report import published

_MO_OBAM = "mo_obam_tables_5_6"


def published_points(data: object, formulation: str, objectives: Sequence[str]) -> list[dict[str, Any]]:
    """Published points with values of some of these objectives; none where nothing was published.

    >>> points = published_points("german", "mo-obam", ["loss", "homogeneity"])
    >>> points[0]["values"]
    {'loss': 0.0166, 'homogeneity': 50.0}
    """
    if formulation != "mo-obam":
        return []
    rows = published(_MO_OBAM)
    found = []
    for row in rows[rows["dataset"] == data].to_dict("records"):
        values = {name: float(row[_column(name)]) for name in objectives if _column(name) in rows.columns}
        if len(values) > 1:
            title = f"Wei et al. 2025: {row['model']}, k = {row['k']:g}, {row['classes']:g} classes"
            found.append({"title": title, "k": float(row["k"]), "values": values})
    return found


def _column(objective: str) -> str:
    """What the tables call an objective: linkage@0.075 is linkage_0.075, and 0.05 where nothing is said."""
    return "linkage_0.05" if objective == "linkage" else objective.replace("@", "_")
