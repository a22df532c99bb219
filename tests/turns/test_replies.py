"""How a reply is cleaned before it is shown and stored, and what a title comes to."""

import asyncio

import pytest
from structlog.testing import capture_logs

from parleyd.contract import limits
from parleyd.models.script import Fail, Hold, Raise, ScriptedStep, Text
from parleyd.models.scripted import ScriptedModel, TextCall, in_turn
from parleyd.turns.replies import TITLE_INSTRUCTIONS, WrittenTitle, clean_reply, write_title
from tests.turns.waiting import in_time

CASES = {
    "text is trimmed": ("  Hello there.\n", "Hello there."),
    "nothing stays nothing": (" \n\u00a0", ""),
    "an action after text is removed": ('Done.\n{"action": "refresh", "id": 3}', "Done."),
    "an action with braces inside is removed": (
        'See {this}. {"note": "}{", "action": {"name": "open"}}',
        "See {this}.",
    ),
    "a reply that is only an action is kept": ('{"action": "refresh"}', '{"action": "refresh"}'),
    "an object without an action is kept": ('Config: {"a": 1}', 'Config: {"a": 1}'),
    "an action in the middle is kept": ('{"action": 1} and more', '{"action": 1} and more'),
    "an action nested in another object is kept": (
        'See {"b": {"action": 1}}',
        'See {"b": {"action": 1}}',
    ),
    "braces that are no JSON are kept": ("f(x) = {x}", "f(x) = {x}"),
    "what cannot be stored is replaced": ("a\x00b\ud83dc", "a\ufffdb\ufffdc"),
}


@pytest.mark.parametrize(("text", "cleaned"), CASES.values(), ids=CASES)
def test_a_reply_is_cleaned(text: str, cleaned: str) -> None:
    assert clean_reply(text) == cleaned


def test_a_reply_of_many_open_braces_is_cleaned_in_bounded_time() -> None:
    text = "x" + "{" * 5_000 + "}"
    assert clean_reply(text) == text


# ---------------------------------------------------------------- titles


async def title_of(step: ScriptedStep, reply: str = "Hi.") -> tuple[WrittenTitle, ScriptedModel]:
    model = ScriptedModel(in_turn(), title=step)
    return await in_time(write_title(model, 0.3, "Hello", reply)), model


TITLES = {
    "as it is": ("Workspace setup", "Workspace setup"),
    "trimmed": (" \n Workspace setup\n", "Workspace setup"),
    "in quotes": ('"Workspace setup"', "Workspace setup"),
    "in quotes and spaces": (' " Workspace setup " ', "Workspace setup"),
    "one pair of quotes alone": ('""Workspace""', '"Workspace"'),
    "a quote in it": ('Ada\'s "plan"', 'Ada\'s "plan"'),
    "a single quote": ('"', '"'),
    "cut": ("x" * 201, "x" * limits.CONVERSATION_TITLE_CHARACTERS),
    "storable": ("Work\x00space", "Work\ufffdspace"),
    "nothing": (" \n", None),
    "nothing in quotes": ('""', None),
}


@pytest.mark.parametrize(("written", "title"), TITLES.values(), ids=TITLES)
async def test_h6_a_title_is_trimmed_unquoted_and_cut(written: str, title: str | None) -> None:
    made, _ = await title_of([Text(written)])
    assert made == WrittenTitle(title)


async def test_h6_a_title_is_made_of_the_message_and_the_beginning_of_the_reply() -> None:
    _, model = await title_of([Text("Plans")], reply="y" * 501)
    assert model.text_calls == [
        TextCall(TITLE_INSTRUCTIONS, f"The person: Hello\n\nThe reply: {'y' * 500}", 0.3)
    ]


@pytest.mark.parametrize("step", [(Fail("server", "SECRET"),), (Raise("SECRET"),)], ids=repr)
async def test_f24_a_title_that_fails_is_none_and_its_words_are_for_the_request_log(
    step: ScriptedStep,
) -> None:
    with capture_logs() as logs:
        made, model = await title_of(step)
    assert made == WrittenTitle(None, "SECRET")
    assert "SECRET" not in str(logs)
    assert model.streaming == 0


async def test_a_slow_title_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TITLE_SECONDS", 0.03)
    made, model = await title_of((Hold("title"), Text("Plans")))
    assert made == WrittenTitle(None, "No title within 0.03 s.")
    assert model.streaming == 0


async def test_a_title_whose_model_had_a_task_cancelled_is_none() -> None:
    class Breaking(ScriptedModel):
        async def generate_text(self, system: str, prompt: str, temperature: float) -> str:
            del system, prompt, temperature
            raise asyncio.CancelledError

    made = await in_time(write_title(Breaking(in_turn()), 0.3, "Hello", "Hi."))
    assert made.title is None


async def test_a_title_that_is_stopped_is_stopped() -> None:
    model = ScriptedModel(in_turn(), title=(Hold("a"), Text("Plans")))
    writing = asyncio.create_task(write_title(model, 0.3, "Hello", "Hi."))
    await in_time(model.holds.reached("a"))
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await in_time(writing)
