"""A chat from the first line to the last: with a service elsewhere, or one in this process."""

import asyncio
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager

import grpc
from rich.console import Console

from parley import connect, error_of
from parleyd.app.chat.conversation import Chat
from parleyd.app.chat.faults import explain
from parleyd.app.chat.terminal import Terminal
from parleyd.app.faults import CommandFailed
from parleyd.app.identity import development_token
from parleyd.app.logs import set_up_logs
from parleyd.app.settings import Settings
from parleyd.app.signals import cancelled_by_signals
from parleyd.app.wiring import whole_service

LOG_FILE = "chat.log"
"""In the data folder: log lines would tear the conversation apart."""


def chat_here(settings: Settings, conversation_id: str) -> None:
    """Chats with a service that runs in this process, until the person leaves.

    Raises:
        ConfigurationError: The database's address is malformed.
        CommandFailed: The service can't be started, or refuses the conversation.
    """
    with _log_file(settings):
        try:
            asyncio.run(_chat_here(settings, conversation_id))
        except asyncio.CancelledError as error:
            raise CommandFailed("Stopped by a signal.") from error


def chat_with(target: str, token: str, conversation_id: str) -> None:
    """Chats with the service at `target` until the person leaves.

    Raises:
        CommandFailed: The service can't be reached, or refuses.
    """
    asyncio.run(_chat_with(Console(), target, token, conversation_id))


async def _chat_here(settings: Settings, conversation_id: str) -> None:
    console = Console()
    async with AsyncExitStack() as stack:
        stack.enter_context(cancelled_by_signals())
        with console.status("Starting the service …"):
            alone = settings.model_copy(update={"web": False})
            service = await stack.enter_async_context(whole_service(alone))
        token = development_token(settings)
        if not settings.uses_gemini:
            console.print(
                "This is the demo agent. Set GEMINI_API_KEY to talk to Gemini.", style="dim"
            )
        await _chat_with(console, service.address, token, conversation_id)


async def _chat_with(console: Console, target: str, token: str, conversation_id: str) -> None:
    async with connect(target, token) as client:
        console.print("Ctrl-D leaves.", style="dim")
        try:
            await Chat(client, Terminal(console)).run(conversation_id)
        except grpc.aio.AioRpcError as error:
            raise CommandFailed(f"{target}: {explain(error_of(error))}") from error


@contextmanager
def _log_file(settings: Settings) -> Generator[None]:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        file = (settings.data_dir / LOG_FILE).open("a")
    except OSError as error:
        raise CommandFailed(f"The data folder can't be used: {error}") from error
    with file:
        set_up_logs(settings.log_level, settings.log_style, file)
        yield
