"""The demo agent: answers like a small assistant, without a vendor, a key or a memory.

What it can ask is in a file each; `questions.py` lists all.
"""

from parleyd.models.demo.agent import DemoModel

__all__ = ["DemoModel"]
