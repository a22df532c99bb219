"""A real server with a scripted model, for tests that speak to it over the wire."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import pytest

import parley
from parleyd.app.development_key import DevelopmentKey
from parleyd.app.settings import Settings
from parleyd.app.wiring import running_service
from parleyd.models.played import Pick
from parleyd.models.scripted import ScriptedModel
from tests.end_to_end.person import Person

LIFETIME = timedelta(hours=1)


class Server:
    """A server that runs; everything that it was given or gave."""

    def __init__(
        self, address: str, model: ScriptedModel, key: DevelopmentKey, stack: AsyncExitStack
    ) -> None:
        self.address = address
        self.model = model
        self.key = key
        self._stack = stack

    async def person(self, subject: str = "noor", **claims: Any) -> Person:
        """Returns somebody with a connection and a token of their own."""
        token = self.key.issue(subject, LIFETIME, claims=claims)
        return Person(await self._stack.enter_async_context(parley.connect(self.address, token)))

    async def stop(self) -> None:
        """Stops the server and its connections. Its conversations stay."""
        await self._stack.aclose()


class StartServer(Protocol):
    """Starts a server on the test's database; every setting can be given."""

    async def __call__(self, pick: Pick, **settings: Any) -> Server: ...


@pytest.fixture
async def start_server(database_url: str, tmp_path: Path) -> AsyncIterator[StartServer]:
    key = DevelopmentKey.in_folder(tmp_path)
    async with AsyncExitStack() as servers:

        async def start(pick: Pick, **settings: Any) -> Server:
            stack = await servers.enter_async_context(AsyncExitStack())
            model = ScriptedModel(pick)
            service = await stack.enter_async_context(
                running_service(
                    Settings(environment="development", port=0, data_dir=tmp_path, **settings),
                    database_url=database_url,
                    model=model,
                )
            )
            return Server(service.address, model, key, stack)

        yield start
