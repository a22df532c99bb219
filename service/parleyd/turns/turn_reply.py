"""What one turn replies: the text of its last step, or a document that it wrote beside a call."""

from collections.abc import Collection, Sequence
from functools import partial
from uuid import UUID

from parleyd.contract.steps import Step
from parleyd.contract.text import storable, trim
from parleyd.turns.accounts import TurnAccount
from parleyd.turns.admission import ReadyTurn
from parleyd.turns.block_replies import BlockReplier, is_document
from parleyd.turns.deployment import Deployment
from parleyd.turns.model import ModelCall, Part
from parleyd.turns.model_calls import ModelCaller
from parleyd.turns.replies import Reply, clean_reply
from parleyd.turns.writing import TurnWriter, stored


class TurnReply:
    """Finds the reply of one turn (spec turns 3.4.3, 3.4.4).

    Where replies are documents, one that a step wrote beside its calls is a candidate: it becomes
    the reply where no later step says anything.
    """

    def __init__(
        self,
        shared: Deployment,
        ready: ReadyTurn,
        writer: TurnWriter,
        models: ModelCaller,
        account: TurnAccount,
    ) -> None:
        self._shared = shared
        self._ready = ready
        self._writer = writer
        self._models = models
        self._account = account
        self._blocks = shared.options.blocks
        self._candidate = ""

    def remember(self, steps: Sequence[Step], asked: Collection[UUID] = ()) -> None:
        """Keeps the last document that a step wrote beside its calls since the chain last paused.

        `asked` are the asks that are stored: a step with one of them has paused a turn, whose reply
        went with it. Those after it are of this turn, or of failed ones that it is a retry of.
        """
        if self._blocks is None:
            return
        for step in reversed(steps):
            if any(call.ask_id in asked for call in step.calls):
                return
            if is_document(step.text):
                self._candidate = self._cleaned(step.text)
                return

    @property
    def may_go_ahead(self) -> bool:
        """Tells whether the reply of a turn that asks may be sent before its rows are stored.

        Its step is journaled before that: who goes on with the turn would find no ask otherwise.
        """
        return bool(self._candidate and self._blocks and self._blocks.repair)

    async def of(self, said: str) -> Reply:
        """Returns the reply of a turn whose last step said this, or nothing."""
        return await self._made(self._writer.sent or self._cleaned(said) or self._candidate)

    async def beside_ask(self) -> Reply:
        """Returns the reply of a turn that pauses: a document that it wrote beside a call."""
        return await self._made(self._writer.sent or self._candidate)

    def _cleaned(self, text: str) -> str:
        """Returns a text as a reply. Of a document nothing is cut off (spec blocks 18.1)."""
        return clean_reply(text) if self._blocks is None else trim(storable(text))

    async def _made(self, text: str) -> Reply:
        blocks = self._blocks
        if blocks is None or not text:
            return Reply(text)
        if datasets := self._shared.datasets:
            turn = self._ready.turn
            known = partial(datasets.known_to, blocks, turn.owner, turn.lease.conversation_id)
            blocks = await stored(known)
        replier = BlockReplier(blocks, self._repaired, self._writer.send)
        self._account.reply = await replier.reply(text, sent=self._writer.sent is not None)
        return self._account.reply

    async def _repaired(self, system: str, prompt: str) -> str:
        """Returns what the model makes of a document that breaks rules. Nobody is shown that."""
        call = ModelCall(
            system=system,
            messages=(self._ready.model.user_message(prompt),),
            tools=(),
            tool_choice=None,
            temperature=self._shared.options.temperature,
        )
        return (await self._models.call(call, _unheard)).text


def _unheard(part: Part) -> None:
    """Shows nobody a part."""
    del part
