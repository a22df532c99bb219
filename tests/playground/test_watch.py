"""The watch beside the chat, which knows no kinds; and what an approval lets run."""

from pathlib import Path

from playwright.async_api import expect

from parley.v1.turns_pb2 import SURFACE_COMPACT, TurnRequest
from parleyd.contract.prompts import COMPACT_LINE
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.playground.conftest import Open
from tests.playground.phone import Phone
from tests.standard_asks import PLAN, ask_plan
from tests.standard_tools import DELETE, StandardTools, delete


async def test_a_button_of_the_watch_answers_and_the_phone_shows_it(open_playground: Open) -> None:
    opened = await open_playground(in_turn([ask_plan()], [Text("Enterprise it is.")]))
    phone = Phone(opened.page)
    await expect(phone.watch).to_contain_text("No questions")
    await phone.say("Set up my plan")
    await phone.is_asked(str(PLAN["prompt"]))
    await expect(phone.watch).to_contain_text(str(PLAN["prompt"]))
    assert await phone.watch.get_by_role("button").count() <= 3
    async with opened.page.expect_request("**/parley.v1.TurnService/Turn") as sending:
        await phone.watch.get_by_role("button", name="Enterprise").click()
    sent = TurnRequest.FromString((await sending.value).post_data_buffer or b"")
    assert sent.surface == SURFACE_COMPACT
    assert sent.button.button_id == "option:enterprise"
    await phone.sees("Enterprise it is.")
    asked, went_on = opened.server.model.calls
    assert COMPACT_LINE not in (asked.system or "")
    assert COMPACT_LINE in (went_on.system or "")
    await phone.is_asked_nothing()
    await expect(phone.answered).to_contain_text("Enterprise")
    await expect(phone.watch).to_contain_text("No questions")


async def test_the_watch_shows_the_questions_of_other_conversations(
    open_playground: Open,
) -> None:
    opened = await open_playground(in_turn([ask_plan()], [Text("Starter it is.")]))
    phone, page = Phone(opened.page), opened.page
    begin = page.get_by_role("button", name="New conversation")
    enter = phone.watch.get_by_role("button", name="Open on the phone")
    await phone.say("Set up my plan")
    await phone.is_asked(str(PLAN["prompt"]))
    await expect(phone.watch).to_contain_text(str(PLAN["prompt"]))
    await expect(enter).to_have_count(0)
    await begin.click()
    await phone.is_asked_nothing()
    await expect(phone.watch).to_contain_text(str(PLAN["prompt"]))
    await enter.click()
    await phone.is_asked(str(PLAN["prompt"]))
    await begin.click()
    await phone.is_asked_nothing()
    await phone.watch.get_by_role("button", name="Starter").click()
    await expect(phone.watch).to_contain_text("No questions")
    await expect(phone.messages.get_by_role("listitem")).to_have_count(0)
    await (
        page.get_by_role("navigation", name="Conversations")
        .get_by_role("listitem")
        .get_by_role("button")
        .first.click()
    )
    await phone.sees("Starter it is.")
    await expect(phone.answered).to_contain_text("Starter")


async def test_the_watch_is_as_small_as_one(open_playground: Open) -> None:
    opened = await open_playground(in_turn([ask_plan()]))
    phone = Phone(opened.page)
    await phone.say("Set up my plan")
    button = phone.watch.get_by_role("button").first
    await expect(button).to_be_visible()
    screen, pressed = await phone.watch.bounding_box(), await button.bounding_box()
    assert screen
    assert pressed
    assert (screen["width"], screen["height"]) == (198, 242)
    assert pressed["height"] >= 24, "WCAG's least size of what is pressed"
    assert await phone.watch.evaluate("it => it.scrollWidth <= it.clientWidth")


async def guarded(open_playground: Open, folder: Path) -> tuple[Phone, StandardTools]:
    """Opens the page and has the agent want to delete something."""
    tools = StandardTools(folder / "runs")
    script = in_turn([delete(keep=["a", "b\u202e"])], [Text("All right.")])
    phone = Phone((await open_playground(script, tools=tools.all_hosted)).page)
    await phone.say("Clean up")
    await expect(phone.question).to_contain_text(DELETE)
    await expect(phone.question.get_by_role("group", name="Arguments")).to_contain_text("202E")
    assert tools.runs(DELETE) == []
    return phone, tools


async def test_a_denied_call_has_not_run(open_playground: Open, tmp_path: Path) -> None:
    phone, tools = await guarded(open_playground, tmp_path)
    await phone.button("Deny").click()
    await phone.sees("All right.")
    await phone.is_asked_nothing()
    await expect(phone.messages).to_contain_text("not approved")
    assert tools.runs(DELETE) == []


async def test_a_call_that_is_denied_on_the_watch_has_not_run(
    open_playground: Open, tmp_path: Path
) -> None:
    phone, tools = await guarded(open_playground, tmp_path)
    await phone.watch.get_by_role("button", name="Deny").click()
    await phone.sees("All right.")
    await phone.is_asked_nothing()
    assert tools.runs(DELETE) == []


async def test_an_approved_call_runs_once(open_playground: Open, tmp_path: Path) -> None:
    phone, tools = await guarded(open_playground, tmp_path)
    await phone.button("Allow").click()
    await phone.sees("All right.")
    (run,) = tools.runs(DELETE)
    assert run.args == {"keep": ["a", "b\u202e"]}
