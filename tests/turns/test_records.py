"""Events in the form in which they are stored."""

import pytest

from parleyd.contract.cards import to_simple_card
from parleyd.contract.events import (
    Asked,
    AskResolved,
    Done,
    EventBody,
    Failed,
    Resumed,
    Started,
    Text,
    ToolCalled,
    ToolReturned,
)
from parleyd.contract.reasons import Reason
from parleyd.turns.records import returned_row, storable_event
from tests.turns.turn_values import CONVERSATION, PLAN


@pytest.mark.parametrize(
    "body",
    [
        Started(conversation_id=CONVERSATION, conversation_created=True),
        AskResolved(tool_call_id="a", action="accept"),
        Resumed(attempt=2),
        Text(text="Hi"),
        ToolCalled(tool_call_id="a", tool_name="b", args=[1, {"c": None}]),
        ToolReturned(tool_call_id="a", tool_name="b", result=2**80, is_error=False),
        Asked(
            conversation_id=CONVERSATION,
            tool_call_id="a",
            ask_kind="choice",
            input=PLAN,
            simple=to_simple_card("choice", PLAN, "a"),
            origin="model",
        ),
        Failed(reason=Reason.INTERNAL, message="Sorry."),
        Done(
            conversation_id=CONVERSATION,
            title=None,
            pending_tool_call_id=None,
            state="completed",
            retryable=False,
        ),
    ],
    ids=lambda body: body.kind,
)
def test_an_event_that_can_be_stored_stays_as_it_is(body: EventBody) -> None:
    assert storable_event(body) == body


@pytest.mark.parametrize(
    ("body", "stored"),
    [
        pytest.param(Text(text="a\x00"), Text(text="a\ufffd"), id="text"),
        pytest.param(
            ToolCalled(tool_call_id="a", tool_name="b", args={"\ud83d": ["\x00"]}),
            ToolCalled(tool_call_id="a", tool_name="b", args={"\ufffd": ["\ufffd"]}),
            id="arguments",
        ),
        pytest.param(
            ToolReturned(tool_call_id="a", tool_name="b", result="\x00", is_error=True),
            ToolReturned(tool_call_id="a", tool_name="b", result="\ufffd", is_error=True),
            id="result",
        ),
    ],
)
def test_an_event_says_what_is_stored(body: EventBody, stored: EventBody) -> None:
    assert storable_event(body) == stored


def test_the_row_of_a_result_names_its_call() -> None:
    returned = ToolReturned(tool_call_id="a", tool_name="b", result={"c": 1}, is_error=False)

    row = returned_row(returned)

    assert (row.type, row.text) == ("tool_result", "Tool result: b")
    assert (row.tool_call_id, row.tool_name, row.result) == ("a", "b", {"c": 1})
