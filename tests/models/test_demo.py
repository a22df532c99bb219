"""The demo agent, spoken to as the runner does."""

from time import perf_counter

import pytest
from pydantic import JsonValue

from parleyd.contract.answers import check_answer
from parleyd.contract.asks.ask import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, check_ask, kind_of_tool
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.cards import to_simple_card
from parleyd.contract.json import JsonObject
from parleyd.contract.surfaces import Surface
from parleyd.models.demo import DemoModel
from parleyd.models.demo.questions import QUESTIONS
from parleyd.turns.model import (
    CallPart,
    ModelCall,
    Part,
    ProviderMessage,
    TextPart,
    Tool,
    ToolOutcome,
)
from tests.models.streamed import parts_of

CANCELLED_BY_MESSAGE: JsonValue = {"action": "cancel", "reason": "user_sent_message"}
DECLINED: JsonValue = {"action": "decline"}
CANCELLED: JsonValue = {"action": "cancel"}


def accepted(**content: JsonValue) -> dict[str, JsonValue]:
    return {"action": "accept", "content": content}


def file(filename: str, mime_type: str, size: int) -> dict[str, JsonValue]:
    return {"filename": filename, "mimeType": mime_type, "size": size}


PICKED: JsonValue = accepted(selected=["starter"])


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
        parts = await parts_of(self.model, call)
        self._messages.append(self.model.assistant_message(parts))
        return parts


def ask_of(parts: list[Part]) -> CallPart:
    (part,) = parts
    assert isinstance(part, CallPart)
    return part


def question_in(call: CallPart) -> tuple[AskKind, JsonObject]:
    """Returns the kind and the input of what a call asks."""
    kind = kind_of_tool(call.name)
    assert kind
    assert isinstance(call.args, dict)
    return kind, call.args


def text_of(parts: list[Part]) -> str:
    """Returns a reply: several parts of text and nothing else."""
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    assert len(texts) == len(parts) > 0
    return "".join(texts)


SMALL = [
    ("set up my plan", "choice"),
    ("Please set up my plan!", "choice"),
    ("I'd like to change the plan of my workspace", "choice"),
    ("Which plan is right for me?", "choice"),
    ("delete my completed todos", "confirm"),
    ("Clear all completed to-dos, please", "confirm"),
    ("REMOVE THE TASKS I FINISHED", "confirm"),
]
LARGE = [
    ("plan my weekend", "choice"),
    ("Any weekend ideas?", "choice"),
    ("What shall we do this weekend?", "choice"),
    ("write an invitation", "markdown"),
    ("Could you draft an email for me?", "markdown"),
    ("book a table", "form"),
    ("Reserve us a table, please", "form"),
    ("A table for two!", "form"),
    ("summarise my document", "files"),
    ("Look at my receipt", "files"),
    ("READ THESE FILES", "files"),
]


@pytest.mark.parametrize(("prompt", "kind"), [*SMALL, *LARGE])
async def test_some_prompts_make_it_ask(prompt: str, kind: AskKind) -> None:
    asked, ask_input = question_in(ask_of(await Conversation().say(prompt)))
    assert asked == kind
    assert check_ask(asked, dict(ask_input)) == ()


@pytest.mark.parametrize(("prompt", "kind"), SMALL)
async def test_on_a_small_screen_it_asks_what_fits(prompt: str, kind: AskKind) -> None:
    call = ask_of(await Conversation(surface="compact").say(prompt))
    asked, ask_input = question_in(call)
    assert asked == kind
    assert check_ask(asked, dict(ask_input), "compact") == ()


@pytest.mark.parametrize(("prompt", "kind"), LARGE)
async def test_on_a_small_screen_it_says_the_rest_in_words(prompt: str, kind: AskKind) -> None:
    del kind
    assert text_of(await Conversation(surface="compact").say(prompt))


