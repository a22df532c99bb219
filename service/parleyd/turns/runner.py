"""Runs one turn, from its checks to its end (spec turns 3).

A pause is stored rows, not a waiting coroutine: the answer starts another turn, here or in another
process.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never
from uuid import UUID

import structlog

from parleyd.contract.errors import ParleyError, Reason, Unavailable
from parleyd.contract.messages import MessageDraft
from parleyd.contract.steps import Step
from parleyd.contract.text import storable, trim
from parleyd.contract.turns import TurnError, TurnRequest
from parleyd.turns.calls import CallJudge, JudgedCalls
from parleyd.turns.checks import check_input, check_options
from parleyd.turns.history import last_user_text, messages_of, outcomes_of
from parleyd.turns.instructions import Instructions, instructions
from parleyd.turns.log import TurnLog
from parleyd.turns.model import (
    CallPart,
    Model,
    ModelCall,
    ModelFailed,
    Part,
    ProviderMessage,
    TextPart,
    ThoughtPart,
)
from parleyd.turns.options import TurnOptions
from parleyd.turns.ports import EndedTurn, Ending, Fenced, Ids, OpenedTurn, Opening, TurnStore
from parleyd.turns.replies import clean_reply, write_title

ERROR_TEXTS = {
    Reason.MODEL_ERROR: "The model could not answer. Try again in a moment.",
    Reason.MODEL_RATE_LIMITED: "The model is overloaded. Try again in a moment.",
    Reason.MODEL_REFUSED: "The model refused to answer this.",
    Reason.INTERNAL: "Something went wrong on our side.",
}
"""What a client reads of each reason, in place of a provider's own words."""

log = structlog.stdlib.get_logger()


@dataclass(frozen=True)
class Deployment:
    """What every turn of a process shares."""

    store: TurnStore
    model: Model | None
    title_model: Model | None
    ids: Ids
    options: TurnOptions
    holder: str


@dataclass
class _Written:
    """What the steps so far leave behind, also if the turn fails now."""

    rows: list[MessageDraft] = field(default_factory=list[MessageDraft])
    partial_text: str = ""
    reply: str = ""
    user_text: str = ""


async def open_turn(
    shared: Deployment, turn_id: UUID, request: TurnRequest, turn_log: TurnLog
) -> "TurnRun":
    """Checks a request and stores its turn with the first events.

    Raises:
        ParleyError: A check failed; nothing was stored.
    """
    model = check_options(request, shared.options, shared.model)
    told = instructions(shared.options, model, request.surface, request.system_instruction)
    opening = Opening(
        turn_id=turn_id,
        owner=request.owner,
        conversation_id=request.conversation_id,
        new_conversation_id=shared.ids.uuid(),
        input=await check_input(shared.store, request),
        surface=request.surface,
        model=model.model_id,
        holder=shared.holder,
        project=request.project,
        system_instruction=request.system_instruction,
    )
    turn = await shared.store.open_turn(opening)
    turn_log.append(turn.events)
    return TurnRun(shared, turn, model, told, turn_log)


