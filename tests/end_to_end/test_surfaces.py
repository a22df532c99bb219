"""What a turn offers depends on its surface, and on nothing else (spec turns 10, 15.7)."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import JsonValue

import parley
from parley.v1 import asks_pb2, turns_pb2
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.prompts import COMPACT_LINE, asks_section
from parleyd.contract.surfaces import Surface
from parleyd.models.script import Call, ScriptedMessage, ScriptedStep, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.model import ModelCall, ToolOutcome
from tests.end_to_end.person import COMPACT, FULL, Person, accept
from tests.server import Server, StartServer
from tests.standard_asks import PLAN, PLAN_ID, ask_plan

OWN_PROMPT = "You set up workspaces."
ALL_TOOLS = ["ask_choice", "ask_confirm", "ask_markdown", "ask_form", "ask_files"]
COMPACT_TOOLS = ["ask_choice", "ask_confirm"]


def tools_of(call: ModelCall) -> list[str]:
    return [tool.name for tool in call.tools]


def error_read(server: Server, call: int) -> str:
    """Returns the error that a model call read last."""
    message = server.model.calls[call].messages[-1]
    assert isinstance(message, ScriptedMessage)
    (outcome,) = message.parts
    assert isinstance(outcome, ToolOutcome)
    assert outcome.error is not None
    return outcome.error


async def test_s1_a_full_turn_offers_all_five(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("Hello.")]), system_prompt=OWN_PROMPT)
    noor = await server.person()

    await noor.prompt("Hello", surface=FULL)

    (call,) = server.model.calls
    assert tools_of(call) == ALL_TOOLS
    assert call.tool_choice == "auto"
    kinds: tuple[AskKind, ...] = ("choice", "confirm", "markdown", "form", "files")
    assert call.system == f"{OWN_PROMPT}\n\n{asks_section(kinds, 'full')}"
    assert COMPACT_LINE not in str(call.system)
    for tool in call.tools:
        assert tool.description
        assert tool.schema["type"] == "object"
        assert f"`{tool.name}`" in str(call.system)


@pytest.mark.parametrize(
    ("asks", "surface", "tools"),
    [
        (("choice",), "full", ["ask_choice"]),
        (("choice",), "compact", ["ask_choice"]),
        (("files",), "full", ["ask_files"]),
        (("files",), "compact", []),
        (("files", "form", "confirm"), "full", ["ask_confirm", "ask_form", "ask_files"]),
        (("files", "form", "confirm"), "compact", ["ask_confirm"]),
    ],
)
async def test_a_turn_offers_what_both_the_deployment_and_the_surface_do(
    start_server: StartServer, asks: tuple[AskKind, ...], surface: Surface, tools: list[str]
) -> None:
    server = await start_server(in_turn([Text("Hello.")]), asks=asks)
    noor = await server.person()

    await noor.prompt("Hello", surface=COMPACT if surface == "compact" else FULL)

    (call,) = server.model.calls
    assert tools_of(call) == tools
    system = call.system or ""
    assert [tool for tool in ALL_TOOLS if f"`{tool}`" in system] == tools
    assert system.endswith(COMPACT_LINE) is (surface == "compact")


async def test_s2_a_compact_turn_offers_what_fits(start_server: StartServer) -> None:
    four: list[JsonValue] = [{"id": f"o{n}", "label": f"Option {n}"} for n in range(4)]
    step: ScriptedStep = [
        Call("ask_choice", {"prompt": "Which?", "select": "one", "options": four})
    ]
    server = await start_server(
        in_turn(step, [ask_plan()]),
        system_prompt=OWN_PROMPT,
    )
    noor = await server.person()

    played = await noor.prompt("Set up my workspace", surface=COMPACT)

    call = server.model.calls[0]
    assert tools_of(call) == COMPACT_TOOLS
    match call.tools[0].schema:
        case {"properties": {"select": select, "options": options}}:
            assert isinstance(select, dict)
            assert select["enum"] == ["one"]
            assert isinstance(options, dict)
            assert options["maxItems"] == 3
            match options["items"]:
                case {"properties": {"label": dict(label)}}:
                    assert label["maxLength"] == 20
                case other:
                    raise AssertionError(f"{other} says nothing of labels")
        case other:
            raise AssertionError(f"{other} has no options")
    assert call.system is not None
    assert call.system.startswith(f"{OWN_PROMPT}\n\n")
    assert call.system.endswith(f"\n\n{COMPACT_LINE}")
    assert "- options: TOO_MANY." in error_read(server, 1)
    assert played.names == ["started", "ask", "done"]
    assert not played.ask.simple.handoff
    assert [button.label for button in played.ask.simple.buttons] == [
        "Team",
        "Starter",
        "Enterprise",
    ]


NARROW: dict[str, tuple[dict[str, JsonValue], str]] = {
    "several picks": ({"select": "many"}, "select: INVALID_ENUM"),
    "Other, even if it is off": ({"allowOther": False}, "allowOther: UNKNOWN_KEY"),
    "a label of 21 units": (
        {"options": [{"id": "a", "label": "🦊" * 10 + "!"}, {"id": "b", "label": "B"}]},
        "options[0].label: TOO_LONG",
    ),
    "two labels that read alike": (
        {"options": [{"id": "a", "label": "Yes"}, {"id": "b", "label": " Yes"}]},
        "options[1].label: DUPLICATE_LABEL",
    ),
}


@pytest.mark.parametrize(("change", "fault"), NARROW.values(), ids=[*NARROW])
async def test_s2_a_wider_choice_is_a_tool_error(
    start_server: StartServer, change: dict[str, JsonValue], fault: str
) -> None:
    wide = Call("ask_choice", {**PLAN, "default": [], **change}, PLAN_ID)
    server = await start_server(in_turn([wide], [Text("In words, then.")], [wide]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace", surface=COMPACT)
    assert played.names == ["started", "text", "done"]
    assert f"- {fault}." in error_read(server, 1)
    again = await noor.prompt("Set up my workspace", surface=FULL)
    assert again.names == ["started", "ask", "done"]


@pytest.mark.parametrize("name", ["ask_markdown", "ask_form", "ask_files"])
async def test_s2_a_large_kind_is_no_tool_of_a_compact_turn(
    start_server: StartServer, name: str
) -> None:
    server = await start_server(in_turn([Call(name, {"prompt": "Well?"})], [Text("Then not.")]))
    noor = await server.person()
    played = await noor.prompt("Set up my workspace", surface=COMPACT)
    assert played.names == ["started", "text", "done"]
    assert name in error_read(server, 1)


async def test_s3_a_compact_turn_with_asks_off_is_told_one_line(start_server: StartServer) -> None:
    server = await start_server(in_turn([Text("Hello.")], [Text("Hello.")]), asks=())
    noor = await server.person()

    await noor.prompt("Hello", surface=COMPACT)
    await noor.prompt("Hello", surface=FULL)

    compact, full = server.model.calls
    assert (compact.system, compact.tools, compact.tool_choice) == (COMPACT_LINE, (), None)
    assert (full.system, full.tools, full.tool_choice) == (None, (), None)


async def test_s4_a_surface_is_that_of_its_turn_alone(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")], [Text("Welcome.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace", surface=FULL)

    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"), surface=COMPACT)
    await noor.prompt("Thanks", asked.conversation_id, surface=turns_pb2.SURFACE_UNSPECIFIED)

    first, second, third = server.model.calls
    assert [tools_of(call) for call in (first, second, third)] == [
        ALL_TOOLS,
        COMPACT_TOOLS,
        ALL_TOOLS,
    ]
    assert second.system is not None
    assert second.system.endswith(COMPACT_LINE)
    assert COMPACT_LINE not in f"{first.system}{third.system}"


async def test_s4_a_large_ask_may_be_answered_on_a_small_screen(
    start_server: StartServer,
) -> None:
    draft = Call("ask_markdown", {"prompt": "Is it good?", "initial": "A draft"}, "call_draft")
    again = Call("ask_markdown", {"prompt": "And now?", "initial": "Another"}, "call_again")
    server = await start_server(in_turn([draft], [again], [Text("Fine.")]))
    noor = await server.person()
    asked = await noor.prompt("Write a letter", surface=FULL)

    result = await noor.press(asked.conversation_id, "call_draft", "approve")

    assert result.text == "Fine."
    assert "ask_markdown" in error_read(server, 2)


async def test_s8_a_model_of_images_is_offered_nothing(database_url: str, tmp_path: Path) -> None:
    model = ScriptedModel(
        in_turn([Text("Here you are.")], [Text("Here you are.")]),
        model_id="gemini-flash-image-latest",
    )
    settings = Settings(
        environment="development", port=0, data_dir=tmp_path, system_prompt=OWN_PROMPT
    )
    async with (
        running_service(
            settings, database_url=database_url, replacements=Replacements(model=model)
        ) as service,
        parley.connect(service.address, development_token(settings)) as client,
    ):
        noor = Person(client)
        played = await noor.prompt("Draw a fox", surface=FULL)
        assert played.names == ["started", "text", "done"]
        await noor.prompt("Draw a fox", surface=COMPACT)
    full, compact = model.calls
    assert (full.system, full.tools, full.tool_choice) == (OWN_PROMPT, (), None)
    assert compact.system == f"{OWN_PROMPT}\n\n{COMPACT_LINE}"
    assert compact.tools == ()


@dataclass(frozen=True)
class Deletion:
    """A destructive confirm, and what a compact turn makes of it: a fault, or a card."""

    name: str
    also: dict[str, JsonValue]
    fault: str = ""

    def call(self, *, destructive: bool = True) -> Call:
        args: dict[str, JsonValue] = {"prompt": "Delete?", "destructive": destructive, **self.also}
        return Call("ask_confirm", args, "call_delete")


FOX = "🦊"
DELETIONS = [
    Deletion("a prompt of 140 units, a title of 40", {"prompt": "x" * 140, "title": "x" * 40}),
    Deletion("140 units of emoji", {"prompt": FOX * 70, "title": FOX * 20}),
    Deletion("a line break", {"prompt": "Delete\nall?"}),
    Deletion("a prompt of 141 units", {"prompt": "x" * 141}, "prompt: TOO_LONG"),
    Deletion("141 units of emoji", {"prompt": f"{FOX * 70}!"}, "prompt: TOO_LONG"),
    Deletion("a title of 41 units", {"title": "x" * 41}, "title: TOO_LONG"),
    Deletion("a turn of direction", {"prompt": "Delete \u202eexe.gnp?"}, "prompt: INVALID_FORMAT"),
    Deletion("a hidden title", {"title": "Del\u200bete"}, "title: INVALID_FORMAT"),
    Deletion("a tab", {"prompt": "Delete\tall?"}, "prompt: INVALID_FORMAT"),
    Deletion("a hidden label", {"confirmLabel": "Yes\u2066"}, "confirmLabel: INVALID_FORMAT"),
    Deletion("a blank label", {"denyLabel": "No\u3164"}, "denyLabel: INVALID_FORMAT"),
    Deletion("a tag", {"prompt": "Delete\U000e0041?"}, "prompt: INVALID_FORMAT"),
]


@pytest.mark.parametrize("deletion", DELETIONS, ids=lambda deletion: deletion.name)
async def test_s9_what_is_destructive_must_be_seen_whole_on_a_small_screen(
    start_server: StartServer, deletion: Deletion
) -> None:
    server = await start_server(in_turn([deletion.call()], [Text("Then not.")]))
    noor = await server.person()

    played = await noor.prompt("Delete them", surface=COMPACT)

    if deletion.fault:
        assert played.names == ["started", "text", "done"]
        assert f"- {deletion.fault}." in error_read(server, 1)
        assert await noor.pending() == []
    else:
        assert played.names == ["started", "ask", "done"]
        card = played.ask.simple
        assert [button.id for button in card.buttons] == ["approve", "deny"]
        assert not card.handoff
        assert card.text == played.ask.input.prompt


@pytest.mark.parametrize("deletion", DELETIONS, ids=lambda deletion: deletion.name)
async def test_s9_what_is_not_destructive_or_not_small_is_asked_all_the_same(
    start_server: StartServer, deletion: Deletion
) -> None:
    server = await start_server(in_turn([deletion.call(destructive=False)], [deletion.call()]))
    noor = await server.person()
    harmless = await noor.prompt("Delete them", surface=COMPACT)
    assert harmless.names == ["started", "ask", "done"]
    assert not harmless.ask.simple.handoff
    assert [button.id for button in harmless.ask.simple.buttons] == ["approve", "deny"]
    large = await noor.prompt("Delete them", surface=FULL)
    assert large.names == ["started", "ask", "done"]
    assert large.ask.kind == asks_pb2.ASK_KIND_CONFIRM
