"""The demo agent where replies are documents: every one that it can say is valid."""

from collections.abc import Iterator
from typing import Final

import pytest
from pydantic import JsonValue

from parleyd.contract.blocks.catalog import BLOCK
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.partial import parse_partial
from parleyd.contract.blocks.prompt import HEADING, NO_HTML, prompt_section
from parleyd.contract.blocks.validation import check
from parleyd.contract.json import JsonObject, objects_at, string_at
from parleyd.contract.prompts import asks_section
from parleyd.models.demo.document import Document, dataset
from parleyd.models.demo.reports import REPORTS
from parleyd.turns.model import CallPart, ModelCall, Part, ToolOutcome
from parleyd.turns.shown_files import FileToShow, shown
from tests.models.streamed import parts_of
from tests.models.test_demo import (
    CANCELLED,
    CANCELLED_BY_MESSAGE,
    CONTENTS,
    DECLINED,
    ERRANDS,
    REPLIES,
    RESULTS,
    SMALL_TALK,
    WISHES,
    Conversation,
    accepted,
    ask_of,
    text_of,
    todo,
)

PLAIN: Final = BlockOptions(host_actions=())
HTML: Final = BlockOptions(html=True, host_actions=())
SYSTEM: Final = f"Be kind.\n\n{prompt_section(PLAIN)}"
SYSTEM_HTML: Final = prompt_section(HTML)

SHOWN: Final = (
    "show my sales",
    "How is my revenue?",
    "Show my sales by month",
    "the trend of our sales over time, please",
    "SHOW MY SALES BY PRODUCT",
    "Show me the flyer",
)
NASTY: Final = (
    "",
    " ",
    '"}, {"type": "divider"',
    "- &a *b !c # d: e\n\t\x00\x85\u2028\ufeff 🚢 \\ud83d \x7f",
    "x" * 10_000,
    "🚢" * 10_000,
)
CONTROL: Final[JsonValue] = {"todos": [todo(text, done=bool(text)) for text in NASTY]}
MANY: Final[JsonValue] = {"todos": [todo(f"todo {number}") for number in range(700)]}


def document_in(parts: list[Part], options: BlockOptions = PLAIN) -> JsonObject:
    """Returns the document that a reply is, once it is known to be in order."""
    text = text_of(parts)
    verdict = check(text, options)
    assert (verdict.errors, verdict.warnings) == ((), ())
    document = parse(text)
    assert not isinstance(document, BlockIssue)
    return document


def blocks_in(document: JsonObject) -> Iterator[JsonObject]:
    """Yields all blocks of a document, nested ones too."""
    for block in objects_at(document, "blocks"):
        yield block
        yield from objects_at(block, "children")


def types_in(document: JsonObject) -> set[str]:
    return {string_at(block, "type") or "" for block in blocks_in(document)}


async def test_it_knows_from_the_system_prompt_whether_documents_are_wanted() -> None:
    assert HEADING in SYSTEM
    assert NO_HTML in SYSTEM
    assert NO_HTML not in SYSTEM_HTML
    assert document_in(await Conversation(system=SYSTEM).say("hello"))
    for system in (None, "Be kind.", asks_section(("choice",), "full")):
        assert text_of(await Conversation(system=system).say("hello")).startswith("Hello!")


async def test_its_reports_use_every_type_of_block_there_is() -> None:
    plain: set[str] = set()
    html: set[str] = set()
    kinds: set[str] = set()
    for prompt in SHOWN:
        document = document_in(await Conversation(system=SYSTEM).say(prompt))
        plain |= types_in(document)
        kinds |= {string_at(block, "kind") or "" for block in blocks_in(document)} - {""}
        html |= types_in(document_in(await Conversation(system=SYSTEM_HTML).say(prompt), HTML))
    assert html == {*BLOCK.records}
    assert plain == html - {"html"}
    assert kinds == {"bar", "line", "area", "donut"}


async def test_each_report_is_asked_for_in_its_own_words() -> None:
    documents = [text_of(await Conversation(system=SYSTEM).say(prompt)) for prompt in SHOWN]
    assert len({*documents}) == len(REPORTS)


async def test_what_it_suggests_it_understands() -> None:
    suggested = {
        string_at(button, "text") or ""
        for prompt in (*SHOWN, "hello", "What can you do?")
        for block in blocks_in(document_in(await Conversation(system=SYSTEM).say(prompt)))
        for button in objects_at(block, "elements")
        if str(string_at(block, "id")) == "suggestions"
    }
    assert len(suggested) > len(REPORTS)
    for text in suggested:
        match await Conversation(system=SYSTEM).say(text):
            case [CallPart()]:
                pass
            case said:
                assert types_in(document_in(said)) != {"text", "actions"}


@pytest.mark.parametrize("prompt", [*SMALL_TALK, *NASTY, *WISHES])
async def test_small_talk_and_what_it_can_not_do_are_documents(prompt: str) -> None:
    document = document_in(await Conversation(kinds=(), hosted=(), system=SYSTEM).say(prompt))
    assert "text" in types_in(document) or prompt == "show my sales"


