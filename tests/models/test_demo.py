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
from parleyd.models.demo.question import Question
from parleyd.models.demo.wishes import WISHES as ALL_WISHES
from parleyd.turns.model import (
    CallPart,
    ModelCall,
    Part,
    ProviderMessage,
    Shown,
    TextPart,
    Tool,
    ToolOutcome,
)
from parleyd.turns.shown_files import GONE, NOT_READ, FileToShow, shown
from tests.models.streamed import parts_of

CANCELLED_BY_MESSAGE: JsonValue = {"action": "cancel", "reason": "user_sent_message"}
DECLINED: JsonValue = {"action": "decline"}
CANCELLED: JsonValue = {"action": "cancel"}


def accepted(**content: JsonValue) -> dict[str, JsonValue]:
    return {"action": "accept", "content": content}


def file(filename: str, mime_type: str, size: int) -> dict[str, JsonValue]:
    return {"filename": filename, "mimeType": mime_type, "size": size}


PICKED: JsonValue = accepted(selected=["starter"])


LIST, ADD, DELETE = "listTodos", "addTodo", "deleteCompletedTodos"
HOSTED = tuple(Tool(name, "Works on todos.", {"type": "object"}) for name in (LIST, ADD, DELETE))


class Conversation:
    """The demo agent and what was said so far."""

    def __init__(
        self,
        kinds: tuple[AskKind, ...] = ASK_KINDS,
        surface: Surface = "full",
        hosted: tuple[Tool, ...] = HOSTED,
        system: str | None = None,
    ) -> None:
        self.model = DemoModel()
        self._system = system
        self._messages: list[ProviderMessage] = []
        self._tools = (
            *hosted,
            *(Tool(tool.name, tool.description, tool.schema) for tool in ask_tools(kinds, surface)),
        )

    async def say(self, text: str, *files: FileToShow) -> list[Part]:
        self._messages.append(self.model.user_message(text, shown(files)))
        return await self._step()

    async def answer(
        self,
        call: CallPart,
        envelope: JsonValue = None,
        error: str | None = None,
        *,
        denied: str | None = None,
        shown: tuple[Shown, ...] = (),
    ) -> list[Part]:
        outcome = ToolOutcome(
            call.call_id, call.name, value=envelope, error=error, denied=denied, shown=shown
        )
        self._messages.append(self.model.tool_message([outcome]))
        return await self._step()

    async def _step(self) -> list[Part]:
        choice = "auto" if self._tools else None
        call = ModelCall(self._system, tuple(self._messages), self._tools, choice, 1.0)
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


def test_it_asks_every_kind_but_the_one_that_guards_a_tool() -> None:
    asked = {wish.kind for wish in ALL_WISHES if isinstance(wish, Question)}
    assert asked == {*ASK_KINDS} - {"confirm"}


async def test_the_plan_is_one_of_three_with_team_picked_beforehand() -> None:
    _, ask_input = question_in(ask_of(await Conversation().say("set up my plan")))
    options = ask_input["options"]
    assert isinstance(options, list)
    ids = [option["id"] for option in options if isinstance(option, dict)]
    assert ids == ["starter", "team", "enterprise"]
    assert ask_input["default"] == ["team"]


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


def seen(name: str, mime_type: str, data: bytes) -> FileToShow:
    return FileToShow(name, mime_type, len(data), data)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(92)
