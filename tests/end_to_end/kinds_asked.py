"""An ask of every kind, and an answer to each: as the model, the wire and the store have them."""

from dataclasses import dataclass

from pydantic import JsonValue

from parley.v1 import asks_pb2
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import tool_name
from parleyd.models.script import Call
from tests.end_to_end.answers import file, files, form, markdown, picks
from tests.end_to_end.person import accept

ASK_ID = "call_asked"

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
NOTES = "Gruß und Kuß\n".encode()


@dataclass(frozen=True)
class Asked:
    """An ask as the model makes it, and as it reaches a client; an answer, and what is kept of it.

    `envelope` is what the model reads and what is stored, `stored` the same on the wire.
    """

    name: str
    kind: AskKind
    input: dict[str, JsonValue]
    on_the_wire: asks_pb2.AskInput
    answer: asks_pb2.AskAnswer
    envelope: dict[str, JsonValue]
    kept: asks_pb2.AskAnswer | None = None

    @property
    def tool(self) -> str:
        return tool_name(self.kind)

    @property
    def stored(self) -> asks_pb2.AskAnswer:
        return self.kept or self.answer

    def call(self, **also: JsonValue) -> Call:
        """Returns the call that asks it."""
        return Call(self.tool, {**self.input, **also}, ASK_ID)


def _accepted(**content: JsonValue) -> dict[str, JsonValue]:
    return {"action": "accept", "content": content}


def _options(*labels: str) -> list[JsonValue]:
    return [{"id": label.lower(), "label": label} for label in labels]


def _wire_options(*labels: str) -> list[asks_pb2.Option]:
    return [asks_pb2.Option(id=label.lower(), label=label) for label in labels]


