"""What a process keeps of large blocks that it has freed."""

import os
import platform
import subprocess
import sys

import pytest

FREED = """
import psutil
from parleyd.app.allocator import give_large_blocks_back

MB = 1024 * 1024
{settled}
large = b"x" * (30 * MB)
del large
before = psutil.Process().memory_info().rss
file = b"x" * (20 * MB)
above = bytes(4000)
del file
print(psutil.Process().memory_info().rss - before)
"""


def bytes_kept(settled: str) -> int:
    """Returns what a process keeps of a block of 20 MiB, which it has freed below another one."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", FREED.format(settled=settled)]
    return int(subprocess.run(command, env=clean, check=True, capture_output=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps large blocks")
def test_a_large_block_goes_back_to_the_system_as_soon_as_it_is_free() -> None:
    assert bytes_kept("") > 15_000_000
    assert bytes_kept("give_large_blocks_back()") < 5_000_000
