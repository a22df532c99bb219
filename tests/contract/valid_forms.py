"""Valid forms with values for their fields: a few by hand, and any number by hypothesis."""

from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from pydantic import JsonValue

from parleyd.contract import limits
from parleyd.contract.text import clip, trim, units
from tests.contract.valid_texts import CHARACTERS, IDS, AskInput, optional, visible

Values: TypeAlias = dict[str, JsonValue]
Field: TypeAlias = dict[str, JsonValue]
Typed: TypeAlias = tuple[Field, st.SearchStrategy[Any]]
"""The type of a field with its own keys, and the values that fit it."""

PETS: Final[list[JsonValue]] = [
    {"id": "cat", "label": "Cat"},
    {"id": "dog", "label": "Dog"},
    {"id": "owl", "label": "Owl"},
]


def field(type_: str, **keys: JsonValue) -> Field:
    """Returns a field named `f`, unless `keys` say else."""
    return {"id": "f", "type": type_, "label": "Field", **keys}


def needed(type_: str) -> Field:
    """Returns a field with all that its type requires."""
    return field(type_, options=PETS) if type_ in ("select", "multiselect") else field(type_)


def pets(count: int) -> list[JsonValue]:
    """Returns so many options."""
    return [{"id": f"p{index}", "label": "Pet"} for index in range(count)]


def form(*fields: JsonValue, **keys: JsonValue) -> AskInput:
    """Returns a form of these fields."""
    return {"prompt": "Book a table.", "fields": [*fields], **keys}


BOOKING: Final = form(
    field("text", id="name", required=True),
    field("date", id="day"),
    field("boolean", id="patio"),
)


def _padded(text: str, least: int, most: int) -> str:
    """Returns `text`, or letters in its place, with `least` units that show and `most` in all."""
    short = clip(text, most)
    return short if units(trim(short)) >= max(least, 1) else "a" * max(least, 1)


@st.composite
def _texts(draw: st.DrawFn, type_: str, cap: int) -> Typed:
    keys: Field = {"type": type_}
    most = draw(st.one_of(st.none(), st.integers(1, 40), st.just(cap)))
    least = draw(st.one_of(st.none(), st.integers(0, most or 40)))
    if most is not None:
        keys["maxLength"] = draw(st.sampled_from([most, float(most)]))
    if least is not None:
        keys["minLength"] = least
    return keys, st.text(CHARACTERS, max_size=60).map(
        lambda text: _padded(text, least or 0, most or cap)
    )


@st.composite
def _numbers(draw: st.DrawFn) -> Typed:
    keys: Field = {"type": "number"}
    whole = draw(st.booleans())
    if whole or draw(st.booleans()):
        keys["integer"] = whole
    bound = st.integers(-(2**53), 2**53)
    least, most = sorted([draw(bound), draw(bound)])
    if draw(st.booleans()):
        keys["min"] = draw(st.sampled_from([least, float(least)]))
    if draw(st.booleans()):
        keys["max"] = draw(st.sampled_from([most, float(most)]))
    values: st.SearchStrategy[Any] = st.integers(least, most)
    if not whole:
        values |= st.floats(least, most)
    return keys, values


@st.composite
def _picks(draw: st.DrawFn, type_: str) -> Typed:
    ids = draw(st.lists(IDS, min_size=2, max_size=6, unique=True))
    keys: Field = {
        "type": type_,
        "options": [{"id": id_, "label": draw(visible(30))} for id_ in ids],
    }
    one = st.sampled_from(ids)
    return keys, one if type_ == "select" else st.lists(one, min_size=1, unique=True)


_DAYS = st.dates().map(lambda day: day.isoformat())
_TIMES = st.times().map(lambda time: time.strftime("%H:%M"))
_SECONDS = st.sampled_from(["", ":00", ":59.5", ":07.123456789"])
_ZONES = st.sampled_from(["Z", "+01:00", "-00:00", "+23:59"])
_NAMES = st.text("abcXYZ019_+-", min_size=1, max_size=9)


def _simple(type_: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Typed]:
    return st.just(({"type": type_}, values))


TYPED: Final[dict[str, st.SearchStrategy[Typed]]] = {
    "text": _texts("text", limits.TEXT_VALUE),
    "textarea": _texts("textarea", limits.TEXTAREA_VALUE),
    "email": _simple("email", st.builds("{}@{}.example.org".format, _NAMES, st.just("mail"))),
    "url": _simple(
        "url", st.builds("https://example.org:{}/{}".format, st.integers(0, 65_535), visible(20))
    ),
    "phone": _simple(
        "phone",
        st.builds("{}{}".format, st.sampled_from(["", "+"]), st.integers(10**6, 10**15 - 1)),
    ),
    "number": _numbers(),
    "date": _simple("date", _DAYS),
    "time": _simple("time", _TIMES),
    "datetime": _simple("datetime", st.builds("{}T{}{}{}".format, _DAYS, _TIMES, _SECONDS, _ZONES)),
    "boolean": _simple("boolean", st.booleans()),
    "select": _picks("select"),
    "multiselect": _picks("multiselect"),
}
"""A field of each type, by name."""

_LEFT_EMPTY: Final[tuple[JsonValue, ...]] = ("", " \ufeff\n", [])


@st.composite
def answered_forms(draw: st.DrawFn) -> tuple[AskInput, Values]:
    """Draws valid forms, each with values that answer it."""
    ids = draw(st.lists(IDS, min_size=1, max_size=limits.FIELDS_MAX, unique=True))
    fields: list[JsonValue] = []
    values: Values = {}
    for id_ in ids:
        keys, fitting = draw(TYPED[draw(st.sampled_from([*TYPED]))])
        every: Field = draw(
            st.fixed_dictionaries(
                {"label": visible(30)},
                optional=optional(helperText=visible(30), required=st.booleans(), default=fitting),
            )
        )
        if keys["type"] == "multiselect" and draw(st.booleans()):
            every["default"] = []
        fields.append({"id": id_, **keys, **every})
        if every.get("required") is True or draw(st.booleans()):
            values[id_] = draw(fitting)
        elif draw(st.booleans()):
            values[id_] = draw(st.sampled_from(_LEFT_EMPTY))
    ask: AskInput = draw(
        st.fixed_dictionaries(
            {"prompt": visible(200)},
            optional=optional(
                title=visible(limits.TITLE),
                submitLabel=visible(limits.SUBMIT_LABEL),
                allowDecline=st.booleans(),
            ),
        )
    )
    return {**ask, "fields": fields}, values


def forms() -> st.SearchStrategy[AskInput]:
    """Returns valid forms."""
    return answered_forms().map(lambda drawn: drawn[0])
