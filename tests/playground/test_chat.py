"""Speaking to the agent: what is streamed, kept, uploaded, and told in every tab."""

import json
import re
import struct
from typing import Final

import pytest
from playwright.async_api import Route, expect
from pydantic import JsonValue

from parleyd.models.script import Fail, Hold, Text
from parleyd.models.scripted import in_turn
from tests.end_to_end.documents import LOANS, document
from tests.playground.conftest import Open
from tests.playground.phone import Phone

CHART: Final[dict[str, JsonValue]] = {
    "type": "chart",
    "kind": "bar",
    "title": "Sales",
    "points": [{"label": "May", "value": 3}, {"label": "June", "value": 5}],
}


async def test_a_reply_shows_while_it_is_written_and_stays(open_playground: Open) -> None:
    opened = await open_playground(
        in_turn([Text("Well, "), Hold("half"), Text("**hello** <b>there</b>.")]), blocks=False
    )
    phone = Phone(opened.page)
    await expect(opened.page).to_have_url(f"{opened.url}/")
    await phone.say("Hi")
    await expect(phone.line("Hi")).to_be_visible()
    await expect(phone.line("Well,")).to_have_attribute("aria-busy", "true")
    await expect(phone.box).to_have_value("")
    opened.server.model.holds.release("half")
    reply = phone.line("Well, hello <b>there</b>.")
    await expect(reply).to_have_attribute("aria-busy", "false")
    await expect(reply.get_by_role("strong")).to_have_text("hello")
    await opened.page.reload()
    await expect(reply).to_be_visible()
    await expect(phone.line("Hi")).to_be_visible()
    assert opened.visitor.token not in opened.page.url


async def test_the_finished_blocks_of_a_document_show_while_it_is_written(
    open_playground: Open,
) -> None:
    head = "v: 1\nblocks:\n  - {type: heading, text: Loans}\n  - {type: heading, te"
    opened = await open_playground(in_turn([Text(head), Hold("half"), Text("xt: Returns}")]))
    phone = Phone(opened.page)
    await phone.say("How is it going?")
    await expect(phone.messages.get_by_role("heading", name="Loans")).to_be_visible()
    await expect(phone.line("Loans")).to_have_attribute("aria-busy", "true")
    opened.server.model.holds.release("half")
    await expect(phone.messages.get_by_role("heading", name="Returns")).to_be_visible()
    await expect(phone.line("Loans")).to_have_attribute("aria-busy", "false")


async def test_a_reload_in_the_middle_goes_on_where_the_reply_is(open_playground: Open) -> None:
    opened = await open_playground(
        in_turn([Text("Well, "), Hold("half"), Text("hello.")]), blocks=False
    )
    phone = Phone(opened.page)
    await phone.say("Hi")
    await expect(phone.line("Well,")).to_be_visible()
    await opened.page.reload()
    await expect(phone.line("Well,")).to_have_attribute("aria-busy", "true")
    opened.server.model.holds.release("half")
    await expect(phone.line("Well, hello.")).to_have_attribute("aria-busy", "false")


async def test_a_failed_turn_is_told_and_goes_on(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Fail("other")], [Text("There.")]), blocks=False)
    phone = Phone(opened.page)
    await phone.say("Hi")
    await phone.messages.get_by_role("alert").get_by_role("button", name="Retry").click()
    await phone.sees("There.")
    await expect(phone.messages.get_by_role("alert")).to_have_count(0)


def too_late() -> bytes:
    """Returns the end of a stream of Connect whose time was over, as a gateway may send it."""
    end = json.dumps({"error": {"code": "deadline_exceeded", "message": "Too late."}}).encode()
    return struct.pack(">BI", 2, len(end)) + end


