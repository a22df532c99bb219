from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import pytest
from google.protobuf.struct_pb2 import Value
from grpc import StatusCode
from sqlalchemy.ext.asyncio import AsyncEngine

import parley
from parley.v1.ask_contract_pb2 import (
    DeriveCardRequest,
    ValidateAnswerRequest,
    ValidateAskRequest,
)
from parley.v1.asks_pb2 import (
    AcceptAnswer,
    AskAnswer,
    AskFieldError,
    AskInput,
    CancelAnswer,
    ChoiceInput,
    ConfirmAnswer,
    DeclineAnswer,
    FileRef,
    FilesAnswer,
    FormAnswer,
    FormField,
    FormInput,
    MarkdownAnswer,
    MarkdownInput,
    MultiselectField,
    Option,
)
from parley.v1.turns_pb2 import SURFACE_COMPACT, SURFACE_FULL, SURFACE_UNSPECIFIED
from parleyd.contract import limits
from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import check_ask
from parleyd.contract.cards import to_simple_card
from parleyd.models.scripted import in_turn
from parleyd.rpc.ask_contract import ERRORS_BYTES
from parleyd.rpc.ask_inputs import ask_input_to_proto
from tests.contract.reported import Errors
from tests.end_to_end.person import accept
from tests.rpc.every_kind import INPUTS, Json
from tests.rpc.json_values import card_of, exact
from tests.rpc.requests import Request, refusal, stored
from tests.rpc.wire import Wire
from tests.server import StartServer

CLIENT_BYTES = 4 * 1024 * 1024
"""What a client takes unless it says else."""

CONFIRM = ask_input_to_proto("confirm", {"prompt": "Sure?"})
CHOICE = ask_input_to_proto(*INPUTS["choice_with_nothing_more"])
FORM = ask_input_to_proto(
    "form", {"prompt": "P", "fields": [{"id": "f", "type": "text", "label": "F"}]}
)
FILES = ask_input_to_proto("files", {"prompt": "Send it.", "accept": ["image", "text"]})
NO_KIND = AskInput(prompt="Which?")
WRONG = AskInput(
    choice=ChoiceInput(select=ChoiceInput.SELECT_ONE, options=[Option(id="a", label="A")])
)
"""A choice without a prompt, and with one option."""


@pytest.fixture
async def client(wire: Wire) -> AsyncIterator[parley.Client]:
    """A connection of Ada's."""
    async with wire.client() as client:
        yield client


def told(errors: Sequence[AskFieldError]) -> Errors:
    """Returns path and code of each error, once it is known to say what to do."""
    assert all(error.message and error.fix for error in errors)
    return [(error.path, error.code) for error in errors]


async def faults_of_ask(client: parley.Client, ask_input: AskInput, **request: Any) -> Errors:
    validate = ValidateAskRequest(input=ask_input, **request)
    return told((await client.contract.ValidateAsk(validate)).errors)


async def faults_of_answer(client: parley.Client, ask_input: AskInput, answer: AskAnswer) -> Errors:
    validate = ValidateAnswerRequest(input=ask_input, answer=answer)
    return told((await client.contract.ValidateAnswer(validate)).errors)


@pytest.mark.parametrize(("kind", "ask_input"), INPUTS.values(), ids=INPUTS.keys())
async def test_a_valid_ask_of_any_kind_has_no_faults_and_the_card_it_would_have(
    client: parley.Client, kind: AskKind, ask_input: Json
) -> None:
    message = ask_input_to_proto(kind, ask_input)
    assert await faults_of_ask(client, message) == []
    derive = DeriveCardRequest(input=message, tool_call_id="call_7")
    derived = await client.contract.DeriveCard(derive)
    card = to_simple_card(kind, ask_input, "call_7")
    assert exact(card_of(derived.simple)) == exact(
        card.model_dump(mode="json", by_alias=True, exclude_none=True)
    )
    for button in derived.simple.buttons:
        assert await faults_of_answer(client, message, button.response) == [], button.id


