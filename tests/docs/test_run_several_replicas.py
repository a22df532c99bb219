"""The program of the page on replicas does what the page shows."""

import asyncio
import re
from pathlib import Path
from typing import Any

from parleyd.app.development_key import DevelopmentKey
from tests.server import Processes
from tests.server_process import LIFETIME

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "run-several-replicas.md"
DEADLINE = 30


async def test_a_turn_goes_on_at_once_when_its_server_is_told_to_stop(processes: Processes) -> None:
    lasting, stopping = await asyncio.gather(*[processes.start("HALF_A_REPLY") for _ in range(2)])
    printed: list[str] = []
    program = _program(stopping.address, lasting.address)

    def show(*values: object) -> None:
        printed.append(" ".join(map(str, values)))
        if printed[-1].endswith("resumed"):
            lasting.holds.release("thinking")

    names: dict[str, Any] = {"__name__": "break", "print": show}
    exec(compile(program, PAGE, "exec"), names)  # the very code that readers copy
    token = DevelopmentKey.in_folder(processes.folder.path).issue("noor", LIFETIME)
    async with asyncio.timeout(DEADLINE):
        await names["main"](token, "SIGTERM", stopping.pid)
        assert await stopping.wait() == 0

    # The page leaves out the previews that follow.
    seen = [line.split(" s ")[1] for line in printed]
    assert [*seen[:4], *seen[-2:]] == [
        "1 started",
        "0 text_preview",
        "0 preview_discarded",
        "2 resumed",
        "3 text",
        "4 done",
    ]
    shown = PAGE.read_text(encoding="utf-8")
    assert all(f" s {line}\n" in shown for line in seen)


def _program(first: str, second: str) -> str:
    """Returns the program of the page, with other addresses."""
    page = PAGE.read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    changed = program.replace("127.0.0.1:50061", first).replace("127.0.0.1:50051", second)
    assert changed.count(first) == changed.count(second) == 1
    return changed
