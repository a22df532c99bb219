"""Real servers with a strict model, for tests that speak to them over the wire."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

import parley
from parleyd.app.development_key import DevelopmentKey
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, RunningService, running_service
from parleyd.models.played import Pick
from parleyd.models.script import ScriptedStep
from parleyd.models.scripted import TITLE
from parleyd.models.strict import StrictModel
from parleyd.turns.file_store import ByteStore
from parleyd.turns.model import Model
from parleyd.turns.ports import TurnStore
from parleyd.turns.request_log import RequestLog
from parleyd.turns.tools import ApprovalWording, RequestTools, ToolSet
from tests.end_to_end.person import Person
from tests.failpoints import Failpoint
from tests.server_process import LIFETIME, ServerFolder, ServerProcess, server_process

Port = TypeVar("Port")


def unchanged(port: Port) -> Port:
    """Returns a port with nothing around it."""
    return port


class Server:
    """A server that runs; everything that it was given or gave."""

    def __init__(
        self,
        service: RunningService,
        model: StrictModel,
        key: DevelopmentKey,
        stack: AsyncExitStack,
    ) -> None:
        self.address = service.address
        self._web_address = service.web_address
        self.model = model
        self.key = key
        self._stack = stack

    @property
    def web_address(self) -> str:
        """Where it answers over HTTP, if it was started with `web=True`."""
        assert self._web_address
        return self._web_address

    def token(self, subject: str = "noor", **claims: Any) -> str:
        """Returns a token of somebody."""
        return self.key.issue(subject, LIFETIME, claims=claims)

    async def person(self, subject: str = "noor", **claims: Any) -> Person:
        """Returns somebody with a connection and a token of their own."""
        token = self.token(subject, **claims)
        return Person(await self._stack.enter_async_context(parley.connect(self.address, token)))

    async def stop(self) -> None:
        """Stops the server and its connections. Its conversations stay."""
        await self._stack.aclose()


class StartServer(Protocol):
    """Starts a server on the test's database, or on another; every setting can be given.

    Each server holds its own turns, as a process does. Files are kept in the test's folder, by all
    of its servers; `file_store="none"` keeps none. With `web` it answers over HTTP too. At the
    test's end no model may have refused a call, unless refusals are expected of it.
    """

    async def __call__(
        self,
        pick: Pick,
        *,
        title: ScriptedStep = TITLE,
        provider: str = "scripted",
        tools: ToolSet | None = None,
        request_tools: RequestTools | None = None,
        approval_wordings: Mapping[str, ApprovalWording] | None = None,
        wrap_store: Callable[[TurnStore], TurnStore] = unchanged,
        wrap_log: Callable[[RequestLog], RequestLog] = unchanged,
        wrap_bytes: Callable[[ByteStore], ByteStore] = unchanged,
        model_of_key: Callable[[str], Model] | None = None,
        database_url: str | None = None,
        refusals_expected: bool = False,
        web: bool = False,
        **settings: Any,
    ) -> Server: ...


@pytest.fixture
async def start_server(database_url: str, tmp_path: Path) -> AsyncIterator[StartServer]:
    key = DevelopmentKey.in_folder(tmp_path)
    this_database = database_url
    strict: list[StrictModel] = []
    async with AsyncExitStack() as servers:

        async def start(
            pick: Pick,
            *,
            title: ScriptedStep = TITLE,
            provider: str = "scripted",
            tools: ToolSet | None = None,
            request_tools: RequestTools | None = None,
            approval_wordings: Mapping[str, ApprovalWording] | None = None,
            wrap_store: Callable[[TurnStore], TurnStore] = unchanged,
            wrap_log: Callable[[RequestLog], RequestLog] = unchanged,
            wrap_bytes: Callable[[ByteStore], ByteStore] = unchanged,
            model_of_key: Callable[[str], Model] | None = None,
            database_url: str | None = None,
            refusals_expected: bool = False,
            web: bool = False,
            **settings: Any,
        ) -> Server:
            stack = await servers.enter_async_context(AsyncExitStack())
            model = StrictModel(pick, provider=provider, title=title)
            if not refusals_expected:
                strict.append(model)
            service = await stack.enter_async_context(
                running_service(
                    Settings(
                        environment="development", port=0, web=web, data_dir=tmp_path, **settings
                    ),
                    database_url=database_url or this_database,
                    replacements=Replacements(
                        model=model,
                        model_of_key=model_of_key,
                        tools=tools or {},
                        request_tools=request_tools,
                        approval_wordings=approval_wordings or {},
                        wrap_store=wrap_store,
                        wrap_log=wrap_log,
                        wrap_bytes=wrap_bytes,
                    ),
                )
            )
            return Server(service, model, key, stack)

        yield start
    assert [why for model in strict for why in model.refusals] == []


class Processes:
    """The server processes of a test: on one database, with one folder."""

    def __init__(self, database_url: str, path: Path, stack: AsyncExitStack) -> None:
        self.folder = ServerFolder(path)
        self.refusals_expected = False
        self._database_url = database_url
        self._stack = stack

    async def start(
        self,
        script: str,
        *failpoints: Failpoint,
        **settings: Any,
    ) -> ServerProcess:
        """Starts one that plays a script of `tests.scripts`, or `module:NAME`."""
        return await self._stack.enter_async_context(
            server_process(
                self._database_url,
                self.folder,
                script,
                *failpoints,
                **settings,
            )
        )


@pytest.fixture
async def processes(database_url: str, tmp_path: Path) -> AsyncIterator[Processes]:
    async with AsyncExitStack() as stack:
        running = Processes(database_url, tmp_path, stack)
        yield running
    assert running.refusals_expected or running.folder.refusals() == []