async def test_the_faults_of_an_ask_come_in_order_in_the_names_of_its_json(
    client: parley.Client,
) -> None:
    ask_input = AskInput(
        prompt="P",
        submit_label="x" * 25,
        choice=ChoiceInput(
            select=ChoiceInput.SELECT_MANY,
            options=[Option(id="a", label="A"), Option(id="a", label="")],
            min_selected=-1,
        ),
    )
    assert await faults_of_ask(client, ask_input) == [
        ("minSelected", "RANGE_INVALID"),
        ("options[1].id", "DUPLICATE_ID"),
        ("options[1].label", "TOO_SHORT"),
        ("submitLabel", "TOO_LONG"),
    ]


async def test_an_ask_is_checked_on_its_surface(client: parley.Client) -> None:
    ask_input = ask_input_to_proto(*INPUTS["choice_with_everything"])
    for surface in (SURFACE_UNSPECIFIED, SURFACE_FULL):
        assert await faults_of_ask(client, ask_input, surface=surface) == []
    assert await faults_of_ask(client, ask_input, surface=SURFACE_COMPACT) == [
        ("allowOther", "UNKNOWN_KEY"),
        ("maxSelected", "UNKNOWN_KEY"),
        ("minSelected", "UNKNOWN_KEY"),
        ("otherLabel", "UNKNOWN_KEY"),
        ("select", "INVALID_ENUM"),
    ]
    assert await faults_of_ask(client, CONFIRM, surface=SURFACE_COMPACT) == []


YES = accept(confirmed=True)
ANSWERS: dict[str, tuple[AskInput, AskAnswer, Errors]] = {
    "fits": (CONFIRM, YES, []),
    "cancels": (CONFIRM, AskAnswer(cancel=CancelAnswer()), []),
    "skips_what_may_be_skipped": (CHOICE, AskAnswer(decline=DeclineAnswer()), []),
    "skips_what_must_be_answered": (
        CONFIRM,
        AskAnswer(decline=DeclineAnswer()),
        [("action", "DECLINE_NOT_ALLOWED")],
    ),
    "no_action": (CONFIRM, AskAnswer(), [("action", "MISSING_REQUIRED")]),
    "no_content": (
        CONFIRM,
        AskAnswer(accept=AcceptAnswer()),
        [("content", "MISSING_REQUIRED")],
    ),
    "no_word_in_the_content": (
        CONFIRM,
        AskAnswer(accept=AcceptAnswer(confirm=ConfirmAnswer())),
        [("content.confirmed", "MISSING_REQUIRED")],
    ),
    "another_kind": (
        CHOICE,
        YES,
        [("content.confirmed", "UNKNOWN_KEY"), ("content.selected", "MISSING_REQUIRED")],
    ),
    "two_faults_in_order": (
        CHOICE,
        accept("ferry", "plane"),
        [
            ("content.selected", "SELECTION_COUNT"),
            ("content.selected[1]", "OPTION_NOT_OFFERED"),
        ],
    ),
    "keys_of_a_form_are_data": (
        FORM,
        AskAnswer(accept=AcceptAnswer(form=FormAnswer(values={"some_key": Value(), "f": Value()}))),
        [
            ("content.values.f", "FIELD_TYPE_MISMATCH"),
            ("content.values.some_key", "UNKNOWN_KEY"),
        ],
    ),
}


@pytest.mark.parametrize(("ask_input", "answer", "faults"), ANSWERS.values(), ids=ANSWERS.keys())
async def test_an_answer_is_told_its_faults(
    client: parley.Client, ask_input: AskInput, answer: AskAnswer, faults: Errors
) -> None:
    assert await faults_of_answer(client, ask_input, answer) == faults


class Refused(NamedTuple):
    """A request that is refused for one field."""

    request: Request
    reason: str
    path: str
    code: str


