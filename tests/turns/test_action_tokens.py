"""Which buttons a token presses, and what becomes of a press that comes too late."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

import pytest

from parleyd.contract.asks.ask import Ask
from parleyd.contract.cards import ButtonStyle, SimpleCard, SimpleCardButton
from parleyd.contract.errors import (
    AskNotPending,
    DestructiveButton,
    Malformed,
    TokenInvalid,
    TokenUsed,
    UnknownButton,
)
from parleyd.turns.action_tokens import (
    ActionToken,
    ActionTokens,
    NewToken,
    Redeemed,
    StoredToken,
    TokenWish,
)
from parleyd.turns.options import TurnOptions
from parleyd.turns.situations import NamedAsks
from parleyd.turns.turns import Turns
from tests.turns.ports_in_memory import MemoryLeases, MemoryStore, RandomIds, deployment
from tests.turns.turn_values import CONVERSATION, NOW, TURN, meeting, stored_ask

ASK_ID = "call_plan"
TEAM = "option:team"
SOLO = "option:solo"


class MemoryTokens:
    """Fulfils `ActionTokenStore` with what a test puts into it, one after the other."""

    def __init__(
        self, asks: tuple[NamedAsks, ...] = (), tokens: tuple[StoredToken | None, ...] = ()
    ) -> None:
        self.asks = list(asks)
        self.tokens = list(tokens)
        self.added: list[NewToken] = []
        self.ends: datetime | None = NOW

    async def read_asks(
        self, owner: str | None, conversation_id: UUID, tool_call_id: str
    ) -> NamedAsks:
        del owner, conversation_id, tool_call_id
        return self.asks.pop(0)

    async def add_token(self, token: NewToken) -> datetime | None:
        self.added.append(token)
        return self.ends

    async def read_token(self, token_hash: bytes) -> StoredToken | None:
        assert len(token_hash) == 32
        return self.tokens.pop(0)


def tokens_of(
    store: MemoryTokens, asks: NamedAsks | None = None, *, destructive: bool = False
) -> ActionTokens:
    """Returns tokens of a conversation whose turns meet `asks`."""
    turns = MemoryStore(meeting(asks or NamedAsks()))
    options = TurnOptions(ask_kinds=("choice", "confirm"))
    shared = deployment(turns, MemoryLeases(), options)
    return ActionTokens(store, Turns(shared), RandomIds(), destructive=destructive)


# ---------------------------------------------------------------- which buttons


def asked(**styles: ButtonStyle) -> Ask:
    """Returns a pending ask whose stored card has a button of each style."""
    buttons = tuple(
        SimpleCardButton(id=name, label=name, style=style, response={"action": "decline"})
        for name, style in styles.items()
    )
    card = SimpleCard(
        tool_call_id=ASK_ID, kind="choice", text="Go?", buttons=buttons, handoff=False
    )
    return stored_ask().model_copy(update={"simple": card})


async def made(ask: Ask, *button_ids: str, destructive: bool = False) -> ActionToken:
    store = MemoryTokens(asks=(NamedAsks(pending=ask, named=ask),))
    tokens = tokens_of(store, destructive=destructive)
    token = await tokens.create(TokenWish("ada", CONVERSATION, ASK_ID, button_ids, 60.0))
    (stored,) = store.added
    assert (stored.ask_id, stored.button_ids, stored.seconds) == (ask.id, token.button_ids, 60.0)
    assert token.secret not in repr(token)
    assert repr(stored.hash) not in repr(stored)
    return token


MIXED = asked(keep="primary", wipe="destructive", skip="cancel")


@pytest.mark.parametrize(
    ("wanted", "buttons"),
    [
        ((), ("keep", "skip")),
        (("skip", "keep"), ("keep", "skip")),
        (("skip", "skip"), ("skip",)),
    ],
)
async def test_a_token_presses_what_it_is_for_in_the_order_of_the_card(
    wanted: tuple[str, ...], buttons: tuple[str, ...]
) -> None:
    assert (await made(MIXED, *wanted)).button_ids == buttons


async def test_where_the_deployment_lets_it_a_token_presses_everything() -> None:
    token = await made(MIXED, destructive=True)
    assert token.button_ids == ("keep", "wipe", "skip")


@pytest.mark.parametrize(
    ("ask", "wanted", "fault", "paths"),
    [
        pytest.param(
            MIXED, ("keep", "gone", "wipe"), UnknownButton, ["buttonIds[1]"], id="unknown"
        ),
        pytest.param(
            MIXED, ("keep", "wipe"), DestructiveButton, ["buttonIds[1]"], id="destructive"
        ),
        pytest.param(asked(wipe="destructive"), (), DestructiveButton, [], id="nothing else"),
        pytest.param(asked(), (), UnknownButton, [], id="no buttons"),
        pytest.param(asked(), ("keep",), UnknownButton, ["buttonIds[0]"], id="unknown of none"),
    ],
)
async def test_other_buttons_are_refused_and_nothing_is_stored(
    ask: Ask, wanted: tuple[str, ...], fault: type[Malformed], paths: list[str]
) -> None:
    store = MemoryTokens(asks=(NamedAsks(pending=ask, named=ask),))
    with pytest.raises(fault) as raised:
        await tokens_of(store).create(TokenWish("ada", CONVERSATION, ASK_ID, wanted, 60.0))
    assert [field.path for field in raised.value.fields] == paths
    assert store.added == []


async def test_an_ask_that_is_resolved_in_that_moment_gets_no_token() -> None:
    pending, answered = stored_ask(), stored_ask(status="answered")
    store = MemoryTokens(
        asks=(NamedAsks(pending=pending, named=pending), NamedAsks(named=answered))
    )
    store.ends = None
    with pytest.raises(AskNotPending) as raised:
        await tokens_of(store).create(TokenWish(None, CONVERSATION, ASK_ID, (), 60.0))
    assert raised.value.resolution


# ---------------------------------------------------------------- too late

LIVING = StoredToken(
    owner="ada",
    conversation_id=CONVERSATION,
    tool_call_id=ASK_ID,
    button_ids=(TEAM, SOLO),
    redeemable=True,
    used_by_turn=None,
    used_button_id=None,
)
DEAD = replace(LIVING, redeemable=False)
USED = replace(DEAD, used_by_turn=TURN, used_button_id=TEAM)
RESOLVED = NamedAsks(named=stored_ask(status="answered"))


async def test_a_press_that_lost_to_the_same_press_gets_its_turn() -> None:
    tokens = tokens_of(MemoryTokens(tokens=(LIVING, USED)), RESOLVED)
    assert await tokens.redeem("secret", TEAM, wait=False) == Redeemed(CONVERSATION, TURN)


async def test_a_press_that_lost_to_another_button_of_its_token_is_told_so() -> None:
    tokens = tokens_of(MemoryTokens(tokens=(LIVING, USED)), RESOLVED)
    with pytest.raises(TokenUsed):
        await tokens.redeem("secret", SOLO, wait=False)


@pytest.mark.parametrize("found", [DEAD, None], ids=["to somebody else", "to a deletion"])
async def test_a_press_that_lost_to_anything_else_is_invalid(found: StoredToken | None) -> None:
    tokens = tokens_of(MemoryTokens(tokens=(LIVING, found)), RESOLVED)
    with pytest.raises(TokenInvalid):
        await tokens.redeem("secret", TEAM, wait=False)
