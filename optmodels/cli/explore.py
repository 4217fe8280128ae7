"""`optmodels explore`: fronts, points, runs and studies in a browser, served on this machine alone."""

from __future__ import annotations

from typing import Annotated

import typer

from optmodels.cli import options


def explore(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FRONT_DIR|RUNS_DB|DATA]...",
            help="Folders of fronts, files of studies, a data file or the name of a dataset.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; a free one by default.", rich_help_panel=options.FILES)
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.", rich_help_panel=options.FILES)] = True,
) -> None:
    """Look at fronts, understand them, leave with a release: a page in the browser, on this machine alone."""
    import webbrowser

    from optmodels.explorer.server import Explorer
    from optmodels.explorer.workspace import Workspace

    workspace = Workspace()
    try:
        for place in places or ():
            workspace.open(place)
        explorer = Explorer(workspace, port)
    except BaseException:
        workspace.close()
        raise
    typer.echo(f"Explorer: {explorer.gate.address}")
    typer.echo("The address holds the key to your data: keep it. Ctrl-C ends the explorer and its runs.", err=True)
    if browser:
        webbrowser.open(explorer.gate.address)
    try:
        explorer.serve_forever(poll_interval=0.2)
    except KeyboardInterrupt:
        typer.echo("The explorer has ended.", err=True)
    finally:
        explorer.server_close()
