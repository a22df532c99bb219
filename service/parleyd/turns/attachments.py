"""The attachments of a message: checked, stored, and shown to the model (spec turns 11.6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from uuid import UUID

from parleyd.contract import limits
from parleyd.contract.attachments import Attachment
from parleyd.contract.errors import (
    AttachmentNotStored,
    FileTooLarge,
    InvalidAttachment,
    ParleyError,
)
from parleyd.contract.field_errors import Code, Fault, dotted, in_order, listed, quoted
from parleyd.contract.file_types import FILE_TYPES, TYPES_BY_ACCEPT, is_of_type
from parleyd.contract.files import File
from parleyd.contract.messages import MediaContent, TextContent
from parleyd.contract.text import storable, units
from parleyd.contract.turns import PromptInput
from parleyd.turns.file_store import BytesMissing, StoreFailed
from parleyd.turns.files import Files
from parleyd.turns.model import Shown
from parleyd.turns.ports import PromptOpening
from parleyd.turns.shown_files import FileToShow
from parleyd.turns.taken_input import TakenInput
from parleyd.turns.type_checks import checked

_TYPES: Final = {"image": TYPES_BY_ACCEPT["image"], "file": FILE_TYPES}
_PATH: Final = ("prompt", "attachments")


async def take_attachments(
    files: Files | None, owner: str, prompt: PromptInput, cap: int
) -> TakenInput:
    """Returns a message with its attachments as they are stored, and as the model is shown them.

    Inline ones are stored once every attachment has passed; without a file store the message keeps
    what they are, and their bytes are for this turn alone. The faults of all are told together.

    Raises:
        InvalidAttachment: Too many, one that is not what it says, or no upload of the caller's.
        FileTooLarge: One over the cap, and nothing else is wrong.
        AttachmentNotStored: They could not be stored or loaded.
        Unavailable: The database can't be reached.
    """
    given = prompt.attachments
    if len(given) > limits.ATTACHMENTS_MAX:
        raise _invalid([_too_many(len(given))])
    uploads = {each.file_id for each in given if each.file_id}
    own: Mapping[UUID, File] = {}
    if files and uploads:
        own = await files.rows.find_files(owner, uploads)
    taken: list[_Taken] = []
    faults: list[Fault] = []
    for position, attachment in enumerate(given):
        try:
            one = await _read(files, own, position, attachment, cap)
            check = partial(_checked, one, position, len(given))
            taken.append(await checked(one.content.mime_type, check))
        except _Refused as refused:
            faults += refused.faults
    if faults:
        if all(fault.code is Code.FILE_TOO_LARGE for fault in faults):
            raise FileTooLarge(cap)
        raise _invalid(faults)
    if files:
        taken = await _kept(files, owner, taken)
    text = storable(prompt.text)
    content = (TextContent(text=text), *(each.content for each in taken))
    shown = tuple(part for each in taken for part in each.shown)
    return TakenInput(PromptOpening(text, content), shown)


class _Refused(Exception):
    """An attachment is not taken."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(len(faults))
        self.faults = faults


@dataclass(frozen=True)
class _Taken:
    """An attachment on its way. `inline` are bytes that are to be kept yet."""

    content: MediaContent
    data: bytes = field(repr=False)
    inline: bytes | None = field(default=None, repr=False)
    shown: tuple[Shown, ...] = ()

    @property
    def name(self) -> str:
        """Returns what the model is told it is called, in this turn and later."""
        return self.content.filename or self.content.type


async def _read(
    files: Files | None,
    own: Mapping[UUID, File],
    position: int,
    attachment: Attachment,
    cap: int,
) -> _Taken:
    """Returns an attachment with its bytes.

    Raises:
        _Refused: It has none, no type or a wrong one, too long a name, or too many bytes.
        AttachmentNotStored: The store can't be reached.
    """
    file = own.get(attachment.file_id) if attachment.file_id else None
    if attachment.data is None and (files is None or file is None):
        raise _Refused(_no_upload(position, attachment))
    mime_type = attachment.mime_type or (file.mime_type if file else "")
    filename = attachment.filename or (file.filename if file else None)
    faults = [*_said_wrong(position, attachment, mime_type, filename)]
    size = file.size if file else len(attachment.data or b"")
    if size > cap:
        faults.append(_too_large(position, size, cap))
    if faults:
        raise _Refused(*faults)
    data = attachment.data
    if data is None:
        assert files, "only a deployment that keeps files has found one"
        assert file, "what is not found is refused"
        try:
            data = await files.load(file)
        except BytesMissing:
            raise _Refused(_no_upload(position, attachment)) from None
        except StoreFailed as error:
            raise AttachmentNotStored from error
    content = MediaContent(
        type=attachment.type,
        file_id=file.id if file else None,
        mime_type=mime_type,
        filename=storable(filename) if filename else None,
        size=len(data),
    )
    return _Taken(content, data, attachment.data)


