"""What a tool of an MCP server returns, as a host tool returns it."""

from base64 import b64encode
from typing import Any

import pytest
from mcp.types import CallToolResult

from parleyd.tools.mcp.results import returned_of
from parleyd.turns.tools import ToolFailed, ToolFile

PNG = b"\x89PNG\r\n\x1a\n0"
IMAGE = {"type": "image", "data": b64encode(PNG).decode(), "mimeType": "image/png"}
SOUND = {"type": "audio", "data": b64encode(b"RIFF").decode(), "mimeType": "Audio/X-WAV; rate=8"}
HELLO = {"type": "text", "text": "Hello"}
WORLD = {"type": "text", "text": "World"}
LINK = {"type": "resource_link", "uri": "shelf://1", "name": "shelf", "mimeType": "text/plain"}
LEAFLET = {"type": "resource", "resource": {"uri": "shelf://1/leaflet.txt", "text": "Read me"}}
SHEET = {
    "type": "resource",
    "resource": {
        "uri": "https://shelf/a%20b/stock%20list.csv?x=1",
        "blob": b64encode(b"a,b").decode(),
        "mimeType": "text/csv",
    },
}
NAMELESS = {"type": "resource", "resource": {"uri": "shelf:", "blob": b64encode(b"a").decode()}}
NO_FILE = (
    "The tool ran, but its result can't be used: its file is no base64. Calling it again will not "
    "help."
)
NOT_SHOWN = "Its content is not shown: a result has room for one file."


def result(*content: dict[str, Any], **more: Any) -> CallToolResult:
    return CallToolResult.model_validate({"content": content, **more})


READ: dict[str, tuple[CallToolResult, Any]] = {
    "nothing": (result(), None),
    "a text": (result(HELLO), "Hello"),
    "two texts": (result(HELLO, WORLD), ["Hello", "World"]),
    "structured content": (result(HELLO, structuredContent={"n": 1}), {"n": 1}),
    "structured content that is no JSON": (
        result(structuredContent={"n": float("nan")}),
        {"n": None},
    ),
    "a link": (result(LINK), {"uri": "shelf://1", "name": "shelf", "mimeType": "text/plain"}),
    "an embedded text": (result(LEAFLET), {"uri": "shelf://1/leaflet.txt", "text": "Read me"}),
    "an image": (result(IMAGE), ToolFile(PNG, "image/png", "image.png")),
    "an image and texts": (
        result(HELLO, IMAGE, WORLD),
        ToolFile(PNG, "image/png", "image.png", '["Hello","World"]'),
    ),
    "an image and a text": (result(HELLO, IMAGE), ToolFile(PNG, "image/png", "image.png", "Hello")),
    "an image and structured content": (
        result(HELLO, IMAGE, structuredContent={"n": 1}),
        ToolFile(PNG, "image/png", "image.png", '{"n":1}'),
    ),
    "a recording": (result(SOUND), ToolFile(b"RIFF", "audio/x-wav", "audio.wav")),
    "an embedded file": (result(SHEET), ToolFile(b"a,b", "text/csv", "stock list.csv")),
    "an embedded file without a name": (
        result(NAMELESS),
        ToolFile(b"a", "application/octet-stream", "document.bin"),
    ),
    "two images": (
        result(HELLO, IMAGE, IMAGE),
        ["Hello", *[{"mimeType": "image/png", "size": 9, "note": NOT_SHOWN}] * 2],
    ),
    "two files and structured content": (
        result(IMAGE, SHEET, structuredContent={"n": 1}),
        [
            {"n": 1},
            {"mimeType": "image/png", "size": 9, "note": NOT_SHOWN},
            {
                "uri": "https://shelf/a%20b/stock%20list.csv?x=1",
                "mimeType": "text/csv",
                "size": 3,
                "note": NOT_SHOWN,
            },
        ],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_result_is_told_as_a_host_tool_would(name: str) -> None:
    given, expected = READ[name]
    returned = returned_of(given)
    assert returned == expected
    if isinstance(returned, ToolFile):
        assert isinstance(expected, ToolFile)
        assert returned.data == expected.data


FAILED: dict[str, tuple[CallToolResult, str]] = {
    "an error": (result(HELLO, WORLD, isError=True), "Hello\nWorld"),
    "a structured error": (result(structuredContent={"code": 7}, isError=True), '{"code":7}'),
    "an error without a word": (result(isError=True), "The tool failed, and says no more."),
    "a file that is none": (
        result({"type": "image", "data": "?", "mimeType": "image/png"}),
        NO_FILE,
    ),
}


@pytest.mark.parametrize("name", FAILED)
def test_a_failure_is_one_of_the_tool(name: str) -> None:
    given, text = FAILED[name]
    with pytest.raises(ToolFailed) as failed:
        returned_of(given)
    assert str(failed.value) == text
