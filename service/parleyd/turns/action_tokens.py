"""Action tokens: buttons of a notification, which work once without a session (spec turns 16.7)."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import UUID

from parleyd.contract.cards import SimpleCard, SimpleCardButton, look_up_button
from parleyd.contract.errors import (
    AskNotPending,
    AsksOff,
    ConversationNotFound,
    DestructiveButton,
    TokenInvalid,
    TokenUsed,
    UnknownButton,
)
from parleyd.contract.field_errors import Code, FieldError, quoted
from parleyd.contract.turns import ButtonInput, TurnRequest, TurnResult
from parleyd.turns.openings import not_pending
from parleyd.turns.ports import Ids
from parleyd.turns.situations import NamedAsks
from parleyd.turns.turns import Turns


@dataclass(frozen=True)
class TokenWish:
    """What a token is wanted for. Without `owner` a service wants it, whosesoever the ask is.

    Without `button_ids` it is for all buttons of the card that a token may press.
    """

    owner: str | None
    conversation_id: UUID
    tool_call_id: str
    button_ids: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class NewToken:
    """A token to be stored: for some buttons of one ask, and for a time, or as long as that."""

    hash: bytes = field(repr=False)
    ask_id: UUID
    button_ids: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class StoredToken:
    """What is known of a token. `redeemable` says that its time is not over and its ask pending.

    A token that was used names the turn that it started, and the button that it pressed.
    """

    owner: str
    conversation_id: UUID
    tool_call_id: str
    button_ids: tuple[str, ...]
    redeemable: bool
    used_by_turn: UUID | None
    used_button_id: str | None


@dataclass(frozen=True)
class ActionToken:
    """A token that was just made, with its secret, which is told this once."""

    secret: str = field(repr=False)
    button_ids: tuple[str, ...]
    expire_time: datetime


@dataclass(frozen=True)
class Redeemed:
    """The turn that a token has started, and how it ended, if somebody waited for that."""

    conversation_id: UUID
    turn_id: UUID
    result: TurnResult | None = None


class ActionTokenStore(Protocol):
    """Keeps tokens by their hashes. Every call raises `Unavailable` without a database."""

    async def read_asks(
        self, owner: str | None, conversation_id: UUID, tool_call_id: str
    ) -> NamedAsks:
        """Reads the ask that a conversation waits on, and the named one.

        Raises:
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is not the `owner`'s, where one is given.
        """
        ...

    async def add_token(self, token: NewToken) -> datetime | None:
        """Stores a token of a pending ask and returns when it ends, by the database's clock.

        That is no later than the ask does. None where the ask is not pending any more.
        """
        ...

    async def read_token(self, token_hash: bytes) -> StoredToken | None:
        """Reads a token, for whoever has it; None of one that nobody was given."""
        ...


class ActionTokens:
    """Makes tokens and redeems them. With `destructive` they may press what does harm, too."""

    def __init__(
        self, store: ActionTokenStore, turns: Turns, ids: Ids, *, destructive: bool = False
    ) -> None:
        self._store = store
        self._turns = turns
        self._ids = ids
        self._destructive = destructive

    async def create(self, wish: TokenWish) -> ActionToken:
        """Makes a token; a repeat makes another one.

        Raises:
            AsksOff: The deployment asks nothing.
            ConversationNotFound: No such conversation, or it is deleted.
            NotOwner: It is someone else's.
            AskNotPending, AskExpired: The conversation does not wait on this ask.
            UnknownButton: The stored card has no such button, or none at all.
            DestructiveButton: A button does harm, or all of them.
            Unavailable: The database can't be reached.
        """
        self._check_asks_on()
        asks = await self._store.read_asks(wish.owner, wish.conversation_id, wish.tool_call_id)
        ask = asks.pending
        if ask is None or ask != asks.named:
            raise not_pending(wish.tool_call_id, pending=ask, named=asks.named)
        button_ids = _buttons_of(ask.simple, wish.button_ids, destructive=self._destructive)
        secret = self._ids.secret()
        token = NewToken(_hash_of(secret), ask.id, button_ids, wish.seconds)
        expire_time = await self._store.add_token(token)
        if expire_time is None:
            asks = await self._store.read_asks(wish.owner, wish.conversation_id, wish.tool_call_id)
            raise not_pending(wish.tool_call_id, pending=asks.pending, named=asks.named)
        return ActionToken(secret, button_ids, expire_time)

    async def redeem(self, secret: str, button_id: str, *, wait: bool) -> Redeemed:
        """Presses a button for the token's owner; a repeat gets the same turn, however it went.

        With `wait` returns once the turn has ended. Who leaves before stops nothing.

        Raises:
            AsksOff: The deployment asks nothing.
            TokenInvalid: The token is unknown, over, not for this button, or its ask is resolved.
            TokenUsed: It has pressed another button.
            ParleyError: A check of the turn failed; the token can be redeemed again.
            Unavailable: The database can't be reached, or the process stops.
        """
        self._check_asks_on()
        token_hash = _hash_of(secret)
        token = await self._store.read_token(token_hash)
        if token and token.used_by_turn:
            return await self._again(token, token.used_by_turn, button_id, wait=wait)
        if token is None or not token.redeemable or button_id not in token.button_ids:
            raise TokenInvalid
        try:
            turn = await self._turns.start(_press(token, token_hash, button_id))
        except (AskNotPending, ConversationNotFound) as error:
            # Somebody was faster: another device, or the same press once more.
            token = await self._store.read_token(token_hash)
            if token is None or token.used_by_turn is None:
                raise TokenInvalid from error
            return await self._again(token, token.used_by_turn, button_id, wait=wait)
        result = await turn.result() if wait else None
        return Redeemed(turn.conversation_id, turn.turn_id, result)

    async def _again(
        self, token: StoredToken, turn_id: UUID, button_id: str, *, wait: bool
    ) -> Redeemed:
        """Returns the turn that a token has started, if it pressed this button.

        Raises:
            TokenUsed: It pressed another one.
        """
        if token.used_button_id != button_id:
            raise TokenUsed
        result: TurnResult | None = None
        if wait:
            turn = await self._turns.read(token.owner, token.conversation_id, turn_id)
            result = turn.result
            if result is None:
                running = await self._turns.watch(token.owner, token.conversation_id, turn_id, 0)
                result = await running.result()
        return Redeemed(token.conversation_id, turn_id, result)

    def _check_asks_on(self) -> None:
        if not self._turns.options.ask_kinds:
            raise AsksOff("Asks are switched off in this deployment.")


def _hash_of(secret: str) -> bytes:
    # 256 random bits can't be guessed, so that a hash without salt and effort is enough.
    return hashlib.sha256(secret.encode()).digest()


def _press(token: StoredToken, token_hash: bytes, button_id: str) -> TurnRequest:
    return TurnRequest(
        owner=token.owner,
        conversation_id=token.conversation_id,
        input=ButtonInput(
            kind="action_token",
            tool_call_id=token.tool_call_id,
            button_id=button_id,
            token_hash=token_hash,
        ),
        surface="compact",
    )


def _buttons_of(card: SimpleCard, wanted: tuple[str, ...], *, destructive: bool) -> tuple[str, ...]:
    """Returns the ids of the buttons that a token presses, in the order of the stored card.

    Raises:
        UnknownButton: One is not on the card, or the card has none.
        DestructiveButton: One does harm, or each does.
    """
    unknown = [
        error.model_copy(update={"path": f"buttonIds[{index}]"})
        for index, button_id in enumerate(wanted)
        if isinstance(error := look_up_button(card, button_id), FieldError)
    ]
    if unknown:
        raise UnknownButton(unknown[0].message, unknown)
    if not card.buttons:
        raise UnknownButton(
            "The card of this ask has no buttons that a token could press: have the person open "
            "the app."
        )
    harmful = {button.id for button in card.buttons if not destructive and _does_harm(button)}
    refused = [
        FieldError(
            path=f"buttonIds[{index}]",
            code=Code.OPTION_NOT_OFFERED,
            message=f"`buttonIds[{index}]` is {quoted(button_id)}, which does harm.",
            fix="Leave it out, and have the person press it in the app.",
        )
        for index, button_id in enumerate(wanted)
        if button_id in harmful
    ]
    if refused:
        raise DestructiveButton(refused[0].message, refused)
    chosen = tuple(
        button.id
        for button in card.buttons
        if button.id not in harmful and (not wanted or button.id in wanted)
    )
    if not chosen:
        raise DestructiveButton(
            "Every button of this card does harm, and this deployment makes no tokens for such: "
            "have the person open the app."
        )
    return chosen


def _does_harm(button: SimpleCardButton) -> bool:
    return button.style == "destructive"
