"""A document while it is written: its finished blocks, for those who follow the turn."""

from contextlib import aclosing

import pytest
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.events import BlocksChecked, Text, TextReplaced
from parleyd.contract.previews import BlocksPreview
from parleyd.turns.block_previews import GrowingDocument
from tests.turns.followed import CALLED, STARTED, Follower, Scene, told
from tests.turns.waiting import in_time, now, until

OPTIONS = BlockOptions(html=True, image_hosts=("img.example",), host_actions=())
HEAD = "v: 1\nblocks:\n"
HEADING = "  - {type: heading, text: Loans}\n"
METRIC = '  - {type: metric, label: Total, value: "41"}\n'
FRAME = '  - {type: html, html: "<p>Hi</p>"}\n'
IMAGE = "  - {type: image, alt: Pier, src: 'https://elsewhere.example/1'}\n"
ACTIONS = (
    "  - type: actions\n"
    "    elements: [{type: button, id: more, text: More, action: {kind: reply, text: More}}]\n"
)
CARD = '  - {type: card, children: [{type: divider}, {type: html, html: "<p>Hi</p>"}]}\n'
DATASETS = """v: 1
datasets:
  loans:
    columns: [{name: branch, type: string}, {name: total, type: number}]
    rows: [[Harbour, 41]]
blocks:
"""
CHART = "  - {type: chart, kind: bar, data: loans, x: branch, y: total}\n"
JSON = '{"v": 1, "blocks": [{"type": "divider"}, {"type": "heading", "text": "Loans"}]}'
CHECKED = BlocksChecked(document={"v": 1, "blocks": []})


def read(*texts: str, options: BlockOptions = OPTIONS) -> GrowingDocument:
    """Returns a document of which each of these texts was read, one after the other."""
    document = GrowingDocument(options)
    for text in texts:
        document.read(text)
    return document


def types_of(blocks: JsonValue) -> list[str]:
    """Returns the types of blocks, those within others after a slash."""
    assert isinstance(blocks, list)
    found: list[str] = []
    for block in blocks:
        assert isinstance(block, dict)
        found.append(str(block["type"]))
        if "children" in block:
            found += [f"/{each}" for each in types_of(block["children"])]
    return found


def types(document: GrowingDocument) -> list[str]:
    return types_of(document.shown.document["blocks"]) if document.shown else []


SHOWN: dict[str, tuple[str, list[str]]] = {
    "prose": ("There are 41 loans.", []),
    "a beginning": (HEAD, []),
    "a block that may go on": (HEAD + HEADING, []),
    "a finished block": (HEAD + HEADING + METRIC, ["heading"]),
    "JSON that is whole": (JSON, ["divider", "heading"]),
    "JSON in a fence": (f"```json\n{JSON}\n```", ["divider", "heading"]),
    "no HTML": (HEAD + HEADING + FRAME + METRIC, ["heading"]),
    "no HTML within a block": (HEAD + CARD + METRIC, ["card", "/divider"]),
    "no image from elsewhere": (HEAD + IMAGE + HEADING + METRIC, ["heading"]),
    "actions that have yet to get an id": (HEAD + ACTIONS + METRIC, ["actions"]),
    "a chart of a dataset": (DATASETS + CHART + METRIC, ["chart"]),
}


@pytest.mark.parametrize(("text", "expected"), SHOWN.values(), ids=SHOWN)
def test_finished_blocks_are_shown(text: str, expected: list[str]) -> None:
    assert types(read(text)) == expected


def test_more_is_to_come_until_the_mapping_is_closed() -> None:
    for text, pending in ((HEAD + HEADING + METRIC, True), (JSON, False)):
        shown = read(text).shown
        assert shown
        assert shown.pending is pending


def test_datasets_are_shown_once_a_block_is_finished() -> None:
    shown = read(DATASETS + CHART + METRIC).shown
    assert shown
    assert [*shown.document] == ["v", "datasets", "blocks"]
    assert shown.document["datasets"] == {
        "loans": {
            "columns": [{"name": "branch", "type": "string"}, {"name": "total", "type": "number"}],
            "rows": [["Harbour", 41]],
        }
    }


def test_a_text_that_grows_shows_each_block_once_it_is_finished() -> None:
    document = GrowingDocument(OPTIONS)
    counts: list[tuple[int, list[str]]] = []
    whole = HEAD + HEADING + METRIC + "  - {type: divider}\n" + HEADING
    for end in range(len(whole) + 1):
        document.read(whole[:end])
        if not counts or counts[-1][0] != document.count:
            counts.append((document.count, types(document)))
    assert counts == [
        (0, []),
        (1, ["heading"]),
        (2, ["heading", "metric"]),
        (3, ["heading", "metric", "divider"]),
    ]


