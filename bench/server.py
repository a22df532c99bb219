"""Parley as the benchmarks run it: the real server on a model that takes no time.

Prints its address once it answers. A line of its input names a hold to release; the end of its
input, or a signal, stops it.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import uvloop

from bench.scripts import SCRIPTS, BenchModel
from parleyd.app.allocator import give_large_blocks_back
from parleyd.app.garbage import spare_what_stays
from parleyd.app.logs import set_up_logs
from parleyd.app.settings import Settings
from parleyd.app.signals import told_to_stop
from parleyd.app.wiring import Replacements, running_service


async def serve(arguments: argparse.Namespace) -> None:
    """Serves on a free loopback port until it is told to stop."""
    given: dict[str, Any] = {"web": False, **json.loads(arguments.settings)}
    settings = Settings(environment="development", port=0, data_dir=arguments.folder, **given)
    set_up_logs("info", "json")
    give_large_blocks_back()
    model = BenchModel(arguments.script)
    with told_to_stop() as stop:
        async with running_service(
            settings,
            database_url=arguments.database_url,
            replacements=Replacements(model=model),
        ) as service:
            spare_what_stays()
            print(service.address, flush=True)
            obeying = asyncio.create_task(_obey(model, stop))
            await stop.wait()
            obeying.cancel()


async def _obey(model: BenchModel, stop: asyncio.Event) -> None:
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), sys.stdin
    )
    while line := await lines.readline():
        model.holds.release(line.decode().strip())
    stop.set()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.server")
    parser.add_argument("database_url")
    parser.add_argument("folder", type=Path, help="holds the key that signs tokens")
    parser.add_argument("--script", choices=sorted(SCRIPTS), default="ask")
    parser.add_argument("--settings", default="{}", help="settings of the service, as JSON")
    uvloop.run(serve(parser.parse_args()))
