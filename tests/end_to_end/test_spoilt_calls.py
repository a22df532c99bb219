"""Calls that Gemini spoils come to a bounded repeat and a named error, never to an empty reply.

The model is the real adapter, in front of a server that speaks Gemini's format.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import parley
from parley.v1 import asks_pb2, turns_pb2
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.gemini import GeminiModel
from tests.end_to_end.answers import form
from tests.end_to_end.person import COMPACT, Person, accept
from tests.end_to_end.rows import Message, MessageAsk, types
from tests.models.fake_gemini import FakeGemini, Frame, frame
from tests.standard_asks import PLAN

FAILED = turns_pb2.Turn.STATE_FAILED
COMPLETED = turns_pb2.Turn.STATE_COMPLETED
TRIES = 3
"""How often a step is tried (spec turns 3.4.5)."""
FORM = {"prompt": "Who comes?", "fields": [{"id": "name", "type": "text", "label": "Name"}]}


@dataclass
class Office:
    """A fake Gemini, and what it takes to start servers that use it."""

    gemini: FakeGemini
    settings: Settings
    database_url: str

    @asynccontextmanager
    async def person(self) -> AsyncGenerator[Person]:
        """Starts a server and connects somebody, until it is left."""
        async with AsyncExitStack() as stack:
            model = GeminiModel("gemini-test", "key", base_url=self.gemini.url)
            stack.push_async_callback(model.aclose)
            service = await stack.enter_async_context(
                running_service(
                    self.settings,
                    database_url=self.database_url,
                    replacements=Replacements(model=model),
                )
            )
            token = development_token(self.settings)
            yield Person(await stack.enter_async_context(parley.connect(service.address, token)))

    def spoil(self, reason: str, *, times: int = TRIES) -> None:
        """Lets the next calls end without a part."""
        for _ in range(times):
            self.gemini.answer(frame(finish=reason))

    def reply(self, text: str) -> None:
        self.gemini.answer(frame({"text": text}, finish="STOP"))

    def ask(self, tool: str, args: dict[str, Any]) -> None:
        call = {"functionCall": {"id": "call_asked", "name": tool, "args": args}}
        self.gemini.answer(frame({**call, "thoughtSignature": "c2lnbmVk"}, finish="STOP"))


@pytest.fixture
async def office(database_url: str, tmp_path: Path) -> AsyncIterator[Office]:
    gemini = FakeGemini()
    async with gemini.serving():
        settings = Settings(environment="development", port=0, data_dir=tmp_path)
        yield Office(gemini, settings, database_url)


async def _answer(
    noor: Person, conversation_id: str, answer: asks_pb2.AskAnswer, *, streaming: bool
) -> turns_pb2.TurnResult:
    """Answers, and returns how the turn ended."""
    if not streaming:
        return await noor.run(
            turns_pb2.TurnRequest(
                conversation_id=conversation_id,
                answer=turns_pb2.AnswerInput(tool_call_id="call_asked", answer=answer),
            )
        )
    played = await noor.answer(conversation_id, "call_asked", answer)
    assert played.names == ["started", "ask_resolved", "error", "done"]
    return (await noor.turn(conversation_id, played.turn_id)).result


@pytest.mark.parametrize("streaming", [True, False], ids=["by stream", "by a single call"])
@pytest.mark.parametrize("restarting", [False, True], ids=["", "after a restart"])
async def test_bc_034_a_malformed_call_is_no_empty_reply(
    office: Office, *, streaming: bool, restarting: bool
) -> None:
    office.ask("ask_choice", PLAN)
    office.spoil("MALFORMED_FUNCTION_CALL")
    office.reply("Team it is.")
    office.reply("Workspace setup")
    async with AsyncExitStack() as servers:
        noor = await servers.enter_async_context(office.person())
        asked = await noor.prompt("Set up my workspace")
        if restarting:
            await servers.aclose()
            noor = await servers.enter_async_context(office.person())

        failed = await _answer(noor, asked.conversation_id, accept("team"), streaming=streaming)
        requests = len(office.gemini.received)
        rows = await noor.messages(asked.conversation_id)
        retried = await noor.retry(asked.conversation_id, failed.turn_id)

    assert asked.names == ["started", "ask", "done"]
    assert (failed.state, failed.error.reason, failed.retryable) == (FAILED, "MODEL_ERROR", True)
    assert failed.text == ""
    assert requests == 1 + TRIES
    assert types(rows) == ["user", "tool_call", "tool_result"]
    assert rows[1].ask.status == MessageAsk.STATUS_ANSWERED
    assert rows[2].ask.answer == accept("team")
    assert retried.names == ["started", "text", "done"]
    assert retried.text == "Team it is."
    *spoilt, again = office.gemini.received[1 : 2 + TRIES]
    assert all(each.contents == again.contents for each in spoilt)
    assert again.contents[1]["parts"][0]["thoughtSignature"] == "c2lnbmVk"


@pytest.mark.parametrize("frames", [(), (frame({"text": ""}),)], ids=["no part", "an empty part"])
async def test_bc_034_a_call_that_is_spoilt_once_is_made_again(
    office: Office, frames: tuple[Frame, ...]
) -> None:
    office.gemini.answer(*frames, frame(finish="MALFORMED_FUNCTION_CALL"))
    office.ask("ask_choice", PLAN)
    async with office.person() as noor:
        played = await noor.prompt("Set up my workspace")
    assert played.names == ["started", "ask", "done"]
    assert len(office.gemini.received) == 2


async def test_bc_034_a_call_that_is_spoilt_after_text_is_the_turns_failure(
    office: Office,
) -> None:
    office.gemini.answer(frame({"text": "Let me"}), frame(finish="MALFORMED_FUNCTION_CALL"))
    async with office.person() as noor:
        played = await noor.prompt("Set up my workspace")
        rows = await noor.messages(played.conversation_id)
    assert played.names == ["started", "error", "done"]
    assert played.error.reason == "MODEL_ERROR"
    assert [(row.text, row.status) for row in rows[1:]] == [("Let me", Message.STATUS_ERROR)]
    assert len(office.gemini.received) == 1


async def test_bc_039_an_unexpected_call_where_fewer_tools_are_offered_is_no_empty_reply(
    office: Office,
) -> None:
    office.ask("ask_form", FORM)
    office.reply("See you.")
    office.reply("Dinner")
    office.spoil("UNEXPECTED_TOOL_CALL")
    office.reply("Noted.")
    async with office.person() as noor:
        asked = await noor.prompt("Invite somebody")
        answered = await noor.answer(asked.conversation_id, "call_asked", form({"name": "Ivo"}))
        before = await noor.messages(asked.conversation_id)
        failed = await noor.prompt("One more", asked.conversation_id, surface=COMPACT)
        after = await noor.messages(asked.conversation_id)
        retried = await noor.retry(asked.conversation_id, failed.turn_id)

    assert answered.names == ["started", "ask_resolved", "text", "done"]
    assert failed.names == ["started", "error", "done"]
    assert failed.error.reason == "MODEL_ERROR"
    assert (failed.done.state, failed.done.retryable) == (FAILED, True)
    assert after[: len(before)] == before
    assert [row.text for row in after[len(before) :]] == ["One more"]
    assert (retried.text, retried.done.state) == ("Noted.", COMPLETED)
    compact = office.gemini.received[3:]
    assert len(compact) == TRIES + 1
    for request in compact:
        (declared,) = request.body["tools"]
        names = [tool["name"] for tool in declared["functionDeclarations"]]
        assert names == ["ask_choice", "ask_confirm"]
        assert request.contents[1]["parts"][0]["functionCall"]["name"] == "ask_form"
