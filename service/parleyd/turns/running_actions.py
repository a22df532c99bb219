"""The host actions that run in this process (spec blocks 22: limited as chat is)."""

import asyncio
from collections import Counter
from uuid import UUID

from parleyd.contract.errors import RateLimited
from parleyd.turns.host_actions import ActionResult
from parleyd.turns.options import TurnLimits


class RunningActions:
    """Counts the actions that run here, of every person and in every conversation.

    There may be as many as turns, which are counted by themselves, in the database: an action is
    no row, so other processes know nothing of those that run here.
    """

    def __init__(self, limits: TurnLimits) -> None:
        self._most_of_owner = limits.owner_turns
        self._most_in_conversation = limits.conversation_turns
        self._running: Counter[str | UUID] = Counter()

    def check(self, owner: str, conversation_id: UUID) -> None:
        """Checks that one more may run.

        Raises:
            RateLimited: The person, or the conversation, has too many running already.
        """
        if self._running[owner] >= self._most_of_owner:
            raise RateLimited("actions of one person may run", self._most_of_owner)
        if self._running[conversation_id] >= self._most_in_conversation:
            raise RateLimited("actions of one conversation may run", self._most_in_conversation)

    def add(
        self, owner: str, conversation_id: UUID, action: asyncio.Task[ActionResult | None]
    ) -> None:
        """Counts an action until it has ended, which it may long after it was cancelled."""
        running = (owner, conversation_id)
        self._running.update(running)

        def ended(_: object) -> None:
            self._running -= Counter(running)  # forgets who has none

        action.add_done_callback(ended)
