"""The events of replies that are documents, as a client gets them whatever breaks."""

import asyncio
from typing import Final

import parley
from parley.v1 import blocks_pb2
from parley.v1 import turns_pb2 as pb
from parleyd.contract import errors
from tests.clients.played_turns import DISCARDED, STARTED, PlayedTurns, playing

STOPPED: Final = errors.Unavailable("This server is stopping.")
REQUEST: Final = pb.StreamTurnRequest(prompt=pb.PromptInput(text="Show my loans"))
DOCUMENT: Final = blocks_pb2.BlockDocument(
    v=1, blocks=[blocks_pb2.Block(heading=blocks_pb2.HeadingBlock(text="Loans"))]
)
SEEN: Final = pb.TurnEvent(
    turn_id="t-1", blocks_preview=pb.BlocksPreview(document=DOCUMENT, pending=True)
)
TEXT: Final = pb.TurnEvent(sequence=2, turn_id="t-1", text=pb.TextChunk(text="v: 0"))
MENDED: Final = pb.TurnEvent(sequence=3, turn_id="t-1", text_replaced=pb.TextReplaced(text="v: 1"))
CHECKED: Final = pb.TurnEvent(
    sequence=4, turn_id="t-1", blocks=pb.BlocksChecked(ok=True, document=DOCUMENT)
)
DONE: Final = pb.TurnEvent(sequence=5, turn_id="t-1", done=pb.TurnDone(conversation_id="c-1"))
SOON = 10


async def heard(turns: PlayedTurns) -> list[pb.TurnEvent]:
    """Returns the events of a turn as a client gets them."""
    async with (
        asyncio.timeout(SOON),
        playing(turns) as target,
        parley.connect(target, "token") as client,
    ):
        return [event async for event in parley.turn_events(client, REQUEST)]


async def test_previews_and_checks_of_documents_are_passed_on() -> None:
    told = [STARTED, SEEN, SEEN, TEXT, MENDED, CHECKED, DONE]
    assert await heard(PlayedTurns(told)) == told


async def test_a_break_between_the_events_of_a_document_loses_and_repeats_none() -> None:
    turns = PlayedTurns(
        [STARTED, SEEN, DISCARDED, SEEN, TEXT, STOPPED],
        [TEXT, MENDED, STOPPED],
        [CHECKED, STOPPED],
        [DONE],
    )
    assert await heard(turns) == [STARTED, SEEN, DISCARDED, SEEN, TEXT, MENDED, CHECKED, DONE]
    places = [
        each.after_sequence for each in turns.received if isinstance(each, pb.WatchTurnRequest)
    ]
    assert places == [2, 3, 4]


async def test_a_preview_of_a_document_is_withdrawn_before_it_comes_anew() -> None:
    turns = PlayedTurns([STARTED, SEEN, STOPPED], [SEEN, TEXT, DONE])
    assert await heard(turns) == [STARTED, SEEN, DISCARDED, SEEN, TEXT, DONE]
