"""The demonstration, and that it notices whatever goes wrong."""

import io
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

import parley
from parleyd.app.demo.devices import Phone, Watch
from parleyd.app.demo.play import DemoFault, play
from parleyd.app.demo.transcript import Transcript
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.demo import DemoModel
from parleyd.models.script import Call, Fail, ScriptedStep, Text
from parleyd.models.scripted import ScriptedModel, in_turn
from parleyd.turns.model import Model
from tests.clients.played_turns import DISCARDED, DONE, HEL, STARTED, TEXT, PlayedTurns, playing
from tests.standard_asks import PLAN, ask_plan, ask_region


async def played(folder: Path, database_url: str, model: Model) -> str:
    """Plays the demo with a model and returns its transcript."""
    settings = Settings(environment="development", port=0, data_dir=folder)
    token = development_token(settings)
    screen = io.StringIO()
    async with (
        running_service(
            settings, database_url=database_url, replacements=Replacements(model=model)
        ) as service,
        parley.connect(service.address, token) as phone,
        parley.connect(service.address, token) as watch,
    ):
        await play(Phone(phone), Watch(watch), Transcript(Console(file=screen, width=100)))
    return screen.getvalue()


async def test_the_demo_tells_the_whole_story(tmp_path: Path, database_url: str) -> None:
    lines = (await played(tmp_path, database_url, DemoModel())).splitlines()
    story = [
        "phone  Set up my plan",
        "agent  asks: Which plan should your workspace have?",
        "watch  sees this card:",
        "[ Team ]",
        "watch  presses “Team”",
        "agent  Your workspace is on the Team plan now.",
        "phone  Delete my completed todos",
        "agent  asks: Delete all of your completed todos?",
        "[ Delete them ]",
        "watch  presses “Delete them”",
        "agent  Done: your completed todos are deleted.",
        "8 stored lines",
    ]
    places = [next((i for i, line in enumerate(lines) if part in line), -1) for part in story]
    assert -1 not in places
    assert places == sorted(places)


DELETE = Call("ask_confirm", {"prompt": "Delete?", "confirmLabel": "Delete them"})
CONFIRM = Call("ask_confirm", {"prompt": "Shall I?"})


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
        [[ask_plan()], [Text("Done.")], [Text("Deleted.")]],
        "the phone was sent ['started', 'text', 'done']",
    ),
    Fault(
        "a failure after the approval",
        [[ask_plan()], [Text("Done.")], [DELETE], [Fail("other")]],
        "the answered turn is STATE_FAILED",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
async def test_the_demo_fails_when_the_agent_has(
    fault: Fault, tmp_path: Path, database_url: str
) -> None:
    with pytest.raises(DemoFault) as caught:
        await played(tmp_path, database_url, ScriptedModel(in_turn(*fault.steps)))
    assert fault.text in str(caught.value)


async def test_a_script_that_plays_its_part_is_no_fault(tmp_path: Path, database_url: str) -> None:
    steps = [[ask_plan()], [Text("Done.")], [DELETE], [Text("Deleted.")]]
    assert "agent  Deleted." in await played(tmp_path, database_url, ScriptedModel(in_turn(*steps)))


async def test_the_phone_is_told_of_stored_events_alone() -> None:
    turns = PlayedTurns([STARTED, "nothing", HEL, DISCARDED, TEXT, DONE])
    async with playing(turns) as target, parley.connect(target, "token") as client:
        assert await Phone(client).say("Hello", "") == [STARTED, TEXT, DONE]
