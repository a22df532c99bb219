"""What the model is told about asks (spec asks 12)."""

import ast
import json
import re
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from parleyd.contract import limits, prompts
from parleyd.contract.answers import check_answer
from parleyd.contract.asks import choice, confirm, files, form, kind, markdown
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS, offered_kinds
from parleyd.contract.asks.tools import ask_tools
from parleyd.contract.formats import DATE, DATETIME, EMAIL, PHONE, TIME, URL
from parleyd.contract.prompts import COMPACT_LINE, asks_section
from parleyd.contract.surfaces import Surface
from tests.contract.valid_asks import POST, SEEDS, TRIP, AskInput
from tests.contract.valid_forms import BOOKING

SHARED = {limits.PROMPT, limits.TITLE}
SHARED_COMPACT = SHARED | {limits.CARD_TEXT, limits.CARD_TITLE}
CHOICE = {
    limits.OPTIONS_MIN,
    limits.OPTIONS_MAX,
    limits.ID,
    limits.OPTION_LABEL,
    limits.OPTION_DESCRIPTION,
    limits.OTHER,
    limits.SUBMIT_LABEL,
    limits.CARD_BUTTONS,
    limits.CARD_LABEL,
}
COMPACT_CHOICE = {
    limits.OPTIONS_MIN,
    limits.COMPACT_OPTIONS_MAX,
    limits.ID,
    limits.COMPACT_LABEL,
    limits.OPTION_DESCRIPTION,
    limits.SUBMIT_LABEL,
}
CONFIRM = {limits.CONFIRM_LABEL}
FORM = {
    limits.FIELDS_MIN,
    limits.FIELDS_MAX,
    limits.ID,
    limits.FIELD_LABEL,
    limits.HELPER_TEXT,
    limits.TEXT_VALUE,
    limits.TEXTAREA_VALUE,
    limits.PHONE_DIGITS_MIN,
    limits.PHONE_DIGITS_MAX,
    limits.OPTIONS_MIN,
    limits.OPTIONS_MAX,
    limits.OPTION_LABEL,
    limits.SUBMIT_LABEL,
}
MARKDOWN = {limits.MARKDOWN, limits.PLACEHOLDER, limits.SUBMIT_LABEL}
FILES = {limits.FILES_MIN, limits.FILES_MAX, limits.SUBMIT_LABEL, limits.SHOWN_FILE_BYTES}
CHOICE_FIELDS = "select options id label description default submitLabel allowDecline"
CONFIRM_FIELDS = "confirmLabel denyLabel destructive allowDecline confirmed"
MARKDOWN_FIELDS = "initial minLength maxLength placeholder submitLabel allowDecline changed"
FILES_FIELDS = (
    "accept image pdf text csv json minFiles maxFiles submitLabel allowDecline filename mimeType "
    "size"
)
FORM_FIELDS = (
    "fields id type label helperText required default submitLabel allowDecline minLength maxLength "
    "min max integer options text textarea email url phone number date time datetime boolean "
    "select multiselect"
)


def numbers(text: str) -> set[int]:
    """Returns the numbers of a text, but for those in the examples of formats."""
    for example in (form_.example for form_ in (DATETIME, DATE, TIME, PHONE, EMAIL, URL)):
        text = text.replace(example, "")
    return {int(number) for number in re.findall(r"\d+", text)}


@pytest.mark.parametrize(
    ("kinds", "surface", "expected"),
    [
        (["choice"], "full", SHARED | CHOICE),
        (["confirm"], "full", SHARED | CONFIRM),
        (["choice", "confirm"], "full", SHARED | CHOICE | CONFIRM),
        (["choice"], "compact", SHARED_COMPACT | COMPACT_CHOICE),
        (["confirm"], "compact", SHARED_COMPACT | CONFIRM),
        (["markdown"], "full", SHARED | MARKDOWN),
        (["form"], "full", SHARED | FORM),
        (["files"], "full", SHARED | FILES),
        (["form", "confirm"], "compact", SHARED_COMPACT | CONFIRM),
    ],
)
def test_the_numbers_of_the_prompt_are_the_limits_that_apply(
    kinds: list[AskKind], surface: Surface, expected: set[int]
) -> None:
    assert numbers(asks_section(kinds, surface)) == expected


