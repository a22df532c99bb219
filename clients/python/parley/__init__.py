"""The Python client of Parley: the stubs of `parley.v1`, and what it takes to use them."""

from parley.client import Client, FieldFault, ParleyError, Token, connect, error_of
from parley.files import Download, download_file, upload_file
from parley.turns import turn_events

__all__ = [
    "Client",
    "Download",
    "FieldFault",
    "ParleyError",
    "Token",
    "connect",
    "download_file",
    "error_of",
    "turn_events",
    "upload_file",
]
