"""Host actions of a deployment that lends money, for servers of tests to load."""

import asyncio
import threading
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, JsonValue

from parleyd.contract.errors import RateLimited
from parleyd.tools import ActionContext, ActionResult, declared_action, host_action

SECRET = "iban 12"
calls: list[tuple[str, ActionContext | None]] = []
"""What ran, in order."""
cancelled: list[str] = []
"""What was cancelled."""
started: list[asyncio.Event] = []
"""Set once `hang` runs."""


def forget() -> None:
    """Starts anew."""
    calls.clear()
    cancelled.clear()
    started.clear()


class Part(BaseModel):
    """A part of a loan."""

    cents: Annotated[int, Field(gt=0)]
    kind: Literal["first", "last"] = "first"


class Repayment(BaseModel, extra="forbid"):
    """What is paid back."""

    loan_id: str
    parts: list[Part] = []


def document(*blocks: JsonValue) -> dict[str, JsonValue]:
    return {"v": 1, "blocks": [*blocks]}


@host_action
async def repay(payment: Repayment, context: ActionContext) -> ActionResult:
    """Runs on the loop and shows a document instead of the block."""
    assert threading.current_thread() is threading.main_thread()
    calls.append(("repay", context))
    paid = sum(part.cents for part in payment.parts)
    heading: JsonValue = {"type": "heading", "text": f"{payment.loan_id}: {paid}"}
    return ActionResult(text="Paid.", blocks=document(heading), replace="block")


@host_action
def remind() -> None:
    """Runs in a thread and has nothing to show."""
    assert threading.current_thread() is not threading.main_thread()
    calls.append(("remind", None))


@host_action(name="showTerms")
def show_terms(payload: dict[str, JsonValue]) -> ActionResult:
    """Shows a document that is written in YAML."""
    del payload
    return ActionResult(
        blocks="v: 1\nblocks:\n  - type: heading\n    text: Terms\n", replace="message"
    )


@host_action
def letter() -> ActionResult:
    """Shows HTML with a script in it."""
    html = "<p>Dear Noor</p><script>steal()</script>"
    return ActionResult(blocks=document({"type": "html", "html": html, "height": "sm"}))


@host_action
def photo() -> ActionResult:
    """Shows an image of a host."""
    image: JsonValue = {"type": "image", "src": "https://img.example/a.png", "alt": "A house"}
    return ActionResult(blocks=document(image))


@host_action
def offer() -> ActionResult:
    """Shows a button that calls another action."""
    button: JsonValue = {
        "type": "button",
        "id": "go",
        "text": "Go",
        "action": {"kind": "callback", "name": "remind"},
    }
    return ActionResult(blocks=document({"type": "actions", "id": "next", "elements": [button]}))


@host_action
async def hang() -> None:
    """Never ends by itself."""
    calls.append(("hang", None))
    for event in started:
        event.set()
    try:
        await asyncio.Event().wait()
    finally:
        cancelled.append("hang")


@host_action
def fail() -> None:
    """Raises."""
    raise ValueError(SECRET)


@host_action
def too_often() -> None:
    """Raises an error of the service's."""
    raise RateLimited("reminders", 3)


@host_action
def gives(payload: dict[str, Any]) -> ActionResult:
    """Returns what it is told to."""
    return ActionResult(**payload)


@host_action
def number() -> int:
    """Returns what no action may."""
    return 3


@host_action(log_response=False)
def quiet(payload: dict[str, JsonValue]) -> ActionResult:
    """Says what nobody else may read."""
    if payload.get("fail"):
        raise ValueError(SECRET)
    return ActionResult(text=SECRET)


elsewhere = declared_action("openCamera")
