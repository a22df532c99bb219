"""The demo agent: answers like a small assistant, without a vendor, a key or a memory.

What it can do and ask is in a file each; `wishes.py` lists all.
"""

from parleyd.models.demo.agent import DemoModel

__all__ = ["DemoModel"]
