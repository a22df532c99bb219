"""Takes the pictures of the docs anew: `python -m tests.playground.screenshots`.

They show the demo agent on a server of its own, whose data is gone afterwards.
"""

import asyncio
import os
import re
import tempfile
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, expect

from tests.app.processes import COMMAND, environment, stop
from tests.playground.browser import Look, running_browser, visitor
from tests.playground.phone import Phone

IMAGES: Final = Path(__file__).parents[2] / "docs" / "images"
OPEN: Final = re.compile(r"Open (http://\S+)/#token=(\S+)")


async def main() -> None:
    """Takes all of them."""
    with tempfile.TemporaryDirectory(prefix="parley-pictures-") as folder:
        os.chmod(folder, 0o755)  # noqa: PTH101 - as root, PostgreSQL runs as somebody else
        variables = {"PARLEY_WEB": "true", "PARLEY_BLOCKS": "true"}
        ports = {"PARLEY_PORT": "0", "PARLEY_GATEWAY_PORT": "0"}
        process = await asyncio.create_subprocess_exec(
            *(COMMAND, "serve", "--development", "--gateway"),
            env=environment(Path(folder), **variables, **ports),
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout
            while not (opens := OPEN.match((await process.stdout.readline()).decode())):
                assert not process.stdout.at_eof(), "the server did not start"
            async with running_browser() as browser:
                await _report(browser, *opens.groups())
                await _approval(browser, *opens.groups())
        finally:
            await stop(process)


async def _report(browser: Browser, url: str, token: str) -> None:
    """A document with a chart, while the watch shows a question of another conversation."""
    async with visitor(browser, url, token, Look("light", 1280, 860)) as someone:
        phone = Phone(await someone.tab())
        await phone.say("Set up my plan")
        await expect(phone.submit).to_be_enabled()
        await phone.page.get_by_role("button", name="New conversation").click()
        await phone.say("Show my sales by month")
        await expect(phone.messages.get_by_role("img").first).to_be_visible()
        title = phone.page.get_by_role("heading", name="Show my sales by month")
        await expect(title).to_be_visible()
        await phone.messages.evaluate("it => { it.scrollTop = 0 }")
        await phone.page.screenshot(path=IMAGES / "playground.png", animations="disabled")


async def _approval(browser: Browser, url: str, token: str) -> None:
    """A list, then the approval of a deletion, in the dark."""
    async with visitor(browser, url, token, Look("dark", 1280, 860)) as someone:
        phone = Phone(await someone.tab())
        await phone.say("Show my list")
        await expect(phone.messages.get_by_role("table")).to_be_visible()
        await phone.say("Delete my completed todos")
        await expect(phone.question).to_contain_text("deleteCompletedTodos")
        await phone.messages.evaluate("it => { it.scrollTop = it.scrollHeight }")
        await phone.page.screenshot(path=IMAGES / "playground-dark.png", animations="disabled")


if __name__ == "__main__":
    asyncio.run(main())
