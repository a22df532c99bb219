"""Answers as JSON: the form in which agents are told them, an object with an `action`."""

import math
from typing import assert_never

from google.protobuf.struct_pb2 import Value

from parley.adapters.question_json import JsonObject, JsonValue, Malformed, object_of, parsed
from parley.v1 import asks_pb2 as pb


def answer_to_json(answer: pb.AskAnswer) -> JsonObject:
    """Returns an answer as the model of an agent is told it.

    Raises:
        Malformed: Nothing was answered, or something newer than this client.
    """
    action = answer.WhichOneof("action")
    match action:
        case "accept":
            return {"action": "accept", "content": _content(answer.accept)}
        case "decline":
            return {"action": "decline"}
        case "cancel" if answer.cancel.HasField("reason"):
            return {"action": "cancel", "reason": answer.cancel.reason}
        case "cancel":
            return {"action": "cancel"}
        case None:
            raise Malformed("There is no answer yet, or one that is newer than this client.")
        case _:
            assert_never(action)


def answer_from_json(kind: str, value: object) -> pb.AskAnswer:
    """Returns the answer to a question of `kind` of which `answer_to_json` has made the value.

    Raises:
        Malformed: The value is no such answer.
    """
    match object_of(value):
        case {"action": "accept", "content": content}:
            # Of an answer the names are those of protobuf's JSON already.
            answer: dict[str, object] = {"accept": {kind: content}}
        case {"action": "decline"}:
            answer = {"decline": {}}
        case {"action": "cancel", "reason": reason}:
            answer = {"cancel": {"reason": reason}}
        case {"action": "cancel"}:
            answer = {"cancel": {}}
        case _:
            raise Malformed(
                "An answer is a JSON object with the `action` accept, decline or cancel; accept "
                "has `content` beside it."
            )
    return parsed(answer, pb.AskAnswer(), "The answer is malformed")


def _content(accept: pb.AcceptAnswer) -> JsonObject:
    kind = accept.WhichOneof("content")
    match kind:
        case "choice":
            return _choice(accept.choice)
        case "confirm":
            return {"confirmed": accept.confirm.confirmed}
        case "markdown":
            return {"markdown": accept.markdown.markdown, "changed": accept.markdown.changed}
        case "form":
            return {"values": {key: _plain(value) for key, value in accept.form.values.items()}}
        case "files":
            return {"files": [_file(file) for file in accept.files.files]}
        case None:
            raise Malformed("The answer is of a kind that is newer than this client.")
        case _:
            assert_never(kind)


def _choice(choice: pb.ChoiceAnswer) -> JsonObject:
    picked: JsonObject = {"selected": [*choice.selected]}
    return {**picked, "other": choice.other} if choice.HasField("other") else picked


def _file(file: pb.FileRef) -> JsonObject:
    """Returns what a file is. Its bytes are an upload's, which `fileId` names."""
    told: JsonObject = {
        "filename": file.filename,
        "mimeType": file.mime_type,
        "size": file.size,
    }
    return {**told, "fileId": file.file_id} if file.HasField("file_id") else told


def _plain(value: Value) -> JsonValue:
    match value.WhichOneof("kind"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "number_value":
            number = value.number_value
            return int(number) if math.isfinite(number) and number.is_integer() else number
        case "list_value":
            return [_plain(each) for each in value.list_value.values]
        case _:  # no field has such a value
            return None