@pytest.mark.parametrize(("prompt", "envelope", "words"), REPLIES)
async def test_replies_to_answers_are_documents(
    prompt: str, envelope: JsonValue, words: list[str]
) -> None:
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say(prompt))
    document = document_in(await conversation.answer(call, envelope))
    (block,) = blocks_in(document)
    assert [word for word in words if word not in (string_at(block, "markdown") or "")] == []


@pytest.mark.parametrize("text", NASTY)
@pytest.mark.parametrize("prompt", ["plan my weekend", "write an invitation", "book a table"])
async def test_whatever_the_person_writes_the_reply_is_a_document(prompt: str, text: str) -> None:
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say(prompt))
    answer = accepted(
        selected=[text],
        other=text,
        markdown=text,
        changed=True,
        values={"name": text, "day": text, "time": text, "extras": [text], "email": text},
    )
    assert document_in(await conversation.answer(call, answer))


@pytest.mark.parametrize("prompt", WISHES)
@pytest.mark.parametrize(
    "envelope",
    [DECLINED, CANCELLED, CANCELLED_BY_MESSAGE, None],
    ids=["decline", "cancel", "message", "error"],
)
async def test_without_an_answer_the_reply_is_a_document(prompt: str, envelope: JsonValue) -> None:
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say(prompt))
    error = "This call did not run." if envelope is None else None
    assert document_in(await conversation.answer(call, envelope, error))


RESULTS_SHOWN: Final = [
    *((prompt, result) for prompt, result, _ in RESULTS),
    ("what is on my list", CONTROL),
    ("what is on my list", MANY),
    *(("add milk to my list", {"added": text}) for text in NASTY),
    ("delete my completed todos", {"deleted": [*NASTY]}),
]


@pytest.mark.parametrize(("prompt", "result"), RESULTS_SHOWN)
async def test_results_of_tools_are_told_in_documents(prompt: str, result: JsonValue) -> None:
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say(prompt))
    assert document_in(await conversation.answer(call, result))


@pytest.mark.parametrize("prompt", [prompt for prompt, *_ in ERRANDS])
async def test_denied_and_failed_tools_are_told_in_documents(prompt: str) -> None:
    for error in ("The list is full.", *NASTY):
        conversation = Conversation(system=SYSTEM)
        call = ask_of(await conversation.say(prompt))
        assert document_in(await conversation.answer(call, error=error))
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say(prompt))
    assert document_in(await conversation.answer(call, denied="user_denied"))
    call = ask_of(await conversation.say(prompt))
    assert document_in(await conversation.answer(call, "no object"))


@pytest.mark.parametrize(("file", "told"), CONTENTS, ids=[file.filename for file, _ in CONTENTS])
async def test_what_is_in_a_file_is_told_in_a_document(file: FileToShow, told: str) -> None:
    (block,) = blocks_in(document_in(await Conversation(system=SYSTEM).say("Look", file)))
    assert block["markdown"] == told
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say("read my file"))
    parts = shown([file])
    assert document_in(await conversation.answer(call, accepted(files=[]), shown=parts))


@pytest.mark.parametrize("text", NASTY)
def test_a_document_reads_as_it_was_meant(text: str) -> None:
    its = dataset({"todo": "string"}, [[text], ["b"]])
    meant = Document(({"type": "context", "text": text}, {"type": "divider"}), {"d": its})
    assert all(line.isprintable() for line in meant.written().split("\n"))
    assert parse(meant.written()) == {"v": 1, "datasets": {"d": its}, "blocks": [*meant.blocks]}


async def test_the_todo_list_is_a_table() -> None:
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say("what is on my list"))
    todos: JsonValue = {"todos": [todo("Buy milk"), todo("Sweep", done=True)]}
    document = document_in(await conversation.answer(call, todos))
    assert document["datasets"] == {
        "todos": {
            "columns": [{"name": "todo", "type": "string"}, {"name": "state", "type": "string"}],
            "rows": [["Buy milk", "open"], ["Sweep", "completed"]],
        }
    }
    assert types_in(document) == {"heading", "columns", "metric", "table", "actions"}


async def test_a_question_that_was_set_aside_is_owned_up_to_before_a_report() -> None:
    conversation = Conversation(system=SYSTEM)
    call = ask_of(await conversation.say("set up my plan"))
    cancelled = ToolOutcome(call.call_id, call.name, value=CANCELLED_BY_MESSAGE)
    for prompt in ("hello", "show my sales"):
        messages = (
            conversation.model.user_message("set up my plan"),
            conversation.model.assistant_message([call]),
            conversation.model.tool_message([cancelled]),
            conversation.model.user_message(prompt),
        )
        call_now = ModelCall(SYSTEM, messages, (), None, 1.0)
        document = document_in(await parts_of(conversation.model, call_now))
        first, *rest = objects_at(document, "blocks")
        assert first["markdown"] == "I set my question aside."
        assert rest


async def test_a_report_is_seen_while_it_is_written() -> None:
    text = text_of(await Conversation(system=SYSTEM).say("show my sales"))
    cut = text.index('{"type": "context"')
    found = parse_partial(text[:cut] + '{"', PLAIN)
    assert len(found.blocks) == 4
    assert found.datasets
