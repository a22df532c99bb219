"""Messages that are documents, in lists of messages (spec blocks 18.3)."""

import json

import pytest
from google.protobuf.json_format import MessageToDict
from pydantic import JsonValue

from parley.v1.conversations_pb2 import ListMessagesRequest, Message
from parleyd.contract import limits
from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.messages import Message as Row
from parleyd.models.script import Fail, ScriptedStep, Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.messages import message_to_proto
from tests.rpc.test_messages import row
from tests.server import StartServer

HEADING: JsonValue = {"type": "heading", "text": "Loans"}
PLAIN = BlockOptions(host_actions=())
HTML = BlockOptions(html=True, host_actions=())
DIRTY: JsonValue = {"type": "html", "html": "<p onclick=x>Hi</p><script>x</script>"}


def document(*blocks: JsonValue) -> str:
    return json.dumps({"v": 1, "blocks": blocks})


def reply(text: str, status: str = "complete") -> Row:
    return row("assistant", text=text, status=status, model="scripted")


def shown(message: Message) -> object:
    """Returns the blocks of a message, None without a document."""
    if not message.HasField("blocks"):
        return None
    assert message.blocks.v == 1
    return [MessageToDict(block) for block in message.blocks.blocks]


@pytest.mark.parametrize(
    "text",
    [document(HEADING), "v: 1\nblocks:\n  - {type: heading, text: Loans}"],
    ids=["JSON", "YAML"],
)
def test_a_reply_comes_with_the_document_that_its_text_is(text: str) -> None:
    message = message_to_proto(reply(text), PLAIN)
    assert shown(message) == [{"heading": {"text": "Loans"}}]
    assert message.text == text


NONE = {
    "where replies are texts": (reply(document(HEADING)), None),
    "of prose": (reply("There are 41 loans."), PLAIN),
    "of one that breaks a rule": (reply(document({"type": "heading"})), PLAIN),
    "of one that was noted to break a rule": (
        reply(document(HEADING) + "\n\nBlock validation errors:\n- blocks TOO_FEW Few."),
        PLAIN,
    ),
    "of HTML where that is off by now": (reply(document(DIRTY)), PLAIN),
    "of an image from a host that is not allowed by now": (
        reply(document({"type": "image", "alt": "Pier", "src": "https://img.example/1"})),
        PLAIN,
    ),
    "of what a failed turn left": (reply(document(HEADING), "error"), PLAIN),
    "of what a person wrote": (row("user", text=document(HEADING)), PLAIN),
}


@pytest.mark.parametrize(("message", "options"), NONE.values(), ids=NONE)
def test_there_is_no_document(message: Row, options: BlockOptions | None) -> None:
    told = message_to_proto(message, options)
    assert shown(told) is None
    assert told.text == message.text


def test_html_is_cleaned_as_it_is_read() -> None:
    message = message_to_proto(reply(document(HEADING, DIRTY)), HTML)
    assert shown(message) == [{"heading": {"text": "Loans"}}, {"html": {"html": "<p>Hi</p>"}}]


async def test_a_page_holds_as_many_documents_as_a_client_can_receive(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    says: list[ScriptedStep] = [[Text(document(HEADING))] for _ in range(3)]
    server = await start_server(in_turn(*says), blocks=True)
    noor = await server.person()
    own = (await noor.prompt("1")).conversation_id
    for text in ("2", "3"):
        await noor.prompt(text, own)
    request = ListMessagesRequest(conversation_id=own)
    all_of_them = (await noor.client.conversations.ListMessages(request)).messages
    assert [each.HasField("blocks") for each in all_of_them] == [False, True] * 3
    size = all_of_them[1].blocks.ByteSize()

    monkeypatch.setattr(limits, "DOCUMENTS_BYTES", 2 * size)
    fewer = (await noor.client.conversations.ListMessages(request)).messages

    assert [shown(each) is not None for each in fewer] == [False, True, False, True, False, False]
    assert [each.text for each in fewer] == [each.text for each in all_of_them]


async def test_rows_beside_documents_have_none(start_server: StartServer) -> None:
    server = await start_server(in_turn([Fail("other")]), blocks=True)
    noor = await server.person()
    failed = await noor.prompt(document(HEADING))
    messages = await noor.messages(failed.conversation_id)
    assert messages
    assert [each.HasField("blocks") for each in messages] == [False] * len(messages)
