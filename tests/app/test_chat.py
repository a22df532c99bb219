"""A conversation in the terminal, key by key, with a real service."""

import asyncio
import io
from datetime import timedelta
from uuid import uuid4

import grpc
import pytest
from prompt_toolkit.input import PipeInput

from parley import connect, error_of
from parley.v1.conversations_pb2 import MessageAsk
from parleyd.contract import limits
from parleyd.models.script import Fail, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from tests.app.keyboard import CTRL_C, CTRL_D, DOWN, ENTER, PASTE, PASTED
from tests.app.seat import Seat, Sit
from tests.end_to_end.person import Person, accept
from tests.server import StartServer
from tests.standard_asks import ask_plan

DEADLINE = 10

PLAN = by_progress([ask_plan()], [Text("All set.")])


async def test_the_conversation_goes_on_until_the_person_leaves(sit: Sit) -> None:
    seat = await sit(in_turn([Text("One.")], [ask_plan()], [Text("Two.")], [Text("Three.")]))
    shown = await seat.chat(f"a{ENTER}", f"b{ENTER}", ENTER, f"c{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    assert len(await seat.person.messages(conversation_id)) == 8
    places = [shown.index(text) for text in ("One.", "Which plan do you want?", "Two.", "Three.")]
    assert places == sorted(places)


async def test_the_title_is_shown_once(sit: Sit) -> None:
    seat = await sit(in_turn([Text("One.")], [Text("Two.")]))
    shown = await seat.chat(f"a{ENTER}", f"b{ENTER}", CTRL_D)
    assert shown.count("Workspace setup") == 1


async def test_a_message_instead_of_an_answer_drops_the_question(sit: Sit) -> None:
    seat = await sit(in_turn([ask_plan()], [Text("Never mind.")]))
    shown = await seat.chat(f"a{ENTER}", DOWN * 3 + ENTER, f"forget it{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    ((status, _),) = await seat.asks(conversation_id)
    assert status == MessageAsk.STATUS_CANCELLED
    assert "Never mind." in shown


async def test_who_leaves_with_a_question_open_finds_it_again(sit: Sit) -> None:
    seat = await sit(PLAN)
    left = await seat.chat(f"Set up my plan{ENTER}", CTRL_C)
    assert "The question stays open" in left
    back = await seat.chat(ENTER, ENTER, CTRL_D)
    assert back.index("Set up my plan") < back.index("Which plan do you want?")
    assert "All set." in back
    (conversation_id,) = await seat.conversation_ids()
    assert await seat.asks(conversation_id) == [(MessageAsk.STATUS_ANSWERED, accept("team"))]


async def test_a_new_conversation_leaves_an_open_question_alone(sit: Sit) -> None:
    seat = await sit(by_prompt({"plan": PLAN, "hello": by_progress([Text("Hi.")])}))
    await seat.chat(f"plan{ENTER}", CTRL_C)
    shown = await seat.chat(DOWN + ENTER, f"hello{ENTER}", CTRL_D)
    assert "Hi." in shown
    assert len(await seat.conversation_ids()) == 2
    assert len(await seat.person.pending()) == 1


async def test_a_named_conversation_is_gone_back_to_with_its_last_lines(sit: Sit) -> None:
    seat = await sit(in_turn(*([Text(f"reply {number}.")] for number in range(6))))
    await seat.chat(*(f"prompt {number}{ENTER}" for number in range(5)), CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    shown = await seat.chat(f"prompt 5{ENTER}", CTRL_D, conversation_id=conversation_id)
    assert "reply 1." not in shown
    assert "prompt 2" in shown
    assert "reply 4." in shown
    assert "reply 5." in shown
    assert await seat.conversation_ids() == [conversation_id]


async def test_a_conversation_of_nobody_is_refused(sit: Sit) -> None:
    seat = await sit(PLAN)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await seat.chat(conversation_id=str(uuid4()))
    assert error_of(caught.value).reason == "CONVERSATION_NOT_FOUND"


async def test_an_answer_given_elsewhere_is_told_and_the_chat_catches_up(
    sit: Sit, keys: PipeInput
) -> None:
    seat = await sit(in_turn([ask_plan()], [Text("All set.")], [Text("Welcome.")]))
    chatting = asyncio.create_task(seat.chat(f"plan{ENTER}"))
    async with asyncio.timeout(DEADLINE):
        while not (pending := await seat.person.pending()):
            pass
        await seat.person.press(
            pending[0].conversation_id, pending[0].tool_call_id, "option:starter"
        )
        keys.send_text(f"{ENTER}thanks{ENTER}{CTRL_D}")
        shown = await chatting
    assert shown.index("answered or dropped elsewhere") < shown.index("All set.")
    assert shown.index("All set.") < shown.index("Welcome.")
    asks = await seat.asks(pending[0].conversation_id)
    assert asks == [(MessageAsk.STATUS_ANSWERED, accept("starter"))]


async def test_a_turn_that_fails_is_told_and_the_chat_goes_on(sit: Sit) -> None:
    seat = await sit(in_turn([Fail("other", "provider's words")], [Text("Better.")]))
    shown = await seat.chat(f"a{ENTER}", DOWN + ENTER, f"b{ENTER}", CTRL_D)
    assert "✗ The model could not answer." in shown
    assert "provider's words" not in shown
    assert "Better." in shown


async def test_a_refused_message_is_told_and_the_chat_goes_on(sit: Sit, keys: PipeInput) -> None:
    seat = await sit(in_turn([Text("Fine.")]))
    pasted = f"{PASTE}{'x' * (limits.TURN_PROMPT + 1)}{PASTED}{ENTER}"
    # In a thread: the pipe holds less than this at a time.
    typing = asyncio.to_thread(keys.send_text, f"{pasted}b{ENTER}{CTRL_D}")
    shown, _ = await asyncio.gather(seat.chat(), typing)
    assert "✗ " in shown
    assert f"{limits.TURN_PROMPT}" in shown
    assert "Fine." in shown


async def test_without_asks_one_can_still_chat(sit: Sit) -> None:
    seat = await sit(in_turn([Text("Just text.")]), asks=())
    assert "Just text." in await seat.chat(f"a{ENTER}", CTRL_D)


async def test_a_service_that_is_gone_is_told_and_the_chat_goes_on(
    start_server: StartServer, keys: PipeInput, screen: io.StringIO
) -> None:
    server = await start_server(in_turn([Text("Hello.")]))
    token = server.key.issue("noor", timedelta(hours=1))
    async with connect(server.address, token) as client, asyncio.timeout(DEADLINE):
        seat = Seat(Person(client), keys, screen, patience=0.2)
        chatting = asyncio.create_task(seat.chat(f"a{ENTER}"))
        while "Hello." not in screen.getvalue():
            await seat.person.pending()
        await server.stop()
        keys.send_text(f"b{ENTER}{CTRL_D}")
        shown = await chatting
    assert shown.count("✗ The service can't be reached.") == 1