def test_html_alone_is_nothing_new() -> None:
    document = read(HEAD + HEADING + METRIC, HEAD + HEADING + FRAME + METRIC)
    assert (document.count, types(document)) == (1, ["heading"])


def test_what_was_shown_is_not_taken_back() -> None:
    document = read(HEAD + HEADING + METRIC, HEAD + HEADING + METRIC + "  : [\n")
    assert types(document) == ["heading"]


def test_a_very_long_text_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    first = HEAD + HEADING + METRIC
    monkeypatch.setattr(limits, "BLOCKS_PREVIEW_CHARACTERS", len(first))
    document = read(first, first + METRIC)
    assert (document.count, types(document)) == (1, ["heading"])


def test_what_can_not_be_stored_is_not_shown() -> None:
    text = '{"v": 1, "blocks": [{"type": "heading", "text": "a\\u0000b"}]}'
    shown = read(text).shown
    assert shown
    assert shown.document["blocks"] == [{"type": "heading", "text": "a\ufffdb"}]


# ---------------------------------------------------------------- those who follow


async def test_blocks_are_sent_in_place_of_the_text() -> None:
    scene = Scene(blocks=OPTIONS)
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    scene.live.say(HEAD + HEADING)
    await follower.has("1 started")
    scene.live.say(METRIC)
    await follower.has("1 started", "1 blocks …")
    scene.live.say("  - {type: divider}\n")
    await follower.has("1 started", "1 blocks …", "2 blocks …")
    scene.commit(Text(text="v: 1"), CHECKED)
    scene.end()
    assert await follower.end() == [
        *("1 started", "1 blocks …", "2 blocks …", "2 text", "3 blocks", "4 done"),
    ]
    shown = follower.sent[2]
    assert isinstance(shown, BlocksPreview)
    assert types_of(shown.document["blocks"]) == ["heading", "metric"]


async def test_prose_is_not_previewed_where_replies_are_documents() -> None:
    scene = Scene(blocks=OPTIONS)
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    scene.live.say("There are 41 loans.")
    ready = now() + 2 * limits.PREVIEW_SECONDS
    await until(lambda: now() > ready)
    scene.commit(Text(text="There are 41 loans."))
    scene.end()
    assert await follower.end() == ["1 started", "2 text", "3 done"]


async def test_w4_who_comes_in_the_middle_of_a_document_gets_its_blocks_so_far() -> None:
    scene = Scene(blocks=OPTIONS)
    scene.commit(STARTED)
    scene.live.begin_step()
    scene.live.say(HEAD + HEADING + METRIC)
    early = Follower(scene.follow())
    await early.has("1 started", "1 blocks …")
    scene.live.say("  - {type: divider}\n")
    await early.has("1 started", "1 blocks …", "2 blocks …")
    late = Follower(scene.follow())
    await late.has("1 started", "2 blocks …")
    scene.end()
    for follower in (early, late):
        await follower.end()


async def test_w3_blocks_of_a_step_that_calls_a_tool_are_withdrawn() -> None:
    scene = Scene(blocks=OPTIONS)
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    scene.live.say(HEAD + HEADING + METRIC)
    await follower.has("1 started", "1 blocks …")
    scene.live.drop()
    scene.commit(CALLED)
    scene.live.begin_step()
    scene.live.say(HEAD + METRIC + HEADING)
    await until(lambda: len(follower.sent) == 5)
    scene.end()
    assert await follower.end() == [
        *("1 started", "1 blocks …", "discarded", "2 tool_call", "1 blocks …", "3 done"),
    ]


async def test_who_was_sent_no_blocks_is_told_of_no_withdrawal() -> None:
    scene = Scene(blocks=OPTIONS)
    scene.commit(STARTED)
    async with aclosing(scene.follow()) as stream:
        assert told([await anext(stream)]) == ["1 started"]
        scene.live.begin_step()
        scene.live.say("Let me look.")
        scene.live.drop()
        scene.commit(CALLED)
        assert told([await in_time(anext(stream))]) == ["2 tool_call"]


async def test_the_mended_document_follows_the_one_that_was_sent() -> None:
    scene = Scene(blocks=OPTIONS)
    scene.commit(STARTED)
    follower = Follower(scene.follow())
    scene.live.begin_step()
    scene.live.say(HEAD + HEADING + METRIC)
    await follower.has("1 started", "1 blocks …")
    scene.commit(Text(text="v: 1"))
    scene.commit(TextReplaced(text="v: 1\n"), CHECKED)
    scene.end()
    assert await follower.end() == [
        *("1 started", "1 blocks …", "2 text", "3 text_replaced", "4 blocks", "5 done"),
    ]
