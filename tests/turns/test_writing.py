"""What becomes of a turn that this process can't end."""

from uuid import UUID

import pytest

from parleyd.contract.errors import ParleyError, Unavailable
from parleyd.contract.turns import TurnResult
from parleyd.turns.live import LiveTurn
from parleyd.turns.ports import EndedTurn, Fenced
from parleyd.turns.stops import HandedOver
from parleyd.turns.writing import left_open
from tests.turns.waiting import in_time

AWAY = Unavailable("The database is away.")


def live_turn() -> LiveTurn:
    return LiveTurn(UUID(int=2), UUID(int=1), 0, lambda _: None)


async def ending(error: Exception | None) -> EndedTurn:
    if error:
        raise error
    result = TurnResult(conversation_id=UUID(int=1), turn_id=UUID(int=2), state="completed")
    return EndedTurn((), result)


async def test_a_turn_that_ends_is_returned() -> None:
    live = live_turn()
    assert await left_open(live, ending(None)) == await ending(None)
    assert live.error is None
    assert not live.elsewhere


async def test_a_fenced_turn_goes_on_elsewhere() -> None:
    live = live_turn()
    assert await left_open(live, ending(Fenced())) is None
    assert await in_time(live.wait()) is None
    assert live.elsewhere


@pytest.mark.parametrize("error", [AWAY, ValueError("key=SECRET")], ids=repr)
async def test_nobody_waits_for_a_turn_that_nobody_runs(error: Exception) -> None:
    live = live_turn()
    assert await left_open(live, ending(error)) is None
    with pytest.raises(ParleyError) as told:
        await in_time(live.wait())
    assert isinstance(told.value, Unavailable)
    assert "SECRET" not in str(told.value)


async def test_a_turn_that_is_handed_over_is_left_to_who_runs_it() -> None:
    live = live_turn()
    with pytest.raises(HandedOver):
        await left_open(live, ending(HandedOver()))
    assert live.error is None
