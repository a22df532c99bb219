"""A conversation gets its title once (spec turns 12.2, 15.10)."""

import asyncio

from parleyd.models.script import Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.person import Person, Played, accept
from tests.server import Server, StartServer
from tests.standard_asks import PLAN_ID, ask_plan

DEADLINE = 30


async def title_of(person: Person, played: Played) -> str:
    return (await person.conversation(played.conversation_id)).title


async def test_h6_a_title_is_made_once_on_the_first_turn_with_text(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn([ask_plan()], [Text("Setting up. " * 50)], [Text("Welcome.")])
    )
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    before = (await title_of(noor, asked), asked.done.title, len(server.model.text_calls))

    answered = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    later = await noor.prompt("Thanks", asked.conversation_id)

    assert before == ("", "", 0)
    assert (answered.done.title, later.done.title) == ("Workspace setup",) * 2
    assert await title_of(noor, asked) == "Workspace setup"
    (call,) = server.model.text_calls
    assert "Set up my workspace" in call.prompt
    assert ("Setting up. " * 50)[:500] in call.prompt
    assert ("Setting up. " * 50)[:501] not in call.prompt
    assert call.temperature == 0.3


async def _renamed_at(hold: str, server: Server, person: Person) -> Played:
    """Runs a turn, and renames its conversation while it waits at a hold."""
    async with asyncio.timeout(DEADLINE):
        playing = asyncio.create_task(person.prompt("Hello"))
        await server.model.holds.reached(hold)
        (conversation,) = await person.conversations()
        await person.rename(conversation.conversation_id, "My own")
        server.model.holds.release(hold)
        return await playing


async def test_h6_a_rename_before_the_title_is_due_leaves_none_to_be_made(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Hold("thinking"), Text("Hello.")]))
    noor = await server.person()
    played = await _renamed_at("thinking", server, noor)
    assert played.done.title == "My own"
    assert await title_of(noor, played) == "My own"
    assert server.model.text_calls == []


async def test_h6_a_rename_while_the_title_is_made_wins(start_server: StartServer) -> None:
    server = await start_server(
        in_turn([Text("Hello.")]), title=[Hold("title"), Text("Workspace setup")]
    )
    noor = await server.person()
    played = await _renamed_at("title", server, noor)
    assert played.done.title == "My own"
    assert await title_of(noor, played) == "My own"
    turn = await noor.turn(played.conversation_id, played.turn_id)
    assert turn.result.title == "My own"
    assert len(server.model.text_calls) == 1


async def test_h6_a_title_that_failed_is_due_again(start_server: StartServer) -> None:
    failing: ScriptedStep = [Fail("other")]
    server = await start_server(in_turn([Text("Hello.")], [Text("Hi.")]), title=failing)
    noor = await server.person()
    first = await noor.prompt("Hello")
    second = await noor.prompt("Hello", first.conversation_id)
    assert first.names == second.names == ["started", "text", "done"]
    assert (first.done.title, second.done.title) == ("", "")
    assert len(server.model.text_calls) == 2
