"""The contract of asks as a service: what the server will say of an ask or an answer (spec asks).

Nothing is read, kept or changed.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from pydantic import JsonValue
from typing_extensions import override

from parley.v1 import ask_contract_pb2 as pb
from parley.v1 import asks_pb2
from parley.v1.ask_contract_pb2_grpc import AskContractServiceServicer
from parleyd.contract.answers import check_answer
from parleyd.contract.asks.kind import AskKind
from parleyd.contract.asks.kinds import check_ask, offered_kinds
from parleyd.contract.cards import to_simple_card
from parleyd.contract.errors import InvalidAsk, InvalidRequest
from parleyd.contract.field_errors import Code, FieldError
from parleyd.contract.json import storable_json, storable_object
from parleyd.contract.text import clip
from parleyd.rpc import fields
from parleyd.rpc.answers import answer_from_proto
from parleyd.rpc.ask_inputs import ask_input_from_proto
from parleyd.rpc.calls import Context
from parleyd.rpc.cards import card_to_proto
from parleyd.rpc.errors import field_error_to_proto
from parleyd.rpc.surfaces import surface_from_proto
from parleyd.rpc.threads import work_on

ERRORS_BYTES: Final = 3 * 1024 * 1024
"""So many bytes of errors are told, since clients take messages of 4 MiB unless they say else."""

_PATH_UNITS = 1000
"""What is told of a path that is too long all by itself: it holds a key of the client's making."""


class AskContractServicer(AskContractServiceServicer):
    """Checks asks and answers, and makes cards."""

    @override
    async def ValidateAsk(
        self, request: pb.ValidateAskRequest, context: Context
    ) -> pb.ValidateAskResponse:
        return await work_on(request, validate_ask)

    @override
    async def ValidateAnswer(
        self, request: pb.ValidateAnswerRequest, context: Context
    ) -> pb.ValidateAnswerResponse:
        return await work_on(request, validate_answer)

    @override
    async def DeriveCard(
        self, request: pb.DeriveCardRequest, context: Context
    ) -> pb.DeriveCardResponse:
        return await work_on(request, derive_card)


def validate_ask(request: pb.ValidateAskRequest) -> pb.ValidateAskResponse:
    """Returns what is wrong with a question.

    Raises:
        UnknownSurface: There is no such surface.
        InvalidRequest: The input has no kind, or one that the surface does not offer.
    """
    surface = surface_from_proto(request.surface) or "full"
    kind, ask_input = ask_input_from_proto(request.input)
    if not offered_kinds([kind], surface):
        raise fields.malformed(
            InvalidRequest,
            "surface",
            Code.INVALID_ENUM,
            f"surface is {surface}, which does not offer {kind}.",
            "Send SURFACE_FULL, or a question of another kind.",
        )
    return pb.ValidateAskResponse(errors=_told(check_ask(kind, ask_input, surface)))


def validate_answer(request: pb.ValidateAnswerRequest) -> pb.ValidateAnswerResponse:
    """Returns what is wrong with an answer.

    Raises:
        InvalidRequest: The input has no kind.
        InvalidAsk: The input breaks the rules of its kind.
    """
    kind, ask_input = _valid(request.input)
    answer = storable_json(answer_from_proto(request.answer))
    return pb.ValidateAnswerResponse(errors=_told(check_answer(kind, ask_input, answer)))


def derive_card(request: pb.DeriveCardRequest) -> pb.DeriveCardResponse:
    """Returns the card of a question.

    Raises:
        ToolCallIdRequired: The ask is not named.
        InvalidRequest: The name is too long, or the input has no kind.
        InvalidAsk: The input breaks the rules of its kind.
    """
    tool_call_id = fields.tool_call_id(request.tool_call_id)
    kind, ask_input = _valid(request.input)
    return pb.DeriveCardResponse(
        simple=card_to_proto(to_simple_card(kind, ask_input, tool_call_id))
    )


def _valid(message: asks_pb2.AskInput) -> tuple[AskKind, dict[str, JsonValue]]:
    """Returns the kind and the input as they would be stored.

    Raises:
        InvalidRequest: The input has no kind.
        InvalidAsk: The input breaks the rules of its kind.
    """
    kind, ask_input = ask_input_from_proto(message)
    if errors := check_ask(kind, ask_input):
        raise InvalidAsk(f"The input is no valid {kind}. First fault: {errors[0].message}", errors)
    return kind, storable_object(ask_input)


def _told(errors: Sequence[FieldError]) -> Iterable[asks_pb2.AskFieldError]:
    """Returns the first of the errors, as many as a client can take, and one at least."""
    room = ERRORS_BYTES
    told: list[asks_pb2.AskFieldError] = []
    for message in map(field_error_to_proto, errors):
        room -= message.ByteSize()
        if room < 0:
            break
        told.append(message)
    if errors and not told:
        path = clip(errors[0].path, _PATH_UNITS)
        told.append(field_error_to_proto(errors[0].model_copy(update={"path": path})))
    return told
