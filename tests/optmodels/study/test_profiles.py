"""Profiles of studies made by hand, small enough to see that they are right."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from optmodels.errors import InputError
from optmodels.study import measures, profiles
from optmodels.study.export import latex


def made(rows: list[tuple[str, str, int, str, float | None, float]], answer: str = "solution") -> pd.DataFrame:
    """Runs from solver, dataset, repetition, outcome, value and seconds."""
    return pd.DataFrame(
        [
            (str(i), solver, dataset, "m", repetition, outcome, value, seconds, 100, answer, "loss", '{"loss": "min"}')
            for i, (solver, dataset, repetition, outcome, value, seconds) in enumerate(rows)
        ],
        columns=[
            *("key", "solver", "dataset", "model", "repetition", "outcome", "value", "seconds", "records", "answer"),
            *("target", "senses"),
        ],
    )


def moments(*rows: tuple[str, float, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["run", "seconds", "value"]).assign(evaluations=None, bound=None)


RUNS = made(
    [
        ("fast", "x", 0, "done", 2.0, 1.0),
        ("slow", "x", 0, "done", 1.0, 4.0),
        ("fast", "y", 0, "done", 5.0, 3.0),
        ("slow", "y", 0, "crashed", None, 9.0),
    ]
)
CURVES = moments(("0", 0.5, 8.0), ("0", 1.0, 2.0), ("1", 1.0, 4.0), ("1", 2.0, 1.005), ("1", 4.0, 1.0), ("2", 3.0, 5.0))


def shares(frame: pd.DataFrame, solver: str, amount: str) -> list[list[float]]:
    return frame[frame["solver"] == solver][[amount, "share"]].to_numpy().tolist()


def test_performance_profile_by_hand() -> None:
    costs = measures.costs(RUNS, CURVES, "value")
    assert costs.loc[("x", "m", 0)].to_dict() == {"fast": 2.0, "slow": 1.0}
    assert costs.loc[("y", "m", 0)].to_dict() == {"fast": 5.0, "slow": np.inf}
    profile = profiles.performance_profile(costs)
    assert shares(profile, "fast", "ratio") == [[1.0, 0.5], [2.0, 1.0]]
    assert shares(profile, "slow", "ratio") == [[1.0, 0.5]]  # and never more: it failed on one of two


def test_performance_profile_of_dolan_and_more() -> None:
    # three problems, times 1 and 2, 6 and 3, 4 and never
    costs = pd.DataFrame({"s": [1.0, 6.0, 4.0], "t": [2.0, 3.0, np.inf]})
    profile = profiles.performance_profile(costs)
    assert shares(profile, "s", "ratio") == [[1.0, pytest.approx(2 / 3)], [2.0, 1.0]]
    assert shares(profile, "t", "ratio") == [[1.0, pytest.approx(1 / 3)], [2.0, pytest.approx(2 / 3)]]


def test_costs_of_nothing_and_of_less_than_nothing() -> None:
    profile = profiles.performance_profile(pd.DataFrame({"a": [0.0], "b": [0.1], "c": [0.0]}))
    assert profile.set_index("solver")["share"].to_dict() == {"a": 1.0, "b": 0.0, "c": 1.0}
    below = profiles.performance_profile(pd.DataFrame({"a": [-4.0], "b": [2.0], "c": [np.inf]}))
    assert shares(below, "a", "ratio") == [[1.0, 1.0]]
    assert shares(below, "b", "ratio") == [[1.0, 0.0], [2.5, 1.0]]  # 1.5 times 4 above the best
    assert shares(below, "c", "ratio") == [[1.0, 0.0]]


def test_times_to_targets() -> None:
    assert measures.times_to_target(RUNS, CURVES, 0.01).tolist() == [np.inf, 2.0, 3.0, np.inf]
    assert measures.times_to_target(RUNS, CURVES, 0.0).tolist() == [np.inf, 4.0, 3.0, np.inf]
    assert measures.times_to_target(RUNS, CURVES, 1.0).tolist() == [1.0, 2.0, 3.0, np.inf]


def test_data_profile_of_more_and_wild() -> None:
    # On x progress goes from 8 to 1: all but a fifth of it is made at 2.4.
    profile = profiles.data_profile(RUNS, CURVES, tolerance=0.2)
    assert shares(profile, "fast", "budget") == [[0.0, 0.0], [1.0, 0.5], [3.0, 1.0]]
    assert shares(profile, "slow", "budget") == [[0.0, 0.0], [2.0, 0.5]]
    relative = profiles.data_profile(RUNS, CURVES, tolerance=0.2, per_thousand_records=True)
    assert shares(relative, "fast", "budget") == [[0.0, 0.0], [10.0, 0.5], [30.0, 1.0]]


def test_what_a_failed_run_found_on_its_way_does_not_count() -> None:
    failed = RUNS.assign(outcome=["error", *RUNS["outcome"].iloc[1:]])
    assert measures.times_to_target(RUNS, CURVES, 1.0).iat[0] == 1.0
    assert measures.times_to_target(failed, CURVES, 1.0).iat[0] == np.inf


def test_anytime_curves_step_from_one_incumbent_to_the_next() -> None:
    found = profiles.anytime(RUNS, CURVES)
    fast = found[found["solver"] == "fast"]
    at = {seconds: fast[fast["seconds"] <= seconds]["median"].iat[-1] for seconds in (0.4, 0.9, 1.5, 4.1)}
    assert at == {0.4: np.inf, 0.9: 7.0, 1.5: 1.0, 4.1: 0.0}  # of two runs the better; both have ended at last
    assert fast["high"].iat[-1] == 1.0


def test_anytime_curves_count_the_runs_that_failed() -> None:
    rows = [("sure", "x", i, "done", 2.0, 1.0) for i in range(5)]
    rows += [("frail", "x", 0, "done", 1.0, 1.0)] + [("frail", "x", i, "crashed", None, 1.0) for i in range(1, 5)]
    found = profiles.anytime(made(rows), moments(*((str(i), 0.5, 2.0) for i in range(5)), ("5", 0.5, 1.0)))
    ends = found.groupby("solver").last()
    assert ends.loc["sure", ["low", "median", "high"]].tolist() == [1.0, 1.0, 1.0]
    assert ends.loc["frail", ["low", "median", "high"]].tolist() == [np.inf] * 3  # four of five


def test_scaling_finds_the_exponent_and_how_sure_it_is() -> None:
    n = np.array([100, 200, 400, 800, 1600, 3200])
    noise = np.exp(np.random.default_rng(0).normal(0, 0.05, len(n)))
    runs = pd.DataFrame({"solver": "s", "model": "m", "records": n, "seconds": 1e-6 * n**2.0 * noise})
    runs = runs.assign(family="d", dataset=[f"file {size}" for size in n])
    fit = profiles.scaling(runs).iloc[0]
    assert fit["low"] < 2.0 < fit["high"]
    assert fit["exponent"] == pytest.approx(2.0, abs=0.1)
    assert fit["high"] - fit["low"] < 0.25
    assert profiles.scaling(runs.head(2)).empty
    assert profiles.scaling(runs.assign(records=100)).empty
    # Other people's table, larger and quicker, says nothing of growth; one of several sizes does, whatever its level.
    other = runs.assign(family="e", dataset="e", records=9000, seconds=1e-9)
    assert profiles.scaling(pd.concat([runs, other], ignore_index=True)).iloc[0].equals(fit)
    slower = runs.assign(model="slow", seconds=100 * runs["seconds"])
    both = profiles.scaling(pd.concat([runs, slower], ignore_index=True)).iloc[0]
    assert both["exponent"] == pytest.approx(fit["exponent"])
    assert both["coefficient"] == pytest.approx(10 * fit["coefficient"])
    # of one dataset it is the usual line
    line = stats.linregress(np.log(n), np.log(runs["seconds"]))
    assert fit["exponent"] == pytest.approx(line.slope)
    assert fit["high"] - fit["exponent"] == pytest.approx(stats.t.ppf(0.975, len(n) - 2) * line.stderr)


def test_hypervolume_is_to_be_large_and_igd_plus_small() -> None:
    runs = made([("a", "x", 0, "done", 4.0, 1.0), ("b", "x", 0, "done", 2.0, 1.0)], answer="front")
    runs = runs.assign(senses=json.dumps({"loss": "min", "entropy": "max"}))
    assert measures.costs(runs, CURVES, "value").iloc[0].to_dict() == {"a": 0.25, "b": 0.5}
    points = pd.DataFrame({"run": ["0", "0", "1"], "loss": [0.0, 1.0, 1.0], "entropy": [0.0, 1.0, 0.5]})
    found = measures.indicators(runs, points).set_index("solver")
    assert found["hypervolume"].to_dict() == {"a": 1.0, "b": 0.5}
    assert found.loc["a", "igd+"] == 0.0
    # To (0, 0) b lacks 1 of loss, to (1, 1) half of entropy.
    assert found.loc["b", "igd+"] == pytest.approx((1.0 + 0.5) / 2)


def test_overview_of_solvers() -> None:
    found = measures.overview(RUNS)
    assert found.columns.tolist() == ["solved", "excess", "worst_excess", "seconds", "most_seconds"]
    assert found.loc["fast"].tolist() == [1.0, 0.5, 1.0, 2.0, 3.0]
    assert found.loc["slow", ["solved", "excess"]].tolist() == [0.5, 0.0]


def test_summaries_have_a_place_for_what_was_never_solved() -> None:
    table = measures.summary(RUNS)
    assert table.loc[("y", "m")].fillna(-1).to_dict() == {"fast": 5.0, "slow": -1.0}
    with pytest.raises(InputError, match="Did you mean 'seconds'"):
        measures.summary(RUNS, "secnds")
    with pytest.raises(InputError, match="no finished run"):
        measures.costs(RUNS.head(0), CURVES, "value")


def test_the_best_of_a_row_is_bold_whatever_the_sense_of_the_row() -> None:
    table = pd.DataFrame({"a": [1.0, 1.0, np.nan], "b": [2.0, 2.0, 3.0]}, index=pd.Index(list("xyz"), name="problem"))
    rows = latex(table, large=[False, True, True]).splitlines()[4:7]
    assert rows == [r"x & \textbf{1} & 2 \\", r"y & 1 & \textbf{2} \\", r"z & -- & \textbf{3} \\"]


def test_names_cannot_break_a_table_of_latex() -> None:
    table = pd.DataFrame({"a&b": [1.0]}, index=pd.Index(["\\input{x}\n\n50% of $x_1^2#~"], name="problem"))
    text = latex(table)
    assert r"a\&b" in text
    assert r"\textbackslash input\{x\} 50\% of \$x\_1\textasciicircum 2\#\textasciitilde " in text
    assert "\n\n" not in text
