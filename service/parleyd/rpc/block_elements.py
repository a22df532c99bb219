"""What a person can press in a document, on the wire (spec blocks 8)."""

import json
from typing import Final, assert_never

from pydantic import JsonValue

from parley.v1 import blocks_pb2 as pb
from parleyd.contract.blocks.limits import LEVELS
from parleyd.contract.json import (
    JsonObject,
    compact,
    nests_deeper,
    object_at,
    objects_at,
    storable_json,
    storable_object,
    string_at,
)
from parleyd.rpc.block_fields import ITEMS_READ, Words, fields_from_proto, text_at
from parleyd.rpc.values import items_from_proto

_VARIANTS: Final = Words(pb.ButtonElement.Variant)


def elements_to_proto(block: JsonObject) -> list[pb.BlockElement]:
    """Returns the elements of an actions block."""
    return [_element_to_proto(element) for element in objects_at(block, "elements")]


def elements_from_proto(block: pb.ActionsBlock) -> list[JsonValue]:
    """Returns the elements of an actions block; one whose `oneof` is unset has no type."""
    return items_from_proto(block.elements, _element_from_proto, ITEMS_READ)


def _element_to_proto(element: JsonObject) -> pb.BlockElement:
    message = pb.BlockElement(id=text_at(element, "id"))
    match string_at(element, "type"):
        case "button":
            message.button.CopyFrom(_button_to_proto(element))
        case "segmented":
            message.segmented.CopyFrom(_segmented_to_proto(element))
        case _:
            pass
    return message


def _element_from_proto(element: pb.BlockElement) -> JsonValue:
    own = fields_from_proto(element)
    type_ = element.WhichOneof("element")
    match type_:
        case "button":
            button = element.button
            own |= fields_from_proto(button)
            if button.HasField("action"):
                own["action"] = _action_from_proto(button.action)
        case "segmented":
            options = element.segmented.options
            own |= fields_from_proto(element.segmented)
            own["options"] = items_from_proto(options, fields_from_proto, ITEMS_READ)
        case None:
            return own
        case _:
            assert_never(type_)
    return {"type": type_, **own}


def _button_to_proto(button: JsonObject) -> pb.ButtonElement:
    return pb.ButtonElement(
        text=text_at(button, "text"),
        action=_action_to_proto(object_at(button, "action")),
        variant=_VARIANTS.at(button, "variant"),
        icon_name=text_at(button, "iconName"),
    )


def _segmented_to_proto(segmented: JsonObject) -> pb.SegmentedElement:
    return pb.SegmentedElement(
        target=text_at(segmented, "target"),
        options=[
            pb.SegmentedOption(label=text_at(option, "label"), data=text_at(option, "data"))
            for option in objects_at(segmented, "options")
        ],
    )


def _action_to_proto(action: JsonObject) -> pb.BlockAction:
    match string_at(action, "kind"):
        case "reply":
            return pb.BlockAction(reply=pb.ReplyAction(text=text_at(action, "text")))
        case "open":
            return pb.BlockAction(open=_open_to_proto(action))
        case "select":
            target, data = text_at(action, "target"), text_at(action, "data")
            return pb.BlockAction(select=pb.SelectAction(target=target, data=data))
        case "callback":
            return pb.BlockAction(callback=_callback_to_proto(action))
        case _:
            return pb.BlockAction()


def _open_to_proto(action: JsonObject) -> pb.OpenAction:
    if "url" in action:
        return pb.OpenAction(url=text_at(action, "url"))
    return pb.OpenAction(route=text_at(action, "route"))


def _callback_to_proto(action: JsonObject) -> pb.CallbackAction:
    """Returns a callback, its payload in the form of `storable_json`: infinity becomes null."""
    payload = action.get("payload")
    return pb.CallbackAction(
        name=text_at(action, "name"),
        payload_json=compact(storable_object(payload)) if isinstance(payload, dict) else "",
    )


def _action_from_proto(action: pb.BlockAction) -> JsonValue:
    kind = action.WhichOneof("action")
    match kind:
        case "reply":
            own = fields_from_proto(action.reply)
        case "open":
            own = fields_from_proto(action.open)
        case "select":
            own = fields_from_proto(action.select)
        case "callback":
            own = _callback_from_proto(action.callback)
        case None:
            return {}
        case _:
            assert_never(kind)
    return {"kind": kind, **own}


def _callback_from_proto(callback: pb.CallbackAction) -> dict[str, JsonValue]:
    """Returns a callback; a payload that is no JSON stays a text, for the check to refuse."""
    own: dict[str, JsonValue] = {"name": callback.name} if callback.name else {}
    if callback.payload_json:
        own["payload"] = _read(callback.payload_json)
    return own


def _read(text: str) -> JsonValue:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if nests_deeper(value, LEVELS) else storable_json(value)
