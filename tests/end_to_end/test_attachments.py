"""Attachments of a message: what the model sees of them, now and later (spec turns 11.6)."""

from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from parley.v1 import conversations_pb2
from parley.v1.conversations_pb2 import CreateConversationRequest
from parleyd.models.script import Fail, Text
from parleyd.models.scripted import in_turn
from parleyd.turns.model import MediaShown, TextShown
from tests.end_to_end.attached import (
    LABELS,
    SEE,
    THREE,
    THREE_GONE,
    THREE_SHOWN,
    Attachment,
    Way,
    as_unary,
    attachment,
    message,
    three,
    uploaded,
)
from tests.end_to_end.files_kept import (
    WITHOUT_A_STORE,
    WatchedBytes,
    everything_stored,
    file_rows,
    in_both_modes,
    traces_of,
    used_rows,
)
from tests.end_to_end.kinds_asked import NOTES, PNG
from tests.end_to_end.person import Person, accept
from tests.end_to_end.shown import GONE, PDF, shown_with
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan

WAYS: list[tuple[dict[str, Any], Way]] = [
    ({}, "bytes"),
    ({}, "url"),
    ({}, "upload"),
    (WITHOUT_A_STORE, "bytes"),
    (WITHOUT_A_STORE, "url"),
]
in_every_way = pytest.mark.parametrize(
    ("mode", "way"),
    WAYS,
    ids=[f"{way}-{'without_a_store' if mode else 'with_a_store'}" for mode, way in WAYS],
)


async def content_of(person: Person, conversation_id: str) -> list[conversations_pb2.ContentPart]:
    """Returns the parts of a conversation's first message."""
    first, *_ = await person.messages(conversation_id)
    assert first.text == SEE
    return list(first.content)


@in_every_way
async def test_the_model_sees_the_attachments_of_a_streamed_turn(
    start_server: StartServer, engine: AsyncEngine, mode: dict[str, Any], way: Way
) -> None:
    server = await start_server(in_turn([Text("A tent.")]), **mode)
    noor = await server.person()

    played = await noor.play(message(*await three(noor, way)))

    assert played.names == ["started", "text", "done"]
    assert shown_with(SEE, server.model.calls[0].messages) == THREE_SHOWN
    spoken, image, *others = await content_of(noor, played.conversation_id)
    assert spoken.text == SEE
    assert [each.WhichOneof("part") for each in (image, *others)] == ["image", "file", "file"]
    parts = [image.image, *(each.file for each in others)]
    assert [(each.filename, each.mime_type, each.size_bytes) for each in parts] == [
        (name, mime_type, len(data)) for name, mime_type, data in THREE
    ]
    if mode:
        assert [each.file_id for each in parts] == [""] * 3
    else:
        loaded = [await noor.download(each.file_id) for each in parts]
        assert [data for _, data in loaded] == [data for _, _, data in THREE]
    kept = 0 if mode else 3
    assert (await file_rows(engine), await used_rows(engine)) == (kept, kept)
    dump = await everything_stored(engine)
    for trace in (*traces_of(PNG), *traces_of(PDF), NOTES.strip()):
        assert trace not in dump


@in_every_way
async def test_the_model_sees_the_attachments_of_a_unary_turn(
    start_server: StartServer, mode: dict[str, Any], way: Way
) -> None:
    server = await start_server(in_turn([Text("Hello.")], [Text("A tent.")]), **mode)
    noor = await server.person()
    first = await noor.prompt("Hello")
    request = message(*await three(noor, way), conversation_id=first.conversation_id)

    result = await noor.run(as_unary(request))

    assert result.text == "A tent."
    assert shown_with(SEE, server.model.calls[1].messages) == THREE_SHOWN
    _, _, said, _ = await noor.messages(first.conversation_id)
    assert [part.WhichOneof("part") for part in said.content] == ["text", "image", "file", "file"]


