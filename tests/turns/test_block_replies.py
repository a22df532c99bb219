"""What becomes of a reply that is a document: filled in, checked, repaired, cleaned, noted."""

import json
from dataclasses import dataclass, field

import pytest
from pydantic import JsonValue
from structlog.testing import capture_logs

from parleyd.contract.blocks.options import BlockOptions
from parleyd.turns.block_replies import REPAIR_INSTRUCTIONS, BlockReplier, is_document
from parleyd.turns.model import ModelFailed
from parleyd.turns.options import BlockReplies
from parleyd.turns.replies import Reply
from parleyd.turns.stops import HandedOver, TimeOver

HEADING: JsonValue = {"type": "heading", "text": "Loans"}
BUTTON: dict[str, JsonValue] = {
    "type": "button",
    "id": "more",
    "text": "More",
    "action": {"kind": "reply", "text": "More"},
}
ACTIONS: dict[str, JsonValue] = {"type": "actions", "elements": [BUTTON]}
FILLED: dict[str, JsonValue] = {"type": "actions", "id": "actions", "elements": [BUTTON]}
WRONG = "v: 1\nblocks:\n  - type: heading\n"
WRONG_NOTE = (
    "\n\nBlock validation errors:\n- blocks[0].text MISSING_REQUIRED `blocks[0].text` is missing."
)
PROSE = "There are 41 loans."
YAML = "v: 1\nblocks:\n  - type: heading\n    text: Loans"


def document(*blocks: JsonValue) -> str:
    return json.dumps({"v": 1, "blocks": blocks})


@dataclass
class Scene:
    """A turn whose model mends documents as a test says."""

    mended: str | Exception = ""
    html: bool = False
    repair: bool = True
    prompts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    happened: list[str] = field(default_factory=list[str])

    async def reply(self, text: str, *, sent: bool = False) -> Reply:
        options = BlockOptions(html=self.html, host_actions=())
        replier = BlockReplier(BlockReplies(options, self.repair), self._repair, self._send)
        return await replier.reply(text, sent=sent)

    async def _repair(self, system: str, prompt: str) -> str:
        self.happened.append("repair")
        self.prompts.append((system, prompt))
        if isinstance(self.mended, Exception):
            raise self.mended
        return self.mended

    async def _send(self, text: str) -> None:
        self.happened.append(f"send {text}")


def codes(reply: Reply) -> list[str]:
    assert reply.checked
    return [error.code.value for error in reply.checked.errors]


DOCUMENTS = {
    "JSON": (document(HEADING), True),
    "YAML": (YAML, True),
    "a document in a fence": (f"```yaml\n{YAML}\n```", True),
    "a document that breaks a rule": (WRONG, True),
    "prose": (PROSE, False),
    "nothing": ("", False),
    "a list": ("- a\n- b", False),
}


