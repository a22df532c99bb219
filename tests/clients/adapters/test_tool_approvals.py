"""A person who allows a call sees all of its arguments, as they are."""

import json

import pytest

from parley.adapters.tool_approvals import Unshowable, tool_approval
from parley.v1.ask_contract_pb2 import ValidateAskRequest
from parleyd.contract.asks.shown_texts import ask_without_remote_images
from parleyd.rpc.ask_contract import validate_ask
from parleyd.rpc.ask_inputs import ask_input_from_proto

SHOWN = {
    "plain": ('{"name":"Winter","days":3}', '{"name": "Winter", "days": 3}'),
    "other_scripts": ('{"name":"Été 冬 😀"}', '{"name": "Été 冬 😀"}'),
    "escapes_of_letters": (r'{"name":"\u0041"}', '{"name": "A"}'),
    "whole_numbers": ('{"n":9007199254740993}', '{"n": 9007199254740993}'),
    "none": ("{}", "It takes no arguments."),
    "no_json": ("rm -rf /", '"rm -rf /"'),
    "empty": ("", '""'),
    "too_deep_json": ("[" * 400, json.dumps("[" * 400)),
    "hidden": ('{"a":"x\u202ey\u200bz\u3164\x85"}', r'{"a": "x\u202ey\u200bz\u3164\u0085"}'),
    "half_an_emoji": (r'{"a":"\ud83d"}', r'{"a": "\ud83d"}'),
    "lines": (r'{"a":"x\nAllow?"}', r'{"a": "x\nAllow?"}'),
    "an_image": (
        '{"a":"![x](https://a.example/) <img src=//a.example/> 1 < 2"}',
        r'{"a": "!\u005bx](https://a.example/) \u003cimg src=//a.example/> 1 < 2"}',
    ),
}


@pytest.mark.parametrize(("arguments", "shown"), SHOWN.values(), ids=SHOWN)
def test_arguments_are_shown_whole_and_stay_as_they_are(arguments: str, shown: str) -> None:
    ask = tool_approval("delete_plan", arguments)
    assert ask.prompt == f"Allow delete_plan?\n{shown}"
    assert list(validate_ask(ValidateAskRequest(input=ask)).errors) == []
    _, stored = ask_input_from_proto(ask)
    assert ask_without_remote_images(stored, ()) == stored


def test_what_a_card_cuts_has_no_button_that_allows_it() -> None:
    assert not tool_approval("t", json.dumps("x" * 129)).confirm.HasField("destructive")
    assert tool_approval("t", json.dumps("x" * 130)).confirm.destructive


def test_what_can_not_be_shown_whole_is_not_asked() -> None:
    tool_approval("t", json.dumps("x" * 489))
    for arguments in ("x" * 490, "😀" * 245):
        with pytest.raises(Unshowable, match=r"^t was not run: its arguments are too long"):
            tool_approval("t", json.dumps(arguments))
