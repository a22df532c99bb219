"""Every kind of question is answered on the page, and in no other way than the server takes."""

import re

import pytest
from playwright.async_api import expect

from parley.v1.ask_contract_pb2 import ValidateAnswerRequest
from parley.v1.asks_pb2 import AskAnswer
from parleyd.models.script import Hold, Text
from parleyd.models.scripted import in_turn
from parleyd.rpc.ask_inputs import ask_input_to_proto
from tests.playground.conftest import Open, Playground
from tests.playground.drafts import (
    CHOICE,
    CONFIRM,
    EVERY,
    FILES,
    FILLED_IN,
    FORM,
    NOTES,
    Question,
)
from tests.playground.phone import Phone
from tests.standard_asks import PLAN, ask_plan

DONE = [Text("Noted.")]
EMAIL_FAULT = "Enter an email address, as in ines@example.org."


async def stored_answer(opened: Playground) -> AskAnswer:
    """Returns the only answer of the only conversation."""
    noor = await opened.server.person()
    (conversation,) = await noor.conversations()
    messages = await noor.messages(conversation.conversation_id)
    (answer,) = [each.ask.answer for each in messages if each.ask.HasField("answer")]
    return answer


async def asking(open_playground: Open, question: Question) -> tuple[Playground, Phone]:
    """Opens the page and has it ask."""
    opened = await open_playground(in_turn([question.call], DONE))
    phone = Phone(opened.page)
    await phone.say("Ask me")
    await phone.is_asked(str(question.input["prompt"]))
    return opened, phone


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.kind)
async def test_an_answer_of_every_kind_goes_on_with_the_turn(
    open_playground: Open, question: Question
) -> None:
    opened, phone = await asking(open_playground, question)
    for draft in question.drafts:
        await draft.step(phone)
    if question is CONFIRM:
        await phone.button("Wait").click()
    else:
        await phone.submit.click()
    await phone.sees("Noted.")
    await phone.is_asked_nothing()
    asked = question.input.get("title", question.input["prompt"])
    await expect(phone.answered).to_have_count(1)
    await expect(phone.answered).not_to_have_attribute("open", re.compile(""))
    await expect(phone.answered.locator("summary")).to_have_text(f"{asked} {question.told}")
    answer = await stored_answer(opened)
    if question is FILES:
        (file,) = answer.accept.files.files
        noor = await opened.server.person()
        assert (await noor.download(file.file_id))[1] == NOTES
    else:
        assert answer == question.drafts[-1].answer


@pytest.mark.parametrize("question", FILLED_IN, ids=lambda question: question.kind)
async def test_submit_is_enabled_exactly_while_the_server_would_take_the_answer(
    open_playground: Open, question: Question
) -> None:
    opened, phone = await asking(open_playground, question)
    noor = await opened.server.person()
    ask_input = ask_input_to_proto(question.kind, question.input)
    for draft in question.drafts:
        await draft.step(phone)
        await expect(phone.submit).to_have_attribute("aria-busy", "false")
        if draft.taken:
            await expect(phone.submit, draft.name).to_be_enabled()
        else:
            await expect(phone.submit, draft.name).to_be_disabled()
        if draft.answer:
            request = ValidateAnswerRequest(input=ask_input, answer=draft.answer)
            checked = await noor.client.contract.ValidateAnswer(request)
            assert (not checked.errors) is draft.taken, (draft.name, checked.errors)
    assert len(opened.server.model.calls) == 1, "nothing was sent"


async def test_a_press_on_a_disabled_submit_says_what_is_missing_where_it_is(
    open_playground: Open,
) -> None:
    opened, phone = await asking(open_playground, FORM)
    await expect(phone.submit).to_be_disabled()
    await phone.submit.press("Enter")
    name = phone.question.get_by_label("Name")
    await expect(name).to_be_focused()
    await expect(name).to_have_attribute("aria-invalid", "true")
    await expect(name).to_have_accessible_description("Fill this in.")
    await expect(phone.question.get_by_label("Day")).to_have_attribute("aria-invalid", "true")
    await expect(phone.question.get_by_label("Email")).not_to_have_attribute("aria-invalid", "true")
    await name.fill("Noor")
    await expect(name).not_to_have_attribute("aria-invalid", "true")
    assert len(opened.server.model.calls) == 1


