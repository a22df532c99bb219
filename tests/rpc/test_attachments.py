"""Attachments of a prompt: their shape, and what is refused of it (spec turns 11.6)."""

import base64
from typing import get_args
from uuid import UUID

import pytest

from parley.v1 import turns_pb2 as pb
from parley.v1.turns_pb2 import Attachment
from parleyd.contract import limits
from parleyd.contract.attachments import Attachment as Attached
from parleyd.contract.attachments import AttachmentType
from parleyd.contract.errors import InvalidAttachment, PromptRequired
from parleyd.contract.field_errors import Code
from parleyd.contract.turns import PromptInput
from parleyd.rpc.turn_requests import stream_request_from_proto, turn_request_from_proto

CONVERSATION, FILE = UUID(int=1), UUID(int=4)
PNG = b"\x89PNG\r\n\x1a\n..."
PNG_URL = "data:image/png;base64," + base64.b64encode(PNG).decode()
IMAGE, ANY = Attachment.TYPE_IMAGE, Attachment.TYPE_FILE

TAKEN: dict[str, tuple[Attachment, Attached]] = {
    "upload": (
        Attachment(type=ANY, file_id=str(FILE).upper()),
        Attached(type="file", file_id=FILE),
    ),
    "upload_with_everything": (
        Attachment(type=IMAGE, file_id=str(FILE), mime_type="image/png", filename="a\0.png"),
        Attached(type="image", file_id=FILE, mime_type="image/png", filename="a\ufffd.png"),
    ),
    "bytes": (
        Attachment(type=IMAGE, data=PNG, mime_type="image/png", filename="a.png"),
        Attached(type="image", data=PNG, mime_type="image/png", filename="a.png"),
    ),
    "no_bytes": (
        Attachment(type=ANY, data=b"", mime_type="text/plain"),
        Attached(type="file", data=b"", mime_type="text/plain"),
    ),
    "data_url": (
        Attachment(type=IMAGE, url=PNG_URL),
        Attached(type="image", data=PNG, mime_type="image/png"),
    ),
    "data_url_that_says_its_type_again": (
        Attachment(type=IMAGE, url=PNG_URL, mime_type="image/png"),
        Attached(type="image", data=PNG, mime_type="image/png"),
    ),
    "data_url_with_parameters": (
        Attachment(type=ANY, url="data:TEXT/Plain;charset=utf-8;base64,aGk="),
        Attached(type="file", data=b"hi", mime_type="text/plain"),
    ),
    "longest_name": (
        Attachment(type=ANY, data=b"x", mime_type="text/plain", filename="x" * limits.FILENAME),
        Attached(type="file", data=b"x", mime_type="text/plain", filename="x" * limits.FILENAME),
    ),
}

REFUSED: dict[str, tuple[Attachment, str, Code]] = {
    "no_type": (Attachment(file_id=str(FILE)), ".type", Code.INVALID_ENUM),
    "no_source": (Attachment(type=ANY), "", Code.MISSING_REQUIRED),
    "empty_id": (Attachment(type=ANY, file_id=""), ".fileId", Code.INVALID_FORMAT),
    "no_id": (Attachment(type=ANY, file_id="file-1"), ".fileId", Code.INVALID_FORMAT),
    "bytes_of_no_type": (Attachment(type=ANY, data=b"x"), ".mimeType", Code.MISSING_REQUIRED),
    "http": (Attachment(type=IMAGE, url="http://example.org/a"), ".url", Code.INVALID_FORMAT),
    "https": (Attachment(type=IMAGE, url="HTTPS://example.org/a"), ".url", Code.INVALID_FORMAT),
    "blob": (Attachment(type=IMAGE, url="blob:https://a/b"), ".url", Code.INVALID_FORMAT),
    "local_file": (Attachment(type=ANY, url="file:///etc/passwd"), ".url", Code.INVALID_FORMAT),
    "no_url": (Attachment(type=ANY, url="/etc/passwd"), ".url", Code.INVALID_FORMAT),
    "empty_url": (Attachment(type=ANY, url=""), ".url", Code.INVALID_FORMAT),
    "data_not_in_base64": (
        Attachment(type=ANY, url="data:text/plain,hi"),
        ".url",
        Code.INVALID_FORMAT,
    ),
    "data_in_broken_base64": (
        Attachment(type=ANY, url="data:text/plain;base64,aGk"),
        ".url",
        Code.INVALID_FORMAT,
    ),
    "data_of_no_type": (Attachment(type=ANY, url="data:;base64,aGk="), ".url", Code.INVALID_FORMAT),
    "data_of_a_type_too_long": (
        Attachment(type=ANY, url=f"data:{'x' * 128};base64,aGk="),
        ".url",
        Code.TOO_LONG,
    ),
    "data_of_another_type": (
        Attachment(type=IMAGE, url=PNG_URL, mime_type="image/jpeg"),
        ".mimeType",
        Code.MIME_MISMATCH,
    ),
    "type_too_long": (
        Attachment(type=ANY, data=b"x", mime_type="x" * (limits.MIME_TYPE + 1)),
        ".mimeType",
        Code.TOO_LONG,
    ),
    "name_too_long": (
        Attachment(type=ANY, file_id=str(FILE), filename="😀" * 128),
        ".filename",
        Code.TOO_LONG,
    ),
}


