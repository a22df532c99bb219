"""What a tool of an MCP server returned, as a host tool returns it."""

import binascii
import mimetypes
from base64 import b64decode
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final, assert_never
from urllib.parse import unquote, urlsplit

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.json import compact, storable_json
from parleyd.contract.text import clip
from parleyd.turns.tools import ToolFailed, ToolFile

_ANY_TYPE: Final = "application/octet-stream"
_NOT_SHOWN: Final = "Its content is not shown: a result has room for one file."


def returned_of(result: CallToolResult) -> JsonValue | ToolFile:
    """Returns a result as a host tool would: structured content if there is some, else the content.

    One text is a text, several parts are a list. A result with one file (an image, a recording, an
    embedded file) is that file; all else of the result is its text. Of several files it is only
    told what they are.

    Raises:
        ToolFailed: The result is an error of the tool; or it has a file that can't be read.
    """
    files = [block for block in result.content if _is_file(block)]
    others = [block for block in result.content if not _is_file(block)]
    told = storable_json(result.structured_content)
    if result.is_error:
        raise ToolFailed(_error(result))
    if len(files) == 1:
        if told is None and others:
            told = _told(others)
        text = told if isinstance(told, str) or told is None else compact(told)
        return _file(files[0], text)
    if told is None:
        return _told(result.content)
    return [told, *map(_part, files)] if files else told


def _error(result: CallToolResult) -> str:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    text = "\n".join(text for text in texts if text.strip())
    if not text and result.structured_content is not None:
        text = compact(result.structured_content)
    return clip(text, limits.TOOL_FAILURE) or "The tool failed, and says no more."


def _told(content: Sequence[ContentBlock]) -> JsonValue:
    parts = [_part(block) for block in content]
    return parts[0] if len(parts) == 1 else parts or None


def _part(block: ContentBlock) -> JsonValue:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            size = len(block.data) * 3 // 4
            return {"mimeType": _type(block.mime_type), "size": size, "note": _NOT_SHOWN}
        case ResourceLink():
            about = {"uri": block.uri, "name": block.title or block.name}
            more = {"description": block.description, "mimeType": block.mime_type}
            return {**about, **{key: value for key, value in more.items() if value}}
        case EmbeddedResource():
            return _resource(block.resource)
        case _:
            assert_never(block)


def _resource(resource: TextResourceContents | BlobResourceContents) -> JsonValue:
    if isinstance(resource, TextResourceContents):
        return {"uri": resource.uri, "text": resource.text}
    size, mime_type = len(resource.blob) * 3 // 4, _type(resource.mime_type)
    return {"uri": resource.uri, "mimeType": mime_type, "size": size, "note": _NOT_SHOWN}


def _is_file(block: ContentBlock) -> bool:
    match block:
        case ImageContent() | AudioContent():
            return True
        case EmbeddedResource():
            return isinstance(block.resource, BlobResourceContents)
        case _:
            return False


def _file(block: ContentBlock, text: str | None) -> ToolFile:
    match block:
        case ImageContent() | AudioContent():
            mime_type = _type(block.mime_type)
            name = f"{block.type}{mimetypes.guess_extension(mime_type) or ''}"
            return ToolFile(_bytes(block.data), mime_type, name, text)
        case EmbeddedResource(resource=BlobResourceContents() as resource):
            mime_type = _type(resource.mime_type)
            return ToolFile(_bytes(resource.blob), mime_type, _name(resource.uri, mime_type), text)
        case _:
            raise AssertionError(block.type)


def _bytes(base64: str) -> bytes:
    try:
        return b64decode(base64, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ToolFailed(
            "The tool ran, but its result can't be used: its file is no base64. Calling it again "
            "will not help."
        ) from error


def _type(declared: str | None) -> str:
    """Returns a type without its parameters, as `text/csv`."""
    return (declared or "").partition(";")[0].strip().lower() or _ANY_TYPE


def _name(uri: str, mime_type: str) -> str:
    """Returns what a file is called: the end of its address."""
    try:
        name = PurePosixPath(unquote(urlsplit(uri).path)).name
    except ValueError:
        name = ""
    name = name or f"document{mimetypes.guess_extension(mime_type) or ''}"
    return clip(name, limits.FILENAME)
