"""`optmodels tune`: k, the number of classes and lambda by a stated rule, and how sure the choice is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from optmodels.cli import options
from optmodels.cli.promise_options import takes_promise
from optmodels.cli.role_options import TypedRoles, takes_roles
from optmodels.cli.values import pairs
from optmodels.errors import InputError


@takes_roles()
@takes_promise
def tune(
    data: options.Data,
    columns: TypedRoles,
    promise: dict[str, Any],
    roles: options.RoleFile = None,
    rule: Annotated[
        str,
        typer.Option(
            metavar="knee|one-se|cost",
            help="knee: of what is lost, found and guessed; one-se: the fewest found where a classifier is within "
            "a standard error of the best; cost: the benefit less the harm by attacks that are worth their cost.",
            rich_help_panel=options.SEARCH,
        ),
    ] = "knee",
    formulation: options.Formulation = "mo-obam",
    param: options.Param = None,
    solver: Annotated[
        str, typer.Option(metavar="NAME", help="What finds the fronts.", rich_help_panel=options.SEARCH)
    ] = "nsga2",
    evaluations: Annotated[
        int, typer.Option(min=1, help="Evaluations for the front of one k.", rich_help_panel=options.SEARCH)
    ] = 300,
    repeats: Annotated[
        int,
        typer.Option(
            min=0,
            help="Choices made again on 80% of the records, to see how sure it is.",
            rich_help_panel=options.SEARCH,
        ),
    ] = 5,
    cost: Annotated[
        float,
        typer.Option(
            help="Of --rule cost: what an attack costs, as a share of what a person found is worth to the attacker.",
            rich_help_panel=options.SEARCH,
        ),
    ] = 0.05,
    harm: Annotated[
        float,
        typer.Option(
            help="Of --rule cost: what a person found costs, where the complete record of one is worth 1.",
            rich_help_panel=options.SEARCH,
        ),
    ] = 10.0,
    classifier: Annotated[
        str, typer.Option(help="Of --rule one-se: who learns from releases.", rich_help_panel=options.SEARCH)
    ] = "lr",
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; all cores by default.")] = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write all candidates as CSV.", rich_help_panel=options.FILES),
    ] = None,
    report: options.Report = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Choose k, the number of classes and lambda from fronts by a rule, and say how sure the choice is."""
    from optmodels.cli import show
    from optmodels.cli.output import check_outputs, page_writer, put_json, write_together
    from optmodels.cli.parts import formulation_of
    from optmodels.cli.source import table_of
    from optmodels.cli.tuning_page import page
    from optmodels.cli.typed_command import source
    from optmodels.tuning import RULES
    from optmodels.tuning import tune as choose

    if rule not in RULES:
        from optmodels.errors import unknown

        raise unknown("--rule", rule, RULES)
    if "k" in promise:
        raise InputError("--k is what tune chooses: leave it out.")
    check_outputs({"--out": out, "--report": report}, inputs=[Path(data), roles, *columns.files], force=force)
    model = formulation_of(formulation, {"k": 2, **promise}, pairs("--param", param or ()))
    table = table_of(data, columns.read(), roles)
    with show.steps("tune") as on_step:
        found = choose(
            table,
            model,
            rule=rule,
            repeats=repeats,
            evaluations=evaluations,
            solver=solver,
            cost=cost,
            harm=harm,
            classifier=classifier,
            seed=seed,
            jobs=jobs,
            on_step=lambda done, total: on_step(done, total, "front"),
        )
    if out is not None:
        write_together([(out, lambda file: found.candidates.to_csv(file, index=False))])
    command = _command(data, formulation, found.parameters, found.wish)
    best = found.candidates.sort_values("lost").groupby("k", sort=True).first().reset_index()
    if report is not None:
        text = page(list(found.lines()), found.parameters, best, command, source(data))
        write_together([(report, page_writer(text))])
    if json:
        put_json({**found.to_dict(), "command": command})
        return
    show.say("The least loss at each k:")
    titles = ["k", "classes", "lost of one class", "people found", "values guessed", "entropy, bits"]
    show.grid(
        titles,
        [
            [
                f"{row.k}",
                f"{row.classes}",
                f"{row.lost:.2%}",
                f"{row.found:.2%}",
                f"{row.guessed:.1%}",
                f"{row.entropy:.3g}",
            ]
            for row in best.itertuples()
        ],
    )
    for line in found.lines():
        show.say(show.escaped(line))
    show.say(f"Next, with the same columns and conditions: {show.escaped(command)}")
    if out is not None:
        show.say(f"Written: {show.escaped(out)}")
    if report is not None:
        show.say(f"Written: {show.escaped(report)}")


def _command(data: str, formulation: str, parameters: dict[str, Any], wish: dict[str, float]) -> str:
    """The command that anonymises with what was chosen; other options of this one go along."""
    words = ["optmodels anonymize", data, "--formulation", formulation, "--k", str(parameters["k"])]
    words += [f"--param {name}={value}" for name, value in parameters.items() if name != "k"]
    if wish:
        words += ["--wish", ",".join(f"{name}={value:g}" for name, value in wish.items())]
    return " ".join([*words, "--out release.csv"])
