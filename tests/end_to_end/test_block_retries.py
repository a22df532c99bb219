"""A document beside a call whose turn then failed: its retry has it (blocks 18.1, turns 3.7.2)."""

import asyncio
from pathlib import Path
from typing import Final

from parleyd.models.script import Fail, Hold, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import BLANK, LOANS, RETURNS, checked, headings
from tests.end_to_end.person import Person, Played, accept
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan
from tests.standard_tools import StandardTools, look_up

DEADLINE: Final = 60
DOWN: Final[ScriptedStep] = [Fail("other")]


async def somebody(start_server: StartServer, tmp_path: Path, *steps: ScriptedStep) -> Person:
    tools = StandardTools(tmp_path / "runs")
    server = await start_server(in_turn(*steps), tools=tools.hosted, blocks=True)
    return await server.person()


async def retried(person: Person, failed: Played) -> Played:
    assert failed.done.retryable
    return await person.retry(failed.conversation_id, failed.turn_id)


async def test_a_document_of_a_failed_turn_is_the_reply_of_its_retry_that_says_nothing(
    start_server: StartServer, tmp_path: Path
) -> None:
    noor = await somebody(start_server, tmp_path, [Text(LOANS), look_up()], DOWN, BLANK)

    failed = await noor.prompt("Show my loans")
    played = await retried(noor, failed)

    assert failed.names == ["started", "tool_call", "tool_result", "error", "done"]
    assert played.names == ["started", "text", "blocks", "done"]
    assert played.text == LOANS
    assert headings(checked(played).document) == ["Loans"]
    rows = await noor.messages(failed.conversation_id)
    assert [row.text for row in rows if row.model] == [LOANS]


async def test_it_is_that_of_every_later_retry_until_a_step_writes_another(
    start_server: StartServer, tmp_path: Path
) -> None:
    steps: list[ScriptedStep] = [
        [Text(LOANS), look_up("one")],
        DOWN,
        DOWN,
        [Text("One moment."), look_up("two")],
        BLANK,
    ]
    noor = await somebody(start_server, tmp_path, *steps)
    failed = await noor.prompt("Show my loans")
    played = await retried(noor, await retried(noor, failed))
    assert played.names == ["started", "tool_call", "tool_result", "text", "blocks", "done"]
    assert played.text == LOANS

    steps[3] = [Text(RETURNS), look_up("two")]
    noor = await somebody(start_server, tmp_path, *steps)
    failed = await noor.prompt("Show my loans")
    assert (await retried(noor, await retried(noor, failed))).text == RETURNS


async def test_a_retry_does_not_repeat_the_document_of_a_turn_that_paused(
    start_server: StartServer, tmp_path: Path
) -> None:
    noor = await somebody(start_server, tmp_path, [Text(LOANS), ask_plan()], DOWN, BLANK)
    asked = await noor.prompt("Show my loans")
    assert asked.text == LOANS

    failed = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    played = await noor.retry(asked.conversation_id, failed.turn_id)

    assert played.names == ["started", "done"]
    rows = await noor.messages(asked.conversation_id)
    assert [row.text for row in rows if row.model] == [LOANS]


async def test_a_retry_has_the_document_that_came_after_a_pause(
    start_server: StartServer, tmp_path: Path
) -> None:
    noor = await somebody(
        start_server,
        tmp_path,
        [Text(LOANS), ask_plan()],
        [Text(RETURNS), look_up()],
        DOWN,
        BLANK,
    )
    asked = await noor.prompt("Show my loans")
    failed = await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    played = await noor.retry(asked.conversation_id, failed.turn_id)
    assert (asked.text, played.text) == (LOANS, RETURNS)


async def test_a_retry_that_only_raises_the_ask_has_the_document_beside_it(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    step = [Text(LOANS), look_up(hold="inside"), ask_plan()]
    hurried = await start_server(in_turn(step), tools=tools.hosted, blocks=True, turn_seconds=2)
    server = await start_server(in_turn(), tools=tools.hosted, blocks=True)
    async with asyncio.timeout(DEADLINE):
        failed = await (await hurried.person()).prompt("Show my loans")
    tools.holds.release("inside")
    assert failed.error.reason == "TURN_TIMEOUT"

    played = await retried(await server.person(), failed)

    assert played.names == ["started", "text", "ask", "blocks", "done"]
    assert (played.text, played.ask.tool_call_id) == (LOANS, PLAN_ID)


async def test_who_takes_over_a_retry_has_the_document_of_the_failed_turn(
    start_server: StartServer, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = in_turn([Text(LOANS), look_up()], DOWN, [Hold("thinking")])
    here = await start_server(script, tools=tools.hosted, blocks=True)
    there = await start_server(in_turn(BLANK), tools=tools.hosted, blocks=True)
    noor, elsewhere = await here.person(), await there.person()
    failed = await noor.prompt("Show my loans")

    async with asyncio.timeout(DEADLINE):
        retry = asyncio.ensure_future(retried(noor, failed))
        await here.model.holds.reached("thinking")
        running = (await elsewhere.conversation(failed.conversation_id)).running_turn_id
        await here.stop()
        await asyncio.gather(retry, return_exceptions=True)
        played = await elsewhere.watch(failed.conversation_id, running)

    assert played.names == ["started", "resumed", "text", "blocks", "done"]
    assert played.text == LOANS
    assert len(tools.runs()) == 1