class TurnRun:
    """A stored turn on its way to its end."""

    def __init__(
        self,
        deployment: Deployment,
        turn: OpenedTurn,
        model: Model,
        told: Instructions,
        turn_log: TurnLog,
    ) -> None:
        self._shared = deployment
        self._store = deployment.store
        self._turn = turn
        self._model = model
        self._told = told
        self._log = turn_log
        self._written = _Written()

    async def run(self) -> None:
        """Runs the turn to its end and ends its log. A failed turn is stored, not raised."""
        try:
            ended = await self._work()
            self._log.append(ended.events)
            if ended.result is None:
                ended = await self._store.close_turn(self._turn, await self._title())
                self._log.append(ended.events)
            assert ended.result, "a turn that is closed has a result"
            self._log.end(ended.result)
        except Fenced:
            log.warning("turn_fenced")
            self._log.end(Unavailable("Another process goes on with this turn."))
        except ParleyError as error:
            log.warning("turn_left_open", reason=error.reason)
            self._log.end(error)

    async def _work(self) -> EndedTurn:
        """Steps until the turn can end, and stores how: with a reply, a question or a failure."""
        try:
            return await self._steps()
        except (Fenced, ParleyError):
            raise
        except ModelFailed as error:
            # The provider's words may quote what a person wrote, or a key (design D14).
            log.warning("model_failed", kind=error.kind)
            return await self._fail(_reason(error))
        except Exception:
            log.exception("turn_failed")
            return await self._fail(Reason.INTERNAL)

    async def _steps(self) -> EndedTurn:
        context = await self._store.read_chain(self._turn)
        messages = messages_of(context, self._model)
        judge = CallJudge(
            self._told.kinds,
            self._turn.surface,
            asks_on=bool(self._shared.options.ask_kinds),
            ids=self._shared.ids,
        )
        for step in context.steps:
            judge.remember(step.calls)
        self._written.user_text = last_user_text(context)
        first = len(context.steps) + 1
        for step_no in range(first, first + self._told.max_steps):
            parts = await self._call_model(messages)
            text = "".join(part.text for part in parts if isinstance(part, TextPart))
            judged = judge.judge([part for part in parts if isinstance(part, CallPart)])
            self._written.rows += judged.rows
            if not judged.calls:
                self._written.reply = clean_reply(text)
                return await self._end()
            self._written.partial_text = ""
            message = self._model.assistant_message(parts)
            step = Step(
                step_no=step_no,
                provider=self._model.provider,
                model=self._model.model_id,
                codec=self._model.codec,
                messages=self._model.encode([message]),
                calls=judged.calls,
                text=storable(text),
            )
            if judged.asks:
                return await self._end(step, judged)
            self._log.append(await self._store.journal_step(self._turn, step, judged.events))
            messages += [message, self._model.tool_message(outcomes_of(judged.calls, {}))]
        return await self._end()

    async def _call_model(self, messages: Sequence[ProviderMessage]) -> list[Part]:
        """Makes one model call and returns its parts as they came."""
        call = ModelCall(
            system=self._told.system,
            messages=tuple(messages),
            tools=self._told.tools,
            tool_choice="auto" if self._told.tools else None,
            temperature=self._shared.options.temperature,
        )
        parts: list[Part] = []
        called = False
        async with aclosing(self._model.stream(call)) as stream:
            async for part in stream:
                parts.append(part)
                match part:
                    case TextPart(text=text) if not called:
                        self._written.partial_text += text
                    case CallPart():
                        called = True
                        self._written.partial_text = ""
                    case TextPart() | ThoughtPart():
                        pass
        return parts

    async def _end(self, step: Step | None = None, judged: JudgedCalls | None = None) -> EndedTurn:
        """Stores the end of the work: a reply, or the pause on the asks of `step`."""
        return await self._store.end_turn(
            self._turn,
            Ending(
                rows=tuple(self._written.rows),
                text=self._written.reply,
                step=step,
                events=judged.events if judged else (),
                asks=judged.asks if judged else (),
                title_due=bool(self._written.reply and self._shared.title_model),
            ),
        )

    async def _fail(self, reason: Reason) -> EndedTurn:
        return await self._store.fail_turn(
            self._turn,
            TurnError(reason=reason, message=ERROR_TEXTS[reason]),
            self._written.rows,
            trim(storable(self._written.partial_text)),
        )

    async def _title(self) -> str | None:
        assert self._shared.title_model, "a title is due only where there is a model for it"
        return await write_title(
            self._shared.title_model,
            self._shared.options.title_temperature,
            self._written.user_text,
            self._written.reply,
        )


def _reason(error: ModelFailed) -> Reason:
    match error.kind:
        case "rate_limit":
            return Reason.MODEL_RATE_LIMITED
        case "refused":
            return Reason.MODEL_REFUSED
        case "server" | "timeout" | "other":
            return Reason.MODEL_ERROR
        case _:
            assert_never(error.kind)