def test_the_numbers_of_the_tools_and_of_the_compact_line_are_limits_too() -> None:
    described = {
        (surface, tool.name): numbers(tool.description)
        for surface in get_args(Surface)
        for tool in ask_tools(ASK_KINDS, surface)
    }
    assert described == {
        ("full", "ask_choice"): set(),
        ("full", "ask_confirm"): set(),
        ("full", "ask_markdown"): set(),
        ("full", "ask_form"): set(),
        ("full", "ask_files"): set(),
        ("compact", "ask_choice"): {limits.OPTIONS_MIN, limits.COMPACT_OPTIONS_MAX},
        ("compact", "ask_confirm"): {limits.CARD_TEXT, limits.CARD_TITLE},
    }
    assert numbers(COMPACT_LINE) == {limits.COMPACT_OPTIONS_MAX}
    for surface in get_args(Surface):
        for tool in ask_tools(ASK_KINDS, surface):
            for says in re.findall(r'"description": "(.*?)"', json.dumps(tool.schema)):
                assert numbers(says) == set()


@pytest.mark.parametrize(
    "module",
    [prompts, kind, choice, confirm, markdown, form, files],
    ids=lambda module: module.__name__,
)
def test_no_number_is_written_into_the_texts_themselves(module: ModuleType) -> None:
    assert module.__file__
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    texts = [
        node.value
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert texts
    assert [text for text in texts if numbers(text)] == []


def test_the_section_names_the_tools_that_can_be_called() -> None:
    assert "you can call: `ask_choice`, `ask_confirm`." in asks_section(ASK_KINDS, "compact")
    assert "you can call: `ask_form`." in asks_section(["form"], "full")
    alone = asks_section(["confirm"], "full")
    assert "you can call: `ask_confirm`." in alone
    assert "ask_choice" not in alone


def test_kinds_are_told_in_the_order_given_each_once() -> None:
    section = asks_section(["confirm", "choice", "confirm"], "full")
    assert re.findall(r"^### (\w+)$", section, re.MULTILINE) == ["ask_confirm", "ask_choice"]
    assert "`ask_confirm`, `ask_choice`." in section


@pytest.mark.parametrize("surface", get_args(Surface))
def test_without_kinds_nothing_is_told(surface: Surface) -> None:
    assert asks_section([], surface) == ""


@pytest.mark.parametrize("surface", get_args(Surface))
def test_the_general_text_tells_how_asking_works(surface: Surface) -> None:
    section = asks_section(["confirm"], surface)
    for fact in (
        "calling one of the ask tools",
        "result of your call",
        "instead of asking in prose",
        "another tool can find out",
        "at most one ask tool in a step, and no other tool",
        "no passwords, no keys, no payment cards",
        "`accept`",
        "`decline`",
        "`cancel`",
        "`user_sent_message`",
        "`one_ask_at_a_time`",
        "don't repeat the question",
    ):
        assert fact in section


@pytest.mark.parametrize(
    ("kind_name", "surface", "names"),
    [
        (
            "choice",
            "full",
            f"{CHOICE_FIELDS} minSelected maxSelected allowOther otherLabel",
        ),
        (
            "choice",
            "compact",
            CHOICE_FIELDS,
        ),
        ("confirm", "full", CONFIRM_FIELDS),
        ("confirm", "compact", CONFIRM_FIELDS),
        ("markdown", "full", MARKDOWN_FIELDS),
        ("form", "full", FORM_FIELDS),
        ("files", "full", FILES_FIELDS),
    ],
)
def test_a_block_tells_of_every_field(kind_name: AskKind, surface: Surface, names: str) -> None:
    block = asks_section([kind_name], surface).split("### ")[1]
    for name in names.split():
        assert f"`{name}`" in block


def test_the_compact_choice_says_nothing_of_many_bounds_or_other() -> None:
    block = asks_section(["choice"], "compact").split("### ")[1].lower()
    for word in ("many", "several", "selected`", "other", "own"):
        assert word not in block


@pytest.mark.parametrize("surface", get_args(Surface))
def test_the_examples_are_valid_answers(surface: Surface) -> None:
    examples: dict[AskKind, AskInput] = {
        "choice": {**SEEDS, "options": TRIP["options"], "allowOther": True},
        "confirm": POST,
        "markdown": {"prompt": "Write."},
        "form": BOOKING,
        "files": {"prompt": "Send.", "accept": ["image"]},
    }
    for kind_name in offered_kinds(ASK_KINDS, surface):
        found = re.findall(r"\{.*?\}{2,}", asks_section([kind_name], surface))
        assert found
        for example in found:
            assert check_answer(kind_name, examples[kind_name], json.loads(example)) == ()