@pytest.mark.parametrize(("prompt", "kind"), [*SMALL, *LARGE])
async def test_a_kind_that_is_not_offered_is_said_in_words(prompt: str, kind: AskKind) -> None:
    others: tuple[AskKind, ...] = tuple([other for other in ASK_KINDS if other != kind])
    assert text_of(await Conversation(kinds=others).say(prompt))
    assert text_of(await Conversation(kinds=()).say(prompt))


def test_it_asks_every_kind() -> None:
    assert {question.kind for question in QUESTIONS} == {*ASK_KINDS}


async def test_the_plan_is_one_of_three_with_team_picked_beforehand() -> None:
    _, ask_input = question_in(ask_of(await Conversation().say("set up my plan")))
    options = ask_input["options"]
    assert isinstance(options, list)
    ids = [option["id"] for option in options if isinstance(option, dict)]
    assert ids == ["starter", "team", "enterprise"]
    assert ask_input["default"] == ["team"]


async def test_deleting_is_destructive_and_names_what_the_buttons_do() -> None:
    _, ask_input = question_in(ask_of(await Conversation().say("delete my completed todos")))
    assert ask_input["destructive"] is True
    assert ask_input["confirmLabel"] != ask_input["denyLabel"]


async def test_the_weekend_is_several_picks_and_one_of_ones_own() -> None:
    _, ask_input = question_in(ask_of(await Conversation().say("plan my weekend")))
    assert (ask_input["select"], ask_input["allowOther"]) == ("many", True)


async def test_the_table_has_fields_of_many_types() -> None:
    _, ask_input = question_in(ask_of(await Conversation().say("book a table")))
    fields = ask_input["fields"]
    assert isinstance(fields, list)
    types = {str(field["type"]) for field in fields if isinstance(field, dict)}
    assert len(types) == len(fields)


BOOKING: dict[str, JsonValue] = {
    "name": "Inês Moura",
    "guests": 4,
    "day": "2027-06-30",
    "time": "20:00",
}
REPLIES: list[tuple[str, JsonValue, list[str]]] = [
    ("set up my plan", PICKED, ["Starter"]),
    ("set up my plan", DECLINED, ["stays as it is"]),
    ("set up my plan", CANCELLED, ["left your plan"]),
    ("delete my completed todos", accepted(confirmed=True), ["are deleted"]),
    ("delete my completed todos", accepted(confirmed=False), ["deleted nothing"]),
    ("delete my completed todos", CANCELLED, ["deleted nothing"]),
    ("plan my weekend", accepted(selected=["hike"]), ["is planned: a hike."]),
    (
        "plan my weekend",
        accepted(selected=["market", "cinema"], other="A nap"),
        ["the farmers' market, the cinema and “A nap”"],
    ),
    ("plan my weekend", accepted(selected=[], other="A nap"), ["is planned: “A nap”."]),
    ("plan my weekend", DECLINED, ["unplanned"]),
    ("plan my weekend", CANCELLED, ["planned nothing"]),
    (
        "write an invitation",
        accepted(markdown="Come on Sunday instead, all of you!", changed=True),
        ["your version", "7 words", "“Come on Sunday instead, all of you!”"],
    ),
    ("write an invitation", DECLINED, ["no invitation"]),
    ("write an invitation", CANCELLED, ["aside"]),
    (
        "book a table",
        accepted(values=BOOKING),
        ["“Inês Moura”, 4 guests, 2027-06-30 at 20:00."],
    ),
    (
        "book a table",
        accepted(
            values={
                **BOOKING,
                "guests": 1.0,
                "seat": "terrace",
                "extras": ["cake", "chair"],
                "email": "ines@example.org",
                "reminder": True,
            }
        ),
        [
            "1 guest, 2027-06-30 at 20:00, on the terrace.",
            "a cake and a high chair",
            "ines@example.org",
            "an hour before",
        ],
    ),
    ("book a table", DECLINED, ["booked nothing"]),
    ("book a table", CANCELLED, ["booked nothing"]),
    ("summarise my document", DECLINED, ["No files"]),
    ("summarise my document", CANCELLED, ["looked at nothing"]),
]


