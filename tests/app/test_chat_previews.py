"""A reply that is seen while it is written."""

import asyncio
import io

from prompt_toolkit.input import PipeInput
from rich.console import Console

from parley.v1.conversations_pb2 import Conversation, ListConversationsRequest
from parley.v1.turns_pb2 import WatchTurnRequest
from parleyd.app.chat.previews import ReplyPreview
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import TITLE, in_turn
from tests.app.display import Display
from tests.app.keyboard import CTRL_D, ENTER
from tests.app.seat import Seat
from tests.end_to_end.person import Person
from tests.server import StartServer
from tests.standard_asks import ask_plan

DEADLINE = 20

WORKS = "The agent works"
SLOW_REPLY = [Text("It is **al"), Hold("middle"), Text("most** done.")]


def drawn(preview: ReplyPreview, width: int, height: int) -> list[str]:
    """Returns the lines that a preview fills on a terminal of that size."""
    screen = io.StringIO()
    Console(file=screen, force_terminal=True, color_system=None, width=width, height=height).print(
        preview
    )
    return [line.rstrip() for line in screen.getvalue().splitlines()]


async def only_conversation(person: Person) -> Conversation:
    """Returns the one conversation that the person has, as it is now."""
    response = await person.client.conversations.ListConversations(ListConversationsRequest())
    (conversation,) = response.conversations
    return await person.conversation(conversation.conversation_id)


async def until_previewed(person: Person) -> None:
    """Waits until the turn that runs is seen to be written."""
    conversation = await only_conversation(person)
    watched = person.client.turns.WatchTurn(
        WatchTurnRequest(
            conversation_id=conversation.conversation_id, turn_id=conversation.running_turn_id
        )
    )
    async for response in watched:
        if response.event.HasField("text_preview"):
            return
    raise AssertionError("the turn ended without a preview")


async def test_a_reply_is_seen_while_it_is_written_and_once_when_it_is_whole(
    start_server: StartServer, keys: PipeInput, display: Display
) -> None:
    server = await start_server(in_turn(SLOW_REPLY), title=[Hold("title"), *TITLE])
    seat = Seat(await server.person(), keys, display, display.console)
    async with asyncio.timeout(DEADLINE):
        chatting = asyncio.create_task(seat.chat(f"a{ENTER}", CTRL_D))
        shown = await display.until(lambda shown: "It is **al" in shown)
        assert shown.index("It is **al") < shown.index(WORKS)
        server.model.holds.release("middle")
        shown = await display.until(lambda shown: "It is almost done." in shown)
        assert shown.count("It is") == 1
        assert WORKS in shown
        server.model.holds.release("title")
        await chatting
    assert display.standing.count("It is almost done.") == 1
    assert WORKS not in display.standing


async def test_what_turns_out_to_be_no_reply_vanishes(
    start_server: StartServer, keys: PipeInput, display: Display
) -> None:
    server = await start_server(
        in_turn([Text("Let me ask."), Hold("before"), ask_plan(), Hold("after")], [Text("Done.")])
    )
    seat = Seat(await server.person(), keys, display, display.console)
    async with asyncio.timeout(DEADLINE):
        chatting = asyncio.create_task(seat.chat(f"a{ENTER}", ENTER, CTRL_D))
        await display.until(lambda shown: "Let me ask." in shown)
        server.model.holds.release("before")
        shown = await display.until(lambda shown: "Let me ask." not in shown)
        assert WORKS in shown
        server.model.holds.release("after")
        await chatting
    assert "Let me ask." not in display.standing
    assert "Which plan do you want?" in display.standing
    assert "Done." in display.standing


async def test_where_the_output_is_no_terminal_there_is_the_whole_reply_alone(
    start_server: StartServer, keys: PipeInput, screen: io.StringIO
) -> None:
    server = await start_server(in_turn(SLOW_REPLY))
    seat = Seat(await server.person(), keys, screen)
    async with asyncio.timeout(DEADLINE):
        chatting = asyncio.create_task(seat.chat(f"a{ENTER}", CTRL_D))
        await server.model.holds.reached("middle")
        await until_previewed(seat.person)
        server.model.holds.release("middle")
        shown = await chatting
    assert shown.count("It is") == 1
    assert "\x1b" not in shown
    assert WORKS not in shown


async def test_a_turn_that_runs_is_watched_by_who_comes_back(
    start_server: StartServer, keys: PipeInput, display: Display
) -> None:
    server = await start_server(in_turn(SLOW_REPLY))
    seat = Seat(await server.person(), keys, display, display.console)
    async with asyncio.timeout(DEADLINE):
        prompting = asyncio.create_task(seat.person.prompt("How far are you?"))
        await server.model.holds.reached("middle")
        conversation = await only_conversation(seat.person)
        chatting = asyncio.create_task(
            seat.chat(CTRL_D, conversation_id=conversation.conversation_id)
        )
        shown = await display.until(lambda shown: "It is **al" in shown)
        assert shown.index("› How far are you?") < shown.index("It is **al")
        server.model.holds.release("middle")
        await asyncio.gather(prompting, chatting)
    assert display.standing.count("It is almost done.") == 1


async def test_a_reply_is_shown_once_to_who_comes_back_before_its_turn_has_ended(
    start_server: StartServer, keys: PipeInput, display: Display
) -> None:
    server = await start_server(in_turn([Text("It is done.")]), title=[Hold("title"), *TITLE])
    seat = Seat(await server.person(), keys, display, display.console)
    async with asyncio.timeout(DEADLINE):
        prompting = asyncio.create_task(seat.person.prompt("How far are you?"))
        await server.model.holds.reached("title")
        conversation = await only_conversation(seat.person)
        chatting = asyncio.create_task(
            seat.chat(CTRL_D, conversation_id=conversation.conversation_id)
        )
        await display.until(lambda shown: "It is done." in shown and WORKS in shown)
        server.model.holds.release("title")
        await asyncio.gather(prompting, chatting)
    assert display.standing.count("It is done.") == 1


def test_of_a_long_text_the_end_is_shown() -> None:
    preview = ReplyPreview()
    for number in range(1000):
        preview.add(f"line {number}\n")
    preview.add("the last, which is too long for one line")
    lines = drawn(preview, width=20, height=8)
    assert lines[:-1] == [
        "line 997",
        "line 998",
        "line 999",
        "the last, which is",
        "too long for one",
        "line",
    ]
    assert WORKS in lines[-1]


def test_before_anything_is_written_nothing_but_the_work_is_shown() -> None:
    preview = ReplyPreview()
    preview.add("\n\n")
    (line,) = drawn(preview, width=40, height=8)
    assert WORKS in line


def test_what_is_being_written_can_not_steer_the_terminal() -> None:
    preview = ReplyPreview()
    preview.add("[red]now[/red]\x1b")
    preview.add("[2J\u202ednet")
    assert drawn(preview, width=40, height=8)[0] == "[red]now[/red][2Jdnet"