REFUSED: dict[str, Refused] = {
    "an_ask_of_no_kind": Refused(
        ValidateAskRequest(input=NO_KIND), "INVALID_REQUEST", "kind", "MISSING_REQUIRED"
    ),
    "no_ask": Refused(ValidateAskRequest(), "INVALID_REQUEST", "kind", "MISSING_REQUIRED"),
    "an_answer_to_an_ask_of_no_kind": Refused(
        ValidateAnswerRequest(input=NO_KIND, answer=YES),
        "INVALID_REQUEST",
        "kind",
        "MISSING_REQUIRED",
    ),
    "the_card_of_an_ask_of_no_kind": Refused(
        DeriveCardRequest(input=NO_KIND, tool_call_id="call_1"),
        "INVALID_REQUEST",
        "kind",
        "MISSING_REQUIRED",
    ),
    "no_such_surface": Refused(
        ValidateAskRequest(
            input=CONFIRM,
            surface=7,  # pyright: ignore[reportArgumentType] - what no enum has
        ),
        "UNKNOWN_SURFACE",
        "surface",
        "INVALID_ENUM",
    ),
    "a_form_on_a_watch": Refused(
        ValidateAskRequest(input=FORM, surface=SURFACE_COMPACT),
        "INVALID_REQUEST",
        "surface",
        "INVALID_ENUM",
    ),
    "files_on_a_watch": Refused(
        ValidateAskRequest(input=FILES, surface=SURFACE_COMPACT),
        "INVALID_REQUEST",
        "surface",
        "INVALID_ENUM",
    ),
    "a_card_without_a_name": Refused(
        DeriveCardRequest(input=CONFIRM),
        "TOOL_CALL_ID_REQUIRED",
        "toolCallId",
        "MISSING_REQUIRED",
    ),
    "a_card_with_too_long_a_name": Refused(
        DeriveCardRequest(input=CONFIRM, tool_call_id="x" * (limits.TOOL_CALL_ID_CHARACTERS + 1)),
        "INVALID_REQUEST",
        "toolCallId",
        "TOO_LONG",
    ),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED.keys())
async def test_what_can_not_be_checked_is_refused(client: parley.Client, refused: Refused) -> None:
    error = await refusal(client, refused.request)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, refused.reason)
    assert [(fault.path, fault.code) for fault in error.fields] == [(refused.path, refused.code)]
    assert all(fault.message and fault.fix for fault in error.fields)


@pytest.mark.parametrize(
    "request_",
    [
        ValidateAnswerRequest(input=WRONG, answer=accept("a")),
        DeriveCardRequest(input=WRONG, tool_call_id="call_1"),
    ],
    ids=["answer", "card"],
)
async def test_an_ask_that_is_not_valid_has_neither_answer_nor_card(
    client: parley.Client, request_: Request
) -> None:
    error = await refusal(client, request_)
    assert (error.code, error.reason) == (StatusCode.INVALID_ARGUMENT, "INVALID_ASK")
    faults = [(fault.path, fault.code) for fault in error.fields]
    assert faults == [("options", "TOO_FEW"), ("prompt", "TOO_SHORT")]
    assert faults == await faults_of_ask(client, WRONG)


async def test_an_ask_is_taken_as_it_would_be_stored(client: parley.Client) -> None:
    ask_input = AskInput(prompt="N\x00", markdown=MarkdownInput(initial="a\x00b"))
    for text, changed in (("a\x00b", False), ("a\ufffdb", False), ("ab", True)):
        content = MarkdownAnswer(markdown=text, changed=changed)
        answer = AskAnswer(accept=AcceptAnswer(markdown=content))
        assert await faults_of_answer(client, ask_input, answer) == []
    name = "x" * limits.TOOL_CALL_ID_CHARACTERS
    derive = DeriveCardRequest(input=ask_input, tool_call_id=name)
    card = (await client.contract.DeriveCard(derive)).simple
    assert (card.tool_call_id, card.text) == (name, "N\ufffd")
    assert card.buttons[0].response.accept.markdown.markdown == "a\ufffdb"


def files(*refs: FileRef) -> AskAnswer:
    return AskAnswer(accept=AcceptAnswer(files=FilesAnswer(files=refs)))


@pytest.mark.parametrize(
    ("more", "faults"), [(0, []), (1, [("content.files[0].size", "FILE_TOO_LARGE")])]
)
async def test_a_file_of_the_largest_size_is_taken_and_no_larger_one(
    client: parley.Client, more: int, faults: Errors
) -> None:
    data = b"\xff" * (limits.FILE_BYTES + more)
    file = FileRef(filename="a.png", mime_type="image/png", size=0, data=data)
    assert await faults_of_answer(client, FILES, files(file)) == faults