CONTENTS: list[tuple[FileToShow, str]] = [
    (seen("scan.png", "image/png", PNG), "“scan.png” is a PNG image of 100 bytes."),
    (seen("a (1).pdf", "application/pdf", b"%PDF-"), "“a (1).pdf” is a PDF document of 5 bytes."),
    (
        seen("notes.txt", "text/plain", "Grüße an alle\n\nBis bald".encode()),
        "“notes.txt” has 3 lines and 5 words, beginning “Grüße an alle Bis bald”.",
    ),
    (seen("no.txt", "text/plain", b""), "“no.txt” has 0 lines and 0 words."),
    (seen("1.txt", "text/plain", b"a\n"), "“1.txt” has 1 line and 1 word, beginning “a”."),
    (
        seen("a.csv", "text/csv", b'\xef\xbb\xbfname,said\nNoor,"Hi,\nall"\n\nTeo,Bye\n'),
        "“a.csv” has 3 rows, the first of them “name” and “said”.",
    ),
    (seen("no.csv", "text/csv", b"\n"), "“no.csv” has 1 line and 0 words."),
    (seen("a.json", "application/json", b'{"b": 1, "a": []}'), "“a.json” has 2 keys: “b” and “a”."),
    (seen("b.json", "application/json", b"[1, 2, 3]"), "“b.json” has a list of 3 items."),
    (seen("c.json", "application/json", b"{}"), "“c.json” has no keys."),
    (seen("d.json", "application/json", b"null"), "“d.json” has a single value, “null”."),
    (
        seen("deep.json", "application/json", b"[" * 40_000 + b"]" * 40_000),
        "“deep.json” has 1 line and 1 word, beginning “" + "[" * 80 + "…”.",
    ),
    (
        seen("log.txt", "text/plain", b"a b\n" * 25_000 + b"c"),
        (
            "Of “log.txt” I see the first 100000 of 100001 bytes: 25000 lines and 50000 words, "
            "beginning “a b a b a b a b…”."
        ),
    ),
    (
        seen("note.txt", "text/plain", GONE.encode()),
        f"“note.txt” has 1 line and 6 words, beginning “{GONE}”.",
    ),
]
"""Files, and what is true of them."""


@pytest.mark.parametrize(("file", "told"), CONTENTS, ids=[file.filename for file, _ in CONTENTS])
async def test_it_reads_the_files_of_an_answer(file: FileToShow, told: str) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("read my file"))
    envelope = accepted(
        files=[{"filename": file.filename, "mimeType": file.mime_type, "size": file.size}]
    )
    reply = text_of(await conversation.answer(call, envelope, shown=shown([file])))
    assert reply == told


@pytest.mark.parametrize("note", [GONE, NOT_READ])
async def test_a_file_that_can_not_be_seen_is_said_to_be_so(note: str) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("read my file"))
    parts = shown([FileToShow("notes.txt", "text/plain", 5, note)])
    reply = text_of(await conversation.answer(call, accepted(files=[]), shown=parts))
    assert reply == f"“notes.txt” is text/plain of 5 bytes. {note}"


@pytest.mark.parametrize("prompt", ["Look at this document", "Here you are", "hello"])
async def test_it_reads_the_files_that_come_with_a_prompt(prompt: str) -> None:
    files = [file for file, _ in CONTENTS[:2]]
    reply = text_of(await Conversation().say(prompt, *files))
    assert reply == " ".join(told for _, told in CONTENTS[:2])


async def test_a_wish_counts_for_more_than_the_files_that_come_with_it() -> None:
    assert ask_of(await Conversation().say("add milk to my list", CONTENTS[0][0])).name == ADD


async def test_files_of_an_earlier_prompt_are_not_read_again() -> None:
    conversation = Conversation()
    await conversation.say("Here you are", CONTENTS[0][0])
    assert "scan.png" not in text_of(await conversation.say("hello"))
    assert ask_of(await conversation.say("read my file")).name == "ask_files"


async def test_of_many_files_the_first_are_read() -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("read my files"))
    files = [seen(f"{n}.png", "image/png", PNG) for n in range(10)]
    reply = text_of(await conversation.answer(call, accepted(files=[]), shown=shown(files)))
    assert reply.endswith("“2.png” is a PNG image of 100 bytes. I got 7 more.")


async def test_files_that_are_not_shown_are_named_with_their_types_and_sizes() -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("summarise my document"))
    files: list[JsonValue] = [file(f"{n}.txt", "text/plain", n) for n in range(6)]
    reply = text_of(await conversation.answer(call, accepted(files=files)))
    assert "“1.txt” (text/plain, 1 byte), “2.txt” (text/plain, 2 bytes) and 3 more" in reply


ERRANDS: list[tuple[str, str, JsonValue]] = [
    ("What is on my list?", LIST, {}),
    ("what's on my todo list", LIST, {}),
    ("Show me my tasks, please", LIST, {}),
    ("LIST MY TODOS", LIST, {}),
    ("My todos", LIST, {}),
    ("What do I have to do today?", LIST, {}),
    ("add milk to my list", ADD, {"text": "milk"}),
    ("Please add “Call Inês” to my todo list!", ADD, {"text": "Call Inês"}),
    ("Put the weekend plan on the list", ADD, {"text": "the weekend plan"}),
    ("Add 'delete completed todos' to my tasks", ADD, {"text": "delete completed todos"}),
    ("could you write book a table on our shopping list", ADD, {"text": "book a table"}),
    ("delete my completed todos", DELETE, {}),
    ("Clear all completed to-dos, please", DELETE, {}),
    ("REMOVE THE TASKS I FINISHED", DELETE, {}),
]


