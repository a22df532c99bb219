"""Documents on the page: charts, buttons, and all that an agent may try to smuggle in."""

import json
import re

import pytest
from playwright.async_api import expect
from pydantic import JsonValue

from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests import loan_actions
from tests.end_to_end.documents import NOTE, document
from tests.end_to_end.pressed import ACTIONS
from tests.playground.conftest import Open
from tests.playground.phone import Phone

COLUMNS: JsonValue = [{"name": "month", "type": "string"}, {"name": "sum", "type": "number"}]
DATASETS: JsonValue = {
    "this_year": {"columns": COLUMNS, "rows": [["May", 30], ["June", 50]]},
    "last_year": {"columns": COLUMNS, "rows": [["May", 11], ["June", 12]]},
}
SALES = json.dumps(
    {
        "v": 1,
        "datasets": DATASETS,
        "blocks": [
            {
                "type": "chart",
                "id": "sales",
                "kind": "bar",
                "title": "Sales",
                "data": "this_year",
                "x": "month",
                "y": "sum",
            },
            {
                "type": "actions",
                "id": "years",
                "elements": [
                    {
                        "type": "segmented",
                        "id": "year",
                        "target": "sales",
                        "options": [
                            {"label": "This year", "data": "this_year"},
                            {"label": "Last year", "data": "last_year"},
                        ],
                    }
                ],
            },
        ],
    }
)

FRAME_POLICY = [
    "base-uri 'none'",
    "default-src 'none'",
    "font-src data:",
    "form-action 'none'",
    "img-src data:",
    "style-src 'unsafe-inline'",
]


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    loan_actions.forget()


def button(label: str, **action: JsonValue) -> dict[str, JsonValue]:
    """Returns a block with one button."""
    element: JsonValue = {"type": "button", "id": "pay", "text": label, "action": action}
    return {"type": "actions", "id": "actions", "elements": [element]}


async def test_a_chart_is_switched_to_other_data(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Text(SALES)]))
    phone = Phone(opened.page)
    await phone.say("How are our sales?")
    figure = phone.messages.get_by_role("figure", name="Sales")
    await expect(figure.get_by_role("img", name="Bar chart")).to_be_visible()
    await figure.get_by_text("Show data").click()
    await expect(figure.get_by_role("cell")).to_have_text(["30", "50"])
    await expect(phone.messages.get_by_role("radio", name="This year")).to_be_checked()
    await phone.messages.get_by_role("radio", name="This year").press("ArrowRight")
    await expect(phone.messages.get_by_role("radio", name="Last year")).to_be_checked()
    await expect(figure.get_by_role("cell")).to_have_text(["11", "12"])


async def test_a_button_runs_an_action_whose_document_takes_the_place_of_its_block(
    open_playground: Open,
) -> None:
    payload: JsonValue = {"loan_id": "L-1", "parts": [{"cents": 3}]}
    reply = document(button("Pay back", kind="callback", name="repay", payload=payload))
    opened = await open_playground(in_turn([Text(reply)]), host_actions=ACTIONS)
    phone = Phone(opened.page)
    await phone.say("My loan?")
    await phone.messages.get_by_role("button", name="Pay back").click()
    await expect(phone.messages.get_by_role("heading", name="L-1: 3")).to_be_visible()
    await phone.sees("Paid.")
    await expect(phone.messages.get_by_role("button", name="Pay back")).to_have_count(0)
    ((name, context),) = loan_actions.calls
    assert name == "repay"
    assert context
    assert (context.owner, context.block_id, context.element_id) == ("noor", "actions", "pay")


async def test_an_action_that_fails_is_told_and_can_be_tried_again(open_playground: Open) -> None:
    reply = document(button("Fail", kind="callback", name="fail"))
    opened = await open_playground(in_turn([Text(reply)]), host_actions=ACTIONS)
    opened.visitor.complaints.expected.append(r"RunBlockAction|status of 5")
    phone = Phone(opened.page)
    await phone.say("My loan?")
    await phone.messages.get_by_role("button", name="Fail").click()
    await expect(phone.messages.get_by_role("alert")).to_be_visible()
    await expect(phone.messages.get_by_role("button", name="Fail")).to_be_enabled()


