"""The page is in step with other tabs at once, and with other clients as soon as it matters."""

import pytest
from playwright.async_api import Route, expect

from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, ChoiceAnswer, DeclineAnswer
from parleyd.models.script import Text
from parleyd.models.scripted import in_turn
from tests.playground.conftest import Open, Playground
from tests.playground.phone import Phone
from tests.standard_asks import PLAN, PLAN_ID, ask_plan

TEAM = AskAnswer(accept=AcceptAnswer(choice=ChoiceAnswer(selected=["team"])))
READS = "**/parley.v1.ConversationService/GetConversation"


async def no_way_through(route: Route) -> None:
    """Keeps a request from the server."""
    await route.abort()


async def asked_without_polling(open_playground: Open) -> tuple[Playground, Phone]:
    """Opens a page that never asks by itself what is new, and has the agent ask there."""
    opened = await open_playground(in_turn([ask_plan()], [Text("Starter it is.")]))
    await opened.visitor.context.add_init_script("window.setInterval = () => 0")
    await opened.page.reload()
    phone = Phone(opened.page)
    await phone.say("Set up my plan")
    await phone.is_asked(str(PLAN["prompt"]))
    return opened, phone


@pytest.mark.parametrize("answering", ["the tab that asked", "the other tab"])
async def test_two_tabs_are_in_step(open_playground: Open, answering: str) -> None:
    opened, here = await asked_without_polling(open_playground)
    there = Phone(await opened.visitor.context.new_page())
    opened.visitor.complaints.listen(there.page)
    await there.page.goto(opened.page.url)
    await there.is_asked(str(PLAN["prompt"]))
    tabs = (here, there) if answering == "the tab that asked" else (there, here)
    await tabs[0].question.get_by_label("Starter").check()
    await tabs[0].submit.click()
    for tab in tabs:
        await tab.sees("Starter it is.")
        await tab.is_asked_nothing()
        await expect(tab.answered).to_contain_text("Starter")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (TEAM, "This question was answered elsewhere."),
        (AskAnswer(decline=DeclineAnswer()), "This question was skipped elsewhere."),
    ],
)
async def test_an_answer_that_comes_too_late_is_told_what_became_of_the_question(
    open_playground: Open, answer: AskAnswer, told: str
) -> None:
    opened, phone = await asked_without_polling(open_playground)
    opened.visitor.complaints.expected.append("ERR_FAILED")
    page = opened.page
    # It has read the conversation once, and reads it no more before the answer is given.
    await expect(page.get_by_role("button", name="Change the title")).to_be_visible()
    await page.route(READS, no_way_through)
    noor = await opened.server.person()
    (conversation,) = await noor.conversations()
    await noor.answer(conversation.conversation_id, PLAN_ID, answer)
    await phone.question.get_by_label("Enterprise").check()
    await expect(phone.submit).to_be_enabled()
    await page.unroute(READS)
    await phone.submit.click()
    await expect(page.get_by_role("status").filter(has_text=told)).to_be_visible()
    await phone.is_asked_nothing()
    await phone.sees("Starter it is.")
    await expect(phone.answered).not_to_contain_text("Enterprise")
