"""Checks of what files hold, away from the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from parleyd.contract.file_types import JSON_TYPE

T = TypeVar("T")

_JSON_CHECKS: Final = ThreadPoolExecutor(1, "json-check")


async def checked(mime_type: str, check: Callable[[], T]) -> T:
    """Returns what a check of a file's bytes comes to; its errors pass through.

    A JSON file is held whole meanwhile, twice: of such checks one runs at a time in the process.
    Where the caller is cancelled, one that runs goes on to its end.
    """
    threads = _JSON_CHECKS if mime_type == JSON_TYPE else None
    return await asyncio.get_running_loop().run_in_executor(threads, check)
