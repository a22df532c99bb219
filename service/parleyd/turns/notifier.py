"""The notifier: sends what is to be told of asks, each notice by one process at a time."""

import asyncio
from contextlib import suppress
from typing import Final
from uuid import UUID

import structlog

from parleyd.contract import limits
from parleyd.contract.errors import (
    AskNotPending,
    AsksOff,
    ConversationNotFound,
    DestructiveButton,
    ParleyError,
    UnknownButton,
)
from parleyd.turns.action_tokens import ActionToken, ActionTokens, TokenWish
from parleyd.turns.notice_tries import TRIES, pause_after
from parleyd.turns.notices import Notice, NoticeSender, NoticeStore, NotTaken

SENDS_AT_ONCE: Final = 16
LOOK_SECONDS: Final = 60
"""How often all asks are looked at, in case news of some was lost."""
STOP_SECONDS: Final = 3
"""How long a stop waits for requests that are under way."""
TRY_SECONDS: Final = 30
"""How long one try may take, its token included: less than a claim."""
INTERRUPTED: Final = "Interrupted"
"""What is said of a notice whose last try ended with its process."""

log = structlog.stdlib.get_logger()


class Notifier:
    """Notes what is to be told, and sends it.

    `round` is to be run again and again, and when `woken` is set.
    """

    def __init__(self, store: NoticeStore, tokens: ActionTokens, sender: NoticeSender) -> None:
        self.woken = asyncio.Event()
        self._store = store
        self._tokens = tokens
        self._sender = sender
        self._news: set[UUID] = set()
        self._next_look = 0.0
        self._stopping = False
        self._idle = asyncio.Event()
        self._idle.set()

    def hear(self, ask_id: UUID) -> None:
        """Takes the news that an ask has changed."""
        self._news.add(ask_id)
        self.woken.set()

    def look_again(self) -> None:
        """Has the next round look at all asks: news may have been lost."""
        self._next_look = 0.0
        self.woken.set()

    async def round(self) -> None:
        """Notes what is new and sends what is due, until nothing is.

        Cancelling it gives back what it has claimed.

        Raises:
            Unavailable: The database can't be reached.
        """
        if self._stopping:
            return
        self._idle.clear()
        try:
            while await self._send_some():
                pass
        finally:
            self._idle.set()

    async def stop(self) -> None:
        """Claims nothing more, and waits a moment for what is under way. A repeat is as good."""
        self._stopping = True
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await self._idle.wait()

    async def _send_some(self) -> bool:
        """Sends a few notices that are due, and tells whether there were any."""
        await self._note_news()
        claimed = await self._claim()
        async with asyncio.TaskGroup() as sending:
            for notice in claimed:
                sending.create_task(self._try(notice))
        # However many are due, what nobody told us of is not to wait for all of them.
        return await self._look() or bool(claimed)

    async def _note_news(self) -> None:
        news, self._news = tuple(self._news), set()
        if not news:
            return
        try:
            await self._store.note(news)
        except ParleyError:
            self._next_look = 0.0
            raise

    async def _look(self) -> bool:
        """Looks at all asks if it is time to, and tells whether it has."""
        now = asyncio.get_running_loop().time()
        if self._stopping or now < self._next_look:
            return False
        due, self._next_look = self._next_look, now + LOOK_SECONDS
        try:
            await self._store.note_all()
        except ParleyError:
            self._next_look = due
            raise
        return True

    async def _claim(self) -> tuple[Notice, ...]:
        if self._stopping:
            return ()
        claimed = await self._store.claim(SENDS_AT_ONCE)
        if not self._stopping:
            return claimed
        for notice in claimed:
            await self._store.give_back(notice)
        return ()

    async def _try(self, notice: Notice) -> None:
        """Tries to send a notice, and writes down what came of it."""
        try:
            await self._deliver(notice)
        except asyncio.CancelledError:
            with suppress(ParleyError):  # the claim runs out all the same
                await self._store.give_back(notice)
            raise
        except ParleyError as error:
            log.warning("notice_not_settled", notice_id=str(notice.id), reason=error.reason)

    async def _deliver(self, notice: Notice) -> None:
        asked = notice.kind == "asked"
        if asked and notice.ask.status != "pending":
            await self._store.drop(notice)
            return
        if notice.attempts > TRIES:
            await self._bury(notice, INTERRUPTED)
            return
        try:
            async with asyncio.timeout(TRY_SECONDS):
                token = await self._token(notice) if asked else None
                await self._sender.send(notice, token)
        except (AskNotPending, ConversationNotFound):
            await self._store.drop(notice)
        except NotTaken as error:
            await self._fail(notice, error)
        except TimeoutError:
            await self._fail(notice, NotTaken("Timeout"))
        except ParleyError:
            raise
        except Exception as error:
            log.exception("notice_not_made", notice_id=str(notice.id))
            await self._fail(notice, NotTaken(type(error).__name__))
        else:
            await self._store.end_sent(notice)
            log.info("notice_sent", **_names(notice))

    async def _token(self, notice: Notice) -> ActionToken | None:
        """Makes a token for the buttons of an ask's card that a token may press.

        Each try makes its own: none is kept anywhere, and all of them work until one is used.
        """
        ask = notice.ask
        wish = TokenWish(
            owner=ask.owner,
            conversation_id=ask.conversation_id,
            tool_call_id=ask.tool_call_id,
            button_ids=(),
            seconds=limits.ACTION_TOKEN_SECONDS_MAX,
        )
        try:
            return await self._tokens.create(wish)
        except (AsksOff, DestructiveButton, UnknownButton):
            return None

    async def _fail(self, notice: Notice, error: NotTaken) -> None:
        pause = None if error.final else pause_after(notice.attempts, error.seconds)
        if pause is None:
            await self._bury(notice, error.why)
            return
        await self._store.put_off(notice, error.why, pause)
        log.info("notice_put_off", error=error.why, seconds=round(pause), **_names(notice))

    async def _bury(self, notice: Notice, why: str) -> None:
        await self._store.end_dead(notice, why)
        log.warning(
            "notice_dead",
            error=why,
            hint="see `parleyd notices --dead`, and send it again with `parleyd notices retry`",
            **_names(notice),
        )


def _names(notice: Notice) -> dict[str, str | int]:
    """Returns what log lines say of a notice."""
    return {
        "notice_id": str(notice.id),
        "ask_id": str(notice.ask.id),
        "kind": notice.kind,
        "attempts": notice.attempts,
    }
