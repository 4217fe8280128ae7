"""Figures carry numbers, directions and names as text, and are drawn alike for print."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from formulations import Microaggregation, MoObam
from optmodels.audit import audit_table
from optmodels.errors import InputError, MissingDependencyError
from optmodels.front import ParetoFront
from optmodels.plot.points import certified_region, front_points
from optmodels.problem import Problem
from optmodels.release import release
from optmodels.solution import Solution, Status, Stop
from optmodels.table import Table
from optmodels.table.hierarchy import Hierarchy

HOSTILE = "<script>alert(1)</script>"


def table_of(town: str = "town", illness: str = "illness", ill: str = "flu") -> Table:
    frame = pd.DataFrame(
        {
            "age": [20, 22, 23, 40, 44, 45, 60, 66],
            town: list("aabbabab"),
            illness: [ill, "cold", ill, "cold", "gout", ill, "gout", "cold"],
        }
    )
    return Table(frame, quasi={"age": "numeric", town: "categorical"}, sensitive=illness)


def problem_of(*objectives: str) -> Problem:
    return MoObam(k=2).build(table_of()).with_objectives(*objectives)


def solution_of(problem: Problem, labels: list[int], bound: float | None = None) -> Solution:
    found = np.array(labels)
    values = problem.evaluate(found).values
    return Solution(problem, "by hand", Status.FEASIBLE, Stop.CONVERGED, found, values, bound)


def front_of(problem: Problem, *, proven: bool = False) -> ParetoFront:
    partitions = ([0] * 8, [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 1, 1, 1, 2, 2])
    points = [solution_of(problem, labels) for labels in partitions]
    if proven:
        points = [replace(point, bound=0.9 * point.values["loss"]) for point in points]
    return ParetoFront.of(problem, points)


def test_points_have_numbers_marks_and_gaps() -> None:
    front = front_of(problem_of("loss", "entropy"), proven=True)
    points = front_points(front)
    assert points["number"].tolist() == list(range(len(front)))
    assert "knee" in points["marks"][front.knee_index]
    assert "least loss" in points["marks"][0]
    assert sum("most entropy" in marks for marks in points["marks"]) == 1
    assert points["gap"].tolist() == pytest.approx([0.1] * len(front))
    region = certified_region(points, front.problem.objectives)
    assert (region["bound"] < region["value"]).all()
    assert certified_region(front_points(front_of(problem_of("loss", "entropy"))), front.problem.objectives).empty


def test_a_front_s_figure_tells_numbers_directions_and_what_is_proven() -> None:
    front = front_of(problem_of("loss", "entropy"), proven=True)
    figure = front.plot()
    assert figure.layout.xaxis.title.text == "entropy (higher is better)"
    assert figure.layout.yaxis.title.text == "loss (lower is better)"
    found = figure.data[0]
    assert sorted(found.customdata) == list(range(len(front)))
    assert sorted(map(int, found.text)) == list(range(len(front)))
    assert "at most 10.00% from optimal" in found.hovertext[0]
    names = [trace.name for trace in figure.data]
    assert "proven bound" in names
    assert f"knee (point {front.knee_index})" in names
    assert "proven bound" not in [trace.name for trace in front_of(problem_of("loss", "entropy")).plot().data]
    turned = front.plot(x="loss", y="entropy")
    assert turned.layout.yaxis.title.text == "entropy (higher is better)"
    with pytest.raises(InputError, match="no objective 'los'"):
        front.plot(x="los")
    with pytest.raises(InputError, match="Both axes"):
        front.plot(x="loss")


def test_only_marked_points_are_numbered_where_there_are_many() -> None:
    front = front_of(problem_of("loss", "entropy"))
    points = pd.concat([front_points(front)] * 10, ignore_index=True)
    points["number"], points["marks"] = range(len(points)), ""
    points.loc[3, "marks"] = "knee"
    from optmodels.plot.figures import front_figure

    figure = front_figure(points, front.problem.objectives)
    assert [text for text in figure.data[0].text if text] == ["3"]


def figures(backend: str) -> dict[str, object]:
    table = table_of()
    problem = Microaggregation(k=2).build(table)
    solution = solution_of(problem, [0, 0, 0, 1, 1, 1, 2, 2])
    made = solution.release()
    return {
        "front": front_of(problem_of("loss", "entropy"), proven=True).plot(backend=backend),  # type: ignore[arg-type]
        "three": front_of(problem_of("loss", "entropy", "classes")).plot(backend=backend),  # type: ignore[arg-type]
        "classes": solution.plot_classes(backend=backend),  # type: ignore[arg-type]
        "audit": made.audit.plot(audit_table(table), backend=backend),  # type: ignore[arg-type]
        "table": table.plot(backend=backend),  # type: ignore[arg-type]
        "release": made.plot(backend=backend),  # type: ignore[arg-type]
        "loss": made.plot_loss(backend=backend),  # type: ignore[arg-type]
    }


def test_every_figure_has_its_data() -> None:
    drawn = figures("plotly")
    assert list(drawn["classes"].data[0].y) == [1, 2]  # type: ignore[attr-defined]
    assert [len(trace.x) for trace in drawn["table"].data] == [8, 2, 3]  # type: ignore[attr-defined]
    before, after = (trace for trace in drawn["audit"].data)  # type: ignore[attr-defined]
    assert (before.x[0], after.x[0]) == (1.0, 0.5)
    assert "lower is better" in drawn["audit"].layout.xaxis.title.text  # type: ignore[attr-defined]
    assert sum(drawn["release"].data[1].y) == pytest.approx(8)  # type: ignore[attr-defined]


def test_every_figure_is_drawn_for_print(tmp_path: object) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    drawn, plotly = figures("matplotlib"), figures("plotly")
    for name, figure in drawn.items():
        assert isinstance(figure, Figure)
        figure.savefig(f"{tmp_path}/{name}.svg")
        panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
        titles = {axes.get_xlabel() for axes in panels} | {axes.get_ylabel() for axes in panels}
        assert plotly[name].layout.xaxis.title.text in (None, "", *titles)  # type: ignore[attr-defined]
    bars = drawn["classes"].axes[0].patches  # type: ignore[attr-defined]
    assert [patch.get_height() for patch in bars] == [1, 2]


def test_a_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"optmodels\[print\]"):
        table_of().plot(backend="matplotlib")
    with pytest.raises(InputError, match="Did you mean 'plotly'"):
        table_of().plot(backend="plotli")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no column 'agee'"):
        table_of().plot("agee")


def test_names_are_text_in_figures(tmp_path: object) -> None:
    table = table_of(HOSTILE, "$" + HOSTILE, HOSTILE)
    made = release(table, [0, 0, 0, 1, 1, 1, 2, 2], promise=Microaggregation(k=2).build(table).conditions)
    for figure in (table.plot(), made.plot(), made.plot_loss(), made.audit.plot()):
        text = figure.to_json()
        assert "<script" not in text
        assert "\\u003cscript" not in text
    table.plot(backend="matplotlib").savefig(f"{tmp_path}/hostile.svg")


@pytest.mark.parametrize("hostile", [HOSTILE, "\u202eabc", "x" * 5000, ""])
def test_notebooks_show_text(hostile: str) -> None:
    table = table_of(hostile or "town", "illness", hostile)
    problem = Microaggregation(k=2).build(table)
    solution = solution_of(problem, [0, 0, 0, 1, 1, 1, 2, 2])
    made = solution.release(method="interval")
    front = front_of(problem_of("loss", "entropy"))
    hierarchy = Hierarchy.automatic([f"{hostile}{i}" for i in range(30)])
    nothing = Solution(problem, hostile, Status.NONE, Stop.TIME, reason=hostile)
    for shown in (
        table,
        problem,
        solution,
        nothing,
        made,
        made.audit,
        front,
        ParetoFront(front.problem, ()),
        hierarchy,
    ):
        html = shown._repr_html_()
        assert "<script" not in html
        assert len(html) < 20_000
        assert html.startswith("<div")
