"""From whatever went wrong to one paragraph on stderr and an exit code.

0 done, 1 the user's input is wrong, 2 infeasible, 3 stopped without a solution, 4 a promise is
broken.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import typer

from optmodels.cli.memory import NO_MEMORY, is_short_of_memory, was_near_limit
from optmodels.errors import InputError, OptmodelsError, nearest

DEBUG = "OPTMODELS_DEBUG"


@runtime_checkable
class UsageError(Protocol):
    """What click raises for a wrong command line: known by its shape, since typer moved click between versions."""

    def format_message(self) -> str:
        """The message without usage lines."""


def exit_code(command: Callable[[], object]) -> int:
    """Run a command; tell what went wrong, if anything, and return the exit code."""
    try:
        returned = command()
        sys.stdout.flush()
    except OptmodelsError as error:
        if is_short_of_memory(error.__cause__):  # whatever it was about when memory was over
            return tell(NO_MEMORY, error.exit_code)
        if isinstance(error.__cause__, KeyboardInterrupt):  # maybe in the midst of an import, which cannot go on now
            return tell(str(error), error.exit_code)
        from optmodels.cli.wording import in_options

        return tell(in_options(str(error)), error.exit_code)
    except BrokenPipeError:
        # Python flushes stdout once more as it leaves; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except typer.Abort:
        return tell("Stopped: nothing was written.", 3)
    except Exception as error:
        if isinstance(error, UsageError):
            return tell(misuse(error), InputError.exit_code)
        return tell(NO_MEMORY if is_short_of_memory(error) or was_near_limit() else unexpected(error), 1)
    return returned if isinstance(returned, int) else 0


def tell(message: str, code: int) -> int:
    """Put an error on stderr as one paragraph; hand the exit code back."""
    paragraph = " ".join(message.split())
    typer.echo(typer.style("Error: ", fg=typer.colors.RED, bold=True) + paragraph, err=True)
    return code


def misuse(error: UsageError) -> str:
    """A wrong command line in one paragraph, with the nearest option that exists and where to read on."""
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    if hasattr(error, "possibilities") and (option := getattr(error, "option_name", None)) is not None:
        known = [name for parameter in context.command.params for name in parameter.opts if name.startswith("-")]
        message = f"There is no option '{option}'.{nearest(option, known)}"
    stop = "" if message.endswith((".", "?")) else "."
    return f"{message}{stop} See '{context.command_path} --help'."


def unexpected(error: Exception) -> str:
    """A mistake of ours in one paragraph; the traceback comes before it only when asked for."""
    if os.environ.get(DEBUG):
        typer.echo("".join(traceback.format_exception(error)), err=True)
    return (
        f"Something unexpected happened, and it is a mistake in optmodels: {type(error).__name__}: {error}. "
        f"Please report it together with the traceback, which {DEBUG}=1 shows."
    )
