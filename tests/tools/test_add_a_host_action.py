"""The page on host actions says what happens."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parley.v1.turns_pb2 import RunBlockActionResponse
from parleyd.app.faults import ConfigurationError
from parleyd.app.settings_sources import load_settings
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.pressed import heading_of, pressing, refusal
from tests.server import StartServer

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "add-a-host-action.md").read_text("utf-8")
ACTIONS, CALL = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
(DOCUMENT,) = re.findall("```yaml\n(.*?)```", PAGE, re.DOTALL)
(COMMAND,) = re.findall("```\n(PARLEY.*?)\n```", PAGE)


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Writes the module of the page where the process starts, and sets what its command sets."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "actions.py").write_text(ACTIONS, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    *variables, program, verb, option = shlex.split(COMMAND)
    assert (program, verb, option) == ("parleyd", "serve", "--development")
    for variable in variables:
        monkeypatch.setenv(*variable.split("=", 1))
    yield
    for name in [name for name in sys.modules if name == "shop" or name.startswith("shop.")]:
        del sys.modules[name]


async def test_the_button_of_the_page_calls_the_action_of_the_page(
    start_server: StartServer,
) -> None:
    settings = load_settings(development=True)
    server = await start_server(
        in_turn([Text(DOCUMENT)]), blocks=settings.blocks, host_actions=settings.host_actions
    )
    played: dict[str, Any] = {}
    exec(CALL, played)

    ada = await server.person("ada")
    shown = await ada.prompt("My orders?")
    assert shown.events[-2].blocks.ok
    own = shown.conversation_id
    [_, reply] = await ada.messages(own)
    pressed: RunBlockActionResponse = await played["pressed"](ada.client, own, reply.message_id)

    assert heading_of(pressed) == "2 more parcels for A-17"
    assert pressed.replace == RunBlockActionResponse.REPLACE_BLOCK
    [element] = reply.blocks.blocks[0].actions.elements
    assert json.loads(element.button.action.callback.payload_json) == {
        "order_id": "A-17",
        "parcels": 2,
    }
    error = await refusal(ada, pressing(own, "addParcels", {"order_id": "A-17", "parcels": 0}))
    assert [fault.path for fault in error.fields] == ["payload.parcels"]
    hidden = await ada.client.turns.RunBlockAction(pressing(own, "hide"))
    assert hidden == RunBlockActionResponse()


def test_without_blocks_there_are_no_host_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARLEY_BLOCKS")
    with pytest.raises(ConfigurationError, match="PARLEY_HOST_ACTIONS is of no use without"):
        load_settings(development=True)


async def test_another_person_is_told_that_the_order_is_not_theirs(
    start_server: StartServer,
) -> None:
    server = await start_server(
        in_turn([Text("Hello.")]), blocks=True, host_actions=("shop.actions:add_parcels",)
    )
    eve = await server.person("eve")
    own = (await eve.prompt("Hello")).conversation_id
    request = pressing(own, "addParcels", {"order_id": "A-17", "parcels": 2})
    assert (await eve.client.turns.RunBlockAction(request)).text == "You have no order A-17."