@pytest.mark.parametrize(("prompt", "tool", "args"), ERRANDS)
async def test_some_prompts_make_it_use_a_tool(prompt: str, tool: str, args: JsonValue) -> None:
    call = ask_of(await Conversation().say(prompt))
    assert (call.name, call.args) == (tool, args)
    small = ask_of(await Conversation(surface="compact").say(prompt))
    assert (small.name, small.args) == (tool, args)


@pytest.mark.parametrize(("prompt", "tool", "args"), ERRANDS)
async def test_a_tool_that_is_not_offered_is_said_in_words(
    prompt: str, tool: str, args: JsonValue
) -> None:
    del args
    others = tuple(other for other in HOSTED if other.name != tool)
    for hosted in (others, ()):
        reply = text_of(await Conversation(hosted=hosted).say(prompt))
        assert "here I" in reply
        assert "I deleted" not in reply


async def test_it_deletes_nothing_where_nobody_can_be_asked_for_approval() -> None:
    reply = text_of(await Conversation(kinds=()).say("delete my completed todos"))
    assert "here I can't let you confirm it" in reply
    assert ask_of(await Conversation(kinds=()).say("what is on my list")).name == LIST


def todo(text: str, *, done: bool = False) -> JsonValue:
    return {"text": text, "done": done}


RESULTS: list[tuple[str, JsonValue, str]] = [
    (
        "what is on my list",
        {"todos": [todo("Buy milk"), todo("Sweep", done=True), todo("Call Teo")]},
        "On your list: “Buy milk” and “Call Teo”. Completed: “Sweep”.",
    ),
    ("what is on my list", {"todos": [todo("Buy milk")]}, "On your list: “Buy milk”."),
    (
        "what is on my list",
        {"todos": [todo("Sweep", done=True)]},
        "There is nothing left to do on your list. Completed: “Sweep”.",
    ),
    ("what is on my list", {"todos": []}, "There is nothing on your list."),
    (
        "what is on my list",
        {"todos": [todo(str(n)) for n in range(12)]},
        "On your list: “0”, “1”, “2”, “3”, “4”, “5”, “6”, “7”, “8”, “9” and 2 more.",
    ),
    ("add milk to my list", {"added": "milk"}, "“milk” is on your list now."),
    (
        "delete my completed todos",
        {"deleted": ["Sweep", "Buy jam"]},
        (
            "Done: your completed todos are deleted, “Sweep” and “Buy jam”. The open ones are "
            "untouched."
        ),
    ),
    (
        "delete my completed todos",
        {"deleted": []},
        "There were no completed todos, so I deleted nothing.",
    ),
]


@pytest.mark.parametrize(("prompt", "result", "reply"), RESULTS)
async def test_it_says_what_a_tool_has_done(prompt: str, result: JsonValue, reply: str) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say(prompt))
    assert text_of(await conversation.answer(call, result)) == reply


@pytest.mark.parametrize(
    "reason", ["user_denied", "user_declined", "user_cancelled", "one_ask_at_a_time", "expired"]
)
async def test_a_denied_deletion_is_told_as_one(reason: str) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say("delete my completed todos"))
    value: JsonValue = {"approved": False, "reason": reason}
    reply = text_of(await conversation.answer(call, value, denied=reason))
    assert reply == "All right, I deleted nothing. Your completed todos are still there."


@pytest.mark.parametrize("prompt", [prompt for prompt, *_ in ERRANDS])
async def test_a_tool_that_failed_is_told_as_one(prompt: str) -> None:
    conversation = Conversation()
    call = ask_of(await conversation.say(prompt))
    reply = text_of(await conversation.answer(call, error="The list is full."))
    assert reply == "That did not work. The list is full."


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


SMALL_TALK = [
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
    "show my sales",
]


@pytest.mark.parametrize("prompt", SMALL_TALK)
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
