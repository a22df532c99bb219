"""Builds the service: every part is made here, by plain calls, and plugged into the next."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID, uuid4

import structlog

from parleyd.app.database import migrated_database
from parleyd.app.demo_actions import with_demo_actions
from parleyd.app.demo_tools import with_demo_tools
from parleyd.app.faults import ConfigurationError
from parleyd.app.identity import authenticator_of
from parleyd.app.ids import RandomIds
from parleyd.app.listening import Listening, listening
from parleyd.app.model_choice import model_of_key, models_of
from parleyd.app.notifier.notifying import notifying
from parleyd.app.settings import Settings
from parleyd.app.turn_options import options_of, warn_of_idle_wordings
from parleyd.contract import limits
from parleyd.contract.errors import Unavailable
from parleyd.models.demo import DemoModel
from parleyd.rpc.action_tokens import ActionTokenCalls
from parleyd.rpc.auth import Authenticator
from parleyd.rpc.redemptions import RedemptionLimit
from parleyd.rpc.server import build_server
from parleyd.store.action_tokens import PostgresActionTokenStore
from parleyd.store.byte_stores import StoreUnusable, byte_store_of
from parleyd.store.conversations import PostgresConversationStore
from parleyd.store.datasets import PostgresDatasets
from parleyd.store.engine import create_engine
from parleyd.store.files import PostgresFileRows
from parleyd.store.lapses import PostgresLapseStore
from parleyd.store.leases import PostgresLeaseStore
from parleyd.store.notices import PostgresNoticeStore
from parleyd.store.notifications import Listener
from parleyd.store.pending_asks import PostgresPendingReader
from parleyd.store.reading import PostgresTurnReader
from parleyd.store.requests import PostgresRequestLog
from parleyd.store.retention import clear_old_rows
from parleyd.store.service_asks import PostgresServiceAskStore
from parleyd.store.todos import PostgresTodos
from parleyd.store.turns import PostgresTurnStore
from parleyd.tools import (
    ToolsUnusable,
    mcp_tools,
)
from parleyd.turns.action_tokens import ActionTokens
from parleyd.turns.ask_news import AskNews
from parleyd.turns.block_actions import BlockActions
from parleyd.turns.block_generation import BlockWriter
from parleyd.turns.chain_memory import ChainMemory
from parleyd.turns.datasets import Datasets, DatasetStore
from parleyd.turns.deployment import Deployment
from parleyd.turns.file_store import ByteStore, FileRows
from parleyd.turns.files import Files
from parleyd.turns.followers import Followers
from parleyd.turns.lapses import Lapses
from parleyd.turns.leases import Leases
from parleyd.turns.model import Model
from parleyd.turns.pending_watch import PendingWatch
from parleyd.turns.ports import Ids, TurnStore
from parleyd.turns.request_log import RequestLog
from parleyd.turns.rounds import rounds
from parleyd.turns.runner import STOPPING
from parleyd.turns.service_asks import ServiceAsks
from parleyd.turns.tools import ApprovalWording, HostTool, RequestTools
from parleyd.turns.turns import Turns

STOP_SECONDS: Final = limits.STOP_SECONDS + 5.0
"""How long running turns may take to be handed over when the service stops, tools included."""
CLEARING_SECONDS: Final = 600
"""How often old rows are cleared, and files swept."""

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class Replacements:
    """Parts that stand in for those the settings name: what tests replace, and nothing else can.

    `wrap_store`, `wrap_log` and `wrap_bytes` put something around the real ones.
    """

    authenticator: Authenticator | None = None
    model: Model | None = None
    model_of_key: Callable[[str], Model] | None = None
    tools: Mapping[str, HostTool] = field(default_factory=dict[str, HostTool])
    request_tools: RequestTools | None = None
    approval_wordings: Mapping[str, ApprovalWording] = field(
        default_factory=dict[str, ApprovalWording]
    )
    wrap_store: Callable[[TurnStore], TurnStore] = lambda store: store
    wrap_log: Callable[[RequestLog], RequestLog] = lambda request_log: request_log
    wrap_bytes: Callable[[ByteStore], ByteStore] = lambda store: store


class RunningService:
    """A service that answers at `address`, `host:port`, and over HTTP at `web_address`, if any."""

    def __init__(
        self, listening: Listening, turns: Turns, news: AskNews, pending: PendingWatch
    ) -> None:
        self.address = listening.address
        self.web_address = listening.web_address
        self._listening = listening
        self._turns = turns
        self._news = news
        self._pending = pending

    async def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Refuses new calls, hands running turns over, and ends when it has, after `seconds`.

        Whoever follows a turn is told to watch it elsewhere. A repeat changes nothing.
        """
        await self._listening.refuse_new_calls()
        self._news.close(Unavailable(STOPPING))
        self._pending.close(Unavailable(STOPPING))
        await asyncio.gather(self._listening.stop(seconds), self._turns.hand_over(seconds))


