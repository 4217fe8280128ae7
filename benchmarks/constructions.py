"""The published constructions beside what was published of them, and how their time grows.

    OPTMODELS_DATA=... python -m benchmarks.constructions [--only tables liang growth] [--largest 300000]

tables: the MDAV ("k-anonymity") and Zheng et al. rows of tables 5 and 6 of Wei et al. (2025) beside `mdav` and `zheng`:
    classes, information loss, records linkable at three tau and homogeneous records, all from the audited release, with
    what is remarkable about a published row. Both also with standardised ages: the paper does not say how it measures
    distances between mixed records.
liang: the figures of Liang and Samavi (2020) beside `liang-split` and `liang-greedy`.
growth: seconds from problem to judged classes of clustered numbers, k = 5, processor time (the two part on a busy
    machine) and the exponent of its growth; beside `mdav` a plain MDAV in numpy, which looks at every record.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from time import process_time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import optmodels as om
from benchmarks.audit_scaling import growth
from formulations import LiangSamavi, Microaggregation
from optmodels.partition import Labels, canonical
from optmodels.reproduce.report import published
from optmodels.structures import Priced, compiled_price
from solvers import solve

MEASURES = ["classes", "loss", "linkage_0.05", "linkage_0.075", "linkage_0.1", "homogeneity"]
TAUS = (0.05, 0.075, 0.1)
PLAIN_MOST = 30_000  # rows beyond which the plain MDAV takes too long

DIFFERENCES = """
Ours keep k and l in every row. The paper names neither the distance between mixed records nor Zheng's seeds. Measured
as the information loss is, in squared years and mismatches, our MDAV loses far less than published; with standardised
ages it loses on Adult what was published, to a unit of the last digit, and on German credit somewhat less: so that is
likely what was run. Standardising is also what brings Zheng's rule on Adult with l = 14 near to the published loss.
Seeds far apart lose less where l is easily met, and much more where l is as large as there are values (Adult, l = 14).
Classes with equal released values are one in a release: of few different records there are far fewer than n/k."""
SEVERAL_OPTIMA = """The split algorithm takes an optimal partition of each subproblem, of which there are several; the
one taken decides what the next subproblem gets. So two exact solvers differ a little after the first subproblems."""


def measured(problem: om.Problem, labels: Labels) -> dict[str, float]:
    """The measures of the papers, from the release that is handed out; classes that look the same there are one."""
    loss, audit = problem.evaluate(labels).values["loss"], problem.release(labels).audit
    linked = {f"linkage_{tau}": audit.linkage[str(tau)] for tau in TAUS}
    return {"classes": audit.classes, "loss": loss, **linked, "homogeneity": audit.homogeneity["total"]}


def remarks(row: pd.Series, n: int) -> str:
    """What cannot be, or breaks its own k, in a published row."""
    found = []
    if row["classes"] * row["k"] > n:
        found.append(
            f"{row['classes']} classes of {row['k']} need {row['classes'] * row['k']:,} records, there are {n:,}"
        )
    small = [f"{row[f'linkage_{tau}']} records" for tau in TAUS if tau * row["k"] >= 1 and row[f"linkage_{tau}"] > 0]
    if small:
        found.append(f"{small[-1]} in classes of fewer than {row['k']}")
    return "; ".join(found)


def classes_of(problem: om.Problem, solver: str, **options: object) -> Labels:
    labels = solve(problem, solver=solver, options=options).labels
    assert labels is not None
    return labels


def ours(row: pd.Series) -> Iterator[tuple[str, dict[str, float]]]:
    """Our answers to the question of a published row, judged in the units of the paper."""
    name, k = str(row["dataset"]), int(row["k"])
    if row["model"] == "zheng":
        problem = Microaggregation(k=k, distinct_l=int(row["l"])).build(om.dataset(name))
        for seeds in ("random", "furthest"):
            yield f"zheng, {seeds} seeds", measured(problem, classes_of(problem, "zheng", seeds=seeds))
        standard = Microaggregation(k=k, distinct_l=int(row["l"])).build(om.dataset(name, scaling="standard"))
        yield "zheng, ages standardised", measured(problem, classes_of(standard, "zheng"))
        return
    problem = Microaggregation(k=k).build(om.dataset(name))
    yield "mdav", measured(problem, classes_of(problem, "mdav"))
    standard = Microaggregation(k=k).build(om.dataset(name, scaling="standard"))
    yield "mdav, ages standardised", measured(problem, classes_of(standard, "mdav"))


def tables() -> None:
    wanted = published("mo_obam_tables_5_6")
    wanted = wanted[wanted["model"].isin(["k-anonymity", "zheng"])]
    # Table (b) repeats the rows of k-anonymity.
    wanted = wanted.drop_duplicates(["dataset", "model", "k", "l"])
    for name, rows in wanted.groupby("dataset", sort=False):
        n = om.dataset(str(name)).n
        print(f"\n{name}, {n:,} records (tables 5 and 6 of Wei et al. 2025)")
        shown = []
        for _, row in rows.iterrows():
            label = {"k": row["k"], "l": "" if pd.isna(row["l"]) else int(row["l"])}
            model = "MDAV" if row["model"] == "k-anonymity" else "Zheng"
            theirs = {measure: row[measure] for measure in MEASURES}
            shown.append({"model": f"{model}, published", **label, **theirs, "remark": remarks(row, n)})
            for our_name, measures in ours(row):
                shown.append({"model": f"  {our_name}", **label, **measures, "remark": ""})
        print(pd.DataFrame(shown).to_string(index=False, float_format=lambda x: f"{x:.4f}"), flush=True)
    print(DIFFERENCES)


def liang() -> None:
    print("\nLiang and Samavi (2020), k = 3, sum over cells of released widths as shares of their ranges")
    census = om.dataset("census_20k")
    first = om.Table(census.frame.head(200), quasi=census.kinds)
    wanted = [
        ("person20", om.dataset("person20"), "liang-split", 19.266129),
        ("census_20k, first 200 rows", first, "liang-split", 21.628),
        ("census_20k, first 200 rows", first, "liang-greedy", 27.62),
        ("ipums_1k_8attr", om.dataset("ipums_1k_8attr"), "liang-greedy", 482.33),
        ("census_100k", om.dataset("census_100k"), "liang-greedy", None),
    ]
    for name, table, solver, loss in wanted:
        solve(LiangSamavi(k=3).build(table.take(np.arange(20))), solver=solver)  # compilation
        solution = solve(LiangSamavi(k=3).build(table), solver=solver, time_limit=120)
        theirs = "nothing published" if loss is None else f"published {loss:g}"
        print(f"{name:>27} {solver:>13} {solution.value:>12.6f} ({theirs}), {solution.seconds:.2f} s", flush=True)
    print(SEVERAL_OPTIMA)


def people(n: int, d: int) -> om.Table:
    draw = np.random.default_rng(n)
    centres = draw.normal(scale=3, size=(12, d))
    numbers = centres[draw.integers(0, 12, n)] + draw.normal(size=(n, d))
    names = [f"x{j}" for j in range(d)]
    frame = pd.DataFrame(numbers, columns=names).assign(illness=draw.integers(0, 8, n).astype(str))
    return om.Table(frame, quasi=dict.fromkeys(names, "numeric"), sensitive="illness", scaling="standard")


def plain_mdav(points: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """MDAV that computes every distance, in numpy."""
    labels, left, label = np.empty(len(points), np.int64), np.arange(len(points)), 0

    def away(point: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(((points[left] - point) ** 2).sum(axis=1))

    while len(left) >= 2 * k:
        first = left[away(points[left].mean(axis=0)).argmax()]
        second = left[away(points[first]).argmax()]
        for centre in (first, second) if len(left) >= 3 * k else (first,):
            near = np.zeros(len(left), np.bool_)
            near[np.argpartition(away(points[centre]), k - 1)[:k]] = True
            labels[left[near]], left, label = label, left[~near], label + 1
    labels[left] = label
    return labels


def growths(largest: int, solvers: list[str]) -> None:
    print("\nseconds from problem to judged classes, k = 5, clustered numbers; plain MDAV in processor time")
    contenders = [
        ("mdav", 3, Microaggregation(k=5)),
        ("mdav", 6, Microaggregation(k=5)),
        ("zheng", 3, Microaggregation(k=5, distinct_l=3)),
        ("liang-greedy", 3, LiangSamavi(k=5)),
        ("univariate", 1, Microaggregation(k=5)),
    ]
    for solver, d, formulation in contenders:
        if solver not in solvers:
            continue
        solve(formulation.build(people(2000, d)), solver=solver)  # compilation
        found = []
        sizes = [n for n in (10_000, 30_000, 100_000, 300_000) if n <= largest]
        for n in [*sizes, 10_000_000] if solver == "univariate" and largest >= 300_000 else sizes:
            problem = formulation.build(people(n, d))
            busy = process_time()
            solution = solve(problem, solver=solver)
            busy = process_time() - busy
            found.append({"rows": n, "processor": busy})
            beside = ""
            if solver == "mdav" and n <= PLAIN_MOST:
                start = process_time()
                plain = plain_mdav(compiled_price(problem.require(Priced)).numeric, 5)
                took = process_time() - start
                same = bool((canonical(plain) == solution.labels).all())
                times = f"{took / busy:.0f} times as long"
                beside = f"; plain {took:.2f} s, {times}, {'the same' if same else 'OTHER'} classes"
            seconds = f"{solution.seconds:>8.2f} s, processor {busy:>8.2f} s"
            print(f"{solver:>13} {d} attributes {n:>10,} rows {seconds}{beside}", flush=True)
        power = growth(found, "processor") if len(found) > 1 else float("nan")
        print(f"{solver:>13} {d} attributes: processor time grows as rows to the power {power:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", choices=["tables", "liang", "growth"], default=["tables", "liang", "growth"]
    )
    parser.add_argument("--largest", type=int, default=300_000)
    parser.add_argument("--solvers", nargs="+", default=["mdav", "zheng", "liang-greedy", "univariate"])
    options = parser.parse_args()
    pd.set_option("display.width", 250)
    if "tables" in options.only:
        tables()
    if "liang" in options.only:
        liang()
    if "growth" in options.only:
        growths(options.largest, options.solvers)


if __name__ == "__main__":
    main()
