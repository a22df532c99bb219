"""Asks for all that a restaurant wants to know: a form."""

import re
from typing import Final

from parleyd.contract.json import JsonObject, flag_at, object_at, string_at, strings_at, whole_at
from parleyd.models.demo.question import Question
from parleyd.models.demo.words import in_a_row, quoted

_SEATS: Final = {"inside": "inside", "terrace": "on the terrace", "bar": "at the bar"}
_EXTRAS: Final = {"chair": "a high chair", "step-free": "a way without steps", "cake": "a cake"}


def _booked(content: JsonObject) -> str:
    values = object_at(content, "values")
    guests = whole_at(values, "guests") or 0
    booked = (
        f"Your table is booked: {quoted(string_at(values, 'name') or '')}, {guests} "
        f"{'guest' if guests == 1 else 'guests'}, {string_at(values, 'day')} at "
        f"{string_at(values, 'time')}{_seat(string_at(values, 'seat'))}."
    )
    sentences = [booked]
    if extras := [_EXTRAS.get(extra, extra) for extra in strings_at(values, "extras")]:
        sentences.append(f"There will be {in_a_row(extras)}.")
    if email := string_at(values, "email"):
        sentences.append(f"The confirmation goes to {email}.")
    if flag_at(values, "reminder"):
        sentences.append("I remind you an hour before.")
    return " ".join(sentences)


def _seat(seat: str | None) -> str:
    return f", {_SEATS.get(seat, seat)}" if seat else ""


TABLE: Final = Question(
    kind="form",
    asked_for=re.compile(
        r"\b(book|reserve)\b.*\btables?\b|\btable (for|reservation)\b", re.IGNORECASE
    ),
    input={
        "title": "A table",
        "prompt": "When shall I book a table, and for whom?",
        "fields": [
            {"id": "name", "type": "text", "label": "Name", "required": True, "maxLength": 80},
            {
                "id": "guests",
                "type": "number",
                "label": "Guests",
                "required": True,
                "min": 1,
                "max": 12,
                "integer": True,
                "default": 2,
            },
            {"id": "day", "type": "date", "label": "Day", "required": True},
            {"id": "time", "type": "time", "label": "Time", "required": True, "default": "19:30"},
            {
                "id": "seat",
                "type": "select",
                "label": "Where to sit",
                "options": [
                    {"id": "inside", "label": "Inside"},
                    {"id": "terrace", "label": "On the terrace"},
                    {"id": "bar", "label": "At the bar"},
                ],
                "default": "inside",
            },
            {
                "id": "extras",
                "type": "multiselect",
                "label": "Extras",
                "options": [
                    {"id": "chair", "label": "High chair"},
                    {"id": "step-free", "label": "No steps"},
                    {"id": "cake", "label": "Birthday cake"},
                ],
            },
            {
                "id": "email",
                "type": "email",
                "label": "Email",
                "helperText": "For the confirmation, and nothing else.",
            },
            {"id": "reminder", "type": "boolean", "label": "Remind me", "default": True},
        ],
        "submitLabel": "Book it",
    },
    in_words=(
        "To book a table I need a name, the number of guests, a day and a time, and here I can't "
        "ask for all of them at once. Ask me again where there is room for a form."
    ),
    accepted=_booked,
    declined="No table, then. I booked nothing.",
    cancelled="I booked nothing. Ask me again when you know the day.",
)
