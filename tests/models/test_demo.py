"""The demo agent, spoken to as the runner does."""

import pytest
from pydantic import JsonValue

from parleyd.contract.asks.ask import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask, kind_of_tool
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.surfaces import Surface
from parleyd.models.demo import DemoModel
from parleyd.turns.model import (
    CallPart,
    ModelCall,
    Part,
    ProviderMessage,
    TextPart,
    Tool,
    ToolOutcome,
)

CANCELLED_BY_MESSAGE: JsonValue = {"action": "cancel", "reason": "user_sent_message"}
PICKED: JsonValue = {"action": "accept", "content": {"selected": ["starter"]}}


class Conversation:
    """The demo agent and what was said so far."""

    def __init__(self, kinds: tuple[AskKind, ...] = ASK_KINDS, surface: Surface = "full") -> None:
        self.model = DemoModel()
        self._messages: list[ProviderMessage] = []
        self._tools = tuple(
            Tool(tool.name, tool.description, tool.schema) for tool in ask_tools(kinds, surface)
        )

    async def say(self, text: str) -> list[Part]:
        self._messages.append(self.model.user_message(text))
        return await self._step()

    async def answer(
        self, call: CallPart, envelope: JsonValue = None, error: str | None = None
    ) -> list[Part]:
        outcome = ToolOutcome(call.call_id, call.name, value=envelope, error=error)
        self._messages.append(self.model.tool_message([outcome]))
        return await self._step()

    async def _step(self) -> list[Part]:
        choice = "auto" if self._tools else None
        call = ModelCall(None, tuple(self._messages), self._tools, choice, 1.0)
        parts = [part async for part in self.model.stream(call)]
        self._messages.append(self.model.assistant_message(parts))
        return parts


def ask_of(parts: list[Part]) -> CallPart:
    (part,) = parts
    assert isinstance(part, CallPart)
    return part


def text_of(parts: list[Part]) -> str:
    """Returns a reply: several parts of text and nothing else."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    assert len(texts) == len(parts) > 0
    return "".join(texts)


@pytest.mark.parametrize("surface", ["full", "compact"])
@pytest.mark.parametrize(
    ("prompt", "tool"),
    [
        ("set up my plan", "ask_choice"),
        ("Please set up my plan!", "ask_choice"),
        ("I'd like to change the plan of my workspace", "ask_choice"),
        ("Which plan is right for me?", "ask_choice"),
        ("delete my completed todos", "ask_confirm"),
        ("Clear all completed to-dos, please", "ask_confirm"),
        ("REMOVE THE TASKS I FINISHED", "ask_confirm"),
    ],
)
async def test_some_prompts_make_it_ask(prompt: str, tool: str, surface: Surface) -> None:
    call = ask_of(await Conversation(surface=surface).say(prompt))
    assert call.name == tool
    kind = kind_of_tool(call.name)
    assert kind
    assert check_ask(kind, call.args, surface) == ()


async def test_the_plan_is_one_of_three_with_team_picked_beforehand() -> None:
    call = ask_of(await Conversation().say("set up my plan"))
    assert isinstance(call.args, dict)
    options = call.args["options"]
    assert isinstance(options, list)
    ids = [option["id"] for option in options if isinstance(option, dict)]
    assert ids == ["starter", "team", "enterprise"]
    assert call.args["default"] == ["team"]


async def test_deleting_is_destructive_and_names_what_the_buttons_do() -> None:
    call = ask_of(await Conversation().say("delete my completed todos"))
    assert isinstance(call.args, dict)
    assert call.args["destructive"] is True
    assert call.args["confirmLabel"] != call.args["denyLabel"]


@pytest.mark.parametrize(
    ("prompt", "envelope", "word"),
    [
        ("set up my plan", PICKED, "Starter"),
        ("set up my plan", {"action": "decline"}, "stays as it is"),
        ("set up my plan", {"action": "cancel"}, "left your plan"),
        ("set up my plan", None, "three plans"),
        (
            "delete my completed todos",
            {"action": "accept", "content": {"confirmed": True}},
            "are deleted",
        ),
        (
            "delete my completed todos",
            {"action": "accept", "content": {"confirmed": False}},
            "deleted nothing",
        ),
        ("delete my completed todos", {"action": "decline"}, "still there"),
        ("delete my completed todos", {"action": "cancel"}, "deleted nothing"),
        ("delete my completed todos", None, "leave them"),
    ],
)
async def test_every_answer_has_its_reply(prompt: str, envelope: JsonValue, word: str) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say(prompt))
    error = "This call did not run." if envelope is None else None
    assert word in text_of(await conversation.answer(call, envelope, error))


@pytest.mark.parametrize("prompt", ["set up my plan", "delete my completed todos"])
async def test_without_ask_tools_it_asks_nothing_and_says_so(prompt: str) -> None:
    assert text_of(await Conversation(kinds=()).say(prompt))


async def test_a_tool_that_is_not_offered_is_not_called() -> None:
    assert text_of(await Conversation(kinds=("confirm",)).say("set up my plan"))


async def test_a_message_instead_of_an_answer_sets_the_question_aside() -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("set up my plan"))
    cancelled = ToolOutcome(call.call_id, call.name, value=CANCELLED_BY_MESSAGE)
    messages = (
        conversation.model.user_message("set up my plan"),
        conversation.model.assistant_message([call]),
        conversation.model.tool_message([cancelled]),
        conversation.model.user_message("hello"),
    )
    parts = [
        part async for part in conversation.model.stream(ModelCall(None, messages, (), None, 1.0))
    ]
    assert text_of(parts).startswith("I set my question aside. Hello!")


async def test_the_same_wish_again_is_asked_again_once() -> None:
    conversation = Conversation()
    for _ in range(2):
        call = ask_of(await conversation.say("set up my plan"))
        assert text_of(await conversation.answer(call, PICKED))


@pytest.mark.parametrize(
    "prompt",
    [
        "hello",
        "Thanks!",
        "What can you do?",
        "Why is the sky blue?",
        "I like turtles",
        "I need a plan for my holidays",
        "delete my account",
        "\x00",
        " ",
        "word " * 1000,
    ],
)
async def test_everything_else_gets_a_short_reply_in_several_parts(prompt: str) -> None:
    parts = await Conversation().say(prompt)
    assert len(text_of(parts)) <= 250


async def test_pausing_changes_nothing_it_says() -> None:
    slow, quick = DemoModel(pause=0.001), DemoModel()
    call = ModelCall(None, (quick.user_message("hello"),), (), None, 1.0)
    assert [p async for p in slow.stream(call)] == [p async for p in quick.stream(call)]


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("The person: set up my plan\n\nThe reply: Which one?", "Set up my plan"),
        ("The person: delete all of my completed todos, please", "Delete all of my completed"),
        ("hello!", "Hello"),
        ("", ""),
    ],
)
async def test_a_title_is_the_first_words_of_the_prompt(prompt: str, title: str) -> None:
    assert await DemoModel().generate_text("Write a title.", prompt, 0.3) == title
