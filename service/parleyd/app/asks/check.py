"""Decides cases of asks, answers and cards."""

from typing import assert_never

from pydantic import JsonValue

from parleyd.app.asks.cases import Case, read_case
from parleyd.app.case_files import UnreadableCase
from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kinds import check_ask, offered_kinds
from parleyd.contract.cards import to_simple_card
from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import JsonObject

CARD_CALL_ID = "call_case"
"""The tool call that every card is made for."""


def outcome_of(value: JsonObject) -> JsonObject:
    """Returns the outcome of a case.

    It is `{"name", "errors"}` for an ask or an answer, `{"name", "card"}` for a card.

    Raises:
        UnreadableCase: It is no case, its ask is not offered, or no card or answer can be of it.
    """
    case = read_case(value)
    return {"name": case.name, **_outcome(case)}


def _outcome(case: Case) -> JsonObject:
    match case.op:
        case "ask":
            if not offered_kinds([case.kind], case.surface):
                raise UnreadableCase(f"The {case.surface} surface does not offer {case.kind}.")
            return {"errors": _listed(check_ask(case.kind, case.input, case.surface))}
        case "answer":
            errors = check_answer(case.kind, _valid_input(case), case.response)
            return {"errors": _listed(errors)}
        case "card":
            card = to_simple_card(case.kind, _valid_input(case), CARD_CALL_ID)
            return {"card": card.model_dump(mode="json", by_alias=True, exclude_none=True)}
        case _:
            assert_never(case.op)


def _valid_input(case: Case) -> JsonObject:
    errors = check_ask(case.kind, case.input)
    if errors or not isinstance(case.input, dict):
        first = f"{errors[0].code}. {errors[0].message}" if errors else ""
        raise UnreadableCase(f"`input` is no valid {case.kind} ask: {first}")
    return case.input


def _listed(errors: tuple[FieldError, ...]) -> list[JsonValue]:
    return [error.model_dump(mode="json") for error in errors]
