"""What Gemini is shown of files: beside a message, and in the results of calls (spec turns 5.5)."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import JsonValue

from parleyd.models.gemini import GeminiModel
from parleyd.models.gemini_files import INLINE_BYTES, takes_files_in_results
from parleyd.models.gemini_files import seen as seen_by_gemini
from parleyd.turns.model import MediaShown, Shown, TextShown, ToolOutcome
from tests.models.conftest import KEY
from tests.models.fake_gemini import FakeGemini
from tests.models.gemini_calls import call_of, sent

PNG = b"\x89PNG\r\n\x1a\n\xff\xfe"
PDF = b"%PDF-\xff\xfb"
FILES: tuple[Shown, ...] = (
    TextShown("File 1 of 4: a.png (image/png, 10 bytes)"),
    MediaShown("image/png", PNG, "a.png"),
    TextShown("File 2 of 4: b.csv (text/csv, 3 bytes)"),
    TextShown("a,b"),
    TextShown("File 3 of 4: c.pdf (application/pdf, 7 bytes)"),
    MediaShown("application/pdf", PDF, "c.pdf"),
    TextShown("File 4 of 4: d.gif (image/gif, 6 bytes)"),
    MediaShown("image/gif", b"GIF89a", "d.gif"),
)
NO_GIF = "The file can't be shown to you: you see no image/gif."
ANSWER: JsonValue = {"action": "accept", "content": {"files": []}}


@pytest.fixture
async def gemini_3(server: FakeGemini) -> AsyncIterator[GeminiModel]:
    model = GeminiModel("gemini-3-flash-preview", KEY, base_url=server.url)
    yield model
    await model.aclose()


async def contents_of(
    server: FakeGemini, model: GeminiModel, *messages: object
) -> list[dict[str, Any]]:
    """Returns the contents that the messages are on the wire."""
    body = await sent(server, model, call_of(model, *messages))
    return body["contents"][1:]


def bytes_of(blob: dict[str, str]) -> bytes:
    """Returns the bytes of a blob: base64 has two alphabets."""
    return base64.urlsafe_b64decode(blob["data"].replace("+", "-").replace("/", "_"))


def seen(parts: list[dict[str, Any]]) -> list[str | tuple[str, bytes]]:
    """Returns texts as they are, and other parts by their type and bytes; nothing else is sent."""
    found: list[str | tuple[str, bytes]] = []
    for part in parts:
        if "text" in part:
            assert part.keys() == {"text"}
            found.append(part["text"])
        else:
            assert part.keys() == {"inlineData"}
            assert part["inlineData"].keys() == {"mime_type", "data"}
            found.append((part["inlineData"]["mime_type"], bytes_of(part["inlineData"])))
    return found


IN_A_MESSAGE = [
    "File 1 of 4: a.png (image/png, 10 bytes)",
    ("image/png", PNG),
    "File 2 of 4: b.csv (text/csv, 3 bytes)",
    "a,b",
    "File 3 of 4: c.pdf (application/pdf, 7 bytes)",
    ("application/pdf", PDF),
    "File 4 of 4: d.gif (image/gif, 6 bytes)",
    NO_GIF,
]


def test_of_more_than_gemini_takes_at_once_the_later_files_are_told_in_words() -> None:
    half = MediaShown("image/png", bytes(INLINE_BYTES // 2), "half.png")
    more = MediaShown("image/png", bytes(INLINE_BYTES // 2 + 1), "more.png")
    line = TextShown("File 3 of 3")

    shown = seen_by_gemini([half, more, line, half, half])

    told = TextShown("The file can't be shown to you: it is too much at once.")
    assert shown == [half, told, line, half, told]


async def test_the_files_of_a_message_are_parts_after_its_text(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    (content,) = await contents_of(server, gemini, gemini.user_message("Look.", FILES))
    assert content["role"] == "user"
    assert seen(content["parts"]) == ["Look.", *IN_A_MESSAGE]


async def test_a_file_without_bytes_is_told_in_words(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    shown = (
        TextShown("File 1 of 2: a.txt (text/plain, 0 bytes)"),
        TextShown(""),
        TextShown("File 2 of 2: b.png (image/png, 0 bytes)"),
        MediaShown("image/png", b"", "b.png"),
    )
    (content,) = await contents_of(server, gemini, gemini.user_message("Look.", shown))
    assert seen(content["parts"]) == [
        "Look.",
        "File 1 of 2: a.txt (text/plain, 0 bytes)",
        "File 2 of 2: b.png (image/png, 0 bytes)",
        "The file is empty.",
    ]


async def test_gemini_3_gets_files_inside_of_the_result_they_belong_to(
    server: FakeGemini, gemini_3: GeminiModel
) -> None:
    results = gemini_3.tool_message(
        [
            ToolOutcome("a", "look_up", value=3),
            ToolOutcome("b", "ask_files", value=ANSWER, shown=FILES),
        ]
    )
    (content,) = await contents_of(server, gemini_3, results)
    assert content["role"] == "user"
    plain, filed = [part["functionResponse"] for part in content["parts"]]
    assert plain == {"id": "a", "name": "look_up", "response": {"output": 3}}
    media = filed.pop("parts")
    assert filed == {
        "id": "b",
        "name": "ask_files",
        "response": {
            "output": {
                "result": ANSWER,
                "files": [
                    "File 1 of 4: a.png (image/png, 10 bytes)",
                    "[It is part 1 of this result.]",
                    "File 2 of 4: b.csv (text/csv, 3 bytes)",
                    "a,b",
                    "File 3 of 4: c.pdf (application/pdf, 7 bytes)",
                    "[It is part 2 of this result.]",
                    "File 4 of 4: d.gif (image/gif, 6 bytes)",
                    NO_GIF,
                ],
            }
        },
    }
    blobs = [part["inline_data"] for part in media]
    assert [(blob["mime_type"], bytes_of(blob)) for blob in blobs] == [
        ("image/png", PNG),
        ("application/pdf", PDF),
    ]


async def test_for_earlier_models_files_follow_the_results_of_the_whole_step(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    results = gemini.tool_message(
        [
            ToolOutcome("a", "draw", value="done", shown=FILES[:2]),
            ToolOutcome("b", "look_up", error="No."),
            ToolOutcome("c", "ask_files", value=ANSWER, shown=FILES),
        ]
    )
    answers, files = await contents_of(server, gemini, results)
    follow = "The files follow in the next message."
    assert [part["functionResponse"] for part in answers["parts"]] == [
        {
            "id": "a",
            "name": "draw",
            "response": {"output": {"result": "done", "files": follow}},
        },
        {"id": "b", "name": "look_up", "response": {"error": "No."}},
        {
            "id": "c",
            "name": "ask_files",
            "response": {"output": {"result": ANSWER, "files": follow}},
        },
    ]
    assert [answers["role"], files["role"]] == ["user", "user"]
    assert seen(files["parts"]) == [
        "The files of the result of draw:",
        *IN_A_MESSAGE[:2],
        "The files of the result of ask_files:",
        *IN_A_MESSAGE,
    ]


async def test_references_are_harmless_beside_files(
    server: FakeGemini, gemini_3: GeminiModel
) -> None:
    results = gemini_3.tool_message(
        [ToolOutcome("a", "draw", value={"$ref": "a.png"}, shown=FILES[:2])]
    )
    (content,) = await contents_of(server, gemini_3, results)
    response = content["parts"][0]["functionResponse"]["response"]
    assert response["output"]["result"] == {"$$ref": "a.png"}


async def test_a_denial_is_an_answer_and_no_failure(
    server: FakeGemini, gemini: GeminiModel
) -> None:
    results = gemini.tool_message([ToolOutcome("a", "delete", denied="user_denied")])
    (content,) = await contents_of(server, gemini, results)
    assert content["parts"][0]["functionResponse"]["response"] == {
        "output": {"approved": False, "reason": "user_denied"}
    }


@pytest.mark.parametrize(
    ("model_id", "inside"),
    [
        ("gemini-3-pro-preview", True),
        ("gemini-3.7-flash", True),
        ("models/gemini-4-pro", True),
        ("gemini-10-flash", True),
        ("gemini-2.5-pro", False),
        ("gemini-1.5-flash", False),
        ("gemini-flash-latest", False),
        ("gemma-3-27b-it", False),
        ("my-gemini-3", False),
    ],
)
def test_models_before_gemini_3_take_no_files_in_results(model_id: str, *, inside: bool) -> None:
    assert takes_files_in_results(model_id) is inside