@pytest.mark.parametrize(("text", "expected"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_text_is_a_document_when_it_can_be_read_as_one(text: str, *, expected: bool) -> None:
    assert is_document(text) is expected


@pytest.mark.parametrize("text", [YAML, document(HEADING)], ids=["YAML", "JSON"])
async def test_a_valid_document_stays_as_the_model_wrote_it(text: str) -> None:
    scene = Scene()
    reply = await scene.reply(text)
    assert (reply.text, reply.note, reply.repaired) == (text, "", False)
    assert reply.checked
    assert reply.checked.ok
    assert reply.checked.document == {"v": 1, "blocks": [HEADING]}
    assert scene.happened == []


async def test_ids_that_are_missing_are_filled_in_before_the_check() -> None:
    reply = await Scene(repair=False).reply(document(ACTIONS))
    assert json.loads(reply.text) == {"v": 1, "blocks": [FILLED]}
    assert "\n" not in reply.text
    assert reply.checked
    assert reply.checked.document == {"v": 1, "blocks": [FILLED]}


@pytest.mark.parametrize("text", [WRONG, PROSE], ids=["a rule", "no document"])
async def test_errors_are_noted_for_the_model_and_the_text_stays(text: str) -> None:
    scene = Scene(repair=False)
    reply = await scene.reply(text)
    assert reply.text == text
    assert reply.checked
    assert not reply.checked.ok
    assert reply.checked.document is None
    lines = [f"- {each.path} {each.code} {each.message}" for each in reply.checked.errors]
    assert lines
    assert reply.note == "\n\nBlock validation errors:\n" + "\n".join(lines)
    assert scene.happened == []


async def test_the_note_says_where_which_rule_and_what() -> None:
    reply = await Scene(repair=False).reply(WRONG)
    assert reply.note == WRONG_NOTE


async def test_a_document_with_errors_is_sent_and_then_mended() -> None:
    scene = Scene(mended=f"  {YAML}\n")
    reply = await scene.reply(WRONG)
    assert scene.happened == [f"send {WRONG}", "repair"]
    assert (reply.text, reply.note, reply.repaired) == (YAML, "", True)
    assert reply.checked
    assert reply.checked.ok
    ((system, prompt),) = scene.prompts
    assert system == REPAIR_INSTRUCTIONS
    assert prompt.startswith(f"{WRONG}\n\n- blocks[0].text MISSING_REQUIRED ")


async def test_what_is_no_document_is_mended_too() -> None:
    scene = Scene(mended=YAML)
    reply = await scene.reply(PROSE)
    assert (reply.text, reply.repaired) == (YAML, True)


async def test_what_was_sent_before_is_not_sent_again() -> None:
    scene = Scene(mended=YAML)
    assert (await scene.reply(WRONG, sent=True)).repaired
    assert scene.happened == ["repair"]


async def test_ids_of_a_mended_document_are_filled_in_too() -> None:
    reply = await Scene(mended=document(ACTIONS)).reply(WRONG)
    assert json.loads(reply.text) == {"v": 1, "blocks": [FILLED]}
    assert codes(reply) == []


async def test_a_document_is_mended_once_and_taken_as_it_comes() -> None:
    scene = Scene(mended="v: 2\nblocks:\n  - type: divider")
    reply = await scene.reply(WRONG)
    assert scene.happened.count("repair") == 1
    assert (reply.text, reply.repaired) == (scene.mended, True)
    assert codes(reply) == ["UNSUPPORTED_VERSION"]
    assert "UNSUPPORTED_VERSION" in reply.note
    assert "MISSING_REQUIRED" not in reply.note


FAILURES: dict[str, tuple[str | Exception, list[str | None]]] = {
    "nothing": (" \n", []),
    "an error of the provider": (ModelFailed("server", "key=SECRET"), ["server"]),
    "the end of the turn's time": (TimeOver(), ["timeout"]),
    "an adapter that breaks": (ValueError("broken"), [None]),
}


@pytest.mark.parametrize(("failure", "kinds"), FAILURES.values(), ids=FAILURES)
async def test_a_repair_that_comes_to_nothing_leaves_the_text(
    failure: str | Exception, kinds: list[str | None]
) -> None:
    scene = Scene(mended=failure)
    with capture_logs() as logs:
        reply = await scene.reply(WRONG)
    assert (reply.text, reply.repaired) == (WRONG, False)
    assert codes(reply) == ["MISSING_REQUIRED"]
    assert reply.note
    assert [line["event"] for line in logs] == ["repair_failed"] * len(kinds)
    assert [line.get("kind") for line in logs] == kinds
    assert "SECRET" not in str(logs)


async def test_a_turn_that_is_handed_over_goes_on_elsewhere_with_its_repair() -> None:
    with pytest.raises(HandedOver):
        await Scene(mended=HandedOver()).reply(WRONG)


FRAME: dict[str, JsonValue] = {"type": "html", "html": "<p onclick=x>Hi</p><script>x</script>"}


async def test_html_is_cleaned_in_the_text_and_in_the_document() -> None:
    reply = await Scene(html=True).reply(document(HEADING, FRAME))
    clean: JsonValue = {"v": 1, "blocks": [HEADING, {"type": "html", "html": "<p>Hi</p>"}]}
    assert json.loads(reply.text) == clean
    assert reply.checked
    assert reply.checked.document == clean
    assert (reply.note, reply.repaired) == ("", False)


async def test_html_that_is_clean_leaves_the_text_as_it_is() -> None:
    text = document(HEADING, {"type": "html", "html": "<p>Hi</p>"})
    assert (await Scene(html=True).reply(text)).text == text


async def test_html_where_it_is_off_breaks_a_rule() -> None:
    reply = await Scene(repair=False).reply(document(FRAME))
    assert codes(reply) == ["HTML_DISABLED"]
    assert reply.text == document(FRAME)


async def test_a_callback_breaks_a_rule_where_there_are_no_actions_of_the_host() -> None:
    pressed: JsonValue = {**BUTTON, "action": {"kind": "callback", "name": "refresh"}}
    reply = await Scene(repair=False).reply(document({**FILLED, "elements": [pressed]}))
    assert codes(reply) == ["UNKNOWN_HOST_ACTION"]


async def test_warnings_are_told_and_change_nothing() -> None:
    line: JsonValue = {
        "type": "chart",
        "kind": "line",
        "points": [{"label": "May", "value": 1}],
    }
    scene = Scene()
    reply = await scene.reply(document(line))
    assert reply.checked
    assert [each.code.value for each in reply.checked.warnings] == ["LINE_SINGLE_POINT"]
    assert (reply.note, scene.happened) == ("", [])
