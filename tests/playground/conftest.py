"""The playground as people meet it: a real server, a real gateway, a real browser."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from playwright.async_api import Browser, Page

from parleyd.models.played import Pick
from tests.gateway.conftest import start_gateway
from tests.playground.browser import Look, Visitor, chromium, running_browser, visitor
from tests.server import Server, StartServer

__all__ = ["start_gateway"]


@dataclass(frozen=True)
class Playground:
    """A playground that is open in one tab, `page`."""

    server: Server
    url: str
    page: Page
    visitor: Visitor


class Open(Protocol):
    """Opens the playground of a server that plays a script; every setting can be given."""

    async def __call__(
        self,
        pick: Pick,
        *,
        look: Look | None = None,
        bypass_csp: bool = False,
        blocks: bool = True,
        **settings: Any,
    ) -> Playground: ...


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if chromium() is None:
        pytest.skip("There is no Chromium here: install it, or name it in PARLEY_CHROMIUM.")
    async with running_browser() as running:
        yield running


@pytest.fixture
async def open_playground(
    start_server: StartServer, start_gateway: Any, browser: Browser
) -> AsyncIterator[Open]:
    async with AsyncExitStack() as visitors:

        async def opened(
            pick: Pick,
            *,
            look: Look | None = None,
            bypass_csp: bool = False,
            blocks: bool = True,
            **settings: Any,
        ) -> Playground:
            server = await start_server(pick, web=True, blocks=blocks, **settings)
            url = f"http://{(await start_gateway(server, playground=True)).address}"
            someone = await visitors.enter_async_context(
                visitor(browser, url, server.token(), look, bypass_csp=bypass_csp)
            )
            return Playground(server, url, await someone.tab(), someone)

        yield opened
