"""Points that others have published for the same data and model, to be seen beside a front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optmodels.reproduce.report import published


def published_points(
    data: object, formulation: str, objectives: Sequence[str], *, k: object = None, scaling: str | None = None
) -> list[dict[str, Any]]:
    """Published points with values of some of these objectives; none where nothing was published.

    A point of which one objective alone is known is a mark on that objective's axis.

    >>> points = published_points("german", "mo-obam", ["loss", "homogeneity"])
    >>> points[0]["values"]
    {'loss': 0.0166, 'homogeneity': 50.0, 'number of classes': 149.0}
    >>> [point["title"] for point in published_points("census", "microaggregation", ["loss"], k=3, scaling="standard")]
    ['Domingo-Ferrer and Torra 2005: mdav, k = 3']
    """
    if formulation == "mo-obam":
        return _mo_obam(data, objectives)
    if formulation == "microaggregation" and "loss" in objectives and scaling == "standard":
        return _microaggregation(data, k)
    return []


def _mo_obam(data: object, objectives: Sequence[str]) -> list[dict[str, Any]]:
    rows = published("mo_obam_tables_5_6")
    found = []
    for row in rows[rows["dataset"] == data].to_dict("records"):
        values = {name: float(row[_column(name)]) for name in objectives if _column(name) in rows.columns}
        if values:
            title = f"Wei et al. 2025: {row['model']}, k = {row['k']:g}, {row['classes']:g} classes"
            values["number of classes"] = float(row["classes"])
            found.append({"title": title, "k": float(row["k"]), "values": values})
    return found


def _microaggregation(data: object, k: object) -> list[dict[str, Any]]:
    """Losses of the same k on the reference data; what is only recalled, and not printed, is left out."""
    rows = published("microaggregation")
    same = rows[(rows["dataset"] == data) & (rows["k"] == k) & (rows["method"] == "mdav")]
    return [
        {
            "title": f"Domingo-Ferrer and Torra 2005: {row['method']}, k = {row['k']}",
            "k": float(row["k"]),
            "values": {"loss": float(row["published"]) / 100},
        }
        for row in same.to_dict("records")
    ]


def _column(objective: str) -> str:
    """What the tables call an objective: linkage@0.075 is linkage_0.075, and 0.05 where nothing is said."""
    return "linkage_0.05" if objective == "linkage" else objective.replace("@", "_")
