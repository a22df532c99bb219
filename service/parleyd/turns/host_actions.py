"""The port of host actions: functions of the deployment that a document's buttons may call.

Only a client's own call runs one, never a document and never the model (spec blocks 22).
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from pydantic import JsonValue

from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import JsonObject

Replace: TypeAlias = Literal["block", "message"]


@dataclass(frozen=True)
class ActionContext:
    """Where one call of an action comes from.

    `owner` is whom the token speaks for, and the conversation is theirs. The ids of message, block
    and element are what the client says: they are not compared with what is stored.
    """

    owner: str
    conversation_id: UUID
    message_id: int
    block_id: str
    element_id: str
    project: str | None


@dataclass(frozen=True)
class ActionResult:
    """What the client is to show. Nothing of it is stored in the conversation.

    `text` is a message of its own. `blocks` is a whole document, as a JSON value or as the text of
    one in YAML or JSON; `replace` says what it takes the place of: nothing, the block that was
    pressed, or its whole message.
    """

    text: str | None = None
    blocks: JsonValue = None
    replace: Replace | None = None


class HostAction(Protocol):
    """An action that callbacks of documents may name."""

    @property
    def name(self) -> str:
        """Names the action, `[a-z][A-Za-z0-9_]{0,63}`."""
        ...

    @property
    def runs_here(self) -> bool:
        """Tells whether the server can run it; else documents may name it, and no call finds it."""
        ...

    @property
    def log_response(self) -> bool:
        """Tells whether the request log may hold what it returns and how it fails."""
        ...

    def faults(self, payload: JsonObject) -> tuple[FieldError, ...]:
        """Returns what is wrong with a payload, in order; paths begin with `payload`."""
        ...

    async def run(self, payload: JsonObject, context: ActionContext) -> ActionResult | None:
        """Runs the action with a payload that fits. Whatever it raises passes through.

        Ends once the action has, also when it is cancelled: till then it counts as running.
        """
        ...