ASKED = [
    Asked(
        "a choice of one",
        "choice",
        {
            "title": "Coast trip",
            "prompt": "How do you want to travel to the coast?",
            "select": "one",
            "options": [
                {"id": "train", "label": "Night train", "description": "Leaves at 22:10"},
                {"id": "ferry", "label": "Ferry"},
            ],
            "default": ["ferry"],
            "submitLabel": "Go",
        },
        asks_pb2.AskInput(
            title="Coast trip",
            prompt="How do you want to travel to the coast?",
            submit_label="Go",
            choice=asks_pb2.ChoiceInput(
                select=asks_pb2.ChoiceInput.SELECT_ONE,
                options=[
                    asks_pb2.Option(id="train", label="Night train", description="Leaves at 22:10"),
                    asks_pb2.Option(id="ferry", label="Ferry"),
                ],
                default=["ferry"],
            ),
        ),
        picks("train"),
        _accepted(selected=["train"]),
    ),
    Asked(
        "a choice of several, with one of one's own",
        "choice",
        {
            "prompt": "What goes on your pizza?",
            "select": "many",
            "options": _options("Olives", "Capers", "Rocket"),
            "default": ["rocket", "olives"],
            "minSelected": 0,
            "maxSelected": 3,
            "allowOther": True,
            "otherLabel": "Something else",
        },
        asks_pb2.AskInput(
            prompt="What goes on your pizza?",
            choice=asks_pb2.ChoiceInput(
                select=asks_pb2.ChoiceInput.SELECT_MANY,
                options=_wire_options("Olives", "Capers", "Rocket"),
                default=["rocket", "olives"],
                min_selected=0,
                max_selected=3,
                allow_other=True,
                other_label="Something else",
            ),
        ),
        picks("rocket", "capers", other="Pineapple 🍍"),
        _accepted(selected=["rocket", "capers"], other="Pineapple 🍍"),
    ),
    Asked(
        "a confirm",
        "confirm",
        {
            "prompt": "Send it to all 41 of them?",
            "confirmLabel": "Send",
            "denyLabel": "Wait",
            "destructive": False,
            "allowDecline": True,
        },
        asks_pb2.AskInput(
            prompt="Send it to all 41 of them?",
            allow_decline=True,
            confirm=asks_pb2.ConfirmInput(
                confirm_label="Send", deny_label="Wait", destructive=False
            ),
        ),
        accept(confirmed=False),
        _accepted(confirmed=False),
    ),
    Asked(
        "a draft that is changed",
        "markdown",
        {
            "prompt": "Is this how you'd put it?",
            "initial": "# Hello\n\nSee you *soon*.",
            "placeholder": "Dear all, …",
            "minLength": 3,
            "maxLength": 400,
        },
        asks_pb2.AskInput(
            prompt="Is this how you'd put it?",
            markdown=asks_pb2.MarkdownInput(
                initial="# Hello\n\nSee you *soon*.",
                placeholder="Dear all, …",
                min_length=3,
                max_length=400,
            ),
        ),
        markdown("  # Hello\r\n\r\nSee you *tomorrow*. 👋\n", changed=True),
        _accepted(markdown="  # Hello\r\n\r\nSee you *tomorrow*. 👋\n", changed=True),
    ),
    Asked(
        "a draft that is left as it is",
        "markdown",
        {"prompt": "Anything to add?", "initial": ""},
        asks_pb2.AskInput(prompt="Anything to add?", markdown=asks_pb2.MarkdownInput(initial="")),
        markdown("", changed=False),
        _accepted(markdown="", changed=False),
    ),
    Asked(
        "a form of texts and numbers",
        "form",
        {
            "prompt": "Who are you?",
            "submitLabel": "That's me",
            "fields": [
                {
                    "id": "name",
                    "type": "text",
                    "label": "Name",
                    "helperText": "As on your passport.",
                    "required": True,
                    "minLength": 2,
                    "maxLength": 80,
                },
                {"id": "bio", "type": "textarea", "label": "About you", "default": "…"},
                {"id": "email", "type": "email", "label": "Email", "required": False},
                {"id": "site", "type": "url", "label": "Site"},
                {"id": "phone", "type": "phone", "label": "Phone"},
                {
                    "id": "age",
                    "type": "number",
                    "label": "Age",
                    "min": 0,
                    "max": 150.5,
                    "integer": True,
                    "default": 0,
                },
                {"id": "day", "type": "date", "label": "Day", "default": "2026-03-29"},
                {"id": "time", "type": "time", "label": "Time"},
            ],
        },
        asks_pb2.AskInput(
            prompt="Who are you?",
            submit_label="That's me",
            form=asks_pb2.FormInput(
                fields=[
                    asks_pb2.FormField(
                        id="name",
                        label="Name",
                        helper_text="As on your passport.",
                        required=True,
                        text=asks_pb2.TextField(min_length=2, max_length=80),
                    ),
                    asks_pb2.FormField(
                        id="bio", label="About you", textarea=asks_pb2.TextField(default="…")
                    ),
                    asks_pb2.FormField(
                        id="email", label="Email", required=False, email=asks_pb2.StringField()
                    ),
                    asks_pb2.FormField(id="site", label="Site", url=asks_pb2.StringField()),
                    asks_pb2.FormField(id="phone", label="Phone", phone=asks_pb2.StringField()),
                    asks_pb2.FormField(
                        id="age",
                        label="Age",
                        number=asks_pb2.NumberField(default=0, min=0, max=150.5, integer=True),
                    ),
                    asks_pb2.FormField(
                        id="day", label="Day", date=asks_pb2.StringField(default="2026-03-29")
                    ),
                    asks_pb2.FormField(id="time", label="Time", time=asks_pb2.StringField()),
                ]
            ),
        ),
        form(
            {
                "name": "Zoë 🦊",
                "bio": "one\ntwo",
                "email": "zoe@example.org",
                "site": "https://example.org/über",
                "phone": "+351 21 555 0100",
                "age": 34.0,
                "day": "2026-03-29",
                "time": "00:00",
            }
        ),
        _accepted(
            values={
                "name": "Zoë 🦊",
                "bio": "one\ntwo",
                "email": "zoe@example.org",
                "site": "https://example.org/über",
                "phone": "+351 21 555 0100",
                "age": 34,
                "day": "2026-03-29",
                "time": "00:00",
            }
        ),
    ),
    Asked(
        "a form of picks",
        "form",
        {
            "prompt": "When, and with what?",
            "fields": [
                {"id": "at", "type": "datetime", "label": "When"},
                {"id": "patio", "type": "boolean", "label": "Outside?", "default": False},
                {
                    "id": "dish",
                    "type": "select",
                    "label": "Dish",
                    "options": _options("Soup", "Pie"),
                    "default": "pie",
                },
                {
                    "id": "sides",
                    "type": "multiselect",
                    "label": "Sides",
                    "options": _options("Rice", "Beans"),
                    "default": [],
                },
                {"id": "left-empty", "type": "text", "label": "Notes"},
            ],
        },
        asks_pb2.AskInput(
            prompt="When, and with what?",
            form=asks_pb2.FormInput(
                fields=[
                    asks_pb2.FormField(id="at", label="When", datetime=asks_pb2.StringField()),
                    asks_pb2.FormField(
                        id="patio", label="Outside?", boolean=asks_pb2.BooleanField(default=False)
                    ),
                    asks_pb2.FormField(
                        id="dish",
                        label="Dish",
                        select=asks_pb2.SelectField(
                            options=_wire_options("Soup", "Pie"), default="pie"
                        ),
                    ),
                    asks_pb2.FormField(
                        id="sides",
                        label="Sides",
                        multiselect=asks_pb2.MultiselectField(
                            options=_wire_options("Rice", "Beans"), default=asks_pb2.StringList()
                        ),
                    ),
                    asks_pb2.FormField(id="left-empty", label="Notes", text=asks_pb2.TextField()),
                ]
            ),
        ),
        form(
            {
                "at": "2026-03-29T02:30:00.5-07:00",
                "patio": False,
                "dish": "soup",
                "sides": ["beans", "rice"],
            }
        ),
        _accepted(
            values={
                "at": "2026-03-29T02:30:00.5-07:00",
                "patio": False,
                "dish": "soup",
                "sides": ["beans", "rice"],
            }
        ),
    ),
    Asked(
        "files",
        "files",
        {
            "prompt": "What did it cost?",
            "accept": ["image", "text"],
            "minFiles": 1,
            "maxFiles": 2,
        },
        asks_pb2.AskInput(
            prompt="What did it cost?",
            files=asks_pb2.FilesInput(accept=["image", "text"], min_files=1, max_files=2),
        ),
        files(file("scan.png", "image/png", PNG, size=1), file("notes.txt", "text/plain", NOTES)),
        _accepted(
            files=[
                {"filename": "scan.png", "mimeType": "image/png", "size": len(PNG)},
                {"filename": "notes.txt", "mimeType": "text/plain", "size": len(NOTES)},
            ]
        ),
        kept=files(
            asks_pb2.FileRef(filename="scan.png", mime_type="image/png", size=len(PNG)),
            asks_pb2.FileRef(filename="notes.txt", mime_type="text/plain", size=len(NOTES)),
        ),
    ),
]
