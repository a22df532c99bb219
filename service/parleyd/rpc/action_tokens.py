"""Action tokens on the wire (spec turns 16.7). Neither a token nor its hash is ever logged."""

from structlog.contextvars import bind_contextvars

from parley.v1 import turns_pb2 as pb
from parleyd.contract import limits
from parleyd.contract.errors import InvalidRequest
from parleyd.contract.field_errors import Code
from parleyd.contract.text import storable
from parleyd.rpc import fields
from parleyd.rpc.auth import current_caller
from parleyd.rpc.callers import Caller, Person
from parleyd.rpc.calls import Context
from parleyd.rpc.redemptions import RedemptionLimit
from parleyd.rpc.times import seconds_from_proto, time_to_proto
from parleyd.turns.action_tokens import ActionToken, ActionTokens, Redeemed, TokenWish


class ActionTokenCalls:
    """Makes tokens for their owners and for services, and redeems them for whoever has them."""

    def __init__(self, tokens: ActionTokens, limit: RedemptionLimit) -> None:
        self._tokens = tokens
        self._limit = limit

    async def create(self, request: pb.CreateActionTokenRequest) -> pb.CreateActionTokenResponse:
        """Answers the call of a person, or of a service that may make tokens for everybody.

        Raises:
            ParleyError: Something is wrong with the request, or with its ask.
        """
        wish = wish_from_proto(current_caller(), request)
        bind_contextvars(conversation_id=str(wish.conversation_id))
        return token_to_proto(await self._tokens.create(wish))

    async def redeem(self, request: pb.RedeemActionTokenRequest, context: Context) -> Redeemed:
        """Answers the call of anybody.

        Raises:
            ParleyError: The token presses nothing, or its turn can't start.
        """
        await self._limit.count(context)
        redeemed = await self._tokens.redeem(
            secret_of(request.token), fields.button_id(request.button_id), wait=request.wait
        )
        bind_contextvars(
            conversation_id=str(redeemed.conversation_id), turn_id=str(redeemed.turn_id)
        )
        return redeemed


def wish_from_proto(caller: Caller, request: pb.CreateActionTokenRequest) -> TokenWish:
    """Returns what a caller wants a token for; a service may want it of everybody's ask.

    Raises:
        ConversationRequired, ToolCallIdRequired: What it is about is not named.
        InvalidRequest: An id or the time is malformed, or there are more buttons than any card has.
    """
    conversation_id = fields.required_conversation_id(request.conversation_id)
    tool_call_id = fields.tool_call_id(request.tool_call_id)
    if len(request.button_ids) > limits.CARD_BUTTONS:
        raise fields.malformed(
            InvalidRequest,
            "buttonIds",
            Code.TOO_MANY,
            f"buttonIds has {len(request.button_ids)} ids; a card has at most "
            f"{limits.CARD_BUTTONS} buttons.",
            "Name each button once, or leave the list empty for all that a token may press.",
        )
    seconds = float(limits.ACTION_TOKEN_SECONDS_MAX)
    if request.HasField("ttl"):
        seconds = seconds_from_proto(
            "ttl",
            request.ttl,
            least=limits.ACTION_TOKEN_SECONDS_MIN,
            most=limits.ACTION_TOKEN_SECONDS_MAX,
        )
    return TokenWish(
        owner=caller.owner if isinstance(caller, Person) else None,
        conversation_id=conversation_id,
        tool_call_id=tool_call_id,
        button_ids=tuple(map(storable, request.button_ids)),
        seconds=seconds,
    )


def token_to_proto(token: ActionToken) -> pb.CreateActionTokenResponse:
    """Returns a token as it is told once."""
    return pb.CreateActionTokenResponse(
        token=token.secret,
        expire_time=time_to_proto(token.expire_time),
        button_ids=token.button_ids,
    )


def secret_of(text: str) -> str:
    """Returns what somebody redeems.

    Raises:
        InvalidRequest: Nothing, or more than any token has.
    """
    if 0 < len(text) <= limits.ACTION_TOKEN_CHARACTERS:
        return text
    raise fields.malformed(
        InvalidRequest,
        "token",
        Code.TOO_LONG if text else Code.MISSING_REQUIRED,
        "token is longer than any action token." if text else "token is missing.",
        "Send the token that CreateActionToken returned.",
    )
