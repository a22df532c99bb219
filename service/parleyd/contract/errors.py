"""What can go wrong, as one tree (spec turns 8).

    ParleyError
    ├─ Unauthenticated
    ├─ Malformed                 the request itself; carries field errors
    │  ├─ PromptRequired  ToolCallIdRequired  ButtonIdRequired  TurnIdRequired
    │  ├─ ConversationRequired  UnknownSurface  UnknownButton  InvalidRating
    │  ├─ InvalidAnswer  InvalidAsk  InvalidRequest  InvalidAttachment
    │  ├─ FileTypeNotAllowed  FileMismatch
    │  └─ AnswerWhileAsksOff
    ├─ AsksOff  FilesOff  UploadsOff  BlocksOff
    ├─ NotOwner
    ├─ ServiceOnly  TokenForbidden  ScopeMissing
    ├─ OptionForbidden
    ├─ ConversationNotFound  TurnNotFound  MessageNotFound  FileNotFound
    ├─ DatasetNotFound  ActionNotFound  ActionTimeout
    ├─ TurnNotRetryable
    ├─ AskNotPending
    ├─ ToolUnavailable
    ├─ FileTooLarge
    ├─ RequestIdReused
    ├─ RateLimited
    ├─ EventsExpired
    ├─ ModelNotConfigured
    ├─ AttachmentNotStored
    ├─ BlockGenerationFailed  BlocksInvalid
    └─ Unavailable

A turn that fails after it started is no error of a call but a `TurnError` with one of the
`TURN_REASONS`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Literal
from uuid import UUID

from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.field_errors import FieldError
from parleyd.contract.reasons import Reason


class ParleyError(Exception):
    """A fault that a caller is told of. The text is one sentence for the calling developer."""

    reason: ClassVar[Reason]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the facts that travel with the reason, keyed as in `errors.proto`."""
        return {}


class Unauthenticated(ParleyError):
    """No bearer token, or not a valid one."""

    reason = Reason.UNAUTHENTICATED


class Malformed(ParleyError):
    """The request itself is wrong: `fields` says where and how to mend it."""

    def __init__(self, message: str, fields: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)


class PromptRequired(Malformed):
    """No input, or an empty prompt."""

    reason = Reason.PROMPT_REQUIRED


class ToolCallIdRequired(Malformed):
    """An answer, a button or a card that does not name its ask."""

    reason = Reason.TOOL_CALL_ID_REQUIRED


class ButtonIdRequired(Malformed):
    """A button press that does not name the button."""

    reason = Reason.BUTTON_ID_REQUIRED


class TurnIdRequired(Malformed):
    """A retry that does not name the failed turn."""

    reason = Reason.TURN_ID_REQUIRED


class ConversationRequired(Malformed):
    """An answer, a button, a retry or a unary turn without a conversation."""

    reason = Reason.CONVERSATION_REQUIRED


class UnknownSurface(Malformed):
    """A surface that does not exist."""

    reason = Reason.UNKNOWN_SURFACE


class UnknownButton(Malformed):
    """A button that the stored card does not have. The ask stays pending."""

    reason = Reason.UNKNOWN_BUTTON


class InvalidAnswer(Malformed):
    """An answer that does not fit the stored ask. The ask stays pending."""

    reason = Reason.INVALID_ANSWER


class InvalidAsk(Malformed):
    """A question that breaks the rules of its kind."""

    reason = Reason.INVALID_ASK


class InvalidRequest(Malformed):
    """An id, a page token, a page size, a mask or a text that is malformed or over its limit."""

    reason = Reason.INVALID_REQUEST


class InvalidRating(Malformed):
    """A rating that does not exist."""

    reason = Reason.INVALID_RATING


class InvalidAttachment(Malformed):
    """An attachment of the wrong type, scheme or encoding, or one that is not the caller's."""

    reason = Reason.INVALID_ATTACHMENT


class FileTypeNotAllowed(Malformed):
    """An upload of a type that is not taken."""

    reason = Reason.FILE_TYPE_NOT_ALLOWED


class FileMismatch(Malformed):
    """An upload whose bytes are not of the type that its header says."""

    reason = Reason.MIME_MISMATCH


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


class FilesOff(ParleyError):
    """A call that needs a file store, or one that makes URLs."""

    reason = Reason.FILES_DISABLED

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "404"}


