"""The commands of `parleyd notices`. They import what they run on when they run."""

# ruff: noqa: PLC0415 - see above

from typing import Annotated

import typer

commands = typer.Typer(
    name="notices",
    help="Shows what the webhook was told of asks, and tells it again what it did not take.",
    invoke_without_command=True,
)


@commands.callback()
def notices(
    context: typer.Context,
    *,
    dead: Annotated[
        bool, typer.Option("--dead", help="Only what was given up after its last try.")
    ] = False,
    most: Annotated[int, typer.Option(min=1, max=10_000, help="How many to show.")] = 100,
) -> None:
    """Prints notices, the newest first, a line of JSON each.

    None of them holds a word of what was asked, or of the receiver's answers.
    """
    if context.invoked_subcommand:
        return
    import asyncio

    from parleyd.app.notifier.listing import listed

    for line in asyncio.run(listed(most, dead=dead)):
        typer.echo(line)


@commands.command()
def retry(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Ids of dead notices.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="Every dead notice.")] = False,
) -> None:
    """Makes dead notices due, as if they had never been tried; a running service sends them.

    What is told of an ask that waits no more is dropped then. Exits 1 if an id is none of a dead
    notice, once the others are due.
    """
    if bool(ids) == every:
        raise typer.BadParameter("Name the notices, or write --all.")
    import asyncio

    from parleyd.app.notifier.listing import made_due

    count = asyncio.run(made_due(ids or ()))
    typer.echo(f"{count} {'notice is' if count == 1 else 'notices are'} due.")
