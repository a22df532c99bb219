"""Decides cases and says the outcome as JSON."""

import json
from collections.abc import Iterator, Sequence
from typing import assert_never

from pydantic import JsonValue

from parleyd.app.asks.cases import UnreadableCase, texts_in
from parleyd.app.blocks.cases import Case, read_case
from parleyd.app.blocks.sources import named, read_bytes
from parleyd.contract.blocks.html import sanitize_html
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.partial import parse_partial
from parleyd.contract.blocks.validation import check
from parleyd.contract.json import JsonObject


def outcomes_in(file: str) -> Iterator[str | UnreadableCase]:
    """Yields the outcome of each case of a file, or what is wrong with the case, in their order.

    An outcome is one line of compact JSON in ASCII: `{"name", "errors", "warnings"}` for `parse`
    and `validate`, `{"name", "blocks", "pending"}` for `partial`, `{"name", "html"}` for
    `sanitize`. The file `-` is standard input.
    """
    source = named(file)
    try:
        texts = texts_in(read_bytes(file))
    except OSError as error:
        yield UnreadableCase(f"{source}: {error.strerror}.")
        return
    except UnreadableCase as fault:
        yield UnreadableCase(f"{source}: {fault}")
        return
    for place, text in texts:
        yield _outcome_or_fault(f"{source}{place}", text)


def _outcome_or_fault(place: str, text: str) -> str | UnreadableCase:
    try:
        case = read_case(text)
    except UnreadableCase as fault:
        return UnreadableCase(f"{place}: {fault}")
    outcome: JsonObject = {"name": case.name, **_outcome(case)}
    return json.dumps(outcome, separators=(",", ":"), allow_nan=False)


def _outcome(case: Case) -> JsonObject:
    match case.op:
        case "parse":
            parsed = parse(case.text)
            errors = [parsed] if isinstance(parsed, BlockIssue) else []
            return {"errors": _listed(errors), "warnings": []}
        case "validate":
            verdict = check(case.text, case.options)
            return {"errors": _listed(verdict.errors), "warnings": _listed(verdict.warnings)}
        case "partial":
            so_far = parse_partial(case.text, case.options)
            return {"blocks": len(so_far.blocks), "pending": so_far.pending}
        case "sanitize":
            return {"html": sanitize_html(case.text)}
        case _:
            assert_never(case.op)


def _listed(issues: Sequence[BlockIssue]) -> list[JsonValue]:
    return [issue.model_dump(mode="json") for issue in issues]
