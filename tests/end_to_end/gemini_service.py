"""The service on the real adapter of Gemini, which talks to a fake of Gemini's endpoint."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import parley
from parleyd.app.development_key import DevelopmentKey
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.turns.tools import ToolSet
from tests.end_to_end.person import Person
from tests.models.fake_gemini import FakeGemini, Frame, frame
from tests.server_process import LIFETIME

KEY = "AIza-very-secret"


@asynccontextmanager
async def gemini_service(
    fake: FakeGemini,
    database_url: str,
    folder: Path,
    *,
    tools: ToolSet | None = None,
    **settings: Any,
) -> AsyncGenerator[Person]:
    """Runs a service of its own, as a process does, until it is left; yields Noor."""
    key = DevelopmentKey.in_folder(folder)
    async with (
        running_service(
            Settings.model_validate(
                {
                    "environment": "development",
                    "port": 0,
                    "data_dir": folder,
                    "model": "gemini-test",
                    "gemini_api_key": KEY,
                    "gemini_base_url": fake.url,
                    **settings,
                }
            ),
            database_url=database_url,
            replacements=Replacements(tools=tools or {}),
        ) as service,
        parley.connect(service.address, key.issue("noor", LIFETIME)) as client,
    ):
        yield Person(client)


def says(text: str) -> Frame:
    """Returns the one frame of a reply."""
    return frame({"text": text}, finish="STOP")


def asks(*calls: dict[str, Any]) -> Frame:
    """Returns the one frame of a step that calls tools."""
    return frame(*calls, finish="STOP")
