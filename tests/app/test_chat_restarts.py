"""A chat that outlives the server it talks to."""

import asyncio
from pathlib import Path

from prompt_toolkit.input import PipeInput

import parley
from parleyd.app.identity import development_token
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import by_progress
from parleyd.models.strict import StrictModel
from tests.app.display import Display
from tests.app.keyboard import CTRL_D, ENTER
from tests.app.seat import Seat
from tests.end_to_end.person import Person
from tests.standard_asks import ask_plan

DEADLINE = 60

STEPS = [ask_plan()], [Text("It is al"), Hold("middle"), Text("most done.")]


async def test_a_chat_goes_on_when_its_server_is_started_again(
    tmp_path: Path, database_url: str, keys: PipeInput, display: Display
) -> None:
    settings = Settings(environment="development", port=0, data_dir=tmp_path)
    models = [StrictModel(by_progress(*STEPS)) for _ in range(2)]
    first, second = [Replacements(model=model) for model in models]
    models[1].holds.release("middle")
    async with asyncio.timeout(DEADLINE):
        async with running_service(
            settings, database_url=database_url, replacements=first
        ) as service:
            address = service.address
            client = parley.connect(address, development_token(settings))
            seat = Seat(Person(client), keys, display, display.console)
            chatting = asyncio.create_task(seat.chat(f"a{ENTER}", ENTER, CTRL_D))
            await display.until(lambda shown: "It is al" in shown)
        await display.until(lambda shown: "It is al" not in shown)
        here = settings.model_copy(update={"port": int(address.rpartition(":")[2])})
        async with running_service(here, database_url=database_url, replacements=second), client:
            await chatting
    shown = display.standing
    assert shown.count("Which plan do you want?") == 1
    assert shown.index("interrupted and goes on") < shown.index("It is almost done.")
    assert shown.count("It is almost done.") == 1
    assert "✗" not in shown
    assert [why for model in models for why in model.refusals] == []
