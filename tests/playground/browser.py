"""A real browser on the playground, and all that its tabs complain about."""

import asyncio
import os
import re
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    async_playwright,
    expect,
)

SECONDS: Final = 20
"""How long anything that is waited for may take."""
HERE: Final = ("data:", "blob:", "about:")
"""How the addresses begin that lead to no host."""
PATHS: Final = ("chromium", "chromium-browser", "google-chrome", "chrome")

expect.set_options(timeout=SECONDS * 1000)


def chromium() -> str | None:
    """Returns the program of the browser: `PARLEY_CHROMIUM`, or what is found by its name."""
    named = os.environ.get("PARLEY_CHROMIUM")
    return named or next(filter(None, map(shutil.which, PATHS)), None)


@asynccontextmanager
async def running_browser() -> AsyncGenerator[Browser]:
    """Runs the browser, without a window, until it is left."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(),
            # As root it has no sandbox; and a container's shared memory is too small for it.
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Complaints:
    """What no page of ours may do: errors, and requests to any other host than `origin`.

    `expected` are patterns of errors that a test provokes.
    """

    origin: str
    expected: list[str] = field(default_factory=list[str])
    requests: list[str] = field(default_factory=list[str])
    """The paths that were asked for, in order."""
    _heard: list[str] = field(default_factory=list[str])

    def listen(self, page: Page) -> None:
        """Notes what a page does from now on."""
        page.on("console", self._console)
        page.on("pageerror", self._page_error)
        page.on("request", self._request)

    @property
    def all(self) -> list[str]:
        """Returns those that nobody expected."""
        known = [re.compile(pattern) for pattern in self.expected]
        return [each for each in self._heard if not any(one.search(each) for one in known)]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._heard.append(f"console: {message.text} ({message.location})")

    def _page_error(self, error: Error) -> None:
        self._heard.append(f"page error: {error.message}\n{error.stack}")

    def _request(self, request: Request) -> None:
        if request.url.startswith(f"{self.origin}/"):
            self.requests.append(request.url.removeprefix(self.origin).partition("?")[0])
        elif not request.url.startswith(HERE):
            self._heard.append(f"a request to {request.url}")


class Visitor:
    """Somebody with a browser of their own; their tabs share what a browser keeps."""

    def __init__(self, context: BrowserContext, url: str, token: str) -> None:
        self.url = url
        self.token = token
        self.complaints = Complaints(url)
        self.context = context

    async def tab(self, *, token: str | None = None, path: str = "/") -> Page:
        """Opens the page by the address that the server prints; with `token=""` without one."""
        page = await self.context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        self.complaints.listen(page)
        given = self.token if token is None else token
        await page.goto(f"{self.url}{path}{f'#token={given}' if given else ''}")
        return page


@dataclass(frozen=True)
class Look:
    """How a browser looks: its theme, and its size in CSS pixels."""

    theme: Literal["light", "dark"] = "light"
    width: int = 1280
    height: int = 900


@asynccontextmanager
async def visitor(
    browser: Browser,
    url: str,
    token: str,
    look: Look | None = None,
    *,
    bypass_csp: bool = False,
) -> AsyncGenerator[Visitor]:
    """Gives somebody a browser until it is left.

    `bypass_csp` is for tools that have to run inside of the page, and for nothing else.

    Raises:
        AssertionError: A tab complained.
    """
    look = look or Look()
    context = await browser.new_context(
        color_scheme=look.theme,
        viewport={"width": look.width, "height": look.height},
        reduced_motion="reduce",
        bypass_csp=bypass_csp,
        locale="en-GB",
        timezone_id="Europe/Madrid",
    )
    try:
        someone = Visitor(context, url, token)
        yield someone
        # What the last step set off is heard too.
        await asyncio.gather(*(page.evaluate("0") for page in context.pages))
        assert someone.complaints.all == [], "\n".join(someone.complaints.all)
    finally:
        await context.close()
