"""`optmodels anonymize FOLDER --out FOLDER`: tables that fit into no memory, from Parquet parts to Parquet parts."""

from __future__ import annotations

from pathlib import Path

from optmodels.cli import show
from optmodels.cli.output import Writer, page_writer, put_json, write_together
from optmodels.cli.typed_command import source
from optmodels.errors import InputError
from optmodels.problem import Formulation
from optmodels.recoding import Method
from optmodels.solver import Solver
from optmodels.table.roles import Roles


def is_meant(data: str, out: Path | None) -> bool:
    """Whether a folder is to become a folder; into a file it goes by way of memory."""
    return Path(data).is_dir() and out is not None and out.suffix.lower() not in (".csv", ".parquet")


def anonymize(
    data: Path,
    out: Path,
    *,
    roles: Roles,
    model: Formulation,
    search: Solver,
    method: Method | None,
    group_rows: int | None,
    time_limit: float | None,
    seed: int,
    report: Path | None,
    save_roles: Path | None,
    force: bool,
    json: bool,
    allow_unique: tuple[str, ...] = (),
) -> None:
    """Anonymise a folder, and say what came of it."""
    from optmodels.audit.kept import check_kept, kept_columns
    from optmodels.folders.anonymize import GROUP_ROWS, anonymize_folder
    from optmodels.folders.pieces import first_records
    from solvers.blocks import Blocks

    if not isinstance(search, Blocks) and search.name != "auto":
        raise InputError(
            f"A folder is anonymised into a folder by the solver 'blocks', not by '{search.name}': use --solver blocks "
            f"--option inner={search.name}, or name a file with --out to go by way of memory."
        )
    check_kept(kept_columns(first_records(data, roles), tuple(roles.quasi), roles.sensitive), allow_unique)
    with show.progress() as on_progress:
        release = anonymize_folder(
            data,
            out,
            roles=roles,
            formulation=model,
            solver=search if isinstance(search, Blocks) else None,
            method=method,
            group_rows=group_rows or GROUP_ROWS,
            seed=seed,
            time_limit=time_limit,
            report=report is not None,
            force=force,
            on_progress=on_progress,
        )
    files: list[tuple[Path, Writer]] = []
    if report is not None:
        files.append((report, page_writer(release.to_html(source=source(str(data))))))
    if save_roles is not None:
        files.append((save_roles, roles.save))
    write_together(files)
    audit = release.audit.to_dict()
    if json:
        kept = ("stop", "formulation", "solver", "values", "seconds", "seed", "details", "remark")
        record = {key: release.provenance[key] for key in kept}
        put_json({"status": "feasible", **record, "bound": None, "gap": None, "audit": audit})
        return
    show.side_by_side({"after": show.measures(audit) | dict(release.values)})
    show.lost(release.audit.attribute_loss)
    show.kept(audit)
    show.say(show.escaped(release.provenance["remark"]))
    for path in (out, *(path for path, _ in files)):
        show.say(f"Written: {show.escaped(path)}")
