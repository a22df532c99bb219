"""The commands of `parleyd asks`. They import what they run on when they run."""

# ruff: noqa: PLC0415 - see above

from pathlib import Path
from typing import Annotated

import typer

commands = typer.Typer(
    name="asks",
    help="Checks questions and answers without a service.",
    no_args_is_help=True,
)


@commands.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...", help="A case as JSON, or a case on each line; - is standard input."
        ),
    ],
) -> None:
    """Says of each case what is wrong with its ask or answer, or what card its ask has.

    A case is an object with name, op (ask, answer or card), kind, input, for an answer response,
    and, if not full, surface; other keys don't count. Prints a line of JSON for each. Exits 2 if
    one could not be read, once it has printed the others.
    """
    from parleyd.app.asks.check import outcome_of
    from parleyd.app.case_files import print_outcomes

    raise typer.Exit(print_outcomes(files, outcome_of))


@commands.command()
def schemas(
    directory: Annotated[Path, typer.Argument(help="The folder to write into.")],
) -> None:
    """Writes JSON Schemas of asks, answers, cards and the list of pending asks."""
    from parleyd.app.asks.schemas import write_schemas

    typer.echo(f"Wrote {write_schemas(directory)} schemas.")
