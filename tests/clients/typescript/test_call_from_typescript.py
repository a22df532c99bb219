"""The code of the page on TypeScript compiles and runs as it stands."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.clients.scenes import ran
from tests.clients.typescript.scenes import REPOSITORY, npm
from tests.gateway.conftest import StartGateway
from tests.server import Server, StartServer
from tests.standard_asks import ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

PAGE: Final = REPOSITORY / "docs" / "how-to" / "call-from-typescript.md"
NODE, GATEWAY, TOKEN = "127.0.0.1:50051", "127.0.0.1:8080", '(await fetch("/token")).text()'
TEAM: Final = [Text("Team it is.")]
CONFIGURATION: Final = {
    "extends": "../../tsconfig.json",
    "compilerOptions": {"noEmit": False, "rootDir": ".", "outDir": "out"},
    "include": ["."],
}


@pytest.fixture(scope="module")
def page(built: Path) -> Path:
    """Returns a folder with the code of the page: `chat.mjs`, `browser.js` and `page.js`.

    It is inside of the client, which finds itself by its name there.
    """
    text = PAGE.read_text(encoding="utf-8")
    (chat,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    browser, *others = re.findall(r"```ts\n(.*?)```", text, re.DOTALL)
    assert NODE in chat
    assert GATEWAY in browser
    assert TOKEN in browser
    chat = chat.replace(f'"http://{NODE}"', "process.env.BASE_URL")
    browser = browser.replace(f'"http://{GATEWAY}"', '`${process.env["BASE_URL"]}`')
    browser = browser.replace(TOKEN, '`${process.env["TOKEN"]}`')
    folder = built / "page"
    (folder / "out").mkdir(parents=True)
    (folder / "out" / "chat.mjs").write_text(chat, encoding="utf-8")
    (folder / "browser.ts").write_text(browser, encoding="utf-8")
    (folder / "page.ts").write_text("".join(others), encoding="utf-8")
    (folder / "tsconfig.json").write_text(json.dumps(CONFIGURATION), encoding="utf-8")
    npm("run", "build")
    npm("exec", "--", "tsc", "--project", str(folder))
    return folder / "out"


async def test_the_program_asks_and_presses_a_button(start_server: StartServer, page: Path) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM))
    base_url = f"http://{server.address}"
    printed = await ran("node", "chat.mjs", server.token(), folder=page, BASE_URL=base_url)
    assert printed == [
        "Which plan do you want? [ 'Team', 'Starter', 'Enterprise' ]",
        "Team it is.",
    ]


async def test_the_page_of_a_browser_shows_what_is_written(
    start_server: StartServer, start_gateway: StartGateway, page: Path
) -> None:
    server = await start_server(in_turn([Text("Hello "), Text("there.")]), web=True)
    printed = await driven(
        page,
        """
        import { ask } from "./browser.js";
        await ask("Hello?", console.log, new AbortController().signal);
        """,
        BASE_URL=f"http://{(await start_gateway(server)).address}",
        TOKEN=server.token(),
    )
    assert all("Hello there.".startswith(line) for line in printed)
    assert printed[-1] == "Hello there."


async def test_a_question_is_answered_and_its_turn_watched_from_a_place(
    start_server: StartServer, page: Path
) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM))
    printed = await asking(
        page,
        server,
        "console.log(await page.answer(client, ask)); await page.goOn(client, ...place, 1);",
    )
    assert printed == ["Team it is.", "2 ask", "3 done"]


async def test_a_call_is_approved(start_server: StartServer, page: Path, tmp_path: Path) -> None:
    tools = StandardTools(tmp_path / "runs")
    script = in_turn([delete(note="a\u202eb")], [Text("Gone.")])
    server = await start_server(script, tools=tools.all_hosted)
    printed = await asking(page, server, "console.log(await page.decide(client, ask, true));")
    assert printed == [rf'{DELETE} {{"note":"a\u{{202e}}b"}}', "Gone."]
    assert len(tools.runs(DELETE)) == 1


async def test_an_error_is_read(start_server: StartServer, page: Path) -> None:
    server = await start_server(in_turn([ask_plan()], TEAM))
    press = 'console.log(await page.press(client, ask, "option:team"));'
    assert await asking(page, server, press * 2) == [
        "Team it is.",
        "Somebody else was faster: accept",
    ]


async def test_a_form_with_a_file_is_sent(
    start_server: StartServer, start_gateway: StartGateway, page: Path
) -> None:
    server = await start_server(in_turn(), web=True)
    file_id, *told = await driven(
        page,
        """
        import { upload } from "./page.js";
        const { BASE_URL, TOKEN } = process.env;
        const file = new File(["Bring the tent."], "notes.txt", { type: "text/plain" });
        console.log(await upload(BASE_URL, TOKEN, file));
        await upload(BASE_URL, "rubbish", file).catch((error) => console.log(error.message));
        """,
        BASE_URL=f"http://{(await start_gateway(server)).address}",
        TOKEN=server.token(),
    )
    file, data = await (await server.person()).download(file_id)
    assert (file.filename, file.mime_type, data) == ("notes.txt", "text/plain", b"Bring the tent.")
    assert len(told) == 1
    assert "token" in told[0]


async def asking(page: Path, server: Server, body: str) -> list[str]:
    """Runs code that has a `client`, an `ask` and the `place` of its turn at hand."""
    return await driven(
        page,
        f"""
        import {{ connect, turnEvents }} from "@parley/client/node";
        import * as page from "./page.js";
        const {{ BASE_URL: baseUrl, TOKEN: token }} = process.env;
        const client = connect({{ baseUrl, token }});
        let ask, place;
        const input = {{ case: "prompt", value: {{ text: "Set up my plan" }} }};
        for await (const {{ event, turnId }} of turnEvents(client, {{ input }})) {{
            if (event.case === "started") place = [event.value.conversationId, turnId];
            if (event.case === "ask") ask = event.value;
        }}
        {body}
        """,
        BASE_URL=f"http://{server.address}",
        TOKEN=server.token(),
    )


async def driven(page: Path, code: str, **environment: str) -> list[str]:
    """Runs code beside that of the page, and returns the lines that it prints."""
    return await ran("node", "--input-type=module", "--eval", code, folder=page, **environment)
