"""The memory that the C library keeps for a process, beyond what is in use."""

import ctypes
import os
from typing import Final

LARGE_BYTES: Final = 1024 * 1024
"""From this size on a block goes back to the system as soon as it is free."""

_MMAP_THRESHOLD: Final = -3
"""`M_MMAP_THRESHOLD` of glibc's `malloc.h`."""
_SET_ALREADY: Final = "MALLOC_MMAP_THRESHOLD_"


def give_large_blocks_back() -> None:
    """Has the bytes of files leave the process with the last that refers to them.

    Left alone, glibc learns from the first large block that is freed to keep such blocks, in an
    arena of every thread: one turn with ten files would hold on to a file in each. Other C
    libraries keep none, and are left as they are; so is what the environment has set.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and _SET_ALREADY not in os.environ:
        mallopt(_MMAP_THRESHOLD, LARGE_BYTES)
