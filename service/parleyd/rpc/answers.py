"""Answers on the wire: the envelope as JSON, which is what is checked and stored (spec asks W2)."""

from typing import assert_never

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract import limits
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.json import (
    JsonObject,
    flag_at,
    object_at,
    objects_at,
    string_at,
    strings_at,
    whole_at,
)
from parleyd.rpc.values import (
    items_from_proto,
    scalars_from_proto,
    value_from_proto,
    value_to_proto,
)


def answer_from_proto(answer: asks_pb2.AskAnswer) -> dict[str, JsonValue]:
    """Returns the envelope that a client sent, faults and all: checking it comes later.

    What is unset is an absent key. Content of another kind than the ask's becomes that JSON. Fields
    that this version doesn't know become keys which no ask has, and are refused: what stands beside
    an answer is never dropped in silence.
    """
    action = answer.WhichOneof("action")
    beside = _unknown(answer)
    match action:
        case "accept":
            accept = answer.accept
            return {"action": "accept", **_content_from_proto(accept), **_unknown(accept), **beside}
        case "decline":
            return {"action": "decline", **_unknown(answer.decline), **beside}
        case "cancel":
            cancel = answer.cancel
            reason = scalars_from_proto(cancel)
            return {"action": "cancel", **reason, **_unknown(cancel), **beside}
        case None:
            return beside
        case _:
            assert_never(action)


def answer_to_proto(kind: AskKind, envelope: JsonObject) -> asks_pb2.AskAnswer:
    """Returns a checked envelope, stored or a button's, of an ask of `kind`.

    Raises:
        ValueError: No envelope.
    """
    match envelope:
        case {"action": "accept", "content": dict(content)}:
            return asks_pb2.AskAnswer(accept=_content_to_proto(kind, content))
        case {"action": "decline"}:
            return asks_pb2.AskAnswer(decline=asks_pb2.DeclineAnswer())
        case {"action": "cancel"}:
            reason = string_at(envelope, "reason")
            return asks_pb2.AskAnswer(cancel=asks_pb2.CancelAnswer(reason=reason))
        case _:
            raise ValueError("an envelope has an action, and accept has content")


def _unknown(message: Message) -> dict[str, JsonValue]:
    """Returns a key for each field that is none of ours, by its number (spec asks V3)."""
    return {f"#{field.field_number}": None for field in UnknownFieldSet(message)}


def _content_from_proto(accept: asks_pb2.AcceptAnswer) -> dict[str, JsonValue]:
    kind = accept.WhichOneof("content")
    match kind:
        case "choice":
            content = _choice_from_proto(accept.choice)
        case "confirm":
            content = scalars_from_proto(accept.confirm)
        case "markdown":
            content = scalars_from_proto(accept.markdown)
        case "form":
            content = _form_from_proto(accept.form)
        case "files":
            content = _files_from_proto(accept.files)
        case None:
            return {}
        case _:
            assert_never(kind)
    return {"content": {**content, **_unknown(getattr(accept, kind))}}


def _content_to_proto(kind: AskKind, content: JsonObject) -> asks_pb2.AcceptAnswer:
    match kind:
        case "choice":
            return asks_pb2.AcceptAnswer(choice=_choice_to_proto(content))
        case "confirm":
            return asks_pb2.AcceptAnswer(confirm=_confirm_to_proto(content))
        case "markdown":
            return asks_pb2.AcceptAnswer(markdown=_markdown_to_proto(content))
        case "form":
            return asks_pb2.AcceptAnswer(form=_form_to_proto(content))
        case "files":
            return asks_pb2.AcceptAnswer(files=_files_to_proto(content))
        case _:
            assert_never(kind)


def _choice_from_proto(choice: asks_pb2.ChoiceAnswer) -> dict[str, JsonValue]:
    return {"selected": [*choice.selected], **scalars_from_proto(choice)}


def _choice_to_proto(content: JsonObject) -> asks_pb2.ChoiceAnswer:
    return asks_pb2.ChoiceAnswer(
        selected=strings_at(content, "selected"), other=string_at(content, "other")
    )


def _confirm_to_proto(content: JsonObject) -> asks_pb2.ConfirmAnswer:
    return asks_pb2.ConfirmAnswer(confirmed=flag_at(content, "confirmed"))


def _markdown_to_proto(content: JsonObject) -> asks_pb2.MarkdownAnswer:
    return asks_pb2.MarkdownAnswer(
        markdown=string_at(content, "markdown"), changed=flag_at(content, "changed")
    )


def _form_from_proto(form: asks_pb2.FormAnswer) -> dict[str, JsonValue]:
    return {"values": {key: value_from_proto(value) for key, value in form.values.items()}}


def _form_to_proto(content: JsonObject) -> asks_pb2.FormAnswer:
    values = object_at(content, "values")
    return asks_pb2.FormAnswer(values={key: value_to_proto(value) for key, value in values.items()})


def _files_from_proto(files: asks_pb2.FilesAnswer) -> dict[str, JsonValue]:
    return {"files": items_from_proto(files.files, _file_from_proto, limits.ITEMS_LOOKED_AT)}


def _files_to_proto(content: JsonObject) -> asks_pb2.FilesAnswer:
    return asks_pb2.FilesAnswer(files=map(_file_to_proto, objects_at(content, "files")))


def _file_from_proto(file: asks_pb2.FileRef) -> dict[str, JsonValue]:
    """Returns a file; its bytes become the data URL that holds them."""
    content = {**scalars_from_proto(file), **_unknown(file)}
    if file.HasField("data"):
        content["url"] = to_data_url(file.mime_type, file.data)
    return content


def _file_to_proto(file: JsonObject) -> asks_pb2.FileRef:
    message = asks_pb2.FileRef(
        filename=string_at(file, "filename"),
        mime_type=string_at(file, "mimeType"),
        size=whole_at(file, "size"),
    )
    file_id, url = string_at(file, "fileId"), string_at(file, "url")
    if file_id is not None:
        message.file_id = file_id
    if url is not None:
        message.url = url
    return message
