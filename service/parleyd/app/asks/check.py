"""Decides cases and says the outcome as JSON."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from pydantic import JsonValue

from parleyd.app.asks.cases import Case, UnreadableCase, read_case, texts_in
from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kinds import check_ask, offered_kinds
from parleyd.contract.cards import to_simple_card
from parleyd.contract.field_errors import FieldError
from parleyd.contract.json import JsonObject

CARD_CALL_ID = "call_case"
"""The tool call that every card is made for."""


def outcomes_in(file: str) -> Iterator[str | UnreadableCase]:
    """Yields the outcome of each case of a file, or what is wrong with the case, in their order.

    An outcome is one line of compact JSON in ASCII: `{"name", "errors"}` for an ask or an answer,
    `{"name", "card"}` for a card. The file `-` is standard input.
    """
    source = "standard input" if file == "-" else file
    try:
        texts = texts_in(_read(file))
    except OSError as error:
        yield UnreadableCase(f"{source}: {error.strerror}.")
        return
    except UnreadableCase as fault:
        yield UnreadableCase(f"{source}: {fault}")
        return
    for place, text in texts:
        yield _outcome_or_fault(f"{source}{place}", text)


def _read(file: str) -> bytes:
    if file != "-":
        return Path(file).read_bytes()
    with os.fdopen(0, "rb", closefd=False) as standard_input:
        return standard_input.read()


def _outcome_or_fault(place: str, text: str) -> str | UnreadableCase:
    try:
        case = read_case(text)
        outcome: JsonObject = {"name": case.name, **_outcome(case)}
    except UnreadableCase as fault:
        return UnreadableCase(f"{place}: {fault}")
    return json.dumps(outcome, separators=(",", ":"), allow_nan=False)


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
