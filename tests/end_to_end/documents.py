"""Replies that are documents, and what is seen of them (spec blocks 18)."""

import json
from typing import Final

from pydantic import JsonValue

from parley.v1 import blocks_pb2, conversations_pb2, turns_pb2
from parleyd.models.played import Pick
from parleyd.models.script import ScriptedStep, Text
from parleyd.turns.block_replies import REPAIR_INSTRUCTIONS
from parleyd.turns.model import ModelCall
from tests.end_to_end.person import Person, Played

NOTE: Final = "\n\nBlock validation errors:\n"
BLANK: Final[ScriptedStep] = [Text(" \n")]


def document(*blocks: JsonValue) -> str:
    """Returns a document as a model writes it."""
    return json.dumps({"v": 1, "blocks": blocks})


def heading(text: str) -> dict[str, JsonValue]:
    return {"type": "heading", "text": text}


def button(**action: JsonValue) -> dict[str, JsonValue]:
    """Returns a block with one button, which has yet to get an id."""
    element: JsonValue = {"type": "button", "id": "more", "text": "More", "action": action}
    return {"type": "actions", "elements": [element]}


LOANS: Final = document(heading("Loans"))
RETURNS: Final = document(heading("Returns"))
INVALID: Final = document({"type": "heading"})
"""Can be read as a document and breaks a rule."""
FAULT: Final = ("blocks[0].text", "MISSING_REQUIRED")


def repairing(script: Pick, *steps: ScriptedStep) -> Pick:
    """Picks as a script does; calls that are to mend a document get these steps, one by one."""
    rest = iter(steps)

    def pick(call: ModelCall) -> ScriptedStep:
        return next(rest) if call.system == REPAIR_INSTRUCTIONS else script(call)

    return pick


def checked(played: Played) -> turns_pb2.BlocksChecked:
    """Returns what the check of a turn's reply came to; it is told once."""
    (found,) = [event.blocks for event in played.events if event.HasField("blocks")]
    return found


def faults(found: turns_pb2.BlocksChecked) -> list[tuple[str, str]]:
    """Returns the paths and codes of the errors of a document."""
    assert found.ok is not bool(found.errors)
    assert found.HasField("document") is found.ok
    assert all(error.message and error.fix for error in found.errors)
    return [(error.path, error.code) for error in found.errors]


def replaced(played: Played) -> str:
    """Returns the text that took the place of the one that had been sent."""
    (found,) = [event.text_replaced for event in played.events if event.HasField("text_replaced")]
    return found.text


def headings(shown: blocks_pb2.BlockDocument) -> list[str]:
    """Returns the texts of a document that holds headings alone."""
    assert all(block.HasField("heading") for block in shown.blocks)
    return [block.heading.text for block in shown.blocks]


async def run(person: Person, text: str) -> turns_pb2.TurnResult:
    """Runs a turn in a new conversation by one call without a stream."""
    created = await person.client.conversations.CreateConversation(
        conversations_pb2.CreateConversationRequest()
    )
    own = created.conversation.conversation_id
    prompt = turns_pb2.PromptInput(text=text)
    return await person.run(turns_pb2.TurnRequest(conversation_id=own, prompt=prompt))
