"""The events of a running turn, as several followers see them."""

import asyncio
from uuid import UUID

import pytest

from parleyd.contract.errors import Unavailable
from parleyd.contract.events import Text, TurnEvent
from parleyd.contract.turns import TurnResult
from parleyd.turns.log import TurnLog

TURN = UUID(int=1)
RESULT = TurnResult(conversation_id=UUID(int=2), turn_id=TURN, state="completed")


def event(sequence: int) -> TurnEvent:
    return TurnEvent(turn_id=TURN, sequence=sequence, body=Text(text=f"{sequence}"))


async def followed(log: TurnLog) -> list[int]:
    return [event.sequence async for event in log.follow()]


async def test_a_follower_sees_what_was_there_and_what_comes() -> None:
    log = TurnLog()
    log.append([event(1)])
    early = asyncio.create_task(followed(log))
    await asyncio.sleep(0)
    log.append([event(2), event(3)])
    late = asyncio.create_task(followed(log))
    await asyncio.sleep(0)
    log.append([event(4)])
    log.end(RESULT)
    assert await early == [1, 2, 3, 4]
    assert await late == [1, 2, 3, 4]
    assert await log.result() == RESULT


async def test_a_follower_of_an_ended_turn_sees_all_of_it() -> None:
    log = TurnLog()
    log.append([event(1)])
    log.end(RESULT)
    assert await followed(log) == [1]


async def test_an_event_that_comes_while_a_follower_is_busy_is_not_missed() -> None:
    log = TurnLog()
    log.append([event(1)])
    seen: list[int] = []
    async for each in log.follow():
        seen.append(each.sequence)
        if each.sequence < 3:
            log.append([event(each.sequence + 1)])
        else:
            log.end(RESULT)
    assert seen == [1, 2, 3]


async def test_a_follower_that_leaves_disturbs_nobody() -> None:
    log = TurnLog()
    log.append([event(1)])
    leaving = asyncio.create_task(followed(log))
    staying = asyncio.create_task(followed(log))
    await asyncio.sleep(0)
    leaving.cancel()
    log.append([event(2)])
    log.end(RESULT)
    assert await staying == [1, 2]
    await asyncio.wait([leaving])
    assert leaving.cancelled()


async def test_a_turn_that_this_process_lost_ends_every_wait_with_the_fault() -> None:
    log = TurnLog()
    log.append([event(1)])
    waiting = asyncio.create_task(log.result())
    await asyncio.sleep(0)
    log.end(Unavailable("The database is gone."))
    with pytest.raises(Unavailable, match="database is gone"):
        await waiting
    follower = log.follow()
    assert (await anext(follower)).sequence == 1
    with pytest.raises(Unavailable):
        await anext(follower)
