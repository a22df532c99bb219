from datetime import UTC, datetime
from typing import get_args
from uuid import UUID

import pytest
from pydantic import JsonValue

from parley.v1 import asks_pb2, conversations_pb2
from parley.v1.conversations_pb2 import ContentPart, MediaPart, MessageAsk
from parley.v1.conversations_pb2 import Message as MessageProto
from parleyd.contract.answered_files import KeptFile, stored_answer
from parleyd.contract.answers import USER_SENT_MESSAGE, accepted, cancelled, declined
from parleyd.contract.asks.ask import Ask, AskStatus
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.cards import to_simple_card
from parleyd.contract.errors import InvalidRating
from parleyd.contract.json import compact
from parleyd.contract.messages import (
    Content,
    MediaContent,
    Message,
    MessageType,
    Rating,
    ReplyStatus,
    TextContent,
)
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto
from parleyd.rpc.kinds import kind_to_proto
from parleyd.rpc.messages import (
    ask_status_to_proto,
    message_to_proto,
    message_type_to_proto,
    rating_from_proto,
    rating_to_proto,
    reply_status_to_proto,
)
from tests.rpc.every_kind import CONTENTS, INPUTS, Json
from tests.rpc.json_values import exact

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CONFIRM: dict[str, JsonValue] = {"prompt": "Sure?"}
ENVELOPE: dict[str, JsonValue] = {"action": "accept", "content": {"confirmed": False}}
ASK = Ask(
    id=UUID(int=1),
    conversation_id=UUID(int=2),
    chain_id=UUID(int=3),
    owner="ada",
    tool_call_id="call_1",
    kind="confirm",
    tool_name="ask_confirm",
    input=CONFIRM,
    simple=to_simple_card("confirm", CONFIRM, "call_1"),
    status="answered",
    answer=ENVELOPE,
    create_time=MOMENT,
)


def row(of: MessageType, **fields: object) -> Message:
    return Message.model_validate(
        {
            "type": of,
            "conversation_id": UUID(int=2),
            "seq": 5,
            "turn_id": UUID(int=3),
            "turn_no": 2,
            "position": 1,
            "create_time": MOMENT,
            **fields,
        }
    )


@pytest.mark.parametrize("of", get_args(MessageType))
def test_every_row_names_itself_its_turn_and_its_moment(of: MessageType) -> None:
    message = message_to_proto(row(of, text="Hello"))
    assert message.conversation_id == str(UUID(int=2))
    assert (message.message_id, message.turn_id) == ("5", str(UUID(int=3)))
    assert message.type == message_type_to_proto(of)
    assert message.text == "Hello"
    assert message.create_time.ToDatetime(UTC) == MOMENT


def test_a_reply_names_its_model_and_whether_it_is_whole() -> None:
    message = message_to_proto(row("assistant", text="So far", model="scripted", status="error"))
    assert (message.model, message.status) == ("scripted", MessageProto.STATUS_ERROR)
    assert (message.args_json, message.result_json) == ("", "")
    assert not message.HasField("ask")


def test_what_a_retry_replaced_is_marked_so() -> None:
    left, whole = (row("assistant", status="error", superseded=each) for each in (True, False))
    assert [message_to_proto(each).superseded for each in (left, whole)] == [True, False]


def test_a_rating_is_shown_and_comes_back_the_same() -> None:
    shown = {message_to_proto(row("assistant", rating=each)).rating for each in get_args(Rating)}
    assert {conversations_pb2.Rating.Name(each) for each in shown} == {
        f"RATING_{each.upper()}" for each in get_args(Rating)
    }
    for rating in (None, *get_args(Rating)):
        assert rating_from_proto(rating_to_proto(rating)) == rating
    assert message_to_proto(row("assistant")).rating == conversations_pb2.RATING_UNSPECIFIED


@pytest.mark.parametrize("number", [-1, 3])
def test_a_number_that_is_no_rating_is_refused(number: int) -> None:
    with pytest.raises(InvalidRating) as raised:
        rating_from_proto(
            number,  # pyright: ignore[reportArgumentType] - what no enum has
        )
    assert [fault.path for fault in raised.value.fields] == ["rating"]


def test_a_call_and_its_result_hold_json_as_text() -> None:
    call = row("tool_call", tool_call_id="call_1", tool_name="look_up", args={"n": 2**60})
    result = row("tool_result", tool_call_id="call_1", tool_name="look_up", result=["é", None])
    told = [message_to_proto(each) for each in (call, result)]
    assert [(m.tool_call_id, m.tool_name) for m in told] == [("call_1", "look_up")] * 2
    assert [(m.args_json, m.result_json) for m in told] == [
        ('{"n":1152921504606846976}', ""),
        ("", '["é",null]'),
    ]


def test_the_call_of_an_ask_shows_the_question_and_its_result_the_answer() -> None:
    call = message_to_proto(row("tool_call", ask=ASK, args=CONFIRM)).ask
    result = message_to_proto(row("tool_result", ask=ASK, result=ENVELOPE)).ask
    for shown in (call, result):
        assert shown.kind == asks_pb2.ASK_KIND_CONFIRM
        assert shown.status == MessageAsk.STATUS_ANSWERED
        assert shown.origin == asks_pb2.ASK_ORIGIN_MODEL
    assert not call.HasField("answer")
    assert not result.HasField("input")
    assert answer_from_proto(result.answer) == ENVELOPE


