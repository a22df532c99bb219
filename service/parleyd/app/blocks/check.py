"""Decides cases of block documents and of HTML."""

from collections.abc import Sequence
from typing import assert_never

from pydantic import JsonValue

from parleyd.app.blocks.cases import Case, read_case
from parleyd.contract.blocks.html import sanitize_html
from parleyd.contract.blocks.issues import BlockIssue
from parleyd.contract.blocks.parsing import parse
from parleyd.contract.blocks.partial import parse_partial
from parleyd.contract.blocks.validation import check
from parleyd.contract.json import JsonObject


def outcome_of(value: JsonObject) -> JsonObject:
    """Returns the outcome of a case.

    It is `{"name", "errors", "warnings"}` for `parse` and `validate`, `{"name", "blocks",
    "pending"}` for `partial`, `{"name", "html"}` for `sanitize`.

    Raises:
        UnreadableCase: It is no case.
    """
    case = read_case(value)
    return {"name": case.name, **_outcome(case)}


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
