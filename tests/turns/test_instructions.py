"""What a turn tells the model beside the messages (spec turns 10.1 to 10.3)."""

from uuid import UUID

import pytest
from structlog.testing import capture_logs

from parleyd.contract.asks.ask import AskKind
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.contract.prompts import COMPACT_LINE, asks_section
from parleyd.contract.surfaces import Surface
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.instructions import instructions
from parleyd.turns.options import BlockReplies, TurnOptions
from parleyd.turns.tools import HostTool, ToolSet, TurnContext
from tests.turns.ports_in_memory import PlainTool

MODEL = ScriptedModel(in_turn())
IMAGES = ScriptedModel(in_turn(), model_id="image-1")
ALL: tuple[AskKind, ...] = ("choice", "confirm", "markdown", "form", "files")
LOOKUP: dict[str, HostTool] = {"lookup": PlainTool("lookup")}


def context(surface: Surface = "full") -> TurnContext:
    return TurnContext(
        owner="ada",
        conversation_id=UUID(int=1),
        turn_id=UUID(int=2),
        input_kind="prompt",
        surface=surface,
        project="home",
    )


OFFERS: dict[str, tuple[tuple[AskKind, ...], Surface, list[str]]] = {
    "off": ((), "full", []),
    "off, compact": ((), "compact", []),
    "all": (ALL, "full", [f"ask_{kind}" for kind in ALL]),
    "all, compact": (ALL, "compact", ["ask_choice", "ask_confirm"]),
    "choice": (("choice",), "full", ["ask_choice"]),
    "files, compact": (("files",), "compact", []),
}


@pytest.mark.parametrize(("kinds", "surface", "names"), OFFERS.values(), ids=OFFERS)
async def test_the_surface_decides_which_asks_are_offered(
    kinds: tuple[AskKind, ...], surface: Surface, names: list[str]
) -> None:
    told = await instructions(TurnOptions(ask_kinds=kinds), MODEL, context(surface), None)
    assert [tool.name for tool in told.tools] == names
    assert [f"ask_{kind}" for kind in told.kinds] == names
    assert told.max_steps == (5 if names else 1)
    assert (COMPACT_LINE in (told.system or "")) is (surface == "compact")
    assert told.host_tools == {}


async def test_host_tools_come_first() -> None:
    options = TurnOptions(ask_kinds=("choice",), tools=LOOKUP, max_steps=3)
    told = await instructions(options, MODEL, context(), None)
    assert [tool.name for tool in told.tools] == ["lookup", "ask_choice"]
    assert (told.tools[0].description, told.tools[0].schema) == (
        "Looks things up.",
        {"type": "object"},
    )
    assert told.host_tools == LOOKUP
    assert told.max_steps == 3


async def test_a_host_tool_alone_gives_more_than_one_step() -> None:
    told = await instructions(TurnOptions(tools=LOOKUP), MODEL, context(), None)
    assert told.max_steps == 5


async def test_a_model_without_tools_gets_none_and_one_step() -> None:
    called: list[TurnContext] = []

    async def request_tools(of: TurnContext) -> ToolSet:
        called.append(of)
        return {}

    options = TurnOptions(ask_kinds=ALL, tools=LOOKUP, request_tools=request_tools)
    told = await instructions(options, IMAGES, context("compact"), None)
    assert (told.tools, told.kinds, told.max_steps) == ((), (), 1)
    assert told.host_tools == {}
    assert told.system == COMPACT_LINE
    assert called == []


async def test_tools_are_made_for_the_turn_they_are_for() -> None:
    async def request_tools(of: TurnContext) -> ToolSet:
        return {"own": PlainTool(f"own_{of.project}")}

    options = TurnOptions(tools=LOOKUP, request_tools=request_tools)
    told = await instructions(options, MODEL, context(), None)
    assert list(told.host_tools) == ["lookup", "own_home"]


async def test_a14_what_making_the_tools_raises_is_passed_on() -> None:
    async def broken(of: TurnContext) -> ToolSet:
        raise ValueError(of)

    with pytest.raises(ValueError, match="ada"):
        await instructions(TurnOptions(request_tools=broken), MODEL, context(), None)


async def test_the_system_prompt_has_its_sections_in_order() -> None:
    options = TurnOptions(ask_kinds=("choice",), system_prompt="You sell plans.")
    told = await instructions(options, MODEL, context("compact"), "Be brief.")
    assert told.system == "\n\n".join(
        ["You sell plans.", "Be brief.", asks_section(("choice",), "compact"), COMPACT_LINE]
    )


async def test_where_replies_are_documents_the_model_is_told_how_after_its_asks() -> None:
    allowed = BlockOptions(html=True, image_hosts=("img.example",), host_actions=())
    options = TurnOptions(ask_kinds=("choice",), blocks=BlockReplies(allowed))
    told = await instructions(options, MODEL, context("compact"), "Be brief.")
    assert told.system == "\n\n".join(
        [
            "Be brief.",
            asks_section(("choice",), "compact"),
            prompt_section(allowed),
            COMPACT_LINE,
        ]
    )


async def test_without_any_section_there_is_no_system_prompt() -> None:
    for prompt in (None, ""):
        told = await instructions(TurnOptions(system_prompt=prompt), MODEL, context(), None)
        assert told.system is None


async def test_a_hook_makes_the_system_prompt_of_owner_conversation_and_project() -> None:
    async def hook(owner: str, conversation_id: UUID, project: str | None) -> str:
        return f"{owner} {conversation_id.int} {project}"

    told = await instructions(TurnOptions(system_prompt=hook), MODEL, context(), "Be brief.")
    assert told.system == "ada 1 home\n\nBe brief."


async def test_a_hook_that_fails_is_left_out_and_not_quoted() -> None:
    async def hook(owner: str, conversation_id: UUID, project: str | None) -> str:
        del conversation_id, project
        raise ValueError(f"the words of {owner}")

    with capture_logs() as logs:
        told = await instructions(TurnOptions(system_prompt=hook), MODEL, context(), "Be brief.")
    assert told.system == "Be brief."
    assert [line["event"] for line in logs] == ["system_prompt_failed"]
    assert "words" not in str(logs)
