"""The demonstration, and that it notices whatever goes wrong."""

import io
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest
from rich.console import Console
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parleyd.app.demo.checks import DemoFault
from parleyd.app.demo.devices import Phone, Watch
from parleyd.app.demo.play import play
from parleyd.app.demo.transcript import Transcript
from parleyd.app.demo_tools import DELETION, DEMO_WORDINGS, demo_tools
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.demo import DemoModel
from parleyd.models.script import Call, Fail, ScriptedStep, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.store.todos import PostgresTodos
from parleyd.turns.model import Model
from tests.clients.played_turns import DISCARDED, DONE, HEL, STARTED, TEXT, PlayedTurns, playing
from tests.standard_asks import PLAN, ask_plan, ask_region

Play: TypeAlias = Callable[[Model], Awaitable[str]]
"""Plays the demo with a model and returns its transcript."""


@pytest.fixture
def played(tmp_path: Path, database_url: str, engine: AsyncEngine) -> Play:
    """The model has the demo agent's tools, whichever it is."""

    async def play_with(model: Model) -> str:
        replacements = Replacements(
            model=model,
            tools=demo_tools(PostgresTodos(engine)),
            approval_wordings=DEMO_WORDINGS,
        )
        return await _played(tmp_path, database_url, replacements)

    return play_with


async def _played(folder: Path, database_url: str, replacements: Replacements) -> str:
    settings = Settings(environment="development", port=0, data_dir=folder)
    token = development_token(settings)
    screen = io.StringIO()
    async with (
        running_service(settings, database_url=database_url, replacements=replacements) as service,
        parley.connect(service.address, token) as phone,
        parley.connect(service.address, token) as watch,
    ):
        await play(Phone(phone), Watch(watch), Transcript(Console(file=screen, width=100)))
    return screen.getvalue()


async def test_the_demo_tells_the_whole_story(tmp_path: Path, database_url: str) -> None:
    transcript = await _played(tmp_path, database_url, Replacements(model=DemoModel()))
    lines = transcript.splitlines()
    story = [
        "phone  Set up my plan",
        "agent  asks: Which plan should your workspace have?",
        "watch  sees this card:",
        "[ Team ]",
        "watch  presses “Team”",
        "agent  Your workspace is on the Team plan now.",
        "phone  Delete my completed todos",
        "It wants to run deleteCompletedTodos",
        "agent  asks: Delete all of your completed todos?",
        "[ Keep them ]",
        "watch  presses “Keep them”",
        "agent  All right, I deleted nothing.",
        "phone  Delete my completed todos",
        "agent  asks: Delete all of your completed todos?",
        "[ Delete them ]",
        "watch  presses “Delete them”",
        "agent  Done: your completed todos are deleted, “Water the plants” and “Return the library",
        "phone  Read my file",
        "agent  asks: Which files shall I look at?",
        "phone  uploads “shopping.csv”, 36 bytes",
        "agent  “shopping.csv” has 4 rows, the first of them “item” and “pieces”.",
        "20 stored lines",
    ]
    place = 0
    for part in story:
        later = [i for i in range(place, len(lines)) if part in lines[i]]
        assert later, part
        place = later[0]
    assert len(lines) < 60


PLANNED: list[ScriptedStep] = [[ask_plan()], [Text("Done.")]]
DELETE: ScriptedStep = [Call(DELETION, {}, "call_delete")]
CONFIRM = Call("ask_confirm", {"prompt": "Shall I?"})
KEPT: list[ScriptedStep] = [DELETE, [Text("Kept.")]]
DELETED: list[ScriptedStep] = [DELETE, [Text("Deleted.")]]
FILES: ScriptedStep = [
    Call("ask_files", {"prompt": "Which files?", "accept": ["csv"]}, "call_files")
]


@dataclass(frozen=True)
class Fault:
    """An agent that does not play its part, and what the demo makes of it."""

    name: str
    steps: list[ScriptedStep]
    text: str


FAULTS = [
    Fault("no question", [[Text("No.")]], "the phone was sent ['started', 'text', 'done']"),
    Fault("a failure", [[Fail("other")]], "the phone was sent ['started', 'error', 'done']"),
    Fault("another kind", [[CONFIRM]], "the agent asked ASK_KIND_CONFIRM"),
    Fault("other options", [[ask_region()]], "The card has no button “Team”."),
    Fault(
        "a failure after the answer",
        [[ask_plan()], [Fail("other")]],
        "the answered turn is STATE_FAILED: The model could not answer.",
    ),
    Fault(
        "another question",
        [[ask_plan()], [Call("ask_choice", PLAN, "call_again")]],
        "the answered turn is STATE_PAUSED",
    ),
    Fault(
        "no approval",
        [*PLANNED, [Text("Deleted.")]],
        "the phone was sent ['started', 'text', 'done']",
    ),
    Fault(
        "a question in place of an approval",
        [*PLANNED, [CONFIRM]],
        "the phone was sent ['started', 'ask', 'done']",
    ),
    Fault(
        "a tool that needs no approval before the one that does",
        [*PLANNED, [Call("listTodos", {}, "call_list")], DELETE],
        "the phone was sent ['started', 'tool_call', 'tool_result', 'tool_call', 'ask', 'done']",
    ),
    Fault(
        "a failure after the denial",
        [*PLANNED, DELETE, [Fail("other")]],
        "the answered turn is STATE_FAILED",
    ),
    Fault(
        "a second try after the denial",
        [*PLANNED, DELETE, DELETE],
        "the answered turn is STATE_PAUSED",
    ),
    Fault(
        "a failure after the approval",
        [*PLANNED, *KEPT, DELETE, [Fail("other")]],
        "the answered turn is STATE_FAILED",
    ),
    Fault(
        "no wish for a file",
        [*PLANNED, *KEPT, *DELETED, [Text("What file?")]],
        "the phone was sent ['started', 'text', 'done']",
    ),
    Fault(
        "a failure after the file",
        [*PLANNED, *KEPT, *DELETED, FILES, [Fail("other")]],
        "the answered turn is STATE_FAILED",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
async def test_the_demo_fails_when_the_agent_has(fault: Fault, played: Play) -> None:
    with pytest.raises(DemoFault) as caught:
        await played(ScriptedModel(in_turn(*fault.steps)))
    assert fault.text in str(caught.value)


async def test_a_script_that_plays_its_part_is_no_fault(played: Play) -> None:
    steps = [*PLANNED, *KEPT, *DELETED, FILES, [Text("Read.")]]
    model = ScriptedModel(in_turn(*steps))
    assert "agent  Read." in await played(model)


async def test_the_phone_is_told_of_stored_events_alone() -> None:
    turns = PlayedTurns([STARTED, "nothing", HEL, DISCARDED, TEXT, DONE])
    async with playing(turns) as target, parley.connect(target, "token") as client:
        assert await Phone(client).say("Hello", "") == [STARTED, TEXT, DONE]
