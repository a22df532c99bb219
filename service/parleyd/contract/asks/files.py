"""`files`: upload images or documents (spec asks 8.2). Bytes are for `file_types.py`."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, get_args

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.kind import (
    ALLOW_DECLINE,
    ALLOW_DECLINE_LINE,
    PROMPT,
    SKIP,
    SUBMIT_LABEL,
    SUBMIT_LABEL_LINE,
    TITLE,
    Face,
    Kind,
    Offer,
)
from parleyd.contract.asks.repeats import repeats
from parleyd.contract.data_urls import is_data_url, read_data_url
from parleyd.contract.field_errors import Code, Fault, Path, listed, named, quoted
from parleyd.contract.file_types import TYPES_BY_ACCEPT, AcceptValue, too_large
from parleyd.contract.json import JsonObject, string_at, strings_at, whole_at
from parleyd.contract.records import Key, RecordShape
from parleyd.contract.shapes import (
    BLOCKING,
    EnumShape,
    ListShape,
    StringShape,
    TextShape,
    WholeShape,
)

_ACCEPT: Final[tuple[AcceptValue, ...]] = get_args(AcceptValue)
_COUNT = WholeShape(limits.FILES_MIN, limits.FILES_MAX)

_SHAPE = RecordShape(
    (
        TITLE,
        PROMPT,
        Key(
            "accept",
            ListShape(EnumShape(_ACCEPT), limits.ACCEPT_MAX, 1),
            "The kinds of file you take, each once.",
            required=True,
        ),
        Key("minFiles", _COUNT, "The fewest files."),
        Key("maxFiles", _COUNT, "The most files."),
        SUBMIT_LABEL,
        ALLOW_DECLINE,
    )
)


@dataclass(frozen=True)
class FileShape:
    """A file of an answer: a record with one reference to its bytes (FI3, FI4)."""

    record: RecordShape

    @property
    def noun(self) -> str:
        """Says what such a value is."""
        return self.record.noun

    def check(self, value: JsonValue, at: Path) -> Iterator[Fault]:
        """Yields the faults of the record, and those of the reference unless one of them blocks."""
        faults = [*self.record.check(value, at)]
        yield from faults
        if isinstance(value, dict) and not any(fault.code in BLOCKING for fault in faults):
            yield from _reference_faults(value, at)

    def schema(self) -> dict[str, JsonValue]:
        """Returns the form as JSON Schema, which doesn't say what a data URL looks like."""
        references: list[JsonValue] = [{"required": ["fileId"]}, {"required": ["url"]}]
        return {**self.record.schema(), "oneOf": references}


def _reference_faults(file: JsonObject, at: Path) -> Iterator[Fault]:
    """Yields what breaks FI4."""
    url = string_at(file, "url")
    here = (*at, "url")
    if url is None:
        if "fileId" not in file:
            yield Fault(
                at,
                Code.MISSING_REQUIRED,
                f"{named(at)} refers to no bytes.",
                f"Add {named((*at, 'fileId'))} or {named(here)}.",
            )
    elif "fileId" in file:
        yield Fault(
            here,
            Code.INVALID_FORMAT,
            f"{named(here)} is a second reference beside {named((*at, 'fileId'))}.",
            f"Leave out {named(here)} or {named((*at, 'fileId'))}.",
        )
    elif not is_data_url(url):
        yield Fault(
            here,
            Code.INVALID_FORMAT,
            f"{named(here)} is {quoted(url)}, which is no base64 data URL.",
            f"Send {named(here)} as `data:<type>;base64,<bytes>`; other URLs are never fetched.",
        )


_FILE = FileShape(
    RecordShape(
        (
            Key("filename", TextShape(limits.FILENAME), "The name of the file.", required=True),
            Key(
                "mimeType",
                StringShape(1, limits.MIME_TYPE),
                "Its type, in lower case and without parameters.",
                required=True,
            ),
            Key("size", WholeShape(0), "Its size in bytes.", required=True),
            Key("fileId", StringShape(1, limits.FILE_ID), "Refers to an upload."),
            Key("url", StringShape(), "Holds the bytes, as a data URL."),
        )
    )
)
_CONTENT = RecordShape(
    (Key("files", ListShape(_FILE, None), "The files in the person's order.", required=True),)
)


def _bounds(ask_input: JsonObject) -> tuple[int, int]:
    """Returns how few and how many files an answer may have, values as sent."""
    least = whole_at(ask_input, "minFiles")
    most = whole_at(ask_input, "maxFiles")
    return (
        limits.FILES_MIN if least is None else least,
        limits.FILES_MAX if most is None else most,
    )


