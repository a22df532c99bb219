"""Every code that a form and its answers can give, with values as long as can be (spec asks 3)."""

from collections.abc import Callable, Sequence
from typing import Final

from pydantic import JsonValue

from parleyd.contract.answers import accepted, check_answer, declined
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.field_errors import Code, FieldError
from tests.contract.valid_forms import BOOKING, PETS, Field, field, form, needed

Case = tuple[Code, Callable[[], Sequence[FieldError]]]

HUGE: Final = 10**308
LONG: Final = "\U0001f6a2" * 6000
CATS: Final[list[JsonValue]] = ["cat"] * 99


def _asked(code: Code, field_: JsonValue) -> Case:
    return code, lambda: check_ask("form", form(field_))


def _answered(code: Code, field_: Field, value: JsonValue) -> Case:
    return code, lambda: check_answer("form", form(field_), accepted({"values": {"f": value}}))


ON_FORMS: Final[list[Case]] = [
    _asked(Code.DEFAULT_NOT_IN_OPTIONS, field("select", options=PETS, default=LONG)),
    _asked(Code.DEFAULT_NOT_IN_OPTIONS, field("multiselect", options=PETS, default=[LONG])),
    _asked(Code.DUPLICATE_ID, field("select", options=[*PETS, PETS[0]])),
    _asked(Code.DUPLICATE_ID, field("multiselect", options=PETS, default=["cat", "cat"])),
    (Code.DUPLICATE_ID, lambda: check_ask("form", form(field("text"), field("text")))),
    _asked(Code.FIELD_TYPE_MISMATCH, field("email", default=LONG[:900])),
    _asked(Code.FIELD_TYPE_MISMATCH, field("url", default=LONG[:900])),
    _asked(Code.FIELD_TYPE_MISMATCH, field("phone", default=LONG[:900])),
    _asked(Code.FIELD_TYPE_MISMATCH, field("number", integer=True, default=0.1 + 0.2)),
    _asked(Code.INVALID_DATE, field("date", default=LONG)),
    _asked(Code.INVALID_DATE, field("time", default=LONG)),
    _asked(Code.INVALID_DATE, field("datetime", default=LONG)),
    _asked(Code.INVALID_ENUM, field(LONG)),
    _asked(Code.INVALID_FORMAT, field("text", id=LONG)),
    _asked(Code.INVALID_TYPE, field("number", default=LONG)),
    _asked(Code.INVALID_TYPE, field("multiselect", options=PETS, default=[1])),
    _asked(Code.INVALID_TYPE, LONG),
    _asked(Code.MISSING_REQUIRED, {}),
    _asked(Code.OUT_OF_RANGE, field("number", max=-HUGE, default=HUGE)),
    _asked(Code.RANGE_INVALID, field("number", min=HUGE, max=-HUGE)),
    _asked(Code.RANGE_INVALID, field("text", minLength=HUGE)),
    _asked(Code.RANGE_INVALID, field("textarea", minLength=9, maxLength=8)),
    _asked(Code.TOO_FEW, field("select", options=[])),
    _asked(Code.TOO_LONG, field("text", default=LONG)),
    _asked(Code.TOO_MANY, field("select", options=PETS * 20)),
    _asked(Code.TOO_MANY, field("multiselect", options=PETS, default=CATS)),
    _asked(Code.TOO_SHORT, field("phone", default="")),
    _asked(Code.TOO_SHORT, field("text", minLength=HUGE - 1, maxLength=HUGE, default="x")),
    _asked(Code.UNKNOWN_KEY, field("text", **{LONG: 1})),
    (Code.DECLINE_NOT_ALLOWED, lambda: check_answer("form", _MUST, declined())),
    _answered(Code.DUPLICATE_ID, needed("multiselect"), ["cat", "cat"]),
    _answered(Code.FIELD_TYPE_MISMATCH, needed("multiselect"), LONG),
    _answered(Code.FIELD_TYPE_MISMATCH, field("email"), LONG[:900]),
    _answered(Code.FIELD_TYPE_MISMATCH, field("boolean"), None),
    _answered(Code.INVALID_DATE, field("date"), LONG),
    (Code.INVALID_TYPE, lambda: check_answer("form", BOOKING, accepted({"values": LONG}))),
    (Code.MISSING_REQUIRED, lambda: check_answer("form", BOOKING, accepted({}))),
    _answered(Code.OPTION_NOT_OFFERED, needed("select"), LONG),
    _answered(Code.OUT_OF_RANGE, field("number", min=HUGE - 1, max=HUGE), -HUGE),
    _answered(Code.REQUIRED_FIELD, field("text", required=True), " "),
    _answered(Code.TOO_LONG, field("url"), LONG),
    _answered(Code.TOO_MANY, needed("multiselect"), CATS),
    _answered(Code.TOO_SHORT, field("text", minLength=9), "x"),
    (
        Code.UNKNOWN_KEY,
        lambda: check_answer("form", BOOKING, accepted({"values": {"name": "Ines", LONG: 1}})),
    ),
]

_MUST = form(field("text"), allowDecline=False)
