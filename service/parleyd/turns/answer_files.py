"""The files of an answer: looked at, then let go of (spec turns 11.4, 11.5)."""

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.answered_files import KeptFile, stored_answer
from parleyd.contract.data_urls import data_url_bytes
from parleyd.contract.errors import InvalidAnswer
from parleyd.contract.field_errors import Code, Fault, FieldError, in_order, quoted
from parleyd.contract.file_types import check_file_bytes
from parleyd.contract.json import JsonObject, objects_at, string_at


def without_bytes(envelope: JsonObject) -> dict[str, JsonValue]:
    """Returns an accepted files answer as it is stored: real sizes, no bytes, no data URLs.

    This deployment keeps no uploads, so only inline files can be had. May take seconds on megabytes
    of JSON.

    Raises:
        InvalidAnswer: Bytes that are not of their declared type or too many, or a file id. The
            faults of all files are told together.
    """
    content = envelope.get("content")
    kept: list[KeptFile] = []
    errors: list[FieldError] = []
    for position, file in enumerate(
        objects_at(content, "files") if isinstance(content, dict) else ()
    ):
        url = string_at(file, "url")
        if url is None:
            errors += in_order([_not_owned(position, string_at(file, "fileId") or "")])
            continue
        data = data_url_bytes(url)
        mime_type = string_at(file, "mimeType") or ""
        errors += check_file_bytes(data, position, mime_type, limits.FILE_BYTES)
        kept.append(KeptFile(len(data)))
    if errors:
        raise InvalidAnswer(f"The files don't fit. First fault: {errors[0].message}", errors)
    return stored_answer(envelope, kept)


def _not_owned(position: int, file_id: str) -> Fault:
    return Fault(
        ("content", "files", position, "fileId"),
        Code.FILE_NOT_OWNED,
        f"`content.files[{position}].fileId` is {quoted(file_id)}, which is no upload of yours.",
        f"Send the bytes of `content.files[{position}]` themselves.",
    )