class BlocksOff(ParleyError):
    """A call that exists only where replies are documents."""

    reason = Reason.BLOCKS_DISABLED

    def __init__(self) -> None:
        super().__init__("Replies are no documents in this deployment; it has PARLEY_BLOCKS off.")

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "404"}


class UploadsOff(ParleyError):
    """The deployment takes no uploads and no attachments."""

    reason = Reason.UPLOADS_DISABLED

    def __init__(self) -> None:
        super().__init__("This deployment takes no uploads; send text alone.")


class NotOwner(ParleyError):
    """The conversation or the file belongs to someone else."""

    reason = Reason.NOT_OWNER

    def __init__(self, what: Literal["conversation", "file"] = "conversation") -> None:
        super().__init__(f"This {what} belongs to someone else.")


class ServiceOnly(ParleyError):
    """A call for services, by somebody who is none."""

    reason = Reason.SERVICE_ONLY

    def __init__(self) -> None:
        super().__init__(
            "This call is for services, and the bearer token speaks for a person; call with the "
            "token of a service."
        )


class TokenForbidden(ParleyError):
    """A token that may not be used for this call: a service's where people call, or one of both."""

    reason = Reason.TOKEN_FORBIDDEN


class ScopeMissing(ParleyError):
    """A service's token that does not allow the call: its claim `scope` lacks one."""

    reason = Reason.SCOPE_REQUIRED

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"The bearer token lacks the scope {scope!r}; get one whose claim `scope`, a text with "
            "spaces between, has it."
        )
        self.scope = scope

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the scope that the call needs."""
        return {"scope": self.scope}


class OptionForbidden(ParleyError):
    """An option that the deployment does not leave to clients."""

    reason = Reason.OPTION_FORBIDDEN

    def __init__(self, option: str, message: str) -> None:
        super().__init__(message)
        self.option = option

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the option's name."""
        return {"option": self.option}


class ConversationNotFound(ParleyError):
    """No such conversation, or it is deleted."""

    reason = Reason.CONVERSATION_NOT_FOUND

    def __init__(self, conversation_id: UUID) -> None:
        super().__init__(f"There is no conversation {conversation_id}.")


class TurnNotFound(ParleyError):
    """The conversation has no such turn."""

    reason = Reason.TURN_NOT_FOUND

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(f"The conversation has no turn {turn_id}.")


class MessageNotFound(ParleyError):
    """The conversation has no such message."""

    reason = Reason.MESSAGE_NOT_FOUND

    def __init__(self, message_id: int) -> None:
        super().__init__(f"The conversation has no message {message_id}.")


class FileNotFound(ParleyError):
    """No such file of the caller's: it never was, is deleted, or is someone else's."""

    reason = Reason.FILE_NOT_FOUND

    def __init__(self, file_id: UUID) -> None:
        super().__init__(f"There is no file {file_id} of yours.")


class DatasetNotFound(ParleyError):
    """No such dataset of the caller's: it never was, its time is over, or it is someone else's."""

    reason = Reason.DATASET_NOT_FOUND

    def __init__(self, dataset_id: str) -> None:
        super().__init__(f"There is no dataset {dataset_id!r} of yours.")


class ActionNotFound(ParleyError):
    """The host has no such action."""

    reason = Reason.ACTION_NOT_FOUND

    def __init__(self, action: str) -> None:
        super().__init__(f"Unknown action {action!r}: the deployment has none of this name.")


class ActionTimeout(ParleyError):
    """An action of the host took longer than it may."""

    reason = Reason.ACTION_TIMEOUT

    def __init__(self, action: str, seconds: float) -> None:
        super().__init__(
            f"The action {action!r} took longer than {seconds:g} s and was stopped. "
            "Whether it took effect is not known."
        )


class FileTooLarge(ParleyError):
    """A file over the cap of `limit` bytes."""

    reason = Reason.FILE_TOO_LARGE

    def __init__(self, limit: int) -> None:
        super().__init__(f"A file may have at most {limit} bytes; send a smaller one.")
        self.limit = limit

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the cap, and the HTTP status that the gateway sends instead of its own."""
        return {"limit": str(self.limit), "http_status": "413"}


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


class TurnNotRetryable(ParleyError):
    """The turn is not the latest of its conversation, or has not failed (spec turns 3.7.2).

    `retried_by` names the turn that retried it already.
    """

    reason = Reason.TURN_NOT_RETRYABLE

    def __init__(self, turn_id: UUID, state: str, retried_by: UUID | None = None) -> None:
        then = (
            f"it was retried by {retried_by}: watch that turn"
            if retried_by
            else "only the latest turn of a conversation can be retried, once it has failed"
        )
        super().__init__(f"The turn {turn_id} is {state} and can't be retried: {then}.")
        self.turn_id = turn_id
        self.state = state
        self.retried_by = retried_by

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the turn, its state, and what retried it, if something did."""
        facts = {"turn_id": str(self.turn_id), "state": self.state}
        if self.retried_by:
            facts["retried_by_turn_id"] = str(self.retried_by)
        return facts


