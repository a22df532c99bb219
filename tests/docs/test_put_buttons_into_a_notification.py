"""The page on notifications says what happens, and its code runs as it stands."""

import json
import re
import shlex
from pathlib import Path
from textwrap import indent
from typing import Any

from parleyd.app.settings import Settings
from parleyd.contract import limits
from parleyd.contract.reasons import Reason
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.auth import SERVICE_AUDIENCE
from parleyd.rpc.callers import SHARED
from parleyd.rpc.errors import CODES
from parleyd.rpc.web.problems import HTTP_STATUSES
from tests.rpc.web.http import body, http_front
from tests.server import StartServer
from tests.standard_asks import PLAN_ID, ask_plan

PAGE = (
    Path(__file__).parents[2] / "docs" / "how-to" / "put-buttons-into-a-notification.md"
).read_text("utf-8")
(PROGRAM,) = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
(COMMAND,) = re.findall(r"^```\n(curl .*?)^```", PAGE, re.MULTILINE | re.DOTALL)


async def test_a_token_is_made_and_redeemed_as_the_page_says(start_server: StartServer) -> None:
    server = await start_server(in_turn([ask_plan()], [Text("Done.")]))
    noor = await server.person()
    asked = await noor.prompt("Set up my workspace")
    program = PROGRAM.replace("127.0.0.1:50051", server.address)
    names: dict[str, Any] = {}
    head = "async def main(service_token, conversation_id, tool_call_id):\n"
    # The code that readers copy.
    exec(head + indent(f"{program}\nreturn made", " "), names)
    service = server.token("pushes", aud=SERVICE_AUDIENCE, scope="asks.tokens")
    made = await names["main"](service, asked.conversation_id, PLAN_ID)
    words = shlex.split(COMMAND.replace("\\\n", "").replace("TOKEN", made.token))
    path, content = words[2].removeprefix("$PARLEY"), words[words.index("-d") + 1]
    async with http_front(server.address) as http:
        pressed = await http.post(path, content=content)
        waited = await http.post(path, json={**json.loads(content), "wait": True})
    turn_id = body(pressed)["turnId"]
    assert body(pressed)["conversationId"] == asked.conversation_id
    assert (await noor.turn(asked.conversation_id, turn_id)).turn_id == turn_id
    assert (body(waited)["turnId"], body(waited)["result"]["text"]) == (turn_id, "Done.")


def test_the_page_names_statuses_settings_and_limits_as_they_are() -> None:
    told = {reason: int(status) for status, reason in re.findall(r"^\| (\d+) `(\w+)`", PAGE, re.M)}
    statuses = {kind.reason: HTTP_STATUSES[code] for kind, code in CODES.items()}
    assert told == {
        reason: statuses[Reason(reason)]
        for reason in ("TOKEN_INVALID", "TOKEN_USED", "RATE_LIMITED")
    }
    for name in re.findall(r"PARLEY_[A-Z_]+", PAGE):
        assert name.removeprefix("PARLEY_").lower() in Settings.model_fields
    assert f"try {limits.REDEMPTIONS_PER_MINUTE} tokens a minute" in PAGE
    assert limits.ACTION_TOKEN_SECONDS_MAX == 24 * 60 * 60
    assert "from a second to 24 hours" in PAGE
    assert any(f"`{access.scope}` in its" in PAGE for access in SHARED.values())