def _checked(one: _Taken, position: int, count: int) -> _Taken:
    """Returns an attachment as the model is shown it, without bytes that nobody needs any more.

    Raises:
        _Refused: The bytes are not of their type.
    """
    mime_type = one.content.mime_type
    if not is_of_type(one.data, mime_type):
        raise _Refused(_mismatch(position, mime_type))
    to_show = FileToShow(one.name, mime_type, len(one.data), one.data)
    return replace(one, data=b"", shown=to_show.parts(position + 1, count))


async def _kept(files: Files, owner: str, taken: Sequence[_Taken]) -> list[_Taken]:
    """Returns the attachments with inline ones kept: all of them, or none."""
    kept: list[_Taken] = []
    new: list[File] = []
    try:
        for one in taken:
            if one.inline is None:
                kept.append(one)
                continue
            file = await files.keep(owner, one.name, one.content.mime_type, one.inline)
            new.append(file)
            content = one.content.model_copy(update={"file_id": file.id})
            kept.append(replace(one, content=content))
    except (StoreFailed, ParleyError) as error:
        await files.take_back(new)
        if isinstance(error, StoreFailed):
            raise AttachmentNotStored from error
        raise
    return kept


def _said_wrong(
    position: int, attachment: Attachment, mime_type: str, filename: str | None
) -> Sequence[Fault]:
    faults: list[Fault] = []
    if mime_type not in _TYPES[attachment.type]:
        at = (*_PATH, position, "mimeType")
        told = f"is {quoted(mime_type)}" if mime_type else "is missing"
        what = "images" if attachment.type == "image" else "files"
        faults.append(
            Fault(
                at,
                Code.FILE_TYPE_NOT_ACCEPTED if mime_type else Code.MISSING_REQUIRED,
                f"`{dotted(at)}` {told}; {what} are of other types.",
                f"Send as `{dotted(at)}` one of {listed(_TYPES[attachment.type])}.",
            )
        )
    if filename and units(filename) > limits.FILENAME:
        at = (*_PATH, position, "filename")
        faults.append(
            Fault(
                at,
                Code.TOO_LONG,
                f"`{dotted(at)}` has {units(filename)} characters, more than {limits.FILENAME}.",
                f"Shorten `{dotted(at)}`.",
            )
        )
    return faults


def _mismatch(position: int, mime_type: str) -> Fault:
    at = (*_PATH, position, "mimeType")
    return Fault(
        at,
        Code.MIME_MISMATCH,
        f"`{dotted(at)}` is {quoted(mime_type)}, but the bytes of the file are not.",
        f"Send a file that is {quoted(mime_type)}, or declare its real type.",
    )


def _too_large(position: int, size: int, cap: int) -> Fault:
    at = (*_PATH, position)
    return Fault(
        at,
        Code.FILE_TOO_LARGE,
        f"The file of `{dotted(at)}` has {size} bytes, too many.",
        f"Send as `{dotted(at)}` a file of at most {cap} bytes.",
    )


def _no_upload(position: int, attachment: Attachment) -> Fault:
    at = (*_PATH, position, "fileId")
    file_id = str(attachment.file_id or "")
    return Fault(
        at,
        Code.FILE_NOT_OWNED if file_id else Code.MISSING_REQUIRED,
        f"`{dotted(at)}` is {quoted(file_id)}, which is no upload of yours.",
        f"Upload the file of `{dotted(_PATH)}[{position}]`, or send its bytes themselves.",
    )


def _too_many(count: int) -> Fault:
    return Fault(
        _PATH,
        Code.FILE_COUNT,
        f"`{dotted(_PATH)}` has {count} attachments, more than {limits.ATTACHMENTS_MAX}.",
        f"Send at most {limits.ATTACHMENTS_MAX} attachments with one message.",
    )


def _invalid(faults: Sequence[Fault]) -> InvalidAttachment:
    fields = in_order(faults)
    return InvalidAttachment(
        f"The attachments can't be taken. First fault: {fields[0].message}", fields
    )