@asynccontextmanager
async def running_service(
    settings: Settings, *, database_url: str, replacements: Replacements | None = None
) -> AsyncGenerator[RunningService]:
    """Serves on the database at `database_url`, whose schema is this version's, until it is left.

    Where there is no model turns are refused.

    Raises:
        ConfigurationError: Nobody is trusted, or a tool, the file store or the certificate can't
            be used.
        CommandFailed: The address can't be had.
    """
    instead = replacements or Replacements()
    options = options_of(settings)
    options = replace(
        options,
        tools={**options.tools, **instead.tools},
        request_tools=instead.request_tools or options.request_tools,
        approval_wordings={**options.approval_wordings, **instead.approval_wordings},
    )
    authenticator = instead.authenticator or authenticator_of(settings)
    async with AsyncExitStack() as stack:
        engine = create_engine(database_url, pool_size=settings.pool_size)
        stack.push_async_callback(engine.dispose)
        # A heartbeat that shared the pool could starve behind the turns it protects.
        renewing = create_engine(database_url, pool_size=1)
        stack.push_async_callback(renewing.dispose)
        request_log = await stack.enter_async_context(PostgresRequestLog(engine))
        ids, reader = RandomIds(), PostgresTurnReader(engine)
        files = _files_of(settings, PostgresFileRows(engine), ids, instead.wrap_bytes)
        datasets = _datasets_of(settings, PostgresDatasets(engine), ids)
        followers, news = Followers(reader), AskNews()
        pending = PendingWatch(PostgresPendingReader(engine), streams=settings.owner_streams)
        model, title_model = instead.model, None
        if model is None:
            model, title_model = models_of(settings, stack)
        if model is None:
            log.warning("no_model", hint="turns are refused; set GEMINI_API_KEY")
        try:
            remote_tools = await stack.enter_async_context(mcp_tools(settings.mcp_servers))
        except ToolsUnusable as error:
            raise ConfigurationError(str(error)) from error
        if settings.mcp_servers:
            options = replace(options, remote_tools=remote_tools)
        warn_of_idle_wordings(options)
        if isinstance(model, DemoModel):
            options = with_demo_actions(with_demo_tools(options, PostgresTodos(engine)))
        shared = Deployment(
            store=instead.wrap_store(PostgresTurnStore(engine)),
            leases=PostgresLeaseStore(engine, renewing, turn_seconds=settings.turn_seconds),
            reader=reader,
            request_log=instead.wrap_log(request_log),
            model=model,
            title_model=title_model or model,
            model_of_key=instead.model_of_key or model_of_key(settings),
            ids=ids,
            options=options,
            holder=f"{socket.gethostname()}:{os.getpid()}:{uuid4()}",
            followers=followers,
            chains=ChainMemory(),
            files=files,
            datasets=datasets,
        )
        turns = Turns(shared)
        leases, lapses = Leases(shared, turns), Lapses(PostgresLapseStore(engine))
        tokens = ActionTokens(
            PostgresActionTokenStore(engine),
            turns,
            ids,
            destructive=settings.tokens_for_destructive_buttons,
        )
        notifier = await stack.enter_async_context(
            notifying(settings, PostgresNoticeStore(engine), tokens)
        )

        def reconnected() -> None:
            followers.wake_all()
            news.wake_all()
            pending.look_again()
            if notifier:
                notifier.look_again()
            leases.released.set()

        def heard(owner_hash: str, ask_id: UUID, revision: int) -> None:
            news.hear(ask_id)
            pending.hear(owner_hash, ask_id, revision)
            if notifier:
                notifier.hear(ask_id)

        listener = Listener(database_url, followers.hear, heard, leases.released.set, reconnected)

        async def clear() -> None:
            await clear_old_rows(engine)

        conversations = PostgresConversationStore(engine)
        blocks = options.blocks
        serving = await build_server(
            turns=turns,
            conversations=conversations,
            pending=pending,
            block_actions=(
                BlockActions(blocks, conversations, shared.request_log, options.limits)
                if blocks
                else None
            ),
            files=files,
            uploads=options.uploads,
            datasets=datasets,
            block_writer=BlockWriter(model, shared.request_log, options.limits),
            service_asks=ServiceAsks(PostgresServiceAskStore(engine), news, ids, options),
            action_tokens=ActionTokenCalls(
                tokens,
                RedemptionLimit(
                    settings.redemptions_per_minute,
                    trust_forwarded_for=settings.trust_forwarded_for,
                ),
            ),
            authenticator=authenticator,
            ids=ids,
        )
        here = await stack.enter_async_context(listening(settings, serving))
        # Leases are kept up until the turns are handed over, so their round ends after the stop.
        await stack.enter_async_context(
            _running(rounds("renew_leases", limits.HEARTBEAT_SECONDS, leases.renew))
        )
        service = RunningService(here, turns, news, pending)
        stack.push_async_callback(service.stop)
        for work in (
            listener.run(),
            pending.run(),
            rounds("poll", limits.POLL_SECONDS, followers.poll),
            rounds("take_turns", limits.REAPER_SECONDS, leases.take_due, leases.released),
            rounds("settle_lapses", limits.REAPER_SECONDS, lapses.settle_due),
            rounds("clear_old_rows", CLEARING_SECONDS, clear),
            *([rounds("sweep_files", CLEARING_SECONDS, files.sweep)] if files else []),
        ):
            await stack.enter_async_context(_running(work))
        yield service


