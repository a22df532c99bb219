"""Builds the service: every part is made here, by plain calls, and plugged into the next."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final
from uuid import uuid4

import structlog

from parleyd.app.database import migrated_database
from parleyd.app.faults import CommandFailed
from parleyd.app.identity import authenticator_of
from parleyd.app.ids import RandomIds
from parleyd.app.settings import DEMO_MODEL, GEMINI_MODEL, Settings
from parleyd.models.demo import DemoModel
from parleyd.rpc.auth import Authenticator
from parleyd.rpc.server import build_server
from parleyd.store.conversations import PostgresConversationStore
from parleyd.store.engine import create_engine
from parleyd.store.turns import PostgresTurnStore
from parleyd.turns.model import Model
from parleyd.turns.options import TurnOptions
from parleyd.turns.turns import Turns

STOP_SECONDS: Final = 30.0
"""How long running turns may take to end when the service stops."""
DEMO_PAUSE_SECONDS: Final = 0.02

log = structlog.stdlib.get_logger()


class RunningService:
    """A service that answers at `address`, `host:port`."""

    def __init__(
        self, address: str, stop_calls: Callable[[float], Awaitable[None]], turns: Turns
    ) -> None:
        self.address = address
        self._stop_calls = stop_calls
        self._turns = turns

    async def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Refuses new calls at once and ends when the running turns have, after `seconds` at most.

        Whoever follows a turn is told of its end. A repeat changes nothing.
        """
        await asyncio.gather(self._stop_calls(seconds), self._turns.drain(seconds))


@asynccontextmanager
async def running_service(
    settings: Settings,
    *,
    database_url: str,
    authenticator: Authenticator | None = None,
    model: Model | None = None,
) -> AsyncGenerator[RunningService]:
    """Serves on the database at `database_url`, whose schema is this version's, until it is left.

    `authenticator` and `model` stand in for those that the settings name. Where there is no model
    turns are refused.

    Raises:
        ConfigurationError: Nobody is trusted.
        CommandFailed: The address can't be had.
    """
    async with AsyncExitStack() as stack:
        ids = RandomIds()
        engine = create_engine(database_url, pool_size=settings.pool_size)
        stack.push_async_callback(engine.dispose)
        title_model: Model | None = None
        if model is None:
            model, title_model = _models_of(settings, stack)
        if model is None:
            log.warning("no_model", hint="turns are refused; set GEMINI_API_KEY")
        turns = Turns(
            store=PostgresTurnStore(engine),
            model=model,
            title_model=title_model,
            ids=ids,
            options=_options_of(settings),
            holder=f"{socket.gethostname()}:{os.getpid()}:{uuid4()}",
        )
        server = await build_server(
            turns=turns,
            conversations=PostgresConversationStore(engine),
            authenticator=authenticator or authenticator_of(settings),
            ids=ids,
        )
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        try:
            port = server.add_insecure_port(f"{host}:{settings.port}")
        except RuntimeError as error:
            raise CommandFailed(
                f"The address {host}:{settings.port} can't be had; it may be in use: choose "
                "another port with PARLEY_PORT, or 0 for a free one."
            ) from error
        await server.start()
        service = RunningService(f"{host}:{port}", server.stop, turns)
        stack.push_async_callback(service.stop)
        yield service


@asynccontextmanager
async def whole_service(settings: Settings) -> AsyncGenerator[RunningService]:
    """Serves as `running_service` does, with the database that the settings name.

    Raises:
        ConfigurationError: Nobody is trusted, or the database's address is malformed.
        CommandFailed: The database or the address can't be had.
    """
    authenticator = authenticator_of(settings)
    async with (
        migrated_database(settings) as url,
        running_service(settings, database_url=url, authenticator=authenticator) as service,
    ):
        yield service


def _options_of(settings: Settings) -> TurnOptions:
    return TurnOptions(
        ask_kinds=settings.asks,
        max_steps=settings.max_steps,
        system_prompt=settings.system_prompt,
        allow_client_system_instruction=settings.allow_client_system_instruction,
    )


def _models_of(settings: Settings, stack: AsyncExitStack) -> tuple[Model | None, Model | None]:
    """Returns the model and, where it is another one, that of titles."""
    if settings.uses_gemini:
        model = _gemini(settings, settings.model or GEMINI_MODEL, stack)
        title_model = settings.title_model and _gemini(settings, settings.title_model, stack)
        return model, title_model or None
    if settings.model == DEMO_MODEL or settings.development:
        return DemoModel(pause=DEMO_PAUSE_SECONDS), None
    return None, None


def _gemini(settings: Settings, name: str, stack: AsyncExitStack) -> Model:
    from parleyd.models.gemini import GeminiModel  # noqa: PLC0415 - half a second, for a key alone

    assert settings.gemini_api_key
    base_url = str(settings.gemini_base_url) if settings.gemini_base_url else None
    model = GeminiModel(name, settings.gemini_api_key.get_secret_value(), base_url=base_url)
    stack.push_async_callback(model.aclose)
    return model
