"""Questions on the wire: the whole input of an ask, as JSON and as protobuf (spec asks W1-W3)."""

from typing import assert_never

from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code
from parleyd.contract.json import (
    JsonObject,
    flag_at,
    objects_at,
    string_at,
    strings_at,
    whole_at,
)
from parleyd.rpc import fields
from parleyd.rpc.form_fields import field_from_proto, field_to_proto
from parleyd.rpc.options import options_from_proto, options_to_proto
from parleyd.rpc.values import items_from_proto, scalars_from_proto


def ask_input_from_proto(message: asks_pb2.AskInput) -> tuple[AskKind, dict[str, JsonValue]]:
    """Returns the kind and the input that a client sent, faults and all: checking it comes later.

    What is unset is an absent key. A text or a list that can't be unset here is empty instead, but
    for the `default` of a choice, where an empty list means none.

    Raises:
        InvalidRequest: The input has no kind.
    """
    kind = message.WhichOneof("kind")
    match kind:
        case "choice":
            own = _choice_from_proto(message.choice)
        case "confirm":
            own = scalars_from_proto(message.confirm)
        case "markdown":
            own = scalars_from_proto(message.markdown)
        case "form":
            own = _form_from_proto(message.form)
        case "files":
            own = _files_from_proto(message.files)
        case None:
            raise fields.malformed(
                InvalidRequest,
                "kind",
                Code.MISSING_REQUIRED,
                "kind is missing: the input is no question of a kind that exists.",
                "Set choice, confirm, markdown, form or files.",
            )
        case _:
            assert_never(kind)
    return kind, {"prompt": message.prompt, **scalars_from_proto(message), **own}


def ask_input_to_proto(kind: AskKind, ask_input: JsonObject) -> asks_pb2.AskInput:
    """Returns a valid input, such as a stored one."""
    message = asks_pb2.AskInput(
        prompt=string_at(ask_input, "prompt") or "",
        title=string_at(ask_input, "title"),
        submit_label=string_at(ask_input, "submitLabel"),
        allow_decline=flag_at(ask_input, "allowDecline"),
    )
    match kind:
        case "choice":
            message.choice.CopyFrom(_choice_to_proto(ask_input))
        case "confirm":
            message.confirm.CopyFrom(_confirm_to_proto(ask_input))
        case "markdown":
            message.markdown.CopyFrom(_markdown_to_proto(ask_input))
        case "form":
            message.form.CopyFrom(_form_to_proto(ask_input))
        case "files":
            message.files.CopyFrom(_files_to_proto(ask_input))
        case _:
            assert_never(kind)
    return message


def _choice_from_proto(choice: asks_pb2.ChoiceInput) -> dict[str, JsonValue]:
    content: dict[str, JsonValue] = {"options": options_from_proto(choice.options)}
    if choice.default:
        content["default"] = [*choice.default]
    return content | _select_from_proto(choice.select) | scalars_from_proto(choice)


def _choice_to_proto(ask_input: JsonObject) -> asks_pb2.ChoiceInput:
    return asks_pb2.ChoiceInput(
        select=_select_to_proto(ask_input),
        options=options_to_proto(ask_input),
        default=strings_at(ask_input, "default"),
        min_selected=whole_at(ask_input, "minSelected"),
        max_selected=whole_at(ask_input, "maxSelected"),
        allow_other=flag_at(ask_input, "allowOther"),
        other_label=string_at(ask_input, "otherLabel"),
    )


def _select_from_proto(select: asks_pb2.ChoiceInput.Select.ValueType) -> dict[str, JsonValue]:
    match select:
        case asks_pb2.ChoiceInput.SELECT_UNSPECIFIED:
            return {}
        case asks_pb2.ChoiceInput.SELECT_ONE:
            return {"select": "one"}
        case asks_pb2.ChoiceInput.SELECT_MANY:
            return {"select": "many"}
        case unknown:
            return {"select": unknown}


def _select_to_proto(ask_input: JsonObject) -> asks_pb2.ChoiceInput.Select.ValueType:
    match ask_input.get("select"):
        case "one":
            return asks_pb2.ChoiceInput.SELECT_ONE
        case "many":
            return asks_pb2.ChoiceInput.SELECT_MANY
        case _:
            return asks_pb2.ChoiceInput.SELECT_UNSPECIFIED


def _confirm_to_proto(ask_input: JsonObject) -> asks_pb2.ConfirmInput:
    return asks_pb2.ConfirmInput(
        confirm_label=string_at(ask_input, "confirmLabel"),
        deny_label=string_at(ask_input, "denyLabel"),
        destructive=flag_at(ask_input, "destructive"),
    )


def _markdown_to_proto(ask_input: JsonObject) -> asks_pb2.MarkdownInput:
    return asks_pb2.MarkdownInput(
        initial=string_at(ask_input, "initial"),
        placeholder=string_at(ask_input, "placeholder"),
        min_length=whole_at(ask_input, "minLength"),
        max_length=whole_at(ask_input, "maxLength"),
    )


def _form_from_proto(form: asks_pb2.FormInput) -> dict[str, JsonValue]:
    return {"fields": items_from_proto(form.fields, field_from_proto)}


def _form_to_proto(ask_input: JsonObject) -> asks_pb2.FormInput:
    return asks_pb2.FormInput(fields=map(field_to_proto, objects_at(ask_input, "fields")))


def _files_from_proto(files: asks_pb2.FilesInput) -> dict[str, JsonValue]:
    return {"accept": [*files.accept], **scalars_from_proto(files)}


def _files_to_proto(ask_input: JsonObject) -> asks_pb2.FilesInput:
    return asks_pb2.FilesInput(
        accept=strings_at(ask_input, "accept"),
        min_files=whole_at(ask_input, "minFiles"),
        max_files=whole_at(ask_input, "maxFiles"),
    )
