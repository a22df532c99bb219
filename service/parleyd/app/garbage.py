"""The garbage collector of a process that serves for days."""

import gc
from typing import Final

THRESHOLDS: Final = (20_000, 20, 50)
"""How many objects, and collections of younger ones, come before a collection of each age."""


def spare_what_stays() -> None:
    """Takes what is loaded now out of the garbage collector's rounds, and makes them rarer.

    What the start has made is never garbage, and looking through it again and again is what the
    slowest calls would wait for. Called once everything is up.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