async def test_a_fault_that_the_server_alone_can_tell_is_said_at_its_field(
    open_playground: Open,
) -> None:
    opened, phone = await asking(open_playground, FORM)
    email = phone.question.get_by_label("Email")
    await phone.question.get_by_label("Name").fill("Noor")
    await phone.question.get_by_label("Day").fill("2026-12-24")
    async with opened.page.expect_response("**/ValidateAnswer"):
        await email.fill("noor@")
        await email.blur()
    await expect(email).to_have_attribute("aria-invalid", "true")
    await expect(email).to_have_accessible_description(EMAIL_FAULT)
    await expect(phone.question.get_by_role("alert")).to_have_count(1)
    await expect(phone.submit).to_be_disabled()
    await email.fill("noor@example.org")
    await expect(phone.submit).to_be_enabled()
    await expect(email).not_to_have_attribute("aria-invalid", "true")
    await expect(phone.question.get_by_role("alert")).to_have_count(0)


async def test_a_question_is_skipped_and_one_is_set_aside_by_a_message(
    open_playground: Open,
) -> None:
    opened = await open_playground(
        in_turn([ask_plan()], [Text("As you like.")], [CHOICE.call], [Text("Let's talk.")])
    )
    phone = Phone(opened.page)
    await phone.say("Set up my plan")
    await phone.is_asked(str(PLAN["prompt"]))
    await phone.button("Skip").click()
    await phone.sees("As you like.")
    await phone.say("Pizza")
    await phone.is_asked("What goes on your pizza?")
    await phone.say("Never mind")
    await phone.sees("Let's talk.")
    await phone.is_asked_nothing()
    await expect(phone.answered).to_have_count(2)
    noor = await opened.server.person()
    (conversation,) = await noor.conversations()
    messages = await noor.messages(conversation.conversation_id)
    actions = [
        each.ask.answer.WhichOneof("action") for each in messages if each.ask.HasField("answer")
    ]
    assert actions == ["decline", "cancel"]


@pytest.mark.parametrize(
    ("pressed", "at_once", "then"),
    [("Submit", "Answered", "Team"), ("Skip", "Skipped", "Skipped")],
)
async def test_what_was_done_with_a_question_shows_while_its_turn_runs(
    open_playground: Open, pressed: str, at_once: str, then: str
) -> None:
    opened = await open_playground(
        in_turn([ask_plan()], [Text("Well, "), Hold("half"), Text("good.")]), blocks=False
    )
    phone = Phone(opened.page)
    await phone.say("Set up my plan")
    await phone.is_asked(str(PLAN["prompt"]))
    await phone.button(pressed).click()
    await phone.sees("Well,")
    summary = phone.answered.locator("summary")
    await expect(summary).to_have_text(f"{PLAN['prompt']} {at_once}")
    opened.server.model.holds.release("half")
    await expect(summary).to_have_text(f"{PLAN['prompt']} {then}")


async def test_a_reload_in_the_middle_keeps_the_question(open_playground: Open) -> None:
    opened, phone = await asking(open_playground, CHOICE)
    await opened.page.reload()
    await phone.is_asked("What goes on your pizza?")
    await phone.question.get_by_label("Olives").check()
    await phone.submit.click()
    await phone.sees("Noted.")
    await opened.page.reload()
    await phone.sees("Noted.")
    await phone.is_asked_nothing()
    await expect(phone.answered).to_contain_text("Olives")


async def test_a_choice_is_answered_without_a_mouse(open_playground: Open) -> None:
    opened = await open_playground(in_turn([ask_plan()], DONE))
    phone, keys = Phone(opened.page), opened.page.keyboard
    await phone.box.focus()
    await keys.type("Set up my plan")
    await keys.press("Enter")
    await phone.is_asked(str(PLAN["prompt"]))
    await expect(phone.question.get_by_label("Team")).to_be_checked()
    for _ in range(10):
        await keys.press("Tab")
        if await phone.question.get_by_label("Team").evaluate(
            "it => it === document.activeElement"
        ):
            break
    await expect(phone.question.get_by_label("Team")).to_be_focused()
    await keys.press("ArrowDown")
    await expect(phone.question.get_by_label("Enterprise")).to_be_checked()
    await keys.press("Tab")
    await expect(phone.submit).to_be_focused()
    await expect(phone.submit).to_be_enabled()
    await keys.press("Enter")
    await phone.sees("Noted.")
    assert list((await stored_answer(opened)).accept.choice.selected) == ["enterprise"]
    await expect(phone.box, "the focus is somewhere useful").to_be_focused()
