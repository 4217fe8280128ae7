"""Blocks: what they cost and lose, from 100,000 to 10 million records, against Mondrian, one block, and other backends.

    python -m benchmarks.blocks [--only growth|seams|models|backends|folder] [--records 10000000] [--block-size 4000]

Records are six numbers around twelve centres, k = 5. `growth` sets `blocks` + `local_search` beside `mondrian` on ever
larger tables. `seams` solves one table in blocks of different sizes and as one block, with the same rounds of ruin and
recreate per record. `models` solves every formulation on synthetic health records in blocks and as one block, by the
same solver: where blocks optimise a stand-in, this is what it is worth. `backends` runs one table in threads, in
processes and on a Dask cluster, a worker for each core, and compares the answers. `folder` anonymises Parquet files
without ever holding the table, on that cluster, and shows the memory of its workers. Peak memory is that of the
process, data included.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from formulations import Aminifar, LiangSamavi, MajeedHwang, Mass, Microaggregation, MoObam
from optmodels import Table
from optmodels.datasets.synthetic import health_like
from optmodels.folders.anonymize import anonymize_folder
from optmodels.parallel import cores
from optmodels.problem import Formulation, Problem
from optmodels.registry import configured, solver
from optmodels.table.role_types import Kind
from optmodels.table.roles import Roles
from solvers import solve
from solvers.blocks import Blocks

NAMES = ("a", "b", "c", "d", "e", "f")
QUASI: dict[str, Kind] = dict.fromkeys(NAMES, "numeric")
K = 5


def frame(n: int) -> pd.DataFrame:
    draw = np.random.default_rng(7)
    centres = draw.normal(scale=3, size=(12, len(NAMES)))
    return pd.DataFrame(centres[draw.integers(0, 12, n)] + draw.normal(size=(n, len(NAMES))), columns=list(NAMES))


def problem(n: int) -> Problem:
    return Microaggregation(k=K).build(Table(frame(n), quasi=QUASI, scaling="standard"))


def peak() -> float:
    """Gigabytes that this process has held at most, so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def aside(work: Any, *arguments: Any) -> Any:
    """The result of some work in a fresh process, so that its peak of memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def one_size(n: int, size: int, backend: Any) -> dict[str, object]:
    posed = problem(n)
    built = peak()
    mondrian = solve(posed, solver="mondrian")
    after_mondrian = peak()
    blocks = Blocks(block_size=size, backend=backend).solve(posed)
    told: Any = blocks.details.get("one_block", {})
    assert mondrian.value is not None
    assert blocks.value is not None
    return {
        "n": n,
        "mondrian_loss": mondrian.value,
        "mondrian_s": mondrian.seconds,
        "blocks_loss": blocks.value,
        "blocks_s": blocks.seconds,
        "loss_ratio": blocks.value / mondrian.value,
        "blocks": blocks.details["blocks"],
        "us_per_record": blocks.seconds / n * 1e6,
        "built_gb": built,
        "mondrian_gb": after_mondrian,
        "blocks_gb": peak(),
        "excess_over_merged_pairs": told.get("excess"),
    }


def warm(backend: Any = "in-process") -> None:
    """Compilation is cached, and not what is measured."""
    posed = problem(2_000)
    solve(posed, solver="mondrian")
    Blocks(block_size=200, backend=backend).solve(posed)


def growth(records: int, size: int) -> None:
    sizes = [n for n in (100_000, 1_000_000, 10_000_000) if n < records] + [records]
    rows = []
    for n in sizes:
        rows.append(aside(one_size, n, size, "processes"))
        show(pd.Series(rows[-1]).to_frame(f"{n:,} records"))
    found = pd.DataFrame(rows)
    if len(found) > 1:
        for name in ("mondrian_s", "blocks_s"):
            slope = np.polyfit(np.log(found["n"]), np.log(found[name]), 1)[0]
            print(f"{name} grows as n^{slope:.2f}")


def seams(n: int, sizes: list[int]) -> None:
    posed = problem(n)
    rows = []
    for size in [*sizes, n]:
        found = Blocks(block_size=size, compare=False).solve(posed)
        rows.append({"block_size": size, "blocks": found.details["blocks"], "loss": found.value, "s": found.seconds})
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    table["excess_over_one_block"] = table["loss"] / table["loss"].iloc[-1] - 1
    print(f"{n:,} records; the last row is one block, on one core")
    show(table)
    estimated: Any = Blocks(block_size=sizes[0]).solve(posed).details["one_block"]
    print(f"blocks of {sizes[0]}: {estimated['how']}: excess {estimated['excess']:.2%}")


@contextmanager
def cluster() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=cores(), threads_per_worker=1, processes=True, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        yield client


def backends(n: int, size: int) -> None:
    posed = problem(n)
    rows = []
    answers = []
    with cluster() as client:
        for backend in ("in-process", "processes", "dask"):
            address = client if backend == "dask" else None
            warm_up = Blocks(block_size=200, backend=backend, address=address, workers=cores(), compare=False)
            if backend != "processes":
                warm_up.solve(problem(2_000))
            solver = Blocks(block_size=size, backend=backend, address=address, workers=cores(), compare=False)
            found = solver.solve(posed)
            rows.append({"backend": backend, "s": found.seconds, "loss": found.value})
            answers.append(found.require())
    show(pd.DataFrame(rows))
    print("all answers are the same:", all(np.array_equal(answers[0], other) for other in answers))


def models(n: int, size: int) -> None:
    table = health_like(n, l_v=7).rescaled(scaling="standard")
    of_one_secret = table.roles.revised(sensitive=table.sensitive[:1], bins={}, orders={}, others="keep")
    searched = {"iterations": 2 * n}
    asked: dict[str, tuple[Formulation, str, dict[str, Any]]] = {
        "microaggregation": (Microaggregation(k=K), "local_search", searched),
        "liang-samavi": (LiangSamavi(k=K), "local_search", searched),
        "mo-obam, n / 10 classes": (MoObam(k=K, n_clusters=n // 10), "local_search", searched),
        "mo-obam, score": (MoObam(k=K, objective="lambda", lam=0.05), "nsga2", {"evaluations": 500}),
        "aminifar": (Aminifar(k=20, n_init=1), "network", {}),
        "aminifar, alpha 1.5": (Aminifar(k=20, alpha=1.5, n_init=1), "network", {}),
        "mass, k 5": (Mass(k=K, classifiers=()), "mass", {}),
        "mass": (Mass(classifiers=("nb",)), "mass", {}),
        "majeed-hwang, flexible": (MajeedHwang(k=K, threshold=0.5, trees=20), "generalise", {}),
        "majeed-hwang, least": (MajeedHwang(k=K, levels="least", trees=20), "generalise", {}),
    }
    rows = []
    for name, (model, inner, options) in asked.items():
        posed = model.build(Table.with_roles(table.frame, of_one_secret) if "alpha" in name else table)
        whole = configured(solver(inner), options).solve(posed)
        per_block = {key: value * size // n if key == "iterations" else value for key, value in options.items()}
        blocks = Blocks(inner=inner, inner_options=per_block, block_size=size, compare=False).solve(posed)
        assert whole.value is not None
        assert blocks.value is not None
        rows.append(
            {
                "model": name,
                "inner": inner,
                "one block": whole.value,
                "its seconds": whole.seconds,
                "blocks": blocks.details["blocks"],
                "value": blocks.value,
                "seconds": blocks.seconds,
                "against one": blocks.value / whole.value,
                "stand-in": "blocks_optimise" in blocks.details,
            }
        )
    show(pd.DataFrame(rows).set_index("model"))


def folder(n: int, size: int, group_rows: int, inner: str) -> None:
    with tempfile.TemporaryDirectory() as place, cluster() as client:
        source = Path(place) / "in"
        source.mkdir()
        whole = frame(n)
        step = 500_000
        for i, low in enumerate(range(0, n, step)):
            part = pa.Table.from_pandas(whole[low : low + step], preserve_index=False)
            pq.write_table(part, source / f"{i:04}.parquet", row_group_size=step)
        del whole
        began = perf_counter()
        found = anonymize_folder(
            source,
            Path(place) / "out",
            roles=Roles(quasi=QUASI, scaling="standard"),
            formulation=Microaggregation(k=K),
            solver=Blocks(inner=inner, block_size=size, backend="dask", address=client),
            group_rows=group_rows,
        )
        print(
            f"folder of {n:,} records, groups of {group_rows:,}: {perf_counter() - began:.1f} s, {dict(found.values)}"
        )
        print(f"k = {found.audit.k}, {found.audit.classes:,} classes; {found.provenance['details']}")


def show(table: pd.DataFrame) -> None:
    print(table.to_string(float_format=lambda value: f"{value:.5g}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["growth", "seams", "models", "backends", "folder"])
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--small", type=int, default=100_000, help="records for seams and backends")
    parser.add_argument("--block-size", type=int, default=4_000)
    parser.add_argument("--model-records", type=int, default=8_000, help="records for models")
    parser.add_argument("--folder-records", type=int, default=2_000_000)
    parser.add_argument("--folder-inner", default="local_search", help="the inner solver of the folder")
    parser.add_argument("--group-rows", type=int, default=250_000)
    asked = parser.parse_args()
    warm("processes")
    if asked.only in (None, "seams"):
        seams(asked.small, [1_000, 4_000, 16_000])
    if asked.only in (None, "models"):
        models(asked.model_records, asked.model_records // 8)
    if asked.only in (None, "backends"):
        backends(asked.small, asked.block_size)
    if asked.only in (None, "growth"):
        growth(asked.records, asked.block_size)
    if asked.only in (None, "folder"):
        folder(asked.folder_records, asked.block_size, asked.group_rows, asked.folder_inner)


if __name__ == "__main__":
    main()