@pytest.mark.parametrize(("prompt", "envelope", "words"), REPLIES)
async def test_every_answer_has_its_reply(
    prompt: str, envelope: JsonValue, words: list[str]
) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say(prompt))
    kind, ask_input = question_in(call)
    assert check_answer(kind, ask_input, envelope) == ()
    reply = text_of(await conversation.answer(call, envelope))
    assert [word for word in words if word not in reply] == []


async def test_an_untouched_draft_is_told_from_a_new_text() -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("write an invitation"))
    kind, ask_input = question_in(call)
    answer = accepted(markdown=ask_input["initial"], changed=False)
    assert check_answer(kind, ask_input, answer) == ()
    reply = text_of(await conversation.answer(call, answer))
    assert "left my draft as it is" in reply
    assert "“# Dinner on Saturday" in reply


async def test_files_are_named_with_their_types_and_sizes() -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("summarise my document"))
    files: list[JsonValue] = [file("scan.png", "image/png", 2048), file("a.csv", "text/csv", 9)]
    reply = text_of(await conversation.answer(call, accepted(files=files)))
    assert "“scan.png” (image/png, 2048 bytes) and “a.csv” (text/csv, 9 bytes)" in reply


async def test_of_many_files_the_first_are_named() -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("summarise my document"))
    files: list[JsonValue] = [file(f"{n}.txt", "text/plain", n) for n in range(6)]
    reply = text_of(await conversation.answer(call, accepted(files=files)))
    assert "“2.txt” (text/plain, 2 bytes) and 3 more" in reply


WISHES = [prompt for prompt, _ in (*SMALL, *LARGE)]


@pytest.mark.parametrize("prompt", WISHES)
@pytest.mark.parametrize(
    "envelope",
    [DECLINED, CANCELLED, CANCELLED_BY_MESSAGE, None],
    ids=["decline", "cancel", "message", "error"],
)
async def test_whatever_comes_back_it_does_not_ask_again(prompt: str, envelope: JsonValue) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say(prompt))
    error = "This call did not run." if envelope is None else None
    assert text_of(await conversation.answer(call, envelope, error))


@pytest.mark.parametrize("prompt", WISHES)
async def test_every_button_of_its_cards_has_a_reply(prompt: str) -> None:
    call = ask_of(await Conversation().say(prompt))
    kind, ask_input = question_in(call)
    for button in to_simple_card(kind, ask_input, "call_1").buttons:
        conversation = Conversation()
        await conversation.say(prompt)
        assert text_of(await conversation.answer(call, button.response))


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
    parts = await parts_of(conversation.model, ModelCall(None, messages, (), None, 1.0))
    assert text_of(parts).startswith("I set my question aside. Hello!")


async def test_the_same_wish_again_is_asked_again_once() -> None:
    conversation = Conversation()
    for _ in range(2):
        call = ask_of(await conversation.say("set up my plan"))
        assert text_of(await conversation.answer(call, PICKED))


async def test_one_wish_after_the_other_each_gets_its_own_reply() -> None:
    conversation = Conversation()
    weekend = ask_of(await conversation.say("plan my weekend"))
    assert "a hike" in text_of(await conversation.answer(weekend, accepted(selected=["hike"])))
    plan = ask_of(await conversation.say("set up my plan"))
    assert "Starter" in text_of(await conversation.answer(plan, PICKED))


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
        "Have a nice weekend!",
        "the table of contents",
        "I read a book",
        "\x00",
        " ",
        "word " * 1000,
    ],
)
async def test_everything_else_gets_a_short_reply_in_several_parts(prompt: str) -> None:
    parts = await Conversation().say(prompt)
    assert len(text_of(parts)) <= 250


@pytest.mark.parametrize("word", ["write", "book", "plan", "look at", "what do"])
async def test_a_long_prompt_takes_it_no_time(word: str) -> None:
    prompt = f"{word} " * 20_000
    start = perf_counter()
    assert text_of(await Conversation().say(prompt))
    assert perf_counter() - start < 1


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
