"""axe-core finds no serious fault on any view, in both themes, large and small."""

from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Page, expect
from pydantic import JsonValue

from parleyd.models.script import ScriptedStep, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import document, heading
from tests.playground.browser import Look
from tests.playground.conftest import Open
from tests.playground.drafts import EVERY, FORM
from tests.playground.phone import Phone
from tests.playground.test_blocks import SALES, button
from tests.standard_asks import PLAN, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete

AXE: Final = Path(__file__).parents[2] / "playground" / "node_modules" / "axe-core" / "axe.min.js"
LOOKS: Final = (Look("light"), Look("dark"), Look("light", width=390, height=844))
PROSE: Final[JsonValue] = {
    "type": "text",
    "markdown": "## Words\n\nWith *weight*, `code`, [a link](https://example.org) and\n\n"
    "- one\n- two\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |",
}


def badge(status: str) -> dict[str, JsonValue]:
    return {"type": "badge", "text": status, "status": status}


def callout(status: str) -> dict[str, JsonValue]:
    return {"type": "callout", "text": "Mind the gap.", "status": status}


CATALOG: Final = document(
    heading("Everything"),
    PROSE,
    {"type": "metric", "label": "Loans", "value": "12", "delta": "+2", "trend": "up"},
    *map(badge, ("info", "error", "success", "warning")),
    {"type": "divider"},
    {"type": "context", "text": "As of today"},
    *map(callout, ("info", "warning", "alert")),
    {"type": "details", "title": "More", "text": "There is more."},
    {"type": "card", "title": "A card", "children": [heading("Inside")]},
    {"type": "image", "src": "file:gone", "alt": "A house"},
    button("Press", kind="reply", text="Pressed"),
)


@pytest.fixture(scope="module")
def axe() -> str:
    """Returns the source of axe-core, which is installed with what the playground is built with."""
    if not AXE.exists():
        pytest.skip("axe-core is not here: run 'make playground' with Node 20.19 or newer.")
    return AXE.read_text(encoding="utf-8")


async def faults(page: Page, axe: str) -> list[str]:
    """Returns what axe-core finds that is serious or worse."""
    await page.evaluate(axe)
    found: dict[str, list[dict[str, Any]]] = await page.evaluate(
        "axe.run(document, {resultTypes: ['violations']})"
    )
    return [
        f"{fault['impact']}: {fault['help']}: {node['html']}: {node['failureSummary']}"
        for fault in found["violations"]
        if fault["impact"] in {"serious", "critical"}
        for node in fault["nodes"]
    ]


looks = pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.theme}-{look.width}")


@looks
async def test_a_new_conversation(open_playground: Open, axe: str, look: Look) -> None:
    opened = await open_playground(in_turn(), look=look, bypass_csp=True)
    await expect(Phone(opened.page).box).to_be_visible()
    assert await faults(opened.page, axe) == []


@looks
async def test_the_form_for_a_token(open_playground: Open, axe: str, look: Look) -> None:
    opened = await open_playground(in_turn(), look=look, bypass_csp=True)
    await opened.page.evaluate("sessionStorage.clear()")
    await opened.page.reload()
    await expect(opened.page.get_by_label("Token")).to_be_visible()
    assert await faults(opened.page, axe) == []


@looks
async def test_questions_of_every_kind_and_their_answers(
    open_playground: Open, axe: str, look: Look
) -> None:
    steps: list[ScriptedStep] = []
    for question in EVERY:
        steps += [[question.call], [Text("Noted.")]]
    opened = await open_playground(in_turn(*steps), look=look, bypass_csp=True)
    phone = Phone(opened.page)
    for question in EVERY:
        await phone.say("Ask me")
        await phone.is_asked(str(question.input["prompt"]))
        assert await faults(opened.page, axe) == [], question.kind
        if question is FORM:
            await phone.submit.press("Enter")
            await expect(phone.question.get_by_role("alert").first).to_be_visible()
            assert await faults(opened.page, axe) == [], "a form with problems"
        await phone.button("Dismiss this question").click()
        await phone.is_asked_nothing()
    for answered in await phone.answered.all():
        await answered.locator("summary").click()
    assert await faults(opened.page, axe) == [], "questions that are done with"


@looks
async def test_a_document(open_playground: Open, axe: str, look: Look) -> None:
    opened = await open_playground(
        in_turn([Text(CATALOG)], [Text(SALES)]), look=look, bypass_csp=True
    )
    phone = Phone(opened.page)
    opened.visitor.complaints.expected.append("status of 404")
    await phone.say("Show me everything")
    await expect(phone.messages.get_by_role("heading", name="Everything")).to_be_visible()
    assert await faults(opened.page, axe) == []
    await phone.say("And sales")
    await expect(
        phone.messages.get_by_role("figure", name="Sales").get_by_role("img")
    ).to_be_visible()
    await phone.messages.get_by_text("Show data").click()
    assert await faults(opened.page, axe) == [], "a chart"


@looks
async def test_an_approval_and_the_watch(
    open_playground: Open, axe: str, look: Look, tmp_path: Path
) -> None:
    tools = StandardTools(tmp_path / "runs").all_hosted
    script = in_turn([ask_plan()], [delete(note="x" * 300)])
    opened = await open_playground(script, look=look, bypass_csp=True, tools=tools)
    phone, page = Phone(opened.page), opened.page
    await phone.say("Set up my plan")
    await phone.is_asked(str(PLAN["prompt"]))
    if look.width < 1000:
        await page.get_by_role("button", name="Conversations").click()
        assert await faults(page, axe) == [], "the list of conversations"
    await page.get_by_role("button", name="New conversation").click()
    await phone.say("Clean up")
    await expect(phone.question).to_contain_text(DELETE)
    if look.width < 1000:
        await page.get_by_role("button", name="Watch").click()
    await expect(phone.watch.get_by_role("button", name="Allow")).to_be_visible()
    assert await faults(page, axe) == []