async def test_a_button_says_something_for_the_person(open_playground: Open) -> None:
    reply = document(button("More", kind="reply", text="Tell me more"))
    opened = await open_playground(in_turn([Text(reply)], [Text("That is all.")]))
    phone = Phone(opened.page)
    await phone.say("Hi")
    await phone.messages.get_by_role("button", name="More").click()
    await expect(phone.line("Tell me more")).to_be_visible()
    await phone.sees("That is all.")


async def test_the_html_of_an_agent_is_in_a_frame_that_can_do_nothing(
    open_playground: Open,
) -> None:
    html = "<h1>Dear Noor</h1><p onclick='x()'>Pay <a href='https://evil.example'>here</a></p>"
    reply = document({"type": "html", "html": html, "title": "Letter"})
    opened = await open_playground(in_turn([Text(reply)]), blocks_html=True)
    phone = Phone(opened.page)
    await phone.say("Write a letter")
    frame = phone.messages.locator("iframe")
    await expect(frame).to_have_attribute("sandbox", "")
    await expect(frame).not_to_have_attribute("src", re.compile(""))
    inside = await frame.get_attribute("srcdoc") or ""
    policy = re.match('<meta http-equiv="Content-Security-Policy" content="([^"]*)">', inside)
    assert policy, "the policy comes before anything that the agent wrote"
    assert sorted(policy[1].split("; ")) == FRAME_POLICY
    assert "onclick" not in inside
    assert "evil.example" not in inside
    await expect(frame.content_frame.get_by_role("heading", name="Dear Noor")).to_be_visible()
    assert await phone.page.evaluate("document.querySelector('iframe').contentDocument") is None


async def test_nothing_that_an_agent_writes_becomes_part_of_the_page(
    open_playground: Open,
) -> None:
    evil = (
        "<img src=x onerror=alert(1)><script>alert(2)</script>\n\n"
        "[click](javascript:alert(3)) [there](https://evil.example/?q=1) "
        "![pixel](https://evil.example/p.png) <https://evil.example>"
    )
    opened = await open_playground(in_turn([Text(evil)]), blocks=False)
    phone = Phone(opened.page)
    await phone.say("Hi")
    await phone.sees("<script>alert(2)</script>")
    assert await phone.messages.locator("script, img, iframe, object, embed").count() == 0
    for link in await phone.messages.get_by_role("link").all():
        assert re.match("https://", await link.get_attribute("href") or "")
        assert "noopener" in (await link.get_attribute("rel") or "")
        assert "noreferrer" in (await link.get_attribute("rel") or "")


async def test_the_policy_holds_even_if_the_page_were_fooled(open_playground: Open) -> None:
    opened = await open_playground(in_turn())
    opened.visitor.complaints.expected += ["Content Security Policy", "evil.example"]
    await opened.page.evaluate(
        """() => {
            document.body.insertAdjacentHTML("beforeend",
                "<img src='https://evil.example/p.png' onerror='window.fooled = 1'>" +
                "<iframe src='https://evil.example'></iframe><b style='color: red'>b</b>");
            const script = document.createElement("script");
            script.textContent = "window.fooled = 2";
            document.body.append(script);
            return fetch("https://evil.example").catch(() => 0);
        }"""
    )
    assert await opened.page.evaluate("window.fooled") is None


async def test_a_document_that_breaks_rules_is_told(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Text(document({"type": "heading"}))]))
    phone = Phone(opened.page)
    path = phone.line("can't be shown as it was meant").get_by_role("code")
    await phone.say("Hi")
    await expect(path).to_have_text("blocks[0].text")
    await opened.page.reload()
    await expect(path).to_have_text("blocks[0].text")
    await phone.messages.get_by_text("Show the text of the reply").click()
    await expect(phone.messages).to_contain_text('{"type": "heading"}')
    await expect(phone.messages).not_to_contain_text(NOTE.strip())


async def test_prose_in_place_of_a_document_is_prose_before_and_after_it_is_stored(
    open_playground: Open,
) -> None:
    opened = await open_playground(in_turn([Text("Just **words**.")]))
    phone = Phone(opened.page)
    await phone.say("Hi")
    strong = phone.line("Just words.").get_by_role("strong")
    await expect(strong).to_have_text("words")
    await opened.page.reload()
    await expect(strong).to_have_text("words")
    await expect(phone.messages).not_to_contain_text(NOTE.strip())
