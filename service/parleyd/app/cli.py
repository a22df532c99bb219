"""The command line, `parleyd`.

Commands import what they run on when they run: `parleyd --help` loads none of it.
"""

# ruff: noqa: PLC0415 - see above

import os
import re
import sys
from datetime import timedelta
from typing import Annotated, Final

import typer

from parleyd.app.asks.commands import commands as asks
from parleyd.app.blocks.commands import commands as blocks
from parleyd.app.faults import CommandFailed, ConfigurationError
from parleyd.app.gateway.commands import gateway
from parleyd.app.notifier.commands import commands as notices

app = typer.Typer(
    name="parleyd",
    help="Lets an agent ask a person in the middle of its turn, and go on with the answer.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(asks)
app.add_typer(blocks)
app.add_typer(notices)
app.command()(gateway)

_SPAN: Final = re.compile(r"([1-9][0-9]{0,5})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def main() -> None:
    """Runs a command.

    Exits 0 when it is done, 2 when it was given what can't be served, and 1 when it failed; both
    with a sentence on standard error.
    """
    # Programs that we start are no forks that go on with gRPC, which warns of such.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    try:
        app()
    except ConfigurationError as error:
        _stop(error, 2)
    except CommandFailed as error:
        _stop(error, 1)
    except KeyboardInterrupt:
        sys.exit(130)


@app.command()
def serve(
    *,
    development: Annotated[
        bool,
        typer.Option("--development", help="Sign tokens with a key of this machine's own."),
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Listen here; 0 picks a free port.")
    ] = None,
    gateway: Annotated[
        bool,
        typer.Option("--gateway", help="Run a gateway in front: every protocol on one port."),
    ] = False,
) -> None:
    """Serves until it is told to stop.

    Without PARLEY_DATABASE_URL it starts a PostgreSQL of its own.
    """
    from parleyd.app import serve as service
    from parleyd.app.logs import set_up_logs
    from parleyd.app.settings_sources import load_settings

    settings = load_settings(development=development, port=port, gateway=gateway)
    set_up_logs(settings.log_level, settings.log_style)
    service.serve(settings)


@app.command()
def migrate() -> None:
    """Brings the database to this version; serve does so too."""
    import asyncio

    from parleyd.app.database import migrated_database
    from parleyd.app.logs import set_up_logs
    from parleyd.app.settings_sources import load_settings

    settings = load_settings()
    set_up_logs(settings.log_level, settings.log_style)

    async def run() -> None:
        async with migrated_database(settings):
            pass

    asyncio.run(run())
    typer.echo("The database is at this version.")


@app.command()
def token(
    *,
    subject: Annotated[
        str | None, typer.Option(help="Whom the token speaks for; else developer.")
    ] = None,
    service: Annotated[
        str | None, typer.Option(help="The service that it speaks for instead of a person.")
    ] = None,
    scope: Annotated[
        list[str] | None, typer.Option(help="What the service may do, as blocks.generate.")
    ] = None,
    lifetime: Annotated[
        str, typer.Option(metavar="TIME", help="How long it counts: 90s, 30m, 12h or 7d.")
    ] = "24h",
) -> None:
    """Prints a token for a service in development on this machine."""
    span = _span(lifetime)
    if service and subject:
        raise typer.BadParameter("A token speaks for a person or a service: leave one out.")
    if bool(service) != bool(scope):
        raise typer.BadParameter("A token of a service needs --service and --scope, both.")
    from parleyd.app import identity
    from parleyd.app.settings_sources import load_settings

    settings = load_settings(development=True)
    if service and scope:
        typer.echo(identity.development_service_token(settings, service, scope, span))
    else:
        typer.echo(identity.development_token(settings, subject or identity.DEVELOPER, span))


@app.command()
def demo() -> None:
    """Plays a whole conversation between an agent, a phone and a watch."""
    from rich.console import Console

    from parleyd.app.demo import play
    from parleyd.app.demo.transcript import Transcript
    from parleyd.app.logs import set_up_logs

    set_up_logs("warning", "console")
    play.demo(Transcript(Console(highlight=False)))


@app.command()
def chat(
    *,
    target: Annotated[
        str | None, typer.Option(help="HOST:PORT of a running service; else one is started here.")
    ] = None,
    token: Annotated[
        str | None, typer.Option(help="A token for it; else one of this machine's key.")
    ] = None,
    conversation: Annotated[str, typer.Option(help="Go on with this conversation.")] = "",
) -> None:
    """Talks to the agent in this terminal; Ctrl-D leaves.

    What a reply lets you press stands in a menu, below the line that lets you write a message.
    """
    if token and not target:
        raise typer.BadParameter("A token is of use with --target alone.")
    from parleyd.app.chat import session
    from parleyd.app.identity import development_token
    from parleyd.app.settings_sources import load_settings

    if target and token:
        session.chat_with(target, token, conversation)
        return
    settings = load_settings(development=True, port=0)
    if target:
        session.chat_with(target, development_token(settings), conversation)
    else:
        session.chat_here(settings, conversation)


@app.command()
def mcp() -> None:
    """Lets agents validate block documents: an MCP server on standard input and output.

    Ends with the input. It needs no settings and no service.
    """
    from parleyd.app.mcp_server import mcp_server

    mcp_server().run("stdio")


def _span(text: str) -> timedelta:
    match = _SPAN.fullmatch(text)
    if not match:
        raise typer.BadParameter("Write a number and a unit: 90s, 30m, 12h or 7d.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def _stop(error: Exception, code: int) -> None:
    typer.echo(f"parleyd: {error}", err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
