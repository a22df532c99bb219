"""The fields of requests that are checked before anything else (spec turns 3.2, check 2).

Texts come back in storable form. A fault names the field by its contract path, in camelCase.
"""

import re
from typing import TypeVar
from uuid import UUID

from parleyd.contract import limits
from parleyd.contract.errors import (
    ButtonIdRequired,
    ConversationRequired,
    InvalidRequest,
    Malformed,
    PromptRequired,
    ToolCallIdRequired,
    TurnIdRequired,
)
from parleyd.contract.field_errors import Code, FieldError, quoted
from parleyd.contract.text import storable, trim, units

_Fault = TypeVar("_Fault", bound=Malformed)

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_SEQ = re.compile(r"0|[1-9][0-9]{0,18}")
_SEQ_MOST = 2**63 - 1


def malformed(error: type[_Fault], path: str, code: Code, message: str, fix: str) -> _Fault:
    """Returns an error about one field, whose text is that of the field."""
    field = FieldError(path=path, code=code, message=message, fix=fix)
    return error(f"{message} {fix}", [field])


def conversation_id(text: str) -> UUID:
    """Returns the id of a conversation from its canonical text.

    Raises:
        InvalidRequest: Anything else, nothing included.
    """
    return _uuid(
        text,
        "conversationId",
        "names no conversation",
        "Send the conversation_id that the server gave.",
    )


def required_conversation_id(text: str) -> UUID:
    """Returns the id of the conversation that a turn needs.

    Raises:
        ConversationRequired: There is none.
        InvalidRequest: It is no id.
    """
    if not text:
        raise malformed(
            ConversationRequired,
            "conversationId",
            Code.MISSING_REQUIRED,
            "conversationId is missing.",
            "Name the conversation; only a prompt to StreamTurn may do without one.",
        )
    return conversation_id(text)


def turn_id(text: str) -> UUID:
    """Returns the id of the turn that is retried or looked at.

    Raises:
        TurnIdRequired: There is none.
        InvalidRequest: It is no id.
    """
    if not text:
        raise malformed(
            TurnIdRequired,
            "turnId",
            Code.MISSING_REQUIRED,
            "turnId is missing.",
            "Name the turn by the turn_id of its events.",
        )
    return _uuid(text, "turnId", "names no turn", "Send the turn_id that the server gave.")


def request_id(text: str) -> UUID | None:
    """Returns the id that the client gave its request; none for an empty one.

    Raises:
        InvalidRequest: It is no UUID.
    """
    if not text:
        return None
    return _uuid(
        text,
        "requestId",
        "is no UUID",
        "Make a random UUID for every new request, and send it again with every repeat.",
    )


def file_id(text: str) -> UUID:
    """Returns the id of a file from its canonical text.

    Raises:
        InvalidRequest: Anything else, nothing included.
    """
    return _uuid(text, "fileId", "names no file", "Send the file_id that the server gave.")


def ask_id(text: str) -> UUID:
    """Returns the id of a service's ask from its canonical text.

    Raises:
        InvalidRequest: Anything else, nothing included.
    """
    return _uuid(text, "askId", "names no ask", "Send the ask_id that the server gave.")


def owner(text: str) -> str:
    """Returns the person that a service asks: the subject of that person's tokens.

    Raises:
        InvalidRequest: Nothing, or what can be no subject.
    """
    if 0 < len(text) <= limits.OWNER_CHARACTERS and storable(text) == text:
        return text
    raise malformed(
        InvalidRequest,
        "owner",
        Code.INVALID_FORMAT if text else Code.MISSING_REQUIRED,
        f"owner is {quoted(text)}, which names nobody." if text else "owner is missing.",
        f"Send the subject of the person's tokens, 1 to {limits.OWNER_CHARACTERS} characters.",
    )


def filename(text: str) -> str:
    """Returns the name of a file. Blank names are names, and so are those that look like paths.

    Raises:
        InvalidRequest: Nothing, or more than a name may have.
    """
    if not text:
        raise malformed(
            InvalidRequest,
            "filename",
            Code.MISSING_REQUIRED,
            "filename is missing.",
            "Give the file a name.",
        )
    return bounded_text("filename", text, limits.FILENAME)