def read(*attachments: Attachment) -> list[tuple[Attached, ...]]:
    """Returns what a stream and a unary call make of a prompt with attachments."""
    prompt = pb.PromptInput(text="Look", attachments=attachments)
    own = str(CONVERSATION)
    wishes = [
        stream_request_from_proto("ada", None, pb.StreamTurnRequest(prompt=prompt)),
        turn_request_from_proto("ada", None, pb.TurnRequest(prompt=prompt, conversation_id=own)),
    ]
    inputs = [wish.input for wish in wishes]
    return [each.attachments for each in inputs if isinstance(each, PromptInput)]


def refusal(*attachments: Attachment) -> InvalidAttachment:
    with pytest.raises(InvalidAttachment) as raised:
        read(*attachments)
    return raised.value


@pytest.mark.parametrize(("sent", "taken"), TAKEN.values(), ids=TAKEN.keys())
def test_an_attachment_arrives_whole(sent: Attachment, taken: Attached) -> None:
    assert read(sent) == [(taken,), (taken,)]


def test_every_type_and_source_there_is_arrives_in_these_tests() -> None:
    assert {sent.type for sent, _ in TAKEN.values()} == {*Attachment.Type.values()} - {0}
    assert {taken.type for _, taken in TAKEN.values()} == {*get_args(AttachmentType)}
    assert {sent.WhichOneof("source") for sent, _ in TAKEN.values()} == {
        field.name for field in Attachment.DESCRIPTOR.oneofs_by_name["source"].fields
    }


def test_attachments_keep_their_order_up_to_the_most_there_may_be() -> None:
    sent = [Attachment(type=ANY, data=bytes([n]), mime_type="text/plain") for n in range(10)]
    assert len(sent) == limits.ATTACHMENTS_MAX
    for taken in read(*sent):
        assert [one.data for one in taken] == [bytes([n]) for n in range(10)]
    (fault,) = refusal(*sent, sent[0]).fields
    assert (fault.path, fault.code) == ("prompt.attachments", Code.TOO_MANY)


@pytest.mark.parametrize(("sent", "path", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_an_attachment_of_the_wrong_shape_is_refused(
    sent: Attachment, path: str, code: Code
) -> None:
    good = Attachment(type=ANY, file_id=str(FILE))
    error = refusal(good, sent)
    (fault,) = error.fields
    assert (fault.path, fault.code) == (f"prompt.attachments[1]{path}", code)
    assert fault.fix
    assert error.message == f"{fault.message} {fault.fix}"


def test_a_number_that_is_no_type_is_refused() -> None:
    unknown = Attachment.FromString(b"\x08\x07" + Attachment(file_id=str(FILE)).SerializeToString())
    (fault,) = refusal(unknown).fields
    assert (fault.path, fault.code) == ("prompt.attachments[0].type", Code.INVALID_ENUM)


def test_what_is_refused_of_a_url_is_named() -> None:
    assert '"https"' in refusal(REFUSED["https"][0]).message.lower()
    assert '"file"' in refusal(REFUSED["local_file"][0]).message
    assert "no URL" in refusal(REFUSED["no_url"][0]).message
    assert "no base64 data URL" in refusal(REFUSED["data_not_in_base64"][0]).message


def test_the_faults_of_all_attachments_are_told_together() -> None:
    faults = refusal(*[sent for sent, _, _ in [*REFUSED.values()][:9]]).fields
    assert [fault.path for fault in faults] == [
        f"prompt.attachments[{at}]{path}" for at, (_, path, _) in enumerate([*REFUSED.values()][:9])
    ]


def test_bytes_of_a_refused_url_are_not_told() -> None:
    secret = Attachment(type=ANY, url="data:text/plain;base64,c2VjcmV0c2VjcmV0*")
    assert "c2VjcmV0" not in str(refusal(secret).fields)


def test_attachments_alone_are_no_prompt() -> None:
    prompt = pb.PromptInput(attachments=[Attachment(type=ANY, file_id=str(FILE))])
    with pytest.raises(PromptRequired):
        stream_request_from_proto("ada", None, pb.StreamTurnRequest(prompt=prompt))