class RequestIdReused(ParleyError):
    """The request id belongs to another request of this caller (spec turns 16.2)."""

    reason = Reason.REQUEST_ID_REUSED

    def __init__(self, request_id: UUID) -> None:
        super().__init__(
            f"The request id {request_id} was used for another request. Send a repeat unchanged, "
            "and every new request with an id of its own."
        )
        self.request_id = request_id

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the request id."""
        return {"request_id": str(self.request_id)}


class RateLimited(ParleyError):
    """The caller has too much running at once (spec turns 12.5)."""

    reason = Reason.RATE_LIMITED

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"At most {limit} {what} at once; wait until one of them has ended.")
        self.limit = limit

    @classmethod
    def by_owner(cls, limit: int) -> "RateLimited":
        """Returns the fault of a person who has too many turns running."""
        return cls("turns of one person may run", limit)

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the limit."""
        return {"limit": str(self.limit)}


class EventsExpired(ParleyError):
    """The events after this place are gone, or never were (spec turns 16.1)."""

    reason = Reason.EVENTS_EXPIRED

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(
            f"The turn {turn_id} has closed and has no events after that place any more. "
            "Read the turn's result with GetTurn."
        )


class AskNotPending(ParleyError):
    """The conversation does not wait on this ask (spec turns 8.2).

    `resolution` says who resolved it, when it ever was an ask of the conversation; `current` names
    the ask that the conversation waits on instead.
    """

    reason = Reason.ASK_NOT_PENDING

    def __init__(
        self, tool_call_id: str, resolution: "Resolution | None" = None, current: str | None = None
    ) -> None:
        was = "was resolved already" if resolution else "was never asked here"
        then = f"; it waits on {current!r}" if current else ""
        super().__init__(
            f"The conversation does not wait on {tool_call_id!r}: it {was}{then}. "
            "Read the conversation again and answer the ask it shows, if it shows one."
        )
        self.tool_call_id = tool_call_id
        self.resolution = resolution
        self.current = current

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the ask, its resolution and the current ask, as far as there is one."""
        facts = {"tool_call_id": self.tool_call_id}
        if self.resolution:
            facts |= self.resolution.facts()
        if self.current:
            facts["current_tool_call_id"] = self.current
        return facts


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


class ModelNotConfigured(ParleyError):
    """The deployment has no model."""

    reason = Reason.MODEL_NOT_CONFIGURED

    def __init__(self) -> None:
        super().__init__("This deployment has no model configured.")


class AttachmentNotStored(ParleyError):
    """A file that came with a message or an answer could not be stored. Nothing was."""

    reason = Reason.ATTACHMENT_UPLOAD_FAILED

    def __init__(self) -> None:
        super().__init__("The files could not be stored. Nothing was; send the request again.")

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "502"}


class BlockGenerationFailed(ParleyError):
    """The model failed, took too long, or returned no object. Nothing is kept; try again later."""

    reason = Reason.BLOCK_GENERATION_FAILED

    def __init__(self) -> None:
        super().__init__("Block generation failed: the model gave no document. Try again later.")

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "502"}


class BlocksInvalid(ParleyError):
    """The model's document breaks the rules in `issues`, which are errors, at least one."""

    reason = Reason.BLOCKS_INVALID

    def __init__(self, issues: Sequence[BlockIssue]) -> None:
        super().__init__("Block document failed validation; the details say where, and why.")
        self.issues = tuple(issues)

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the codes, each once, and the HTTP status that the gateway sends."""
        codes = dict.fromkeys(issue.code.value for issue in self.issues)
        return {"error_codes": ",".join(codes), "http_status": "422"}


class Unavailable(ParleyError):
    """The database can't be reached, or the server stops. Nothing was stored by the call."""

    reason = Reason.UNAVAILABLE