async def test_a_million_options_are_one_fault(client: parley.Client) -> None:
    options = [Option()] * 1_000_000
    select = ChoiceInput.SELECT_ONE
    choice = AskInput(prompt="P", choice=ChoiceInput(select=select, options=options))
    field = FormField(id="f", label="F", multiselect=MultiselectField(options=options))
    assert await faults_of_ask(client, choice) == [("options", "TOO_MANY")]
    assert await faults_of_ask(client, AskInput(prompt="P", form=FormInput(fields=[field]))) == [
        ("fields[0].options", "TOO_MANY")
    ]


async def test_as_many_faults_as_are_ever_found_reach_a_client(client: parley.Client) -> None:
    answer = files(*[FileRef(filename=" " * 256, mime_type="", size=-1)] * 2000)
    request = ValidateAnswerRequest(input=FILES, answer=answer)
    response = await client.contract.ValidateAnswer(request)
    assert len(response.errors) == limits.FAULTS_REPORTED
    assert response.ByteSize() < CLIENT_BYTES


def answering(*keys: str) -> AskAnswer:
    """Returns an answer to a form with these keys, whatever they are worth."""
    values = {key: Value(bool_value=True) for key in keys}
    return AskAnswer(accept=AcceptAnswer(form=FormAnswer(values=values)))


async def test_of_faults_that_are_too_long_together_the_first_are_told(
    client: parley.Client,
) -> None:
    answer = answering(*[f"{number:03}{'x' * 100_000}" for number in range(100)])
    request = ValidateAnswerRequest(input=FORM, answer=answer)
    response = await client.contract.ValidateAnswer(request)
    faults = [error.path for error in response.errors]
    assert 0.9 * ERRORS_BYTES < response.ByteSize() < CLIENT_BYTES
    assert faults == [f"content.values.{n:03}{'x' * 100_000}" for n in range(len(faults))]


async def test_a_fault_that_is_too_long_alone_is_still_told(client: parley.Client) -> None:
    request = ValidateAnswerRequest(input=FORM, answer=answering("x" * (8 * 1024 * 1024)))
    (error,) = (await client.contract.ValidateAnswer(request)).errors
    assert error.code == "UNKNOWN_KEY"
    assert error.path.startswith("content.values.xxx")
    assert error.path.endswith("x…")
    assert len(error.path) == 1000


async def test_the_faults_are_those_of_the_functions(client: parley.Client) -> None:
    ask: Json = {"prompt": " ", "accept": ["pdf", "exe"], "minFiles": 11}
    validate = ValidateAskRequest(input=ask_input_to_proto("files", ask))
    response = await client.contract.ValidateAsk(validate)
    assert [(e.path, e.code, e.message, e.fix) for e in response.errors] == [
        (e.path, e.code, e.message, e.fix) for e in check_ask("files", ask)
    ]
    confirm: Json = {"prompt": "Sure?"}
    answer = ValidateAnswerRequest(input=CONFIRM, answer=AskAnswer(decline=DeclineAnswer()))
    answered = await client.contract.ValidateAnswer(answer)
    assert [(e.path, e.code, e.message, e.fix) for e in answered.errors] == [
        (e.path, e.code, e.message, e.fix)
        for e in check_answer("confirm", confirm, {"action": "decline"})
    ]


@pytest.mark.parametrize("settings", [{}, {"asks": ()}], ids=["asks_on", "asks_off"])
async def test_a_deployment_serves_the_contract_and_stores_nothing_for_it(
    start_server: StartServer, engine: AsyncEngine, settings: dict[str, Any]
) -> None:
    server = await start_server(in_turn(), **settings)
    noor = await server.person()
    before = await stored(engine)
    assert await faults_of_ask(noor.client, WRONG) != []
    assert await faults_of_answer(noor.client, CONFIRM, YES) == []
    derive = DeriveCardRequest(input=CONFIRM, tool_call_id="call_1")
    assert (await noor.client.contract.DeriveCard(derive)).simple.buttons
    assert await stored(engine) == before
