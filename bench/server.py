"""Parley as the benchmarks run it: the real server on a scripted model that takes no time."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from parleyd.app.development_key import DevelopmentKey
from parleyd.app.logs import set_up_logs
from parleyd.app.settings import Settings
from parleyd.app.wiring import Replacements, running_service
from parleyd.models.script import Call, Text
from parleyd.models.scripted import ScriptedModel, by_progress

ASK = Call(
    "ask_choice",
    {
        "prompt": "Which plan do you want?",
        "select": "one",
        "options": [
            {"id": "starter", "label": "Starter"},
            {"id": "team", "label": "Team"},
            {"id": "enterprise", "label": "Enterprise"},
        ],
        "default": ["team"],
    },
    opaque=bytes(range(256)),
)
REPLY = tuple(Text(f"word{number} ") for number in range(20))
"""A reply of twenty parts, as a model streams its tokens."""


async def serve(database_url: str, folder: Path) -> None:
    """Serves on a free loopback port until its input ends; prints the address and a token."""
    settings = Settings(environment="development", port=0, data_dir=folder, owner_turns=1000)
    set_up_logs("info", "json")
    token = DevelopmentKey.in_folder(folder).issue("bench", timedelta(hours=1))
    model = ScriptedModel(by_progress([ASK], REPLY))
    async with running_service(
        settings, database_url=database_url, replacements=Replacements(model=model)
    ) as service:
        print(service.address, token, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(sys.argv[1], Path(sys.argv[2])))