async def test_a_first_message_of_an_empty_conversation_may_have_attachments(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("A tent.")]))
    noor = await server.person()
    made = await noor.client.conversations.CreateConversation(CreateConversationRequest())
    conversation_id = made.conversation.conversation_id
    await noor.play(message(*await three(noor, "bytes"), conversation_id=conversation_id))
    assert shown_with(SEE, server.model.calls[0].messages) == THREE_SHOWN


@in_both_modes
async def test_a_later_turn_sees_what_is_kept_of_attachments_also_after_a_restart(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([Text("A tent.")], [Text("Blue.")]), **mode)
    noor = await server.person()
    conversation_id = (await noor.play(message(*await three(noor, "bytes")))).conversation_id
    await noor.prompt("Which colour?", conversation_id)
    await server.stop()
    after = await start_server(in_turn([Text("Large.")]), **mode)
    await (await after.person()).prompt("Which size?", conversation_id)

    for call in (server.model.calls[1], after.model.calls[0]):
        assert shown_with(SEE, call.messages) == (THREE_GONE if mode else THREE_SHOWN)
    assert shown_with("Which size?", after.model.calls[0].messages) == ()


@in_both_modes
async def test_a_retry_sees_what_is_kept_of_attachments(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([Fail("other")], [Text("A tent.")]), **mode)
    noor = await server.person()
    failed = await noor.play(message(*await three(noor, "bytes")))
    assert failed.names == ["started", "error", "done"]
    again = await noor.retry(failed.conversation_id, failed.turn_id)
    assert again.text == "A tent."
    assert shown_with(SEE, server.model.calls[0].messages) == THREE_SHOWN
    assert shown_with(SEE, server.model.calls[1].messages) == (THREE_GONE if mode else THREE_SHOWN)


@in_both_modes
async def test_an_answer_elsewhere_goes_on_with_what_is_kept_of_attachments(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([ask_plan()]), **mode)
    noor = await server.person()
    asked = await noor.play(message(*await three(noor, "bytes")))
    assert asked.names == ["started", "ask", "done"]
    other = await start_server(in_turn([Text("Done.")]), **mode)
    elsewhere = await other.person()
    await elsewhere.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert shown_with(SEE, other.model.calls[0].messages) == (THREE_GONE if mode else THREE_SHOWN)


@in_both_modes
async def test_an_answer_here_goes_on_with_the_attachments(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")]), **mode)
    noor = await server.person()
    asked = await noor.play(message(*await three(noor, "bytes")))
    await noor.answer(asked.conversation_id, PLAN_ID, accept("team"))
    assert shown_with(SEE, server.model.calls[1].messages) == THREE_SHOWN


async def test_an_attachment_that_is_deleted_before_an_answer_is_gone_for_its_turn(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("A tent.")], [ask_plan()], [Text("Done.")]))
    noor = await server.person()
    played = await noor.play(message(*await three(noor, "bytes")))
    again = message(
        attachment("again.png", "image/png", PNG),
        conversation_id=played.conversation_id,
        text="And this",
    )
    await noor.play(again)
    *_, said, _ = await noor.messages(played.conversation_id)
    _, image, _, _ = await content_of(noor, played.conversation_id)
    for part in (image, said.content[1]):
        await noor.delete_file(part.image.file_id)
    await noor.answer(played.conversation_id, PLAN_ID, accept("team"))
    call = server.model.calls[2]
    assert shown_with(SEE, call.messages) == (LABELS[0], GONE, *THREE_SHOWN[2:])
    assert shown_with("And this", call.messages)[1:] == (GONE,)


async def test_a_deleted_attachment_is_gone_for_the_model_and_still_told_of(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Fail("other")], [Fail("other")], [Text("A tent.")]))
    noor = await server.person()
    played = await noor.play(message(*await three(noor, "bytes")))
    _, image, _, _ = await content_of(noor, played.conversation_id)
    await noor.delete_file(image.image.file_id)
    await noor.retry(played.conversation_id, played.turn_id)
    await noor.prompt("Well?", played.conversation_id)
    for call in server.model.calls[1:]:
        assert shown_with(SEE, call.messages) == (LABELS[0], GONE, *THREE_SHOWN[2:])
    _, told, _, _ = await content_of(noor, played.conversation_id)
    assert told == image


