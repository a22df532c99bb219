"""In what words an approval is asked for, and what its card lets be approved (spec turns 9.3)."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import grpc
import pytest
from pydantic import JsonValue

from parley import error_of
from parley.v1 import asks_pb2, cards_pb2
from parleyd.contract.text import units
from parleyd.models.script import Call, ScriptedStep, after_prompt, last_prompt
from parleyd.models.scripted import in_turn
from parleyd.turns.model import ModelCall
from tests.end_to_end.guarded import APPROVED, DONE, approval, wait_on_approval
from tests.end_to_end.person import COMPACT, FULL, Person, Played, refused
from tests.server import Server, StartServer
from tests.standard_tools import DELETE, StandardTool, StandardTools, delete

Style = cards_pb2.SimpleCardButton
Wording = dict[str, JsonValue]

DEFAULT: Final = "Allow deleteCompletedTodos? Counts the plans that there are."
OWN: Final[Wording] = {
    "prompt": "Delete the 3 completed todos?",
    "title": "Clean up",
    "destructive": True,
    "confirmLabel": "Delete 3",
    "denyLabel": "Keep",
    "allowDecline": True,
}
DENY_ONLY: Final = ["deny"]
BOTH: Final = ["approve", "deny"]


def buttons(asked: Played) -> list[str]:
    return [button.id for button in asked.ask.simple.buttons]


# ---------------------------------------------------------------- whose words


async def test_v5_the_deployment_words_its_approvals(
    start_server: StartServer, tools: StandardTools
) -> None:
    called: list[JsonValue] = []

    async def word(args: JsonValue) -> object:
        called.append(args)
        return OWN

    guarded = await wait_on_approval(
        start_server, tools, call=delete(list="done"), approval_wordings={DELETE: word}
    )

    ask = guarded.asked.ask
    assert (ask.input.prompt, ask.input.title) == (OWN["prompt"], OWN["title"])
    assert ask.input.allow_decline
    assert (ask.simple.title, ask.simple.text) == (OWN["title"], OWN["prompt"])
    assert [(button.id, button.label, button.style) for button in ask.simple.buttons][:2] == [
        ("approve", "Delete 3", Style.STYLE_DESTRUCTIVE),
        ("deny", "Keep", Style.STYLE_CANCEL),
    ]
    assert not ask.simple.handoff
    assert (await guarded.approve()).names == APPROVED
    assert called == [{"list": "done"}]


async def no_words(args: JsonValue) -> object:
    raise RuntimeError(f"no words for {args}")


async def late_words(args: JsonValue) -> object:
    del args
    await asyncio.Event().wait()


def words(value: object) -> Callable[[JsonValue], Awaitable[object]]:
    async def word(args: JsonValue) -> object:
        del args
        return value

    return word


BROKEN: dict[str, Callable[[JsonValue], Awaitable[object]]] = {
    "it raises": no_words,
    "it takes too long": late_words,
    "equal labels": words({"prompt": "Delete?", "confirmLabel": "Yes", "denyLabel": "Yes"}),
    "no prompt": words({"title": "Delete?"}),
    "an unknown key": words({"prompt": "Delete?", "colour": "red"}),
    "a label of 21 units": words({"prompt": "Delete?", "confirmLabel": "x" * 21}),
    "no object": words("Delete?"),
    "nothing": words(None),
    "no JSON": words({"prompt": {"Delete?"}}),
}


@pytest.mark.parametrize("word", BROKEN.values(), ids=[*BROKEN])
async def test_v5_where_the_deployment_has_no_usable_words_the_default_takes_their_place(
    start_server: StartServer,
    tools: StandardTools,
    word: Callable[[JsonValue], Awaitable[object]],
) -> None:
    guarded = await wait_on_approval(start_server, tools, approval_wordings={DELETE: word})
    card = guarded.asked.ask.simple
    assert card.text == guarded.asked.ask.input.prompt == DEFAULT
    assert [(button.id, button.label, button.style) for button in card.buttons] == [
        ("approve", "Allow", Style.STYLE_PRIMARY),
        ("deny", "Deny", Style.STYLE_CANCEL),
    ]
    assert guarded.runs == 0
    assert (await guarded.approve()).names == APPROVED
    assert guarded.runs == 1


NAME: Final = "t" * 64
DESCRIPTIONS: dict[str, tuple[str, str, str]] = {
    "none": (DELETE, "", f"Allow {DELETE}?"),
    "100 units": (DELETE, "d" * 100, f"Allow {DELETE}? " + "d" * 100),
    "tabs": (DELETE, "Deletes\tall \n\t todos.", f"Allow {DELETE}? Deletes all todos."),
    "U+200B": (DELETE, "Deletes\u200b all todos.", f"Allow {DELETE}?"),
    "a long name": (NAME, "Deletes all todos.", f"Allow {NAME}? Deletes all todos."),
}


@pytest.mark.parametrize(
    ("name", "description", "prompt"), DESCRIPTIONS.values(), ids=[*DESCRIPTIONS]
)
async def test_v18_the_default_words_fit_their_card(
    start_server: StartServer, tools: StandardTools, name: str, description: str, prompt: str
) -> None:
    asked = await _asked_by_default(start_server, tools, name, description)
    assert asked.ask.input.prompt == prompt


@pytest.mark.parametrize("name", [DELETE, NAME])
@pytest.mark.parametrize("letter", ["d", "\U0001f469\u200d\U0001f52c", "\U0001f600", "e\u0301"])
async def test_v18_a_description_of_5000_units_is_cut_to_its_card(
    start_server: StartServer, tools: StandardTools, name: str, letter: str
) -> None:
    asked = await _asked_by_default(start_server, tools, name, letter * (5000 // units(letter)))
    assert asked.ask.input.prompt.startswith(f"Allow {name}?")


async def _asked_by_default(
    start_server: StartServer, tools: StandardTools, name: str, description: str
) -> Played:
    tool = StandardTool(name, replay_safe=False, of=tools, guarded=True, description=description)
    server = await start_server(in_turn([Call(name, {}, "call_1")]), tools={name: tool})
    asked = await (await server.person()).prompt("Clean up")
    assert units(asked.ask.input.prompt) <= 140
    assert asked.ask.simple.text == asked.ask.input.prompt
    assert buttons(asked) == BOTH
    assert not asked.ask.simple.handoff
    return asked


# ---------------------------------------------------------------- the guard


def by_wording(call: ModelCall) -> ScriptedStep:
    """Picks a call of DELETE whose arguments are the prompt's JSON, or the confirm that it is."""
    if any(message.role == "model" for message in after_prompt(call.messages)):
        return DONE
    said = json.loads(last_prompt(call.messages))
    if said.pop("asked", None):
        return [Call("ask_confirm", said, "call_confirm")]
    return [Call(DELETE, {"wording": said}, "call_delete")]


