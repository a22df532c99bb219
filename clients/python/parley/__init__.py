"""The Python client of Parley: the stubs of `parley.v1`, and what it takes to use them.

Calls are for asyncio; `parley.sync` has the same names for programs without it.
"""

from parley.asks import Asked, card_answer
from parley.client import Client, Token, connect
from parley.errors import FieldFault, ParleyError, error_of
from parley.files import download_file, upload_file
from parley.transfers import Download
from parley.turns import turn_events

__all__ = [
    "Asked",
    "Client",
    "Download",
    "FieldFault",
    "ParleyError",
    "Token",
    "card_answer",
    "connect",
    "download_file",
    "error_of",
    "turn_events",
    "upload_file",
]
