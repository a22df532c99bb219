"""What is wrong with asks and their answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal
from uuid import UUID

from parleyd.contract.errors.error import Malformed, ParleyError
from parleyd.contract.reasons import Reason


class ToolCallIdRequired(Malformed):
    """An answer, a button or a card that does not name its ask."""

    reason = Reason.TOOL_CALL_ID_REQUIRED


class ButtonIdRequired(Malformed):
    """A button press that does not name the button."""

    reason = Reason.BUTTON_ID_REQUIRED


class UnknownButton(Malformed):
    """A button that the stored card does not have. The ask stays pending."""

    reason = Reason.UNKNOWN_BUTTON


class InvalidAnswer(Malformed):
    """An answer that does not fit the stored ask. The ask stays pending."""

    reason = Reason.INVALID_ANSWER


class InvalidAsk(Malformed):
    """A question that breaks the rules of its kind."""

    reason = Reason.INVALID_ASK


class AnswerWhileAsksOff(Malformed):
    """An answer or a button in a deployment that has asks switched off."""

    reason = Reason.ASKS_DISABLED


class AsksOff(ParleyError):
    """A call that exists only with asks on."""

    reason = Reason.ASKS_DISABLED

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "404"}


class Resolution:
    """Who resolved an ask, how and when."""

    def __init__(
        self,
        turn_id: UUID | None,
        action: Literal["accept", "decline", "cancel"],
        resolve_time: datetime,
    ) -> None:
        self.turn_id = turn_id
        self.action = action
        self.resolve_time = resolve_time

    def facts(self) -> dict[str, str]:
        """Returns the resolution as error metadata; the time is RFC 3339 in UTC."""
        facts = {
            "action": self.action,
            "resolve_time": self.resolve_time.isoformat().replace("+00:00", "Z"),
        }
        if self.turn_id:
            facts["resolved_by_turn_id"] = str(self.turn_id)
        return facts


class AskNotPending(ParleyError):
    """The conversation does not wait on this ask (spec turns 8.2).

    `resolution` says who resolved it, when it ever was an ask of the conversation; `current` names
    the ask that the conversation waits on instead.
    """

    reason = Reason.ASK_NOT_PENDING

    def __init__(
        self, tool_call_id: str, resolution: "Resolution | None" = None, current: str | None = None
    ) -> None:
        self.tool_call_id = tool_call_id
        self.resolution = resolution
        self.current = current
        then = f"; it waits on {current!r}" if current else ""
        super().__init__(
            f"The conversation does not wait on {tool_call_id!r}: {self._says()}{then}. "
            "Read the conversation again and answer the ask it shows, if it shows one."
        )

    def _says(self) -> str:
        return "it was resolved already" if self.resolution else "it was never asked here"

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the ask, its resolution and the current ask, as far as there is one."""
        facts = {"tool_call_id": self.tool_call_id}
        if self.resolution:
            facts |= self.resolution.facts()
        if self.current:
            facts["current_tool_call_id"] = self.current
        return facts


class AskExpired(AskNotPending):
    """The time of this ask was over before the answer came (spec turns 16.5)."""

    reason = Reason.ASK_EXPIRED

    def _says(self) -> str:
        return "its time is over"


class AskAlreadyPending(ParleyError):
    """The conversation waits on another ask; it waits on one at most (spec turns 16.4)."""

    reason = Reason.ASK_ALREADY_PENDING

    def __init__(self, current: str) -> None:
        super().__init__(
            f"The conversation waits on {current!r} already, and on one ask at most. "
            "Ask again once that is resolved."
        )
        self.current = current

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the ask that the conversation waits on."""
        return {"current_tool_call_id": self.current}


class AskNotFound(ParleyError):
    """The service has made no such ask."""

    reason = Reason.ASK_NOT_FOUND

    def __init__(self, ask_id: UUID) -> None:
        super().__init__(f"This service has made no ask {ask_id}.")


class ToolUnavailable(ParleyError):
    """The tool of an approval is not here at the moment; the ask stays pending (9.5)."""

    reason = Reason.TOOL_UNAVAILABLE

    def __init__(self, tool_name: str) -> None:
        super().__init__(
            f"The tool {tool_name!r} can't be run by this server at the moment. The approval stays "
            "pending: approve it later, or deny it now."
        )
        self.tool_name = tool_name

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the tool's name."""
        return {"tool_name": self.tool_name}
