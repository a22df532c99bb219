"""The pages on webhooks: the receiver runs as it stands, and the reference says what is sent."""

import asyncio
import re
import socket
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from sqlalchemy import CheckConstraint

from parleyd.app.notifier.payload import Payload, Resolution, SentToken
from parleyd.app.notifier.webhook import SEND_SECONDS
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from parleyd.store.notice_tables import notices
from parleyd.store.notices import KEPT_DAYS, NEWS_HOURS
from parleyd.turns.notice_tries import FIRST_PAUSE_SECONDS, TRIES
from tests.docs.pages import codes_in, read_page, table_of
from tests.receiver import SECRET
from tests.server import StartServer
from tests.standard_asks import ask_plan

DOCS = Path(__file__).parents[2] / "docs"
HOW_TO = (DOCS / "how-to" / "notify-people-of-asks.md").read_text("utf-8")
REFERENCE = (DOCS / "reference" / "webhooks.md").read_text("utf-8")
PAGE = read_page("webhooks.md")
(PROGRAM,) = re.findall("```python\n(.*?)```", HOW_TO, re.DOTALL)
SOON = 10


async def until(condition: Any) -> None:
    async with asyncio.timeout(SOON):
        while not condition():
            await asyncio.sleep(0.02)


async def test_the_receiver_of_the_page_verifies_and_prints_what_is_asked(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARLEY_WEBHOOK_SECRET", SECRET)
    printed: list[tuple[object, ...]] = []

    def note(*values: object) -> None:
        printed.append(values)

    names: dict[str, Any] = {"__name__": "receiver", "print": note}
    exec(compile(PROGRAM, "notify-people-of-asks.md", "exec"), names)  # what readers copy
    with socket.create_server(("127.0.0.1", 0)) as free:
        config = uvicorn.Config(names["app"], log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([free]))
        await until(lambda: server.started)
        url = f"http://127.0.0.1:{free.getsockname()[1]}/parley"
        try:
            running = await start_server(
                in_turn([ask_plan()], [Text("Done.")]), webhook_url=url, webhook_secret=SECRET
            )
            noor = await running.person()
            await noor.prompt("Set up my workspace")
            await until(lambda: printed)
            async with httpx2.AsyncClient() as stranger:
                forged = await stranger.post(url, json={"type": "ask.asked"})
            await running.stop()
        finally:
            server.should_exit = True
            await serving
    assert printed == [
        ("ask.asked", "noor", "Which plan do you want?", ["Team", "Starter", "Enterprise"])
    ]
    assert forged.status_code == 401


def aliases(payload: type[Payload | SentToken | Resolution]) -> set[str]:
    return {field.alias or name for name, field in payload.model_fields.items()}


def test_the_reference_lists_every_field() -> None:
    fields = [code for row in table_of(PAGE, "Fields", "field").rows for code in codes_in(row[0])]
    assert len(fields) == len(set(fields))
    assert set(fields) == aliases(Payload)
    for name in aliases(SentToken) | aliases(Resolution):
        assert f"`{name}`" in REFERENCE


def test_the_reference_lists_every_state_and_says_how_long_things_take() -> None:
    states = [codes_in(row[0])[0] for row in table_of(PAGE, "States", "state").rows]
    (known,) = [
        str(rule.sqltext)
        for rule in notices.constraints
        if isinstance(rule, CheckConstraint) and rule.name == "notices_state_known"
    ]
    assert {f"'{state}'" for state in states} == set(re.findall("'[a-z]+'", known))
    text = " ".join(REFERENCE.split())
    assert f"tried up to {TRIES} times, in five to six hours" in text
    assert f"begin with {FIRST_PAUSE_SECONDS} to {2 * FIRST_PAUSE_SECONDS} seconds" in text
    assert f"none within {SEND_SECONDS} seconds" in text
    assert f"nobody has seen for {NEWS_HOURS} hours" in text
    assert f"kept for {KEPT_DAYS} days" in text
