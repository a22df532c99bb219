"""The most memory that a process holds during some work.

Linux counts it, to the page. Elsewhere it is looked at so often that little is missed.
"""

import re
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

LOOK_SECONDS = 0.002
_FORGET_THE_PEAK = "5"
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


@dataclass
class Peak:
    """The most bytes that were resident, once the work is over."""

    resident_bytes: int = 0


@contextmanager
def peak_of(pid: int) -> Generator[Peak]:
    """Stands around the work of which the peak is wanted."""
    peak = Peak()
    counted = Path(f"/proc/{pid}")
    if (counted / "clear_refs").exists():
        (counted / "clear_refs").write_text(_FORGET_THE_PEAK)
        yield peak
        found = _PEAK.search((counted / "status").read_text())
        assert found, "a process has a peak"
        peak.resident_bytes = int(found[1]) * 1024
        return
    over = threading.Event()
    looking = threading.Thread(target=_look, args=(psutil.Process(pid), peak, over))
    looking.start()
    try:
        yield peak
    finally:
        over.set()
        looking.join()


def _look(process: psutil.Process, peak: Peak, over: threading.Event) -> None:
    while True:
        peak.resident_bytes = max(peak.resident_bytes, process.memory_info().rss)
        if over.wait(LOOK_SECONDS):
            return
