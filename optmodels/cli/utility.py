"""`optmodels utility`: what classifiers learn from a release, beside what they learn from the original."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from optmodels.cli import options
from optmodels.cli.role_options import TypedRoles, made_hierarchies, takes_roles
from optmodels.cli.values import chosen, names
from optmodels.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from optmodels.cli.output import Writer
    from optmodels.metrics.utility import Utility
    from optmodels.table.reading import TextFormat

ROWS = "Rows"
MODELS = "Classifiers and metrics"
FILES = ("scores.csv", "summary.csv", "importance.csv", "utility.json", "utility.html")


@takes_roles("target", "quasi", "orders", "hierarchies", "separator", "decimal", "encoding")
def utility(
    original: Annotated[str, typer.Argument(help="The original: a CSV, Parquet or Arrow file, or a dataset.")],
    release: Annotated[list[Path], typer.Argument(help="One release of it or several.")],
    columns: TypedRoles,
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns to predict from; all by default.", rich_help_panel=options.ROLES),
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Original rows that were not released, to test on.", rich_help_panel=ROWS),
    ] = None,
    linked: Annotated[
        bool,
        typer.Option("--linked", help="Rows of the release are in the original's order.", rich_help_panel=ROWS),
    ] = False,
    tested_on: Annotated[
        str | None,
        typer.Option(
            metavar="original|release",
            help="What models of the release are tested on: the original where rows are held out or linked, other rows "
            "of the release otherwise.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    splits: Annotated[int, typer.Option(help="Random splits, or repetitions.", rich_help_panel=ROWS)] = 10,
    test_share: Annotated[float, typer.Option(help="Share of the rows to test on.", rich_help_panel=ROWS)] = 0.3,
    folds: Annotated[int | None, typer.Option(help="Cross-validation instead.", rich_help_panel=ROWS)] = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Of dt, rf, ert, xgboost, svm, svm-large, svm-rbf, lr, nb, knn, gb, mlp; or all.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Of f1, f1_macro, f1_weighted, accuracy, mcc, recall, recall_macro, precision, auc.",
            rich_help_panel=MODELS,
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="The target's value that F1 and recall are about.", rich_help_panel=MODELS),
    ] = None,
    categories: Annotated[
        str, typer.Option(metavar="onehot|codes", help="How categories become features.", rich_help_panel=MODELS)
    ] = "onehot",
    scale: Annotated[
        bool, typer.Option(help="Standardise where features are compared.", rich_help_panel=MODELS)
    ] = True,
    seed: options.Seed = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Splits at a time, each in a process; all cores by default.", min=1)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the scores, a plot and JSON.", rich_help_panel=options.FILES),
    ] = None,
    report: options.Report = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Train classifiers on a release and on the original, test both, and compare what is kept."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, made_folder, page_writer, put_json, write_together
    from optmodels.cli.source import is_dataset
    from optmodels.cli.typed_command import source
    from optmodels.datasets import DATASETS
    from optmodels.datasets import frame as dataset_frame
    from optmodels.metrics.utility import Protocol, available, utility_of_frames
    from optmodels.metrics.utility.classifiers import USUAL
    from optmodels.metrics.utility.features import Categories
    from optmodels.metrics.utility.protocol import TestedOn

    wanted = names("--classifiers", classifiers or USUAL)
    people_known = linked or held_out is not None
    how = Protocol(
        classifiers=available() if wanted == ("all",) else wanted,
        metrics=names("--metrics", metrics or ("f1", "accuracy", "mcc")),
        tested_on=chosen("--tested-on", tested_on, get_args(TestedOn))
        if tested_on
        else ("original" if people_known else "release"),
        splits=splits,
        test_share=test_share,
        folds=folds,
        seed=seed,
        positive=positive,
        categories=chosen("--categories", categories, get_args(Categories)),
        scale=scale,
        jobs=jobs,
    )
    if held_out is not None and (linked or tested_on == "release"):
        raise InputError("--held-out names the rows to test on; leave out --linked and --tested-on release.")
    asked = columns.read()
    inputs = [Path(original), *release, held_out, *columns.files]
    with made_folder(out) if out is not None else nullcontext():
        folder = {f"--out: {name}": out / name for name in FILES} if out is not None else {}
        check_outputs({**folder, "--report": report}, inputs=inputs, force=force)
        known = DATASETS[original].roles if is_dataset(original) else None
        kinds = {**(known.quasi if known else {}), **(asked.get("quasi") or {})}
        text = [name for name, kind in kinds.items() if kind != "numeric"]
        written: TextFormat = {
            "separator": asked.get("separator"),
            "decimal": asked.get("decimal"),
            "encoding": asked.get("encoding"),
        }
        frame = dataset_frame(original) if known else _frame(Path(original), text, written)
        predicted = asked.get("target") or (known.target if known else None)
        if predicted is None:
            present = ", ".join(map(str, frame.columns))
            raise InputError(f"Which column is to be predicted? Name it with --target. The columns are {present}.")
        with show.steps("trial") as on_progress:
            found = utility_of_frames(
                frame,
                {_title(path, release): _frame(path, text, written) for path in release},
                how,
                target=predicted,
                held_out=None if held_out is None else _frame(held_out, text, written),
                linked=linked,
                features=names("--features", features) if features else None,
                kinds=kinds,
                orders=asked.get("orders"),
                hierarchies=made_hierarchies(asked.get("hierarchies") or {}, frame),
                on_progress=on_progress,
            )
        files = [] if out is None else [(out / name, write) for name, write in _writers(found).items()]
        if report is not None:
            files.append((report, page_writer(found.to_html(source=source(original)))))
        write_together(files)
    if json:
        put_json(found.to_dict())
        return
    _show(found)
    if out is not None:
        show.say(f"Written: {show.escaped(out)}/ with {', '.join(FILES)}.")
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _frame(path: Path, text: list[str], written: TextFormat) -> pd.DataFrame:
    from optmodels.table.reading import column_names, read_frame

    present = column_names(path, **written)
    return read_frame(path, text=[name for name in text if name in present], **written)


def _title(path: Path, among: list[Path]) -> str:
    """The file's name, with as much of its path as tells it from the others."""
    alone = sum(other.stem == path.stem for other in among) == 1
    return path.stem if alone and path.stem != "original" else str(path)


