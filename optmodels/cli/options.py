"""Options that several commands have, each said once: what is optimised, what is written.

What the columns are is said in `role_options`, what is promised of every class in `promise_options`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ROLES = "Columns"
PROMISE = "Promise"
SEARCH = "Model and solver"
FILES = "Output"

Data = Annotated[
    str, typer.Argument(help="A CSV, Parquet or Arrow file, a folder of Parquet files, or the name of a dataset.")
]

RoleFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A TOML file with roles; options override it.", rich_help_panel=ROLES),
]

AllowUnique = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A,B",
        help="Keep these columns though most of their values belong to one person.",
        rich_help_panel=ROLES,
    ),
]

Against = Annotated[
    list[str] | None,
    typer.Option(
        metavar="skewness@2,similarity@0.5",
        help="Nobody is to be open to these attacks on sensitive values: conditions on beta and t that see to it.",
        rich_help_panel=PROMISE,
    ),
]

Formulation = Annotated[
    str, typer.Option(metavar="NAME", help="What is optimised: see 'list formulations'.", rich_help_panel=SEARCH)
]
Param = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="A further parameter of the formulation.", rich_help_panel=SEARCH),
]
Option = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="An option of the solver.", rich_help_panel=SEARCH),
]
Dask = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Solve blocks on the Dask cluster of this scheduler.", rich_help_panel=SEARCH),
]
GroupRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="From a Parquet folder into a folder: about how many records a worker holds at a time.",
        rich_help_panel=SEARCH,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Stop then, with the best found so far; a minute for solvers that would not end by themselves.",
        rich_help_panel=SEARCH,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Go on from the search that this file keeps, and keep it there: now and then, and when it ends.",
        rich_help_panel=SEARCH,
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="One seed in, the same answer out.", rich_help_panel=SEARCH)]

Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the release, as .csv or .parquet.", rich_help_panel=FILES),
]
Recode = Annotated[
    str | None,
    typer.Option(
        metavar="centroid|interval|hierarchy",
        help="How a class's values are released; the formulation's own way by default.",
        rich_help_panel=FILES,
    ),
]
Suppressed = Annotated[
    str | None,
    typer.Option(
        metavar="drop|star",
        help="Records that are left out are dropped, or are rows that say nothing; dropped by default.",
        rich_help_panel=FILES,
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="In a CSV, put an apostrophe before text that a spreadsheet would run as a formula.",
        rich_help_panel=FILES,
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write a report for whoever answers for the data: one HTML page.", rich_help_panel=FILES
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the run as JSON, and nothing else.", rich_help_panel=FILES)]
Force = Annotated[
    bool, typer.Option("--force", help="Replace what is to be written, if it exists already.", rich_help_panel=FILES)
]
