"""How often a turn makes the database commit (spec turns 3.5, 15.1)."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.models.script import Fail, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.request_log import LoggedRequest, RequestLog
from tests.end_to_end.asking_service import asking_service, empty_conversation
from tests.end_to_end.person import Person, accept, refused
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan, ask_region
from tests.standard_tools import StandardTools, archive, delete, look_up

HELLO: ScriptedStep = [Text("Hello.")]
TIMES = 2
"""Each turn is played so often: whatever else the database does meanwhile only adds commits."""


class NoLog:
    """A request log that keeps nothing: its lines are not counted."""

    def __init__(self, log: RequestLog) -> None:
        del log

    async def log_request(self, request: LoggedRequest) -> None:
        """Forgets a line."""


async def transactions(engine: AsyncEngine) -> int:
    """Counts the transactions that have written something, whosesoever they are."""
    async with engine.connect() as connection:
        number = await connection.scalar(
            text("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
        )
    return int(number)


async def fewest(
    engine: AsyncEngine,
    prepare: Callable[[], Awaitable[tuple[str, str]]],
    play: Callable[[str, str], Awaitable[object]],
) -> int:
    """Prepares a conversation, plays a turn in it, and returns how many transactions it took."""
    counts: list[int] = []
    for _ in range(TIMES):
        prepared = await prepare()
        before = await transactions(engine)
        await play(*prepared)
        counts.append(await transactions(engine) - before)
    return min(counts)


@pytest.mark.parametrize(
    ("steps", "commits"),
    [
        pytest.param([[ask_plan()]], 2, id="P1, an ask"),
        pytest.param([[look_up(), ask_plan()]], 4, id="P4, a tool beside an ask"),
        pytest.param([[delete()]], 2, id="V1, an approval"),
        pytest.param([HELLO], 3, id="a reply, title due"),
        pytest.param([[look_up()], HELLO], 5, id="a tool and a reply, title due"),
        pytest.param([[Fail("other")]], 2, id="a failure"),
        pytest.param([[look_up()], [Fail("other")]], 4, id="a failure after a tool"),
    ],
)
async def test_p8_a_prompt_takes_the_fewest_commits(
    start_server: StartServer,
    engine: AsyncEngine,
    tmp_path: Path,
    steps: list[ScriptedStep],
    commits: int,
) -> None:
    server = await start_server(
        in_turn(*steps * TIMES), tools=StandardTools(tmp_path / "runs").all_hosted, wrap_log=NoLog
    )
    noor = await server.person()

    async def prepare() -> tuple[str, str]:
        return "", ""

    async def play(own: str, _: str) -> None:
        await noor.prompt("Set me up", own)

    assert await fewest(engine, prepare, play) == commits


async def paused(person: Person, title: str) -> tuple[str, str]:
    """Returns a conversation that waits on PLAN, and the turn that asked."""
    asked = await person.prompt("Set me up")
    if title:
        await person.rename(asked.conversation_id, title)
    return asked.conversation_id, asked.turn_id


@pytest.mark.parametrize(
    ("title", "step", "commits"),
    [
        pytest.param("My own", HELLO, 2, id="A1, a title set before"),
        pytest.param("", HELLO, 3, id="A1, a title due"),
        pytest.param("", [ask_region()], 2, id="A4's first answer"),
    ],
)
async def test_p8_an_answer_takes_the_fewest_commits(
    start_server: StartServer, engine: AsyncEngine, title: str, step: ScriptedStep, commits: int
) -> None:
    server = await start_server(in_turn(*[[ask_plan()], step] * TIMES), wrap_log=NoLog)
    noor = await server.person()

    async def play(own: str, _: str) -> None:
        await noor.answer(own, PLAN_ID, accept("team"))

    assert await fewest(engine, lambda: paused(noor, title), play) == commits


@pytest.mark.parametrize(
    ("confirmed", "step", "commits"),
    [
        pytest.param(True, HELLO, 4, id="V2"),
        pytest.param(False, HELLO, 2, id="V3, a denial"),
        pytest.param(False, [archive()], 2, id="a denial and the next approval"),
        pytest.param(True, [archive()], 4, id="V11, the next approval"),
    ],
)
async def test_p8_the_answer_of_an_approval_takes_the_fewest_commits(
    start_server: StartServer,
    engine: AsyncEngine,
    tools: StandardTools,
    step: ScriptedStep,
    commits: int,
    *,
    confirmed: bool,
) -> None:
    steps: list[ScriptedStep] = [[delete()], step]
    server = await start_server(in_turn(*steps * TIMES), tools=tools.all_hosted, wrap_log=NoLog)
    noor = await server.person()

    async def prepare() -> tuple[str, str]:
        asked = await noor.prompt("Clean up")
        await noor.rename(asked.conversation_id, "My own")
        return asked.conversation_id, asked.ask.tool_call_id

    async def play(own: str, approval_id: str) -> None:
        await noor.answer(own, approval_id, accept(confirmed=confirmed))

    assert await fewest(engine, prepare, play) == commits
    assert len(tools.runs()) == (TIMES if confirmed else 0)


async def test_p8_a_retry_takes_two_commits(start_server: StartServer, engine: AsyncEngine) -> None:
    steps: list[ScriptedStep] = [[Fail("other")], HELLO]
    server = await start_server(in_turn(*steps * TIMES), wrap_log=NoLog)
    noor = await server.person()
    assert await fewest(engine, lambda: paused(noor, "My own"), noor.retry) == 2


async def test_p8_what_is_refused_takes_none(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn(*[[ask_plan()]] * TIMES), wrap_log=NoLog)
    noor = await server.person()

    async def play(own: str, _: str) -> None:
        for attempt in (
            noor.answer(own, PLAN_ID, accept("gold")),
            noor.answer(own, "call_never", accept("team")),
            noor.press(own, PLAN_ID, "option:gold"),
        ):
            await refused(attempt)

    assert await fewest(engine, lambda: paused(noor, ""), play) == 0


@pytest.mark.parametrize("ttl", [None, timedelta(minutes=5)], ids=["for good", "for a time"])
async def test_x1_asking_answering_and_withdrawing_for_a_service_is_one_commit_each(
    start_server: StartServer, engine: AsyncEngine, ttl: timedelta | None
) -> None:
    server = await start_server(in_turn(), wrap_log=NoLog)
    noor, service = await server.person(), await asking_service(server)

    async def prepare() -> tuple[str, str]:
        return await empty_conversation(noor), ""

    async def prepare_asked() -> tuple[str, str]:
        ask = await service.ask(await empty_conversation(noor), ttl=ttl)
        return ask.conversation_id, ask.tool_call_id

    async def prepare_withdrawal() -> tuple[str, str]:
        ask = await service.ask(await empty_conversation(noor), ttl=ttl)
        return ask.conversation_id, ask.ask_id

    async def ask(own: str, _: str) -> None:
        await service.ask(own, ttl=ttl, request_id=str(uuid4()))

    async def answer(own: str, tool_call_id: str) -> None:
        await noor.press(own, tool_call_id, "option:team")

    async def withdraw(_: str, ask_id: str) -> None:
        await service.cancel(ask_id)

    assert await fewest(engine, prepare, ask) == 1
    assert await fewest(engine, prepare_asked, answer) == 1
    assert await fewest(engine, prepare_withdrawal, withdraw) == 1


async def test_an_ask_for_a_time_takes_no_more_commits_than_one_for_good(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(
        in_turn(*[[ask_plan()], [ask_region()]] * TIMES),
        wrap_log=NoLog,
        ask_ttl_seconds={"choice": 300},
    )
    noor = await server.person()

    async def play(own: str, _: str) -> None:
        await noor.answer(own, PLAN_ID, accept("team"))

    assert await fewest(engine, lambda: paused(noor, ""), play) == 2