async def as_the_call_says(args: JsonValue) -> object:
    assert isinstance(args, dict)
    return args["wording"]


async def a_guard(start_server: StartServer, tools: StandardTools) -> tuple[Server, Person]:
    """Returns a server where a prompt, as JSON, is the wording of the approval it leads to."""
    server = await start_server(
        by_wording,
        tools=tools.all_hosted,
        approval_wordings={DELETE: as_the_call_says},
        owner_turns=100,
        owner_streams=100,
    )
    return server, await server.person()


async def worded(noor: Person, wording: Wording, surface: Any = FULL) -> Played:
    asked = await noor.prompt(json.dumps(wording), surface=surface)
    if surface == FULL:  # in the words that were given
        assert asked.ask.input.prompt == wording["prompt"]
    return asked


async def check_narrowed(noor: Person, wording: Wording) -> None:
    """Checks that an approval in these words can be denied on its card, and approved elsewhere."""
    asked = await worded(noor, wording)
    assert (buttons(asked), asked.ask.simple.handoff) == (DENY_ONLY, True), wording
    own, approval_id = asked.conversation_id, asked.ask.tool_call_id
    error = await refused(noor.press(own, approval_id, "approve"))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert error_of(error).reason == "UNKNOWN_BUTTON"
    pending = (await noor.conversation(own)).pending_ask
    assert (pending.tool_call_id, pending.simple) == (approval_id, asked.ask.simple)
    approved = await noor.answer(own, approval_id, approval())
    assert approved.text == "Done."


async def check_plain(noor: Person, wording: Wording) -> None:
    """Checks that an approval in these words can be approved on its card."""
    asked = await worded(noor, wording)
    assert (buttons(asked), asked.ask.simple.handoff) == (BOTH, False), wording
    approved = await noor.press(asked.conversation_id, asked.ask.tool_call_id, "approve")
    assert approved.text == "Done."


HIDDEN: Final = (
    "\x01\x09\x0b\x1f\x7f\x9f\u200b\u200f\u202a\u202e\u2060\u2064\u2066\u2069\ufeff\u3164"
    "\u115f\u1160\U000e0000\U000e0fff"
)
"""The ends of every range of hidden characters. U+0000 can't be stored: it is another by then."""
NEIGHBOURS: Final = (
    "\n~\xa0\u200a\u2010\u2029\u202f\u205f\u2065\u206a\ufefe\uff00\u3163\u3165\u115e\u1161"
    "\U000dffff\U000e1000"
)
FIELDS: Final = ("prompt", "title", "confirmLabel", "denyLabel")
PLAIN: Final[Wording] = {
    "prompt": "Delete them?",
    "title": "Todos",
    "confirmLabel": "Allow",
    "denyLabel": "Deny",
}


