"""Requests that may be sent again: the same request id means the same request (spec turns 16.2)."""

import hashlib
import json
from dataclasses import dataclass
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.turns import TurnRequest


@dataclass(frozen=True)
class RequestKey:
    """A request id of an owner, and what tells the request from another one with that id."""

    id: UUID
    digest: bytes


def turn_request_key(request: TurnRequest) -> RequestKey | None:
    """Returns the key of a wish for a turn, if it has a request id.

    The digest covers what the turn depends on: conversation, input, surface and model.
    """
    if request.request_id is None:
        return None
    return RequestKey(
        request.request_id,
        _digest(
            [
                str(request.conversation_id or ""),
                _input_of(request),
                request.surface or "",
                request.model or "",
                request.system_instruction or "",
                request.project or "",
            ]
        ),
    )


def _input_of(request: TurnRequest) -> JsonValue:
    # A message without attachments has the digest that it had before there were any.
    told = request.input.model_dump(mode="json")
    return {key: value for key, value in told.items() if (key, value) != ("attachments", [])}


def conversation_request_key(
    request_id: UUID | None, title: str | None, project: str | None
) -> RequestKey | None:
    """Returns the key of a wish for an empty conversation, if it has a request id."""
    return RequestKey(request_id, _digest([title, project])) if request_id else None


def service_ask_request_key(request_id: UUID | None, wish: JsonValue) -> RequestKey | None:
    """Returns the key of a service's wish to ask, if it has a request id.

    `wish` is the whole wish: another one with the same id is another request.
    """
    return RequestKey(request_id, _digest(wish)) if request_id else None


def _digest(value: JsonValue) -> bytes:
    # Keys are sorted, since equal objects may come in any order. Escapes and NaN are spelled out:
    # whatever is wrong with an answer is told by the checks that follow, not here.
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()
