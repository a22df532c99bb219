"""How large the playground is, and how soon it can be used.

Each load is a browser without anything kept, on the page that the service sends through the
gateway. `usable` is when the box for messages can be written in, `asked` how long after Enter a
question is on the screen; the floor of that is the same turn through the Python client. Sizes are
those on the way, packed. All of it shares the machine's cores.

    python -m bench.playground [--loads N]
"""

import argparse
import gzip
import os
import shutil
import socket
import statistics
import time
from dataclasses import dataclass
from typing import Final

import uvloop
from playwright.async_api import Browser, async_playwright
from rich.console import Console
from rich.table import Table

import parley
from bench.postgres import migrated_postgres
from bench.servers import fleet
from bench.waiting import ask
from parleyd.app.gateway.envoy import envoy_binary, running_gateway
from parleyd.app.gateway.plan import Address, GatewayPlan
from parleyd.rpc.web.playground import ASSETS

CHARTS: Final = "drawing"
"""How the name of the part begins that draws charts."""
_PAINT: Final = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
_BYTES: Final = """
performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0)
"""
_NAMES: Final = "performance.getEntriesByType('resource').map((each) => each.name)"


@dataclass(frozen=True)
class Load:
    """One load of the page: milliseconds, and bytes until it was usable."""

    painted: float
    usable: float
    asked: float
    size: int


async def main(loads: int) -> None:
    """Measures and prints two tables."""
    Console(width=120).print(_sizes())
    async with migrated_postgres() as url, fleet() as servers, async_playwright() as playwright:
        web_port = _free_port()
        async with servers.server(url, web=True, web_port=web_port) as server:
            grpc, web = Address.read(server.address), Address("127.0.0.1", web_port)
            plan = GatewayPlan(Address("127.0.0.1", 0), (grpc,), (web,), playground=True)
            named = os.environ.get("PARLEY_CHROMIUM") or shutil.which("chromium")
            async with (
                running_gateway(plan, envoy_binary(None)) as gateway,
                parley.connect(str(gateway.address), servers.token()) as client,
                await playwright.chromium.launch(
                    executable_path=named, args=["--no-sandbox", "--disable-dev-shm-usage"]
                ) as browser,
            ):
                address = f"{gateway.url}/#token={servers.token()}"
                await _load(browser, address)
                measured = [await _load(browser, address) for _ in range(loads)]
                floor: list[float] = []
                for _ in range(loads):
                    start = time.perf_counter()
                    await ask(client)
                    floor.append((time.perf_counter() - start) * 1000)
    Console(width=120).print(_times(measured, floor))


async def _load(browser: Browser, address: str) -> Load:
    context = await browser.new_context()
    try:
        page = await context.new_page()
        start = time.perf_counter()
        await page.goto(address, wait_until="commit")
        box = page.get_by_role("textbox", name="Message to the agent")
        await box.fill("Set up my plan")
        usable = (time.perf_counter() - start) * 1000
        size = await page.evaluate(_BYTES)
        assert not any(CHARTS in name for name in await page.evaluate(_NAMES)), "charts came first"
        start = time.perf_counter()
        await box.press("Enter")
        await page.get_by_role("region", name="Question from the agent").wait_for()
        asked = (time.perf_counter() - start) * 1000
        return Load(await page.evaluate(_PAINT), usable, asked, size)
    finally:
        await context.close()


def _sizes() -> Table:
    table = Table("file", "KB", "KB packed", "loaded")
    for path in sorted(ASSETS.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            when = "with the first chart" if path.name.startswith(CHARTS) else "at once"
            packed = len(gzip.compress(data))
            table.add_row(path.name, f"{len(data) / 1000:.1f}", f"{packed / 1000:.1f}", when)
    return table


def _times(loads: list[Load], floor: list[float]) -> Table:
    table = Table("", "median ms", "worst ms")
    for name, values in (
        ("first contentful paint", [load.painted for load in loads]),
        ("usable", [load.usable for load in loads]),
        ("asked", [load.asked for load in loads]),
        ("asked, through the Python client", floor),
    ):
        table.add_row(name, f"{statistics.median(values):.0f}", f"{max(values):.0f}")
    table.add_row("KB until usable", f"{loads[0].size / 1000:.0f}", "")
    return table


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How soon the playground can be used.")
    parser.add_argument("--loads", type=int, default=15, help="loads that count")
    uvloop.run(main(parser.parse_args().loads))