@pytest.mark.parametrize("of", get_args(MessageType))
def test_only_the_call_of_an_approval_shows_what_it_runs(of: MessageType) -> None:
    args = {"id": 9007199254740993}
    approval = ASK.model_copy(
        update={"origin": "approval", "tool_name": "delete", "tool_args": args}
    )
    shown = message_to_proto(row(of, ask=approval)).ask
    assert shown.tool_args_json == ('{"id":9007199254740993}' if of == "tool_call" else "")
    asked = message_to_proto(row(of, ask=ASK.model_copy(update={"tool_args": args}))).ask
    assert asked.tool_args_json == ""


FILE = UUID(int=4)
CONTENT: dict[str, tuple[Content, ContentPart]] = {
    "text": (TextContent(text="Look"), ContentPart(text="Look")),
    "text_of_nothing": (TextContent(text=""), ContentPart(text="")),
    "image": (
        MediaContent(type="image", file_id=FILE, mime_type="image/png", filename="a.png", size=9),
        ContentPart(
            image=MediaPart(
                file_id=str(FILE), mime_type="image/png", filename="a.png", size_bytes=9
            )
        ),
    ),
    "file_that_is_not_kept": (
        MediaContent(type="file", file_id=None, mime_type="text/csv", filename=None, size=2**40),
        ContentPart(file=MediaPart(mime_type="text/csv", size_bytes=2**40)),
    ),
}


def test_a_message_with_attachments_shows_its_parts_in_order() -> None:
    stored = row("user", text="Look", content=tuple(content for content, _ in CONTENT.values()))
    shown = MessageProto.FromString(message_to_proto(stored).SerializeToString())
    assert shown.text == "Look"
    assert [*shown.content] == [part for _, part in CONTENT.values()]
    assert not message_to_proto(row("user", text="Look")).content


def test_every_part_there_is_is_shown_in_these_tests() -> None:
    assert {part.WhichOneof("part") for _, part in CONTENT.values()} == {
        field.name for field in ContentPart.DESCRIPTOR.oneofs_by_name["part"].fields
    }
    shown = {content.type for content, _ in CONTENT.values()}
    kinds = [TextContent, MediaContent]
    assert shown == {of for kind in kinds for of in get_args(kind.model_fields["type"].annotation)}


SENT_FILES: Json = {
    "files": [
        {"filename": "a.png", "mimeType": "image/png", "size": 1, "url": "data:image/png;base64,"},
        {"filename": "b.txt", "mimeType": "text/plain", "size": 1, "fileId": "f2"},
    ]
}
KEPT_FILES = stored_answer(accepted(SENT_FILES), [KeptFile(size=0), KeptFile(2048, "f2")])
STORED: dict[str, tuple[AskKind, Json]] = {
    **{name: (kind, accepted(content)) for name, (kind, content) in CONTENTS.items()},
    "files_that_are_kept": ("files", KEPT_FILES),
    **{f"{kind}_skipped": (kind, declined()) for kind in ASK_KINDS},
    **{f"{kind}_dropped": (kind, cancelled(USER_SENT_MESSAGE)) for kind in ASK_KINDS},
}


@pytest.mark.parametrize(("kind", "envelope"), STORED.values(), ids=STORED.keys())
def test_a_stored_answer_of_any_kind_is_shown_whole(kind: AskKind, envelope: Json) -> None:
    ask = ASK.model_copy(update={"kind": kind, "answer": envelope})
    sent = message_to_proto(row("tool_result", ask=ask, result=envelope)).SerializeToString()
    shown = MessageProto.FromString(sent)
    assert shown.ask.kind == kind_to_proto(kind)
    assert exact(answer_from_proto(shown.ask.answer)) == exact(envelope)
    assert shown.result_json == compact(envelope)


@pytest.mark.parametrize(("kind", "ask_input"), INPUTS.values(), ids=INPUTS.keys())
def test_a_stored_ask_of_any_kind_is_shown_whole(kind: AskKind, ask_input: Json) -> None:
    ask = ASK.model_copy(update={"kind": kind, "input": ask_input, "answer": None})
    sent = message_to_proto(row("tool_call", ask=ask, args=ask_input)).SerializeToString()
    shown = MessageProto.FromString(sent).ask
    came_kind, came = ask_input_from_proto(shown.input)
    assert (came_kind, exact(came)) == (kind, exact(ask_input))
    assert not shown.HasField("answer")


def test_each_type_and_status_has_its_own_enum_value() -> None:
    types = {MessageProto.Type.Name(message_type_to_proto(of)) for of in get_args(MessageType)}
    replies = {MessageProto.Status.Name(reply_status_to_proto(of)) for of in get_args(ReplyStatus)}
    asks = {MessageAsk.Status.Name(ask_status_to_proto(of)) for of in get_args(AskStatus)}
    assert types == {f"TYPE_{of.upper()}" for of in get_args(MessageType)}
    assert replies == {f"STATUS_{of.upper()}" for of in get_args(ReplyStatus)}
    assert asks == {f"STATUS_{of.upper()}" for of in get_args(AskStatus)}
    assert reply_status_to_proto(None) == MessageProto.STATUS_UNSPECIFIED
