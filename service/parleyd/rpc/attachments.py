"""The attachments of a prompt on the wire, of which only the shape is checked (spec turns 11.6)."""

from collections.abc import Iterator, Sequence
from typing import assert_never
from uuid import UUID

from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits
from parleyd.contract.attachments import Attachment, AttachmentType
from parleyd.contract.data_urls import checked_url_bytes, is_data_url, read_data_url
from parleyd.contract.errors import InvalidAttachment, Malformed
from parleyd.contract.field_errors import Code, Fault, FieldError, Path, dotted, in_order, quoted
from parleyd.contract.text import storable, units
from parleyd.rpc import fields

_LIST: Path = ("prompt", "attachments")


def attachments_from_proto(attachments: Sequence[pb.Attachment]) -> tuple[Attachment, ...]:
    """Returns the attachments of a prompt, with the bytes that a data URL holds.

    Nothing is fetched. Megabytes take milliseconds.

    Raises:
        InvalidAttachment: One of no type, without a source, with a URL that holds no bytes, or
            with a text that is malformed or over its limit; or too many. The faults of all are
            told together.
    """
    if len(attachments) > limits.ATTACHMENTS_MAX:
        raise _invalid(
            [
                Fault(
                    _LIST,
                    Code.TOO_MANY,
                    f"The prompt has {len(attachments)} attachments, more than "
                    f"{limits.ATTACHMENTS_MAX}.",
                    "Send the others with another message.",
                )
            ]
        )
    faults = [fault for at, one in enumerate(attachments) for fault in _faults(at, one)]
    if faults:
        raise _invalid(faults)
    return tuple(map(_read, attachments))


def _faults(position: int, attachment: pb.Attachment) -> Iterator[Fault]:
    """Yields what is wrong with an attachment."""
    at = (*_LIST, position)
    if _type_from_proto(attachment.type) is None:
        yield Fault(
            (*at, "type"),
            Code.INVALID_ENUM,
            f"{dotted(at)}.type is {attachment.type}, which is no type of attachment.",
            "Send TYPE_IMAGE or TYPE_FILE.",
        )
    yield from _faults_of_source(at, attachment)
    for name, text, most in (
        ("mimeType", attachment.mime_type, limits.MIME_TYPE),
        ("filename", attachment.filename, limits.FILENAME),
    ):
        if units(text) > most:
            yield Fault(
                (*at, name),
                Code.TOO_LONG,
                f"{dotted(at)}.{name} has {units(text)} UTF-16 units, more than {most}.",
                "Shorten it.",
            )


def _faults_of_source(at: Path, attachment: pb.Attachment) -> Iterator[Fault]:
    source = attachment.WhichOneof("source")
    match source:
        case "file_id":
            if _file_id(attachment.file_id) is None:
                yield Fault(
                    (*at, "fileId"),
                    Code.INVALID_FORMAT,
                    f"{dotted(at)}.fileId is {quoted(attachment.file_id)}, which names no file.",
                    "Send the file_id that UploadFile gave.",
                )
        case "data":
            if not attachment.mime_type:
                yield Fault(
                    (*at, "mimeType"),
                    Code.MISSING_REQUIRED,
                    f"{dotted(at)}.mimeType is missing.",
                    "Say of which type the bytes are, as image/png.",
                )
        case "url":
            yield from _faults_of_url(at, attachment)
        case None:
            yield Fault(
                at,
                Code.MISSING_REQUIRED,
                f"{dotted(at)} has no content.",
                "Send a file_id, data or a base64 data URL.",
            )
        case _:
            assert_never(source)


def _faults_of_url(at: Path, attachment: pb.Attachment) -> Iterator[Fault]:
    url = attachment.url
    if not is_data_url(url):
        yield Fault(
            (*at, "url"),
            Code.INVALID_FORMAT,
            f"{dotted(at)}.url {_what(url)}.",
            "Send a base64 data URL, the bytes as data, or the file_id of an upload: the server "
            "fetches nothing.",
        )
        return
    media_type = read_data_url(url).media_type
    if units(media_type) > limits.MIME_TYPE:
        yield Fault(
            (*at, "url"),
            Code.TOO_LONG,
            f"The type that {dotted(at)}.url says has more than {limits.MIME_TYPE} UTF-16 units.",
            "Name the type of the bytes, as image/png.",
        )
    elif attachment.mime_type and attachment.mime_type != media_type:
        yield Fault(
            (*at, "mimeType"),
            Code.MIME_MISMATCH,
            f"{dotted(at)}.mimeType is {quoted(attachment.mime_type)}, but the URL says "
            f"{quoted(media_type)}.",
            "Say the same in both places, or leave mime_type out.",
        )


def _what(url: str) -> str:
    """Returns what a URL that can't be taken is. Of data URLs nothing is quoted."""
    scheme, colon, _ = url[: limits.QUOTE].partition(":")
    if not colon:
        return "is no URL"
    if scheme.lower() == "data":
        return "is no base64 data URL"
    return f"has the scheme {quoted(scheme)}, which is not taken"


def _read(attachment: pb.Attachment) -> Attachment:
    """Returns an attachment without faults."""
    mime_type, data = storable(attachment.mime_type), None
    if attachment.HasField("url"):
        url = attachment.url  # megabytes are copied here
        mime_type, data = storable(read_data_url(url).media_type), checked_url_bytes(url)
    elif attachment.HasField("data"):
        data = attachment.data
    kind = _type_from_proto(attachment.type)
    assert kind
    return Attachment(
        type=kind,
        file_id=_file_id(attachment.file_id),
        data=data,
        mime_type=mime_type or None,
        filename=storable(attachment.filename) or None,
    )


def _type_from_proto(of: pb.Attachment.Type.ValueType) -> AttachmentType | None:
    match of:
        case pb.Attachment.TYPE_IMAGE:
            return "image"
        case pb.Attachment.TYPE_FILE:
            return "file"
        case _:
            return None


def _file_id(text: str) -> UUID | None:
    try:
        return fields.file_id(text)
    except Malformed:
        return None


def _invalid(faults: Sequence[Fault]) -> InvalidAttachment:
    errors: tuple[FieldError, ...] = in_order(faults)
    return InvalidAttachment(f"{errors[0].message} {errors[0].fix}", errors)
