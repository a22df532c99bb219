"""JSON and protobuf are two spellings of one contract (spec asks W1, W2), whatever is said."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parley.v1 import asks_pb2
from parley.v1.asks_pb2 import AskAnswer, AskInput, FormField
from parleyd.contract import limits
from parleyd.contract.answers import accepted, cancelled, declined
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import ASK_KINDS
from parleyd.contract.cards import to_simple_card
from parleyd.contract.data_urls import to_data_url
from parleyd.contract.json import compact
from parleyd.rpc.answers import answer_from_proto, answer_to_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto, ask_input_to_proto
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.form_fields import field_from_proto, field_to_proto
from tests.contract.valid_asks import asks
from tests.contract.valid_drafts import edits
from tests.contract.valid_files import answered_files
from tests.contract.valid_forms import answered_forms
from tests.contract.valid_texts import AskInput as Json
from tests.contract.valid_texts import visible
from tests.rpc.any_message import messages
from tests.rpc.json_values import card_of, exact

thoroughly = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Looks for faults, not for slowness: a busy machine is none."""

ALWAYS_SET = (
    "parley.v1.AskInput.kind",
    "parley.v1.AskAnswer.action",
    "parley.v1.AcceptAnswer.content",
)
"""What has to be set for a question or an answer to be one of ours."""


def carried_input(kind: AskKind, ask: Json) -> tuple[AskKind, Json]:
    """Returns an input as it comes out at the other end of the wire."""
    sent = ask_input_to_proto(kind, ask).SerializeToString()
    return ask_input_from_proto(AskInput.FromString(sent))


def carried_answer(kind: AskKind, envelope: Json) -> Json:
    """Returns an answer as it comes out at the other end of the wire."""
    sent = answer_to_proto(kind, envelope).SerializeToString()
    return answer_from_proto(AskAnswer.FromString(sent))


@st.composite
def answered(draw: st.DrawFn) -> tuple[AskKind, Json]:
    """Draws answers of the right shape to asks of every kind."""
    kind: AskKind = draw(st.sampled_from(ASK_KINDS))
    if draw(st.integers(0, 9)) == 0:
        dropped = visible(limits.CANCEL_REASON).map(cancelled)
        return kind, draw(st.one_of(st.builds(declined), dropped))
    if kind == "form":
        _, values = draw(answered_forms())
        return kind, accepted({"values": values})
    _, ask = draw(asks("full").filter(lambda drawn: drawn[0] == kind))
    return kind, accepted(draw(_contents(kind, ask)))


def _contents(kind: AskKind, ask: Any) -> st.SearchStrategy[Json]:
    if kind == "choice":
        ids = st.sampled_from([option["id"] for option in ask["options"]])
        return st.fixed_dictionaries(
            {"selected": st.lists(ids, unique=True)}, optional={"other": visible(limits.OTHER)}
        )
    if kind == "confirm":
        return st.fixed_dictionaries({"confirmed": st.booleans()})
    return edits(ask) if kind == "markdown" else answered_files(ask)


@thoroughly
@given(asks("full"))
def test_every_valid_ask_comes_back_the_same(drawn: tuple[AskKind, Json]) -> None:
    kind, ask = drawn
    if kind == "choice" and ask.get("default") == []:
        del ask["default"]  # which is the same question (CH5)
    came_kind, came = carried_input(kind, ask)
    assert (came_kind, exact(came)) == (kind, exact(ask))


@thoroughly
@given(answered())
def test_every_answer_comes_back_the_same(drawn: tuple[AskKind, Json]) -> None:
    kind, envelope = drawn
    assert exact(carried_answer(kind, envelope)) == exact(envelope)


@thoroughly
@given(asks("full"))
def test_every_card_comes_back_the_same(drawn: tuple[AskKind, Json]) -> None:
    kind, ask = drawn
    card = to_simple_card(kind, ask, "call_1")
    whole = card.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert exact(card_of(card_to_proto(card))) == exact(whole)


@thoroughly
@given(messages(AskInput, ALWAYS_SET))
def test_every_input_of_the_wire_comes_back_the_same(message: AskInput) -> None:
    kind, ask = ask_input_from_proto(message)
    assert ask_input_to_proto(kind, ask) == message
    assert ask_input_to_proto(kind, json.loads(compact(ask))) == message


@thoroughly
@given(messages(FormField))
def test_every_field_of_the_wire_comes_back_the_same(message: FormField) -> None:
    assert field_to_proto(field_from_proto(message)) == message


@thoroughly
@given(messages(AskAnswer, ALWAYS_SET))
def test_every_answer_of_the_wire_comes_back_the_same(message: AskAnswer) -> None:
    kind = message.accept.WhichOneof("content") or "choice"
    envelope = answer_from_proto(message)
    assert answer_to_proto(kind, envelope) == _with_data_urls(message)
    assert answer_to_proto(kind, json.loads(compact(envelope))) == _with_data_urls(message)


def _with_data_urls(message: AskAnswer) -> AskAnswer:
    """Returns an answer with the data URLs that the bytes of its files stand for (W3)."""
    whole = AskAnswer.FromString(message.SerializeToString())
    if whole.accept.HasField("files"):
        for file in whole.accept.files.files:
            _name_bytes(file)
    return whole


def _name_bytes(file: asks_pb2.FileRef) -> None:
    if file.HasField("data"):
        file.url = to_data_url(file.mime_type, file.data)
