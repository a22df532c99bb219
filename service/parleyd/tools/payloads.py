"""Payloads of host actions, and what is wrong with one, for the client that sent it."""

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from parleyd.contract import limits
from parleyd.contract.field_errors import Code, Fault, FieldError, Path, in_order, named
from parleyd.contract.json import JsonObject, compact
from parleyd.contract.text import clip, storable
from parleyd.tools.misfits import MESSAGE, Misfit, arguments_of
from parleyd.tools.signature_faults import place_of

_ROOT: Final = "payload"
_CODES: Final = {
    "missing": Code.MISSING_REQUIRED,
    "union_tag_not_found": Code.MISSING_REQUIRED,
    "extra_forbidden": Code.UNKNOWN_KEY,
    "enum": Code.INVALID_ENUM,
    "literal_error": Code.INVALID_ENUM,
    "union_tag_invalid": Code.INVALID_ENUM,
    "string_too_long": Code.TOO_LONG,
    "string_too_short": Code.TOO_SHORT,
    "too_long": Code.TOO_MANY,
    "too_short": Code.TOO_FEW,
    "greater_than": Code.OUT_OF_RANGE,
    "greater_than_equal": Code.OUT_OF_RANGE,
    "less_than": Code.OUT_OF_RANGE,
    "less_than_equal": Code.OUT_OF_RANGE,
}
"""The codes of pydantic's faults; a type that does not fit ends in `_type`."""


class PayloadMisfit(Exception):
    """A payload that does not fit. `faults` are in order; their paths begin with `payload`."""

    def __init__(self, faults: tuple[FieldError, ...]) -> None:
        super().__init__("The payload does not fit.")
        self.faults = faults


@dataclass(frozen=True)
class Payload:
    """The form of an action's payload: that of a model, or any object."""

    model: type[BaseModel] | None

    def read(self, payload: JsonObject) -> BaseModel | dict[str, JsonValue]:
        """Returns a payload as the action is given it.

        It is read strictly, as JSON, with `3.0` as `3`. Keys that the model does not know are as it
        says.

        Raises:
            PayloadMisfit: It does not fit.
        """
        try:
            arguments = arguments_of({**payload})
            text = compact(arguments)
        except (Misfit, ValueError) as error:
            fault = _fault(
                (),
                Code.INVALID_FORMAT,
                f"The payload has more than {limits.CALL_LEVELS} levels, or a number of too many "
                "digits.",
                "Send less.",
            )
            raise PayloadMisfit(in_order([fault])) from error
        if self.model is None:
            return arguments
        try:
            return self.model.model_validate_json(text, strict=True)
        except ValidationError as error:
            details = error.errors(include_url=False)
            raise PayloadMisfit(in_order(_fault_of(each, arguments) for each in details)) from error


def _fault_of(details: ErrorDetails, arguments: dict[str, JsonValue]) -> Fault:
    kind = details["type"]
    at, forms = place_of(arguments, details["loc"], is_missing=kind == "missing")
    place = named((_ROOT, *at))
    match code := _CODES.get(kind) or _other(kind):
        case Code.MISSING_REQUIRED:
            return _fault(at, code, f"{place} is missing, or a part of it is.", "Send it.")
        case Code.UNKNOWN_KEY:
            return _fault(at, code, f"{place} is not known.", "Leave it out.")
        case _:
            sentence = details["msg"].removeprefix("Value error, ").rstrip(".")
            read_as = f" as {clip(storable(' / '.join(forms)), limits.QUOTE)}" if forms else ""
            message = f"{place}{read_as}: {clip(storable(sentence), MESSAGE)}."
            return _fault(at, code, message, "Send what the action takes.")


def _other(kind: str) -> Code:
    return Code.INVALID_TYPE if kind.endswith("_type") else Code.INVALID_FORMAT


def _fault(at: Path, code: Code, message: str, fix: str) -> Fault:
    return Fault((_ROOT, *at), code, message, fix)