def message_id(text: str) -> int:
    """Returns the `seq` of a message from its decimal text.

    Raises:
        InvalidRequest: Anything else, nothing included.
    """
    if not _SEQ.fullmatch(text) or int(text) > _SEQ_MOST:
        raise malformed(
            InvalidRequest,
            "messageId",
            Code.INVALID_FORMAT,
            f"messageId is {quoted(text)}, which names no message.",
            "Send the message_id that the server gave.",
        )
    return int(text)


def after_sequence(number: int) -> int:
    """Returns the place in a turn's events after which a client wants them.

    Raises:
        InvalidRequest: It is negative.
    """
    if number < 0:
        raise malformed(
            InvalidRequest,
            "afterSequence",
            Code.RANGE_INVALID,
            f"afterSequence is {number}.",
            "Send the sequence of the last event received, or 0 for all events.",
        )
    return number


def tool_call_id(text: str) -> str:
    """Returns the id of an ask.

    Raises:
        ToolCallIdRequired: There is none.
        InvalidRequest: It is longer than any.
    """
    if not text:
        raise malformed(
            ToolCallIdRequired,
            "toolCallId",
            Code.MISSING_REQUIRED,
            "toolCallId is missing.",
            "Name the ask by the tool_call_id it came with.",
        )
    if len(text) > limits.TOOL_CALL_ID_CHARACTERS:
        raise malformed(
            InvalidRequest,
            "toolCallId",
            Code.TOO_LONG,
            f"toolCallId has more than {limits.TOOL_CALL_ID_CHARACTERS} characters.",
            "Name the ask by the tool_call_id it came with.",
        )
    return storable(text)


def button_id(text: str) -> str:
    """Returns the id of a button.

    Raises:
        ButtonIdRequired: There is none.
    """
    if not text:
        raise malformed(
            ButtonIdRequired,
            "buttonId",
            Code.MISSING_REQUIRED,
            "buttonId is missing.",
            "Name a button of the ask's card by its id.",
        )
    return storable(text)


def prompt_text(text: str) -> str:
    """Returns what the person wrote. Blank text is text.

    Raises:
        PromptRequired: Nothing.
        InvalidRequest: More than a turn takes.
    """
    if not text:
        raise prompt_required()
    return bounded_text("prompt", text, limits.TURN_PROMPT)


def bounded_text(path: str, text: str, most: int) -> str:
    """Returns a text of at most `most` UTF-16 units; nothing is a text too.

    Raises:
        InvalidRequest: It is longer.
    """
    if (count := units(text)) > most:
        raise malformed(
            InvalidRequest,
            path,
            Code.TOO_LONG,
            f"{path} has {count} UTF-16 units, more than {most}.",
            "Shorten it.",
        )
    return storable(text)


def prompt_required() -> PromptRequired:
    """Returns the fault of a turn without an input, or with an empty prompt."""
    return malformed(
        PromptRequired,
        "prompt",
        Code.MISSING_REQUIRED,
        "There is nothing to run a turn on.",
        "Send a prompt that is not empty, an answer, a button or a retry.",
    )


def title(text: str) -> str | None:
    """Returns a conversation's title, trimmed; none for an empty one (7.3).

    Raises:
        InvalidRequest: It is too long.
    """
    return _short("title", trim(text), limits.CONVERSATION_TITLE_CHARACTERS)


def project(text: str) -> str | None:
    """Returns the name of a project; none for an empty one.

    Raises:
        InvalidRequest: It is too long.
    """
    return _short("project", text, limits.CONVERSATION_PROJECT_CHARACTERS)


def _uuid(text: str, path: str, fault: str, fix: str) -> UUID:
    if not _UUID.fullmatch(text):
        message = f"{path} is {quoted(text)}, which {fault}."
        raise malformed(InvalidRequest, path, Code.INVALID_FORMAT, message, fix)
    return UUID(text)


def _short(path: str, text: str, most: int) -> str | None:
    if len(text) > most:
        raise malformed(
            InvalidRequest,
            path,
            Code.TOO_LONG,
            f"{path} has {len(text)} characters, more than {most}.",
            "Shorten it.",
        )
    return storable(text) or None
