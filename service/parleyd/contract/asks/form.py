"""`form`: a few flat fields, one submit (spec asks 8.1)."""

from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.asks.fields.types import FIELD_SHAPE, type_of
from parleyd.contract.asks.kind import (
    ALLOW_DECLINE,
    ALLOW_DECLINE_LINE,
    CANCEL,
    ID_LINE,
    PROMPT,
    SUBMIT_LABEL,
    SUBMIT_LABEL_LINE,
    TITLE,
    AnswerButton,
    Face,
    Kind,
    Offer,
)
from parleyd.contract.asks.repeats import repeats
from parleyd.contract.field_errors import Code, Fault, Path, listed, named, quoted
from parleyd.contract.formats import DATE, DATETIME, EMAIL, PHONE, TIME, URL
from parleyd.contract.json import JsonObject, flag_at, object_at, objects_at, string_at
from parleyd.contract.records import Key, ObjectShape, RecordShape, unknown_keys
from parleyd.contract.shapes import ListShape
from parleyd.contract.text import is_blank

_SHAPE = RecordShape(
    (
        TITLE,
        PROMPT,
        Key(
            "fields",
            ListShape(FIELD_SHAPE, limits.FIELDS_MAX, limits.FIELDS_MIN),
            "What the person fills in, in the order to show it.",
            required=True,
        ),
        SUBMIT_LABEL,
        ALLOW_DECLINE,
    )
)
_CONTENT = RecordShape(
    (Key("values", ObjectShape(), "The value of each answered field by its id.", required=True),)
)


def _rules(ask_input: JsonObject) -> Iterator[Fault]:
    """Yields what breaks FO3 to FO5."""
    fields = objects_at(ask_input, "fields")
    ids = [string_at(field, "id") or "" for field in fields]
    for index in repeats(ids):
        yield Fault(
            ("fields", index, "id"),
            Code.DUPLICATE_ID,
            f"`fields[{index}].id` is {quoted(ids[index])}, like a field before it.",
            f"Give `fields[{index}]` an id of its own.",
        )
    for index, field in enumerate(fields):
        at = ("fields", index)
        type_ = type_of(field)
        yield from type_.rules(field, at)
        if "default" in field:
            yield from type_.check_default(field, field["default"], (*at, "default"))


def _content_rules(ask_input: JsonObject, content: JsonObject) -> Iterator[Fault]:
    """Yields what breaks FO6 and FO7. The keys of the values are data."""
    values = object_at(content, "values")
    fields = {string_at(field, "id") or "": field for field in objects_at(ask_input, "fields")}
    at = ("content", "values")
    for name in unknown_keys(values, fields):
        here = (*at, name)
        yield Fault(
            here,
            Code.UNKNOWN_KEY,
            f"{named(here)} is the value of no field that exists here.",
            f"Remove {named(here)}; the fields are {listed([*fields])}.",
        )
    for field_id, field in fields.items():
        here = (*at, field_id)
        if field_id in values and not _is_blank(values[field_id]):
            yield from type_of(field).check(field, values[field_id], here)
        elif flag_at(field, "required") is True:
            yield _unanswered(here)


def _is_blank(value: JsonValue) -> bool:
    """Tells whether a value answers nothing, whatever the field's type (FO7)."""
    match value:
        case str():
            return is_blank(value)
        case list():
            return not value
        case _:
            return False


def _unanswered(at: Path) -> Fault:
    return Fault(
        at,
        Code.REQUIRED_FIELD,
        f"{named(at)} is missing or blank, but the field must be answered.",
        f"Give {named(at)} a value.",
    )


def _face(ask_input: JsonObject) -> Face:
    """Returns the buttons of SC10.

    The defaults of a valid ask fit their fields (FO5), so an answer of them fits if no required
    field is left blank by it.
    """
    fields = objects_at(ask_input, "fields")
    defaults: dict[str, JsonValue] = {
        string_at(field, "id") or "": field["default"] for field in fields if "default" in field
    }
    blank = any(
        flag_at(field, "required") and ("default" not in field or _is_blank(field["default"]))
        for field in fields
    )
    if not defaults or blank:
        return Face((), handoff=True)
    submit = AnswerButton("submit-defaults", "Submit defaults", "primary", {"values": defaults})
    return Face((submit,), handoff=True)


_BLOCK: Final = f"""\
### ask_form
The person fills in a few fields and submits them at once.
- `fields` (required): {limits.FIELDS_MIN} to {limits.FIELDS_MAX} fields, each with `id`, `type`, \
`label` and, optionally, `helperText`, `required` and `default`. Fields don't nest, don't depend \
on each other, and are never for passwords or other secrets.
{ID_LINE} The `id` of a field is the key of its value in the answer.
- A `label` has at most {limits.FIELD_LABEL} characters, a `helperText` at most \
{limits.HELPER_TEXT}. `required` is false when absent.
- The types of field, and the keys that only some have:
  - `text` for a line and `textarea` for more; `minLength`, `maxLength`: whole numbers, up to \
{limits.TEXT_VALUE} for `text` and {limits.TEXTAREA_VALUE} for `textarea`.
  - `email`, such as {EMAIL.example}; `url`, a web address such as {URL.example}; `phone`, \
{limits.PHONE_DIGITS_MIN} to {limits.PHONE_DIGITS_MAX} digits such as {PHONE.example}. \
Each has at most {limits.TEXT_VALUE} characters.
  - `number`; `min`, `max`: its bounds; `integer`: true for whole numbers only.
  - `date`, such as {DATE.example}; `time`, such as {TIME.example}; `datetime` with an offset or \
Z, such as {DATETIME.example}.
  - `boolean` for yes or no.
  - `select` for one pick and `multiselect` for several; `options` (required): \
{limits.OPTIONS_MIN} to {limits.OPTIONS_MAX}, each with `id` and a `label` of at most \
{limits.OPTION_LABEL} characters, and nothing else.
- `default`: what is filled in beforehand, a value that the field accepts: a number for `number`, \
true or false for `boolean`, the id of an option for `select`, a list of such ids for \
`multiselect`, a string that isn't blank for every other type.
{SUBMIT_LABEL_LINE}
{ALLOW_DECLINE_LINE}
- An answer: {{"action": "accept", "content": {{"values": {{"name": "Ines", "day": \
"{DATE.example}", "patio": false}}}}}}. Optional fields that the person left empty are absent."""

FORM: Final = Kind(
    name="form",
    offers={
        "full": Offer(
            shape=_SHAPE,
            rules=_rules,
            tool=(
                "Asks the person for several values at once. The person sees your question with "
                "fields to fill in and one button to submit them; you get back the value of "
                "each field by its id. Use it instead of asking for them one by one in prose; "
                "for a single pick from a list use ask_choice."
            ),
            block=_BLOCK,
        ),
    },
    content=_CONTENT,
    content_rules=_content_rules,
    skippable=True,
    face=_face,
    standing=CANCEL,
)
