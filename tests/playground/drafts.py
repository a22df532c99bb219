"""Questions of every kind, how a person drafts their answers, and what the server says of them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import JsonValue

from parley.v1.asks_pb2 import AskAnswer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import tool_name
from parleyd.models.script import Call
from tests.end_to_end.answers import form, markdown, picks
from tests.end_to_end.person import accept
from tests.playground.phone import Phone

Step: TypeAlias = Callable[[Phone], Awaitable[None]]
ASK_ID: Final = "call_asked"
NOTES: Final = b"Bring the tent.\n"
LETTER: Final = "# Dear all\n\nSee you *soon*."


@dataclass(frozen=True)
class Draft:
    """What a person does to what was there before; `answer` is what would be sent then.

    None is an answer that the page can't make: a file on its way, half a date.
    """

    name: str
    step: Step
    answer: AskAnswer | None
    taken: bool


@dataclass(frozen=True)
class Question:
    """A question, and drafts of its answer in order. The last one can be sent."""

    kind: AskKind
    input: dict[str, JsonValue]
    drafts: tuple[Draft, ...]
    told: str
    """Is the last answer as the line of the question has it, once that is answered."""

    @property
    def call(self) -> Call:
        """Returns the call that asks it."""
        return Call(tool_name(self.kind), self.input, ASK_ID)


def checks(name: str, *, on: bool = True) -> Step:
    """Returns a step that ticks an option, or takes the tick away."""

    async def step(phone: Phone) -> None:
        called = re.compile(f"^{name}")
        radio = phone.question.get_by_role("radio", name=called)
        await phone.question.get_by_role("checkbox", name=called).or_(radio).set_checked(on)

    return step


def writes(label: str, text: str) -> Step:
    """Returns a step that writes a text over what is in a field."""

    async def step(phone: Phone) -> None:
        fields = phone.question.locator("input, textarea")
        await phone.question.get_by_label(label).and_(fields).fill(text)

    return step


def picks_from(label: str, option: str) -> Step:
    """Returns a step that picks from a list."""

    async def step(phone: Phone) -> None:
        await phone.question.get_by_label(label).select_option(label=option)

    return step


def all_of(*steps: Step) -> Step:
    """Returns all of these as one."""

    async def step(phone: Phone) -> None:
        for each in steps:
            await each(phone)

    return step


def adds(name: str, mime_type: str, data: bytes) -> Step:
    """Returns a step that adds a file."""

    async def step(phone: Phone) -> None:
        await phone.question.get_by_label("Choose files or drop them here").set_input_files(
            {"name": name, "mimeType": mime_type, "buffer": data}
        )

    return step


def removes(name: str) -> Step:
    """Returns a step that removes a file."""

    async def step(phone: Phone) -> None:
        await phone.button(f"Remove {name}").click()

    return step


async def nothing(phone: Phone) -> None:
    """Leaves the question as it is asked."""
    del phone


CHOICE: Final = Question(
    "choice",
    {
        "title": "Pizza",
        "prompt": "What goes on your pizza?",
        "select": "many",
        "options": [
            {"id": "olives", "label": "Olives"},
            {"id": "capers", "label": "Capers", "description": "In salt"},
            {"id": "rocket", "label": "Rocket"},
        ],
        "minSelected": 1,
        "maxSelected": 2,
        "allowOther": True,
        "otherLabel": "Something else",
    },
    (
        Draft("nothing", nothing, picks(), taken=False),
        Draft("one", checks("Olives"), picks("olives"), taken=True),
        Draft("two", checks("Rocket"), picks("olives", "rocket"), taken=True),
        Draft("three", checks("Capers"), picks("olives", "rocket", "capers"), taken=False),
        Draft(
            "two and another that is empty",
            all_of(checks("Capers", on=False), checks("Something else")),
            picks("olives", "rocket", other=""),
            taken=False,
        ),
        Draft(
            "one and another",
            all_of(checks("Olives", on=False), writes("your own answer", "Pineapple")),
            picks("rocket", other="Pineapple"),
            taken=True,
        ),
    ),
    told="Rocket and “Pineapple”",
)

MARKDOWN: Final = Question(
    "markdown",
    {
        "prompt": "Is this how you'd put it?",
        "initial": LETTER,
        "minLength": 5,
        "maxLength": 40,
        "submitLabel": "Send it",
    },
    (
        Draft("as it is", nothing, markdown(LETTER, changed=False), taken=True),
        Draft(
            "blank",
            writes("Is this how", "       "),
            markdown("       ", changed=True),
            taken=False,
        ),
        Draft(
            "too short",
            writes("Is this how", " abcd "),
            markdown(" abcd ", changed=True),
            taken=False,
        ),
        Draft(
            "too long",
            writes("Is this how", "x" * 41),
            markdown("x" * 41, changed=True),
            taken=False,
        ),
        Draft(
            "as long as it may be",
            writes("Is this how", "👋" * 20),
            markdown("👋" * 20, changed=True),
            taken=True,
        ),
    ),
    told="Edited and sent",
)

FORM: Final = Question(
    "form",
    {
        "title": "A table",
        "prompt": "When, and for whom?",
        "fields": [
            {"id": "name", "type": "text", "label": "Name", "required": True, "minLength": 2},
            {"id": "email", "type": "email", "label": "Email"},
            {
                "id": "guests",
                "type": "number",
                "label": "Guests",
                "min": 1,
                "max": 12,
                "integer": True,
                "default": 2,
            },
            {"id": "day", "type": "date", "label": "Day", "required": True},
            {"id": "reminder", "type": "boolean", "label": "Remind me"},
            {
                "id": "seat",
                "type": "select",
                "label": "Seat",
                "options": [{"id": "in", "label": "Inside"}, {"id": "out", "label": "Outside"}],
            },
            {
                "id": "extras",
                "type": "multiselect",
                "label": "Extras",
                "options": [{"id": "chair", "label": "A chair"}, {"id": "cake", "label": "A cake"}],
            },
            {"id": "wish", "type": "textarea", "label": "Wishes", "maxLength": 20},
        ],
    },
    (
        Draft("nothing", nothing, form({"guests": 2}), taken=False),
        Draft("a name", writes("Name", "Noor"), form({"guests": 2, "name": "Noor"}), taken=False),
        Draft(
            "a name and a day",
            writes("Day", "2026-12-24"),
            form({"guests": 2, "name": "Noor", "day": "2026-12-24"}),
            taken=True,
        ),
        Draft(
            "an address that is none",
            writes("Email", "noor@"),
            form({"guests": 2, "name": "Noor", "day": "2026-12-24", "email": "noor@"}),
            taken=False,
        ),
        Draft(
            "half a guest",
            all_of(writes("Email", "noor@example.org"), writes("Guests", "2.5")),
            form({"guests": 2.5, "name": "Noor", "day": "2026-12-24", "email": "noor@example.org"}),
            taken=False,
        ),
        Draft(
            "too many guests",
            writes("Guests", "13"),
            form({"guests": 13, "name": "Noor", "day": "2026-12-24", "email": "noor@example.org"}),
            taken=False,
        ),
        Draft(
            "too many words",
            all_of(writes("Guests", "4"), writes("Wishes", "x" * 21)),
            form(
                {
                    "guests": 4,
                    "name": "Noor",
                    "day": "2026-12-24",
                    "email": "noor@example.org",
                    "wish": "x" * 21,
                }
            ),
            taken=False,
        ),
        Draft(
            "everything",
            all_of(
                writes("Wishes", "A window\nand quiet"),
                checks("No"),
                picks_from("Seat", "Outside"),
                checks("A cake"),
            ),
            form(
                {
                    "guests": 4,
                    "name": "Noor",
                    "day": "2026-12-24",
                    "email": "noor@example.org",
                    "reminder": False,
                    "seat": "out",
                    "extras": ["cake"],
                    "wish": "A window\nand quiet",
                }
            ),
            taken=True,
        ),
    ),
    told="Name: Noor · Email: noor@example.org · Guests: 4 · Day: 2026-12-24 · Remind me: No"
    " · Seat: Outside · Extras: A cake · Wishes: A window and quiet",
)

FILES: Final = Question(
    "files",
    {
        "prompt": "Send me your notes.",
        "accept": ["text"],
        "minFiles": 1,
        "maxFiles": 2,
    },
    (
        Draft("nothing", nothing, None, taken=False),
        Draft("a picture", adds("a.png", "image/png", b"\x89PNG\r\n\x1a\n"), None, taken=False),
        Draft("a file", adds("notes.txt", "text/plain", NOTES), None, taken=True),
        Draft("none any more", removes("notes.txt"), None, taken=False),
        Draft("another file", adds("more.txt", "text/plain", NOTES), None, taken=True),
    ),
    told="more.txt (16 bytes)",
)

CONFIRM: Final = Question(
    "confirm",
    {"prompt": "Send it to all 41 of them?", "confirmLabel": "Send", "denyLabel": "Wait"},
    (Draft("no", nothing, accept(confirmed=False), taken=True),),
    told="Wait",
)

FILLED_IN: Final = (CHOICE, MARKDOWN, FORM, FILES)
"""What is filled in and submitted; a confirm is answered at once."""
EVERY: Final = (*FILLED_IN, CONFIRM)
