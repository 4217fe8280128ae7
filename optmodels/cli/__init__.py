"""The command line: `optmodels inspect`, `anonymize`, `pareto`, `release`, `audit`, `verify`, `study` and others.

Nothing heavy is imported before a command runs, so that help and version appear at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from optmodels.cli import (
    anonymize,
    audit,
    best,
    certificate,
    demo,
    explore,
    hierarchy,
    inspect,
    listing,
    pareto,
    release,
    reproduce,
    study,
    synthesize,
    tune,
    utility,
    verify,
    warm_up,
)
from optmodels.cli.errors import exit_code
from optmodels.cli.memory import check_room
from optmodels.cli.typed_command import typed
from optmodels.errors import NoSolutionError

__all__ = ["app", "main"]


class Commands(TyperGroup):
    """Commands whose exit codes mean what the package promises, however they end."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command line and leave Python with its exit code."""
        run = super().main  # which, when it does not stand alone, hands its errors over
        words = sys.argv[1:] if args is None else args

        def command() -> Any:
            if not {"-h", "--help", "--version"}.intersection(words):  # which need no libraries
                check_room()
            return run(args, prog_name, complete_var, False, windows_expand_args, **extra)

        with typed(words):
            code = exit_code(command)
        sys.exit(code)

    def invoke(self, ctx: Any) -> Any:
        """Run one command; Ctrl-C outside a solver, which returns its best, leaves nothing to show."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise NoSolutionError("Interrupted before there was a solution: nothing was written.") from interrupt


app = typer.Typer(
    name="optmodels",
    cls=Commands,
    help="Publish a table of people safely: anonymise it by optimisation, and audit what is released.",
    epilog="Example: optmodels anonymize german --k 5 --out release.csv",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Publish a table of people safely: anonymise it by optimisation, and audit what is released."""
    if show_version:
        typer.echo(f"optmodels {version('optmodels')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


app.command(epilog="Example: optmodels inspect patients.csv --out roles.toml")(inspect.inspect)
app.command(epilog="Example: optmodels hierarchy prefix:3,2 --data patients.csv --column postcode --out postcode.csv")(
    hierarchy.hierarchy
)
app.command(
    epilog="Example: optmodels anonymize patients.csv --numeric age --categorical sex,postcode --sensitive illness "
    "--identifier name --k 5 --distinct-l 2 --out release.csv --report report.html"
)(anonymize.anonymize)
app.command(
    epilog="Example: optmodels pareto patients.csv --numeric age --categorical sex,postcode --sensitive illness "
    "--identifier name --k 5 --objectives loss,entropy --time-limit 60 --out front"
)(pareto.pareto)
app.command(epilog="Example: optmodels tune german --rule cost --cost 0.05 --harm 10")(tune.tune)
app.command(epilog="Example: optmodels release front --point knee --out release.csv --report report.html")(
    release.release
)
app.command(epilog="Example: optmodels audit release.csv --quasi age,sex,postcode --sensitive illness --json")(
    audit.audit
)
app.command(epilog="Example: optmodels verify release.csv --original patients.csv")(verify.verify)
app.command(
    epilog="Example: optmodels utility patients.csv release.csv --target illness --classifiers rf,lr --out utility"
)(utility.utility)
app.command(epilog="Example: optmodels reproduce aminifar --quick --out aminifar")(reproduce.reproduce)
app.command(epilog="Example: optmodels explore front --no-browser")(explore.explore)
app.command("list", epilog="Example: optmodels list solvers")(listing.list_)
app.command(epilog="Example: optmodels demo --out demo")(demo.demo)
app.command(epilog="Example: optmodels synthesize health --rows 1000000 --out health.parquet --save-roles health.toml")(
    synthesize.synthesize
)
app.command("warm-up")(warm_up.warm_up)
app.add_typer(study.app, name="study")
app.add_typer(certificate.app, name="certificate")
app.add_typer(best.app, name="best")


def main() -> None:
    """The entry point of the `optmodels` script."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # how schedulers end a program: as Ctrl-C would
    app(prog_name="optmodels")