@pytest.mark.parametrize("written_since", ["", "One more thing"])
async def test_a_message_that_is_tried_again_is_said_once(
    open_playground: Open, written_since: str
) -> None:
    opened = await open_playground(in_turn([Text("Hello.")]), blocks=False)
    phone, page = Phone(opened.page), opened.page

    async def lose_the_answer(route: Route) -> None:
        await route.fetch()
        await route.fulfill(body=too_late(), content_type="application/connect+proto")

    await page.route("**/parley.v1.TurnService/StreamTurn", lose_the_answer, times=1)
    await phone.say("Hi")
    again = page.get_by_role("alert").get_by_role("button", name="Try again")
    await expect(again).to_be_visible()
    await expect(phone.box).to_have_value("Hi")
    if written_since:
        await phone.box.fill(written_since)
    await again.click()
    await expect(phone.line("Hello.")).to_have_count(1)
    await expect(phone.box).to_have_value(written_since)
    noor = await opened.server.person()
    (conversation,) = await noor.conversations()
    messages = await noor.messages(conversation.conversation_id)
    assert [message.text for message in messages] == ["Hi", "Hello."]


async def test_a_file_goes_with_a_message(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Text("Thanks.")]))
    phone = Phone(opened.page)
    notes = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"Bring the tent."}
    async with opened.page.expect_file_chooser() as choosing:
        await opened.page.get_by_role("button", name="Attach files").click()
    await (await choosing.value).set_files([notes])  # pyright: ignore[reportArgumentType] - a literal is no TypedDict
    await expect(
        opened.page.get_by_role("button", name=re.compile("Take .*notes.txt"))
    ).to_be_visible()
    await phone.say("Look at this")
    await phone.sees("Thanks.")
    async with opened.page.expect_download() as saving:
        await phone.messages.get_by_role("button", name="notes.txt").click()
    saved = await saving.value
    assert saved.suggested_filename == "notes.txt"
    assert (await saved.path()).read_bytes() == b"Bring the tent."


async def test_conversations_are_listed_opened_and_deleted(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Text("One.")], [Text("Two.")]), blocks=False)
    phone, page = Phone(opened.page), opened.page
    rows = page.get_by_role("navigation", name="Conversations").get_by_role("listitem")
    await phone.say("First")
    await phone.sees("One.")
    await page.get_by_role("button", name="New conversation").click()
    await expect(phone.line("One.")).to_have_count(0)
    await phone.say("Second")
    await phone.sees("Two.")
    await expect(rows).to_have_count(2)
    await rows.last.get_by_role("button").first.click()
    await phone.sees("One.")
    await page.go_back()
    await phone.sees("Two.")
    await rows.first.get_by_role("button", name=re.compile("Delete")).click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(rows).to_have_count(1)
    await expect(phone.line("Two.")).to_have_count(0)


async def test_a_token_is_asked_for_where_there_is_none(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Text("Hello.")]))
    stranger = await opened.page.context.browser.new_context()  # pyright: ignore[reportOptionalMemberAccess] - it has one
    page = await stranger.new_page()
    await page.goto(opened.url)
    await page.get_by_label("Token").fill(opened.visitor.token)
    await page.get_by_role("button", name="Enter").click()
    await Phone(page).say("Hi")
    await Phone(page).sees("Hello.")
    await stranger.close()


async def test_a_token_that_no_longer_counts_is_told_and_another_goes_on(
    open_playground: Open,
) -> None:
    opened = await open_playground(in_turn([Text("Hello.")]))
    opened.visitor.complaints.expected.append(r"status of 401")
    page = await opened.visitor.tab(token="rubbish")
    await expect(page.get_by_role("alert")).to_contain_text("expired")
    await page.get_by_label("Token").fill(opened.visitor.token)
    await page.get_by_role("button", name="Enter").click()
    await Phone(page).say("Hi")
    await Phone(page).sees("Hello.")


async def test_charts_are_not_loaded_before_one_is_shown(open_playground: Open) -> None:
    opened = await open_playground(in_turn([Text(LOANS)], [Text(document(CHART))]))
    phone, asked = Phone(opened.page), opened.visitor.complaints.requests
    await phone.say("Loans?")
    await expect(phone.messages.get_by_role("heading", name="Loans")).to_be_visible()
    before = {path for path in asked if path.endswith(".js")}
    assert not any("drawing" in path for path in before)
    # The place of the chart is in view before what draws it is asked for.
    async with opened.page.expect_request("**/drawing-*.js"):
        await phone.say("Sales?")
    await expect(phone.messages.get_by_role("img", name=re.compile("Bar chart"))).to_be_visible()
    (loaded,) = {path for path in asked if path.endswith(".js")} - before
    assert "drawing" in loaded
