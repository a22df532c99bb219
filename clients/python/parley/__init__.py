"""The Python client of Parley: the stubs of `parley.v1`, and what it takes to use them."""

from parley.client import Client, FieldFault, ParleyError, Token, connect, error_of
from parley.turns import turn_events

__all__ = [
    "Client",
    "FieldFault",
    "ParleyError",
    "Token",
    "connect",
    "error_of",
    "turn_events",
]
