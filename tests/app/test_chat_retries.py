"""Trying again in the terminal what has failed."""

import asyncio
import io

from prompt_toolkit.input import PipeInput

from parley.v1.conversations_pb2 import Message
from parley.v1.turns_pb2 import RetryInput, StreamTurnRequest
from parleyd.app.chat.answering import whole_menu
from parleyd.app.chat.retrying import try_again
from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import by_progress, by_prompt, in_turn
from tests.app.desk import asked
from tests.app.keyboard import CTRL_C, CTRL_D, DOWN, ENTER
from tests.app.seat import Seat, Sit
from tests.server import StartServer
from tests.standard_asks import ask_plan

DEADLINE = 20

FAIL = Fail("other")


async def prompts_in(seat: Seat, conversation_id: str) -> list[str]:
    """Returns what the person wrote in a conversation."""
    return [
        message.text
        for message in await seat.person.messages(conversation_id)
        if message.type == Message.TYPE_USER
    ]


async def test_a_failed_turn_is_tried_again_without_another_message(sit: Sit) -> None:
    seat = await sit(in_turn([FAIL], [FAIL], [Text("Better.")]))
    shown = await seat.chat(f"a{ENTER}", ENTER, ENTER, CTRL_D)
    assert shown.count("✗ The model could not answer.") == 2
    assert "Better." in shown
    (conversation_id,) = await seat.conversation_ids()
    assert await prompts_in(seat, conversation_id) == ["a"]


async def test_a_message_may_be_written_after_a_failure(sit: Sit) -> None:
    seat = await sit(in_turn([FAIL], [Text("Fine.")]))
    shown = await seat.chat(f"a{ENTER}", DOWN + ENTER, f"b{ENTER}", CTRL_D)
    assert "Fine." in shown
    (conversation_id,) = await seat.conversation_ids()
    assert await prompts_in(seat, conversation_id) == ["a", "b"]


async def test_who_thinks_better_of_a_message_may_still_try_again(sit: Sit) -> None:
    seat = await sit(in_turn([FAIL], [Text("Better.")]))
    shown = await seat.chat(f"a{ENTER}", DOWN + ENTER, f"so{CTRL_C}", ENTER, CTRL_D)
    assert "Better." in shown


async def test_an_answer_whose_turn_fails_counts_and_is_not_asked_for_again(sit: Sit) -> None:
    seat = await sit(in_turn([ask_plan()], [FAIL], [Text("All set.")]))
    shown = await seat.chat(f"a{ENTER}", ENTER, ENTER, CTRL_D)
    assert shown.count("Which plan do you want?") == 1
    assert "All set." in shown


async def test_who_comes_back_after_a_failure_is_shown_how_far_it_got_and_may_try_again(
    sit: Sit,
) -> None:
    seat = await sit(in_turn([Text("Let me see"), FAIL], [Text("Better.")]))
    await seat.chat(f"a{ENTER}", CTRL_D)
    (conversation_id,) = await seat.conversation_ids()
    back = await seat.chat(ENTER, CTRL_D, conversation_id=conversation_id)
    places = [back.index(text) for text in ("› a", "Let me see", "got no further", "Better.")]
    assert places == sorted(places)
    again = await seat.chat(CTRL_D, conversation_id=conversation_id)
    assert "Better." in again
    assert "Let me see" not in again


async def test_what_was_tried_again_elsewhere_is_told_and_the_chat_catches_up(
    sit: Sit, keys: PipeInput
) -> None:
    seat = await sit(in_turn([FAIL], [Text("Better.")], [Text("Welcome.")]))
    chatting = asyncio.create_task(seat.chat(f"a{ENTER}"))
    async with asyncio.timeout(DEADLINE):
        while not (failed := await _retryable(seat)):
            pass
        conversation_id, turn_id = failed
        retry = StreamTurnRequest(
            conversation_id=conversation_id, retry=RetryInput(turn_id=turn_id)
        )
        await seat.person.play(retry)
        keys.send_text(f"{ENTER}thanks{ENTER}{CTRL_D}")
        shown = await chatting
    assert shown.index("tried again elsewhere") < shown.index("Better.")
    assert shown.index("Better.") < shown.index("Welcome.")


async def test_a_question_does_not_hide_that_a_later_turn_has_failed(
    start_server: StartServer, keys: PipeInput, screen: io.StringIO
) -> None:
    slow = by_progress([Hold("asking"), ask_plan()], [Text("All set.")])
    quick = in_turn([FAIL], [Text("Better.")])
    server = await start_server(by_prompt({"slow": slow, "quick": quick}), refusals_expected=True)
    seat = Seat(await server.person(), keys, screen)
    async with asyncio.timeout(DEADLINE):
        asking = asyncio.create_task(seat.person.prompt("slow"))
        await server.model.holds.reached("asking")
        (conversation_id,) = await seat.conversation_ids()
        failed = await seat.person.prompt("quick", conversation_id)
        server.model.holds.release("asking")
        await asking
        # Below the three plans, “Skip” and the message to write instead.
        shown = await seat.chat(DOWN * 4 + ENTER, ENTER, CTRL_D, conversation_id=conversation_id)
    assert failed.done.retryable
    assert "Better." in shown
    assert "All set." in shown


def test_a_question_is_picked_as_before_where_something_may_be_tried_again() -> None:
    sheet = asked("confirm {}")
    alone, beside = whole_menu(sheet), whole_menu(sheet, [try_again("t-1")])
    assert beside.items[:-1] == alone.items
    assert beside.items[-1].does == RetryInput(turn_id="t-1")
    assert beside.preselected == alone.preselected


async def _retryable(seat: Seat) -> tuple[str, str] | None:
    """Names a conversation and its failed turn, once there is one."""
    for conversation_id in await seat.conversation_ids():
        if turn_id := (await seat.person.conversation(conversation_id)).retryable_turn_id:
            return conversation_id, turn_id
    return None
