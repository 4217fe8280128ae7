"""`optmodels synthesize`: a table of invented people as a Parquet file of any length."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from optmodels.cli import options
from optmodels.cli.values import chosen

if TYPE_CHECKING:
    from optmodels.cli.output import Writer
    from optmodels.solver import OnProgress
    from optmodels.table.roles import Roles

KINDS = ("health", "sepsis")
HEALTH = 10_000
_DESCRIBED = 50_000  # records that a report looks at


def synthesize(
    what: Annotated[str, typer.Argument(metavar="|".join(KINDS), help="What to invent.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the table, as .parquet.")],
    rows: Annotated[
        int | None, typer.Option(min=1, help="How many records: 10000, or 119871 of sepsis, unless given.")
    ] = None,
    values: Annotated[
        int | None, typer.Option(help="Of health: the number of diagnoses (l_v), 11 unless given.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="One seed in, the same records out.")] = 0,
    save_roles: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the roles of the columns as TOML, for --roles.")
    ] = None,
    report: options.Report = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Invent a table: health records in the shape of MASS's, or hospital stays in that of MO-OBAM's sepsis table."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.errors import InputError

    chosen("synthesize", what, KINDS)
    if out.suffix != ".parquet":
        raise InputError(f"--out '{out}' must end in .parquet: records are written as they are drawn.")
    if values is not None and what != "health":
        raise InputError(f"--values is for health only: '{what}' has yes and no.")
    check_outputs({"--out": out, "--save-roles": save_roles, "--report": report}, inputs=[], force=force)
    began = perf_counter()
    with show.progress() as on_progress:
        records, roles, write = _sepsis(rows, seed) if what == "sepsis" else _health(rows, values, seed, on_progress)
        write_together([(out, write), *([(save_roles, roles.save)] if save_roles else [])])
    seconds = perf_counter() - began
    if report is not None:
        write_together([(report, page_writer(_page(what, out, records, seed, roles)))])
    if json:
        put_json({"what": what, "records": records, "seed": seed, "seconds": seconds, "file": str(out)})
        return
    show.say(f"Written: {show.escaped(out)} with {records:,} invented records in {seconds:.1f} s.")
    if save_roles:
        show.say(f"Roles: optmodels anonymize {show.escaped(out)} --roles {show.escaped(save_roles)} ...")
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _page(what: str, out: Path, records: int, seed: int, roles: Roles) -> str:
    """What was invented; of a long table the first records stand for all, which are drawn alike."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from optmodels.cli.synthetic_page import page
    from optmodels.cli.typed_command import source

    first = next(pq.ParquetFile(out).iter_batches(_DESCRIBED))
    frame = pa.Table.from_batches([first]).to_pandas()
    return page(what, frame, records, seed, roles, source(str(out)))


def _health(rows: int | None, values: int | None, seed: int, on_progress: OnProgress) -> tuple[int, Roles, Writer]:
    from optmodels.datasets.synthetic.health import ROLES, HealthRecords
    from optmodels.solver import Progress

    records = HealthRecords(seed=seed) if values is None else HealthRecords(values, seed)
    total = rows or HEALTH
    began = perf_counter()

    def on_rows(written: int) -> None:
        note = f"{written:,} of {total:,} records"
        on_progress(Progress("synthesize", perf_counter() - began, None, None, None, note, written, total))

    return total, ROLES, lambda draft: records.fill(draft, total, on_rows)


def _sepsis(rows: int | None, seed: int) -> tuple[int, Roles, Writer]:
    from optmodels.datasets.synthetic.sepsis import SEPSIS_RECORDS, sepsis_like

    table = sepsis_like(rows or SEPSIS_RECORDS, seed=seed)
    return table.n, table.roles, lambda draft: table.frame.to_parquet(draft, index=False)