def _rules(ask_input: JsonObject) -> Iterator[Fault]:
    """Yields what breaks FI2."""
    accept = strings_at(ask_input, "accept")
    for index in repeats(accept):
        yield Fault(
            ("accept", index),
            Code.DUPLICATE_ID,
            f"`accept[{index}]` is {quoted(accept[index])} once more.",
            f"Remove `accept[{index}]`.",
        )
    least, most = _bounds(ask_input)
    if least > most:
        absent = "" if "maxFiles" in ask_input else f", which is {limits.FILES_MAX} when absent"
        yield Fault(
            ("minFiles",),
            Code.RANGE_INVALID,
            f"`minFiles` is more than `maxFiles`{absent}.",
            "Set `minFiles` to at most `maxFiles`, or leave it out.",
        )


def _listed_files(content: JsonObject) -> list[JsonObject]:
    """Returns the files of a content whose shape is right, as many as are looked at."""
    files = content.get("files")
    looked_at = islice(files, limits.ITEMS_LOOKED_AT) if isinstance(files, list) else ()
    return [file for file in looked_at if isinstance(file, dict)]


def _content_rules(ask_input: JsonObject, content: JsonObject) -> Iterator[Fault]:
    """Yields what breaks FI5, but for the sizes."""
    files = content.get("files")
    count = len(files) if isinstance(files, list) else 0
    least, most = _bounds(ask_input)
    if not least <= count <= most:
        due = f"exactly {most}" if least == most else f"{least} to {most}"
        yield Fault(
            ("content", "files"),
            Code.FILE_COUNT,
            f"The number of files in `content.files` is {count}, which does not fit.",
            f"Make the number of files in `content.files` {due}.",
        )
    accept = strings_at(ask_input, "accept")
    types = [name for value in _ACCEPT if value in accept for name in TYPES_BY_ACCEPT[value]]
    for index, file in enumerate(_listed_files(content)):
        mime_type = string_at(file, "mimeType") or ""
        url = string_at(file, "url")
        if mime_type not in types:
            yield Fault(
                ("content", "files", index, "mimeType"),
                Code.FILE_TYPE_NOT_ACCEPTED,
                f"`content.files[{index}].mimeType` is {quoted(mime_type)}, which is not taken.",
                f"Send as `content.files[{index}]` a file whose type is one of {listed(types)}.",
            )
        if url is not None and (said := read_data_url(url).media_type) != mime_type:
            yield Fault(
                ("content", "files", index, "url"),
                Code.MIME_MISMATCH,
                f"`content.files[{index}].url` says {quoted(said)}, its `mimeType` "
                f"{quoted(mime_type)}.",
                f"Let `content.files[{index}].url` and `mimeType` say the same type.",
            )


def _size_rules(content: JsonObject, max_file_bytes: int) -> Iterator[Fault]:
    """Yields what breaks the cap of FI5."""
    for index, file in enumerate(_listed_files(content)):
        url = string_at(file, "url")
        size = max(
            whole_at(file, "size") or 0,
            0 if url is None else read_data_url(url).size,
        )
        if size > max_file_bytes:
            yield too_large(index, size, max_file_bytes)


def _face(_ask_input: JsonObject) -> Face:
    """Returns the card without buttons of its own (SC11)."""
    return Face((), handoff=True)


_BLOCK: Final = f"""\
### ask_files
The person uploads images or documents.
- `accept` (required): the kinds of file you take, each once. `image`: JPEG, PNG, GIF and WebP. \
`pdf`: PDF documents. `text`: plain text. `csv`: tables as CSV. `json`: JSON data.
- `minFiles`, `maxFiles`: how many files, whole numbers from {limits.FILES_MIN} to \
{limits.FILES_MAX}; {limits.FILES_MIN} and {limits.FILES_MAX} when absent.
{SUBMIT_LABEL_LINE}
{ALLOW_DECLINE_LINE}
- The answer lists the `filename`, `mimeType` and `size` in bytes of every file. After it the \
result shows the files themselves: images and PDFs as they are, the text of the others cut to \
{limits.SHOWN_FILE_BYTES} bytes.
- An answer: {{"action": "accept", "content": {{"files": [{{"fileId": "scan", "filename": \
"scan.png", "mimeType": "image/png", "size": {limits.SHOWN_FILE_BYTES}}}]}}}}."""

FILES: Final = Kind(
    name="files",
    offers={
        "full": Offer(
            shape=_SHAPE,
            rules=_rules,
            tool=(
                "Asks the person to upload files: images, PDFs, or files of text, CSV or JSON. The "
                "person sees your question with a place to add files; you get back their names, "
                "types and sizes, and the files themselves. Use it instead of prose whenever you "
                "need what is in a file."
            ),
            block=_BLOCK,
        ),
    },
    content=_CONTENT,
    content_rules=_content_rules,
    skippable=True,
    face=_face,
    standing=SKIP,
    size_rules=_size_rules,
)
