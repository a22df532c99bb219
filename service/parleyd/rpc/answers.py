"""Answers on the wire: the envelope as JSON, which is what is checked and stored (spec asks W2)."""

import math
from base64 import b64encode
from typing import assert_never

from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value
from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.json import (
    JsonObject,
    flag_at,
    objects_at,
    string_at,
    strings_at,
    whole_at,
)


def answer_from_proto(answer: asks_pb2.AskAnswer) -> dict[str, JsonValue]:
    """Returns the envelope that a client sent, faults and all: checking it comes later.

    What is unset is an absent key. Content of another kind than the ask's becomes that JSON.
    """
    action = answer.WhichOneof("action")
    match action:
        case "accept":
            return {"action": "accept", **_content_from_proto(answer.accept)}
        case "decline":
            return {"action": "decline"}
        case "cancel" if answer.cancel.HasField("reason"):
            return {"action": "cancel", "reason": answer.cancel.reason}
        case "cancel":
            return {"action": "cancel"}
        case None:
            return {}
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


def _content_from_proto(accept: asks_pb2.AcceptAnswer) -> dict[str, JsonValue]:
    kind = accept.WhichOneof("content")
    match kind:
        case "choice":
            return {"content": _choice_from_proto(accept.choice)}
        case "confirm":
            return {"content": _confirm_from_proto(accept.confirm)}
        case "markdown":
            return {"content": _markdown_from_proto(accept.markdown)}
        case "form":
            return {"content": _form_from_proto(accept.form)}
        case "files":
            return {"content": _files_from_proto(accept.files)}
        case None:
            return {}
        case _:
            assert_never(kind)


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
    content: dict[str, JsonValue] = {"selected": [*choice.selected]}
    if choice.HasField("other"):
        content["other"] = choice.other
    return content


def _choice_to_proto(content: JsonObject) -> asks_pb2.ChoiceAnswer:
    return asks_pb2.ChoiceAnswer(
        selected=strings_at(content, "selected"), other=string_at(content, "other")
    )


def _confirm_from_proto(confirm: asks_pb2.ConfirmAnswer) -> dict[str, JsonValue]:
    return {"confirmed": confirm.confirmed} if confirm.HasField("confirmed") else {}


def _confirm_to_proto(content: JsonObject) -> asks_pb2.ConfirmAnswer:
    return asks_pb2.ConfirmAnswer(confirmed=flag_at(content, "confirmed"))


def _markdown_from_proto(markdown: asks_pb2.MarkdownAnswer) -> dict[str, JsonValue]:
    content: dict[str, JsonValue] = {}
    if markdown.HasField("markdown"):
        content["markdown"] = markdown.markdown
    if markdown.HasField("changed"):
        content["changed"] = markdown.changed
    return content


def _markdown_to_proto(content: JsonObject) -> asks_pb2.MarkdownAnswer:
    return asks_pb2.MarkdownAnswer(
        markdown=string_at(content, "markdown"), changed=flag_at(content, "changed")
    )


def _form_from_proto(form: asks_pb2.FormAnswer) -> dict[str, JsonValue]:
    return {"values": {key: _value_from_proto(value) for key, value in form.values.items()}}


def _form_to_proto(content: JsonObject) -> asks_pb2.FormAnswer:
    values = content.get("values")
    fields = values if isinstance(values, dict) else {}
    return asks_pb2.FormAnswer(
        values={key: _value_to_proto(value) for key, value in fields.items()}
    )


def _value_from_proto(value: Value) -> JsonValue:
    """Returns a form value: whole doubles as whole numbers, and null for what is no JSON (W2)."""
    kind = value.WhichOneof("kind")
    match kind:
        case "number_value":
            number = value.number_value
            if not math.isfinite(number):
                return None
            return int(number) if number.is_integer() else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            fields = value.struct_value.fields
            return {key: _value_from_proto(item) for key, item in fields.items()}
        case "list_value":
            return [_value_from_proto(item) for item in value.list_value.values]
        case "null_value" | None:
            return None
        case _:
            assert_never(kind)


def _value_to_proto(value: JsonValue) -> Value:
    match value:
        case None:
            return Value(null_value=NULL_VALUE)
        case bool():
            return Value(bool_value=value)
        case int() | float():
            return Value(number_value=value)
        case str():
            return Value(string_value=value)
        case list():
            return Value(list_value=ListValue(values=map(_value_to_proto, value)))
        case dict():
            fields = {key: _value_to_proto(item) for key, item in value.items()}
            return Value(struct_value=Struct(fields=fields))
        case _:
            assert_never(value)


def _files_from_proto(files: asks_pb2.FilesAnswer) -> dict[str, JsonValue]:
    return {"files": [_file_from_proto(file) for file in files.files]}


def _files_to_proto(content: JsonObject) -> asks_pb2.FilesAnswer:
    return asks_pb2.FilesAnswer(files=map(_file_to_proto, objects_at(content, "files")))


def _file_from_proto(file: asks_pb2.FileRef) -> dict[str, JsonValue]:
    content: dict[str, JsonValue] = {}
    if file.HasField("filename"):
        content["filename"] = file.filename
    if file.HasField("mime_type"):
        content["mimeType"] = file.mime_type
    if file.HasField("size"):
        content["size"] = file.size
    source = file.WhichOneof("source")
    match source:
        case "file_id":
            content["fileId"] = file.file_id
        case "url":
            content["url"] = file.url
        case "data":
            content["url"] = f"data:{file.mime_type};base64,{b64encode(file.data).decode()}"
        case None:
            pass
        case _:
            assert_never(source)
    return content


def _file_to_proto(file: JsonObject) -> asks_pb2.FileRef:
    message = asks_pb2.FileRef(
        filename=string_at(file, "filename"),
        mime_type=string_at(file, "mimeType"),
        size=whole_at(file, "size"),
    )
    if file_id := string_at(file, "fileId"):
        message.file_id = file_id
    if url := string_at(file, "url"):
        message.url = url
    return message
