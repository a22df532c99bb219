"""A server as a process of its own, which tests may kill: `python -m tests.server_process`.

It is the real service on a strict model, the standard tools, and failpoints in its ports.
"""

import argparse
import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import uvloop

import parley
from parleyd.app.development_key import DevelopmentKey
from parleyd.app.logs import set_up_logs
from parleyd.app.settings import Settings
from parleyd.app.signals import told_to_stop
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.call_records import CallRecord, CallRecords
from parleyd.models.strict import StrictModel
from tests.end_to_end.person import Person
from tests.failpoints import Failpoint, Failpoints
from tests.holds import FileHolds
from tests.scripts import script_named
from tests.standard_tools import StandardTools, ToolRun

REPOSITORY = Path(__file__).parents[1]
LIFETIME = timedelta(hours=1)
DEADLINE = 60


class ServerFolder:
    """What the server processes of a test share beside their database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gates = path / "gates"
        self.record = path / "model_calls.jsonl"
        self.tool_log = path / "tool_runs.jsonl"

    def model_calls(self) -> list[CallRecord]:
        """Returns the calls of `stream` of all processes, also of those that are gone."""
        return [call for call in CallRecords(self.record).read() if call.kind == "stream"]

    def title_calls(self) -> list[CallRecord]:
        """Returns the calls of `generate_text` of all processes."""
        return [call for call in CallRecords(self.record).read() if call.kind == "text"]

    def refusals(self) -> list[str]:
        """Returns what the strict models refused."""
        return [call.refused for call in self.model_calls() if call.refused]

    def tool_runs(self, tool: str | None = None) -> list[ToolRun]:
        """Returns the runs of the standard tools in all processes."""
        return StandardTools(self.tool_log).runs(tool)


class ServerProcess:
    """A server that listens at `address`. `holds` are those that its own turns come to."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        address: str,
        folder: ServerFolder,
        stack: AsyncExitStack,
    ) -> None:
        self.address = address
        self.pid = process.pid
        self.holds = FileHolds(folder.gates, process.pid)
        self._process = process
        self._key = DevelopmentKey.in_folder(folder.path)
        self._stack = stack

    async def person(self, subject: str = "noor", **claims: Any) -> Person:
        """Returns somebody with a connection and a token of their own."""
        token = self._key.issue(subject, LIFETIME, claims=claims)
        return Person(await self._stack.enter_async_context(parley.connect(self.address, token)))

    def kill(self) -> None:
        """Ends the process at once, as a crash does."""
        self._process.kill()

    def terminate(self) -> None:
        """Tells the process to stop, as an init system does."""
        self._process.send_signal(signal.SIGTERM)

    async def wait(self) -> int:
        """Waits until the process has ended and returns its exit code; -9 of a killed one."""
        async with asyncio.timeout(DEADLINE):
            return await self._process.wait()


@asynccontextmanager
async def server_process(
    database_url: str,
    folder: ServerFolder,
    script: str,
    *failpoints: Failpoint,
    **settings: Any,
) -> AsyncGenerator[ServerProcess]:
    """Runs a server until it is left, and kills it by its id then, if it still runs.

    `script` is a name of `tests.scripts`, or `module:NAME`. Settings are those of the service.
    """
    DevelopmentKey.in_folder(folder.path)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.server_process",
        *("--database-url", database_url, "--data-dir", str(folder.path), "--script", script),
        *("--settings", json.dumps(settings)),
        *("--record", str(folder.record), "--tool-log", str(folder.tool_log)),
        *("--gate-dir", str(folder.gates)),
        *(text for point in failpoints for text in ("--failpoint", point.to_json())),
        cwd=REPOSITORY,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout
        async with asyncio.timeout(DEADLINE):
            address = (await process.stdout.readline()).decode().strip()
        assert address, "the server did not start: see standard error"
        async with AsyncExitStack() as stack:
            yield ServerProcess(process, address, folder, stack)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _serve(arguments: argparse.Namespace) -> None:
    given: dict[str, Any] = {"web": False, **json.loads(arguments.settings)}
    settings = Settings(environment="development", port=0, data_dir=arguments.data_dir, **given)
    set_up_logs(settings.log_level, settings.log_style)
    holds = FileHolds(arguments.gate_dir)
    points = Failpoints(*map(Failpoint.from_json, arguments.failpoint), holds=holds, may_kill=True)
    script = script_named(arguments.script)
    model = StrictModel(script.pick, title=script.title, record_file=arguments.record)
    model.holds = holds
    tools = StandardTools(arguments.tool_log, holds, points)
    with told_to_stop() as stop:
        async with running_service(
            settings,
            database_url=arguments.database_url,
            replacements=Replacements(
                model=model,
                model_of_key=lambda _: model,
                tools=tools.all_hosted,
                wrap_store=points.store,
                wrap_log=points.log,
            ),
        ) as service:
            sys.stdout.write(f"{service.address}\n")
            sys.stdout.flush()
            await stop.wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.server_process")
    parser.add_argument("--database-url", required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--script", required=True, help="a name of tests.scripts, or module:NAME")
    parser.add_argument("--failpoint", action="append", default=[], help="a Failpoint as JSON")
    parser.add_argument("--settings", default="{}", help="settings of the service, as JSON")
    parser.add_argument("--record", type=Path, help="where model calls are kept")
    parser.add_argument("--tool-log", type=Path, required=True, help="where tool runs are kept")
    parser.add_argument("--gate-dir", type=Path, required=True, help="where holds are files")
    return parser.parse_args()


if __name__ == "__main__":
    uvloop.run(_serve(_arguments()))