def with_letters(letters: Sequence[str], field: str) -> list[Wording]:
    return [PLAIN | {field: f"De{letter}lete"} for letter in letters]


@pytest.mark.parametrize("field", FIELDS)
async def test_v19_what_hides_something_can_not_be_approved_on_its_card(
    start_server: StartServer, tools: StandardTools, field: str
) -> None:
    _, noor = await a_guard(start_server, tools)
    wordings = with_letters(HIDDEN, field)
    await asyncio.gather(*(check_narrowed(noor, wording) for wording in wordings))
    assert len(tools.runs(DELETE)) == len(wordings)


@pytest.mark.parametrize("field", FIELDS)
async def test_v19_the_characters_beside_those_hide_nothing(
    start_server: StartServer, tools: StandardTools, field: str
) -> None:
    _, noor = await a_guard(start_server, tools)
    wordings = with_letters(NEIGHBOURS, field)
    await asyncio.gather(*(check_plain(noor, wording) for wording in wordings))
    assert len(tools.runs(DELETE)) == len(wordings)


@pytest.mark.parametrize(
    ("wording", "whole"),
    [
        pytest.param({"prompt": "p" * 140}, True, id="a prompt of 140 units"),
        pytest.param({"prompt": "p" * 141}, False, id="a prompt of 141 units"),
        pytest.param({"prompt": "p" * 139 + "\U0001f600"}, False, id="half an emoji over"),
        pytest.param({"prompt": "Sure?", "title": "t" * 40}, True, id="a title of 40 units"),
        pytest.param({"prompt": "Sure?", "title": "t" * 41}, False, id="a title of 41 units"),
    ],
)
@pytest.mark.parametrize("destructive", [False, True])
async def test_v19_what_its_card_can_not_show_whole_can_not_be_approved_there(
    start_server: StartServer,
    tools: StandardTools,
    wording: Wording,
    *,
    whole: bool,
    destructive: bool,
) -> None:
    _, noor = await a_guard(start_server, tools)
    check = check_plain if whole else check_narrowed
    await check(noor, wording | ({"destructive": True} if destructive else {}))


async def test_v19_a_destructive_confirm_of_the_model_is_guarded_too(
    start_server: StartServer, tools: StandardTools
) -> None:
    _, noor = await a_guard(start_server, tools)
    for prompt in ("p" * 141, "Sure\u202e?"):
        await check_narrowed(noor, {"prompt": prompt, "asked": True, "destructive": True})
    assert tools.runs() == []


@pytest.mark.parametrize("prompt", ["p" * 300, "Sure\u202e?", "Sure\t?"])
async def test_v19_a_plain_confirm_of_the_model_has_its_card_unguarded(
    start_server: StartServer, tools: StandardTools, prompt: str
) -> None:
    _, noor = await a_guard(start_server, tools)
    asked = await worded(noor, {"prompt": prompt, "asked": True})
    assert asked.ask.origin == asks_pb2.ASK_ORIGIN_MODEL
    assert (buttons(asked), asked.ask.simple.handoff) == (BOTH, False)


@pytest.mark.parametrize(
    "wording",
    [
        pytest.param({"prompt": "p" * 141}, id="141 units"),
        pytest.param({"prompt": "Sure?", "title": "t" * 41}, id="a title of 41 units"),
        pytest.param({"prompt": "Sure\u202e?"}, id="U+202E"),
    ],
)
async def test_v20_on_a_small_screen_words_that_do_not_fit_give_way(
    start_server: StartServer, tools: StandardTools, wording: Wording
) -> None:
    _, noor = await a_guard(start_server, tools)
    asked = await worded(noor, wording, COMPACT)
    assert asked.ask.input.prompt == asked.ask.simple.text == DEFAULT
    assert (buttons(asked), asked.ask.simple.handoff) == (BOTH, False)
    approved = await noor.press(asked.conversation_id, asked.ask.tool_call_id, "approve")
    assert approved.text == "Done."


async def test_v20_on_a_small_screen_words_that_fit_stay(
    start_server: StartServer, tools: StandardTools
) -> None:
    _, noor = await a_guard(start_server, tools)
    asked = await worded(noor, {"prompt": "p" * 140, "title": "t" * 40}, COMPACT)
    assert asked.ask.input.prompt == "p" * 140
    assert (buttons(asked), asked.ask.simple.handoff) == (BOTH, False)
