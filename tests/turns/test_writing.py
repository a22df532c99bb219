"""How a turn is ended with a reply, and what becomes of one that this process can't end."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest
from typing_extensions import override

from parleyd.contract.errors import ParleyError, Unavailable
from parleyd.contract.events import BlocksChecked, EventBody, Text, ToolCalled, TurnEvent
from parleyd.contract.turns import TurnResult
from parleyd.turns.live import LiveTurn
from parleyd.turns.ports import EndedTurn, Ending, Fenced, OpenedTurn
from parleyd.turns.replies import Reply
from parleyd.turns.stops import HandedOver
from parleyd.turns.writing import TurnWriter, left_open
from tests.turns.ports_in_memory import MemoryStore
from tests.turns.turn_values import OPENED, collected, pausing
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


# ---------------------------------------------------------------- replies

CALLED = ToolCalled(tool_call_id="call_1", tool_name="lookup", args={})
CHECKED = BlocksChecked(document={"v": 1, "blocks": []})
REPLY = Reply("v: 1", note=" It is wrong.", checked=CHECKED)


ENDED = EndedTurn(
    (), TurnResult(conversation_id=UUID(int=1), turn_id=UUID(int=2), state="completed")
)


class KeptStore(MemoryStore):
    """Stores texts as events, and keeps how the turn was ended."""

    def __init__(self) -> None:
        super().__init__()
        self.endings: list[Ending] = []
        self.sent: list[str] = []

    @override
    async def send_text(self, turn: OpenedTurn, text: str) -> tuple[TurnEvent, ...]:
        self.sent.append(text)
        return (_numbered(1, Text(text=text)),)

    @override
    async def end_turn(self, turn: OpenedTurn, ending: Ending) -> EndedTurn:
        self.endings.append(ending)
        return ENDED


def _numbered(sequence: int, body: EventBody) -> TurnEvent:
    return TurnEvent(turn_id=OPENED.lease.turn_id, sequence=sequence, body=body)


def writer_of(store: KeptStore, earlier: Sequence[EventBody] = ()) -> TurnWriter:
    """Returns the writer of a turn; `earlier` is what another process wrote of it."""
    events = tuple(_numbered(number, body) for number, body in enumerate(earlier, start=1))
    return TurnWriter(store, replace(OPENED, earlier=events), live_turn())


async def test_a_reply_ends_a_turn_with_its_note_and_its_check() -> None:
    store = KeptStore()
    writer = writer_of(store)
    assert writer.sent is None
    await writer.finish(REPLY, title_due=True)
    assert store.endings == [
        Ending(text="v: 1", note=" It is wrong.", blocks=CHECKED, title_due=True)
    ]


async def test_a_reply_that_was_sent_ahead_is_known_at_the_end() -> None:
    store = KeptStore()
    writer = writer_of(store)
    await writer.send("v: 0")
    assert (writer.sent, store.sent) == ("v: 0", ["v: 0"])
    await writer.finish(REPLY, title_due=False)
    (ended,) = store.endings
    assert (ended.sent, ended.text) == ("v: 0", "v: 1")


async def test_a_reply_that_another_process_sent_is_known_too() -> None:
    store = KeptStore()
    writer = writer_of(store, [CALLED, Text(text="v: 0")])
    assert writer.sent == "v: 0"
    await writer.finish(REPLY, title_due=False)
    (ended,) = store.endings
    assert ended.sent == "v: 0"
    assert [row.type for row in ended.rows] == ["tool_call"]


async def test_a_turn_pauses_with_what_it_said_beside_its_ask_or_with_nothing() -> None:
    store = KeptStore()
    asked = pausing(collected("call_plan"))
    for reply in ([REPLY], []):
        await writer_of(store).pause(asked.step, asked.asks, (CALLED,), *reply)
    beside, alone = store.endings
    assert (beside.step, beside.asks, beside.events) == (asked.step, asked.asks, (CALLED,))
    assert (beside.text, beside.note, beside.blocks) == ("v: 1", " It is wrong.", CHECKED)
    assert [row.type for row in beside.rows] == ["tool_call"]
    assert alone == replace(beside, text="", note="", blocks=None)
