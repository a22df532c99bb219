"""The page on datasets says what happens, and its code runs as it stands."""

import json
import re
from pathlib import Path
from typing import Any

from parleyd.models.script import Call, ScriptedStep, Text
from parleyd.turns.model import ModelCall
from tests.server import StartServer

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "register-a-dataset.md"
TOOL, CLIENT = re.findall("```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
(DOCUMENT,) = re.findall("```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def code_of(text: str) -> dict[str, Any]:
    code: dict[str, Any] = {"__name__": "shop"}
    exec(text, code)
    return code


async def test_the_tool_of_the_page_registers_what_the_document_of_the_page_draws(
    start_server: StartServer,
) -> None:
    document = ""

    def pick(call: ModelCall) -> ScriptedStep:
        del call
        return [Text(document)] if document else [Call("sales", {})]

    server = await start_server(
        pick, tools={"sales": code_of(TOOL)["sales"]}, blocks=True, max_steps=1
    )
    noor = await server.person()
    looked_up = await noor.prompt("Look my sales up")
    told = json.loads(looked_up.results[0].result_json)
    assert (told["rowCount"], len(told["preview"])) == (8760, 20)
    assert told["stats"] == {"euros": {"min": 5, "max": 11}}
    document = DOCUMENT.replace("ds_01KB…", told["datasetId"])
    drawn = await noor.prompt("Draw them", looked_up.conversation_id)
    assert drawn.events[-2].blocks.ok
    document = document.replace("euros", "dollars")
    drawn = await noor.prompt("Draw them in dollars", looked_up.conversation_id)
    assert not drawn.events[-2].blocks.ok

    read = await code_of(CLIENT)["weeks"](noor.client, told["datasetId"])
    assert read.row_count == 53
    assert sum(row.cells[2].number for row in read.rows) == sum(5 + i % 7 for i in range(8760))