def _writers(found: Utility) -> dict[str, Writer]:
    from optmodels.cli.output import to_json

    page, document = found.figure(), to_json(found.to_dict())
    return {
        "scores.csv": lambda file: found.scores.to_csv(file, index=False),
        "summary.csv": lambda file: found.summary.to_csv(file, index=False),
        "importance.csv": lambda file: found.shifts.to_csv(file, index=False),
        "utility.json": lambda file: file.write_text(document + "\n", encoding="utf-8"),
        "utility.html": lambda file: page.write_html(file, include_plotlyjs=True),
    }


def _shown(number: Any, form: str) -> str:
    return "-" if number != number else form.format(number)


def _show(found: Utility) -> None:
    from optmodels.cli import show

    rows = found.summary[found.summary["version"] != "original"]
    heads = [
        *("release", "classifier", "metric"),
        f"original's,\non {found.asked_of_original} rows",
        f"release's,\non {found.asked} rows",
        *("kept", "p"),
        *(["resampled p"] if found.paired else []),
    ]
    show.grid(
        heads,
        [
            [
                row.version,
                row.classifier,
                row.metric,
                _shown(row.original, "{:.4f}"),
                _shown(row.mean, "{:.4f}"),
                _shown(row.retention, "{:.1f}%"),
                _shown(row.p, "{:.3f}"),
                _shown(row.p_resampled, "{:.3f}"),
            ][: len(heads)]
            for row in rows.itertuples()
        ],
    )
    if found.asked == "released":
        show.say("Models of a release were asked about released rows, which are coarser: more than 100% can be kept.")
    for (version, metric), group in rows[rows["trials"] < found.protocol.trials].groupby(["version", "metric"]):
        computed = ", ".join(f"{row.classifier} in {row.trials}" for row in group.itertuples())
        show.say(
            f"[yellow]Note:[/] {metric} of [bold]{show.escaped(version)}[/] can be computed in fewer than "
            f"{found.protocol.trials} trials: {computed}."
        )
    for version, group in found.overfit.groupby("version", sort=False):
        better = group["train_accuracy"] > group["accuracy"]
        by_heart = group.loc[better & ~group["passes"], "classifier"].tolist()
        if by_heart:
            show.say(
                f"Learned by heart from [bold]{show.escaped(version)}[/] (15 points or more better on rows learned "
                f"from): {', '.join(by_heart)}."
            )
    show.say(f"Protocol: {show.escaped(found.protocol.describe())}.")
    for note in found.notes:
        show.say(f"[yellow]Note:[/] {show.escaped(note)}")
