"""The files of an answer: loaded, checked all together, and stored (spec turns 11.4, 11.5)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from parleyd.contract.answered_files import KeptFile, stored_answer
from parleyd.contract.data_urls import data_url_bytes
from parleyd.contract.errors import AttachmentNotStored, InvalidAnswer, ParleyError
from parleyd.contract.field_errors import Code, Fault, FieldError, in_order, quoted
from parleyd.contract.file_types import check_file_bytes, too_large
from parleyd.contract.files import File
from parleyd.contract.json import JsonObject, object_at, objects_at, string_at
from parleyd.turns.file_store import BytesMissing, StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import Shown
from parleyd.turns.ports import AnswerOpening
from parleyd.turns.shown_files import FileToShow
from parleyd.turns.taken_input import TakenInput
from parleyd.turns.type_checks import checked


async def take_answer(
    files: Files | None, owner: str, tool_call_id: str, envelope: JsonObject, cap: int
) -> TakenInput:
    """Returns an accepted answer to a `files` ask as it is stored: real sizes, no bytes.

    Inline files are stored once every file has passed; without a file store they are shown to the
    model in this turn and kept nowhere. An upload is looked at only where it is the caller's. Files
    are loaded one after the other, and let go of once they are checked.

    Raises:
        InvalidAnswer: Bytes that are not of their declared type or too many, or a file id that is
            no upload of the caller's. The faults of all files are told together.
        AttachmentNotStored: The files could not be stored or loaded.
        Unavailable: The database can't be reached.
    """
    answered = [_read(file) for file in objects_at(object_at(envelope, "content"), "files")]
    own = await _own_uploads(files, owner, answered)
    errors: list[FieldError] = []
    sizes: list[int] = []
    for position, file in enumerate(answered):
        found, size = await _checked(files, own.get(file.file_id or ""), position, file, cap)
        errors += found
        sizes.append(size)
    if errors:
        raise InvalidAnswer(f"The files don't fit. First fault: {errors[0].message}", errors)
    if files is None:
        kept = [KeptFile(size) for size in sizes]
        told = [
            part
            for position, file in enumerate(answered, start=1)
            for part in await asyncio.to_thread(_shown, file, position, len(answered))
        ]
        return TakenInput(
            AnswerOpening("answer", tool_call_id, stored_answer(envelope, kept)), tuple(told)
        )
    kept = await _kept(files, owner, own, answered, sizes)
    # The bytes come from the store when they are shown.
    return TakenInput(AnswerOpening("answer", tool_call_id, stored_answer(envelope, kept)))


@dataclass(frozen=True)
class _Answered:
    """A file of an answer that fits its ask: exactly one of `url` and `file_id` is set."""

    filename: str
    mime_type: str
    url: str | None = field(repr=False)
    file_id: str | None


def _read(file: JsonObject) -> _Answered:
    return _Answered(
        string_at(file, "filename") or "",
        string_at(file, "mimeType") or "",
        string_at(file, "url"),
        string_at(file, "fileId"),
    )


async def _own_uploads(
    files: Files | None, owner: str, answered: Sequence[_Answered]
) -> Mapping[str, File]:
    """Returns the uploads that an answer names, by their ids as it spells them."""
    named: dict[str, UUID] = {}
    for file in answered:
        try:
            if file.file_id is not None:
                named[file.file_id] = UUID(file.file_id)
        except ValueError:
            continue
    if files is None or not named:
        return {}
    found = await files.rows.find_files(owner, {*named.values()})
    return {text: found[file_id] for text, file_id in named.items() if file_id in found}


async def _checked(
    files: Files | None, upload: File | None, position: int, file: _Answered, cap: int
) -> tuple[Sequence[FieldError], int]:
    """Returns what is wrong with a file, and how many bytes it has."""
    if file.url is not None:
        inline = partial(_check_inline, file.url, position, file.mime_type, cap)
        return await checked(file.mime_type, inline)
    if files is None or upload is None:
        return in_order([_not_owned(position, file.file_id or "")]), 0
    if upload.size > cap:
        return in_order([too_large(position, upload.size, cap)]), upload.size
    try:
        data = await files.load(upload)
    except BytesMissing:
        # Of no more use than one that is deleted, and mended in the same way.
        return in_order([_not_owned(position, file.file_id or "")]), 0
    except StoreFailed as error:
        raise AttachmentNotStored from error
    check = partial(check_file_bytes, data, position, file.mime_type, cap)
    return await checked(file.mime_type, check), len(data)


def _check_inline(
    url: str, position: int, mime_type: str, cap: int
) -> tuple[Sequence[FieldError], int]:
    data = data_url_bytes(url)
    return check_file_bytes(data, position, mime_type, cap), len(data)


async def _kept(
    files: Files,
    owner: str,
    own: Mapping[str, File],
    answered: Sequence[_Answered],
    sizes: Sequence[int],
) -> list[KeptFile]:
    """Returns where every file is kept; inline ones are kept now: all of them, or none."""
    kept: list[KeptFile] = []
    new: list[File] = []
    try:
        for file, size in zip(answered, sizes, strict=True):
            if file.url is None:
                kept.append(KeptFile(size, str(own[file.file_id or ""].id)))
                continue
            data = await asyncio.to_thread(data_url_bytes, file.url)
            new.append(await files.keep(owner, file.filename, file.mime_type, data))
            kept.append(KeptFile(size, str(new[-1].id)))
    except (StoreFailed, ParleyError) as error:
        await files.take_back(new)
        if isinstance(error, StoreFailed):
            raise AttachmentNotStored from error
        raise
    return kept


def _shown(file: _Answered, number: int, count: int) -> tuple[Shown, ...]:
    data = data_url_bytes(file.url or "")
    return FileToShow(file.filename, file.mime_type, len(data), data).parts(number, count)


def _not_owned(position: int, file_id: str) -> Fault:
    return Fault(
        ("content", "files", position, "fileId"),
        Code.FILE_NOT_OWNED,
        f"`content.files[{position}].fileId` is {quoted(file_id)}, which is no upload of yours.",
        f"Upload the file of `content.files[{position}]`, or send its bytes themselves.",
    )
