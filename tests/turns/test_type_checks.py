"""Where the bytes of files are checked, and how many at once."""

import asyncio
import threading

import pytest

from parleyd.turns.type_checks import checked


async def test_of_json_files_one_is_checked_at_a_time() -> None:
    running: list[int] = []
    most: list[int] = []
    go_on = threading.Event()

    def check() -> int:
        running.append(1)
        most.append(len(running))
        go_on.wait(5)
        running.pop()
        return len(most)

    checks = [asyncio.ensure_future(checked("application/json", check)) for _ in range(3)]
    # Another type waits for none of them.
    assert await checked("application/pdf", lambda: "fits") == "fits"
    go_on.set()
    assert await asyncio.gather(*checks) == [1, 2, 3]
    assert most == [1, 1, 1]


@pytest.mark.parametrize("mime_type", ["application/json", "text/csv"])
async def test_what_a_check_raises_is_raised(mime_type: str) -> None:
    def check() -> None:
        raise ValueError("no file")

    with pytest.raises(ValueError, match="no file"):
        await checked(mime_type, check)