async def test_attachments_that_cannot_be_read_now_are_told_of_later_and_fail_a_retry(
    start_server: StartServer,
) -> None:
    watched = WatchedBytes()
    script = in_turn([Fail("other")], [Text("A tent.")], [Text("Well.")])
    server = await start_server(script, wrap_bytes=watched.around)
    noor = await server.person()
    failed = await noor.play(message(*await three(noor, "bytes")))
    watched.unreadable = True
    again = await noor.retry(failed.conversation_id, failed.turn_id)
    assert again.names == ["started", "error", "done"]
    assert len(server.model.calls) == 1
    watched.unreadable = False
    done = await noor.retry(failed.conversation_id, again.turn_id)
    assert done.text == "A tent."
    watched.unreadable = True
    assert (await noor.prompt("Well?", failed.conversation_id)).text == "Well."
    shown = shown_with(SEE, server.model.calls[2].messages)
    assert shown[::2] == (*LABELS,)
    assert set(shown[1::2]) == {TextShown("Its content can't be read at the moment.")}


async def test_an_attachment_without_a_name_is_called_what_it_is(
    start_server: StartServer,
) -> None:
    server = await start_server(in_turn([Text("A tent.")], [Text("Blue.")]))
    noor = await server.person()
    played = await noor.play(
        message(
            Attachment(type=Attachment.TYPE_IMAGE, mime_type="image/png", data=PNG),
            Attachment(type=Attachment.TYPE_FILE, mime_type="image/png", data=PNG),
        )
    )
    await noor.prompt("Which colour?", played.conversation_id)
    labels = [
        TextShown(f"File {number} of 2: {name} (image/png, {len(PNG)} bytes)")
        for number, name in enumerate(("image", "file"), start=1)
    ]
    for call in server.model.calls:
        shown = shown_with(SEE, call.messages)
        assert shown[::2] == (*labels,)
        assert [each.data for each in shown if isinstance(each, MediaShown)] == [PNG] * 2
    _, image, file = await content_of(noor, played.conversation_id)
    assert (image.image.filename, file.file.filename) == ("", "")


async def test_an_upload_may_be_attached_under_another_name_and_more_than_once(
    start_server: StartServer, engine: AsyncEngine
) -> None:
    server = await start_server(in_turn([Text("A tent.")], [Text("Again.")]))
    noor = await server.person()
    scan = await uploaded(noor, "scan.png", "image/png", PNG)
    renamed = Attachment(type=Attachment.TYPE_FILE, file_id=scan.file_id, filename="tent.png")
    first = await noor.play(message(scan, renamed))
    await noor.play(message(scan, conversation_id=first.conversation_id, text="And this"))
    names = [
        part.filename
        for part in shown_with(SEE, server.model.calls[0].messages)[1::2]
        if isinstance(part, MediaShown)
    ]
    assert names == ["scan.png", "tent.png"]
    assert len(shown_with("And this", server.model.calls[1].messages)) == 2
    assert (await file_rows(engine), await used_rows(engine)) == (1, 1)


@in_both_modes
async def test_a_long_text_is_cut_and_says_so(
    start_server: StartServer, mode: dict[str, Any]
) -> None:
    server = await start_server(in_turn([Text("Long.")]), **mode)
    noor = await server.person()
    long = attachment("long.csv", "text/csv", b"a" * 99_999 + "é".encode() + b"b" * 50, "url")
    await noor.play(message(long))
    assert shown_with(SEE, server.model.calls[0].messages)[1] == TextShown(
        f"{'a' * 99_999}\n[The file is cut to its first 99999 of 100051 bytes.]"
    )
