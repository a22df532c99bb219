"""Holds that several processes share: files in a folder."""

import asyncio
import os
from pathlib import Path

from parleyd.models.played import Holds

DEADLINE = 60
INTERVAL = 0.01


class FileHolds(Holds):
    """Holds of one process, told by its id, which it and others see as files of one folder.

    Who comes to a hold is noted for each process by itself; a release is for all of them.
    """

    def __init__(self, folder: Path, pid: int | None = None) -> None:
        super().__init__()
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._pid = os.getpid() if pid is None else pid

    async def reached(self, name: str, times: int = 1) -> None:
        """Waits until something of the process has come to the hold so often."""
        async with asyncio.timeout(DEADLINE):
            while self.arrivals(name) < times:
                await asyncio.sleep(INTERVAL)

    def arrivals(self, name: str) -> int:
        """Returns how often something of the process has come to the hold."""
        file = self._arrivals_of(name)
        return file.stat().st_size if file.exists() else 0

    def release(self, name: str) -> None:
        """Lets everything pass that waits at the hold or comes to it later, in every process."""
        self._release_of(name).touch()

    async def wait(self, name: str) -> None:
        """Waits until the hold is released."""
        with self._arrivals_of(name).open("ab", buffering=0) as file:
            file.write(b".")
        while not self._release_of(name).exists():
            await asyncio.sleep(INTERVAL)

    def _arrivals_of(self, name: str) -> Path:
        return self._folder / f"{name}.{self._pid}.reached"

    def _release_of(self, name: str) -> Path:
        return self._folder / f"{name}.released"