@asynccontextmanager
async def whole_service(settings: Settings) -> AsyncGenerator[RunningService]:
    """Serves as `running_service` does, with the database that the settings name.

    Raises:
        ConfigurationError: Nobody is trusted, a tool can't be used, or the database's address is
            malformed.
        CommandFailed: The database or the address can't be had.
    """
    replacements = Replacements(authenticator=authenticator_of(settings))
    async with (
        migrated_database(settings) as url,
        running_service(settings, database_url=url, replacements=replacements) as service,
    ):
        yield service


@asynccontextmanager
async def _running(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    """Runs work beside the body, and ends it with it."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _files_of(
    settings: Settings, rows: FileRows, ids: Ids, wrapped: Callable[[ByteStore], ByteStore]
) -> Files | None:
    """Returns what keeps files, if the deployment does."""
    place = settings.file_place
    if place is None:
        return None
    try:
        store = byte_store_of(place)
    except StoreUnusable as error:
        raise ConfigurationError(f"PARLEY_FILE_STORE can't be used: {error}") from error
    return Files(rows, wrapped(store), ids, file_bytes=settings.file_bytes)


def _datasets_of(settings: Settings, store: DatasetStore, ids: Ids) -> Datasets | None:
    """Returns what keeps datasets, if replies are documents."""
    if not settings.blocks:
        return None
    return Datasets(
        store, ids, most_rows=settings.dataset_max_rows, ttl_days=settings.dataset_ttl_days
    )
