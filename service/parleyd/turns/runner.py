"""Runs one stored turn to its end (spec turns 3.3 to 3.7).

A pause is stored rows, not a waiting coroutine: the answer starts another turn, here or in another
process. One procedure goes on with whatever the journal holds: after an answer, in a retry, and
after a takeover.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import assert_never
from uuid import UUID

import structlog
from pydantic import JsonValue

from parleyd.contract.asks.kinds import kind_of_tool
from parleyd.contract.errors import ParleyError, Unavailable
from parleyd.contract.executions import Execution
from parleyd.contract.reasons import Reason
from parleyd.contract.steps import Step
from parleyd.contract.text import storable
from parleyd.turns.accounts import TurnAccount
from parleyd.turns.admission import ReadyTurn
from parleyd.turns.approvals import never_asked
from parleyd.turns.asking import Asker
from parleyd.turns.calls import CallJudge, JudgedCalls
from parleyd.turns.chain_memory import KnownChain
from parleyd.turns.chain_so_far import ChainSoFar, waiting_step
from parleyd.turns.deployment import Deployment
from parleyd.turns.history import (
    history_messages,
    history_size,
    last_answered,
    last_user_text,
)
from parleyd.turns.live import LiveTurn
from parleyd.turns.model import (
    CallPart,
    ModelCall,
    ModelFailed,
    Part,
    ProviderMessage,
    Shown,
    TextPart,
)
from parleyd.turns.model_calls import ModelCaller, Spoken
from parleyd.turns.owed_calls import claimed_calls, given_up, owed_calls
from parleyd.turns.partial_text import PartialText
from parleyd.turns.ports import ChainAsk, ChainContext, EndedTurn, Fenced, Lease
from parleyd.turns.replies import write_title
from parleyd.turns.shown_files import ShownFiles, bytes_shown
from parleyd.turns.stops import HandedOver, Stops, TimeOver
from parleyd.turns.tool_runs import ToolRunner
from parleyd.turns.turn_reply import TurnReply
from parleyd.turns.writing import TurnWriter, left_open, stored

STOPPING = "This server is stopping; watch the turn on another one."

log = structlog.stdlib.get_logger()


class TooLarge(Exception):
    """The chain's messages are over the limit."""


class TurnRun:
    """A stored turn on its way to its end.

    Nothing that it holds refers to it, so that its files, a hundred megabytes maybe, go with its
    end and not with a round of the garbage collector.
    """

    def __init__(self, shared: Deployment, ready: ReadyTurn, live: LiveTurn) -> None:
        turn, limits = ready.turn, shared.options.limits
        self.lease = turn.lease
        self.stops = Stops(
            limits.turn_seconds - turn.age_seconds,
            held_since=ready.held_since,
            still_held=partial(_is_still_held, shared, turn.lease),
        )
        self._shared = shared
        self._turn = turn
        self._ready = ready
        self._live = live
        self._writer = TurnWriter(shared.store, turn, live)
        self._user_text = ""
        self._said = ""
        self._partial = PartialText(lambda: live.step_text, self._writer.keep_partial_text)
        self._account = TurnAccount(turn, ready.model.model_id)
        hear = partial(_hear, live, self._partial)
        self._models = ModelCaller(ready.model, self.stops, limits.model_idle_seconds, hear)
        self._reply = TurnReply(shared, ready, self._writer, self._models, self._account)
        self._tools = ToolRunner(
            shared.store,
            turn,
            self.stops,
            limits.tool_seconds,
            self._writer.store,
            shared.files,
            shared.datasets,
        )
        self._files = ShownFiles(shared.files, turn.owner)
        self._asker = Asker(ready.told, turn.surface, shared.options, shared.ids)

    # ------------------------------------------------------------ to the end

    async def run(self) -> None:
        """Runs the turn to its end, or as far as this process may.

        A failed turn is stored, not raised. Nothing is raised but a cancellation.
        """
        try:
            ended = await left_open(self._live, self._to_the_end())
        except HandedOver:
            await self._release()
            return
        if ended:
            assert ended.result, "a turn that is closed has a result"
            self._live.end(ended.result)
            tokens = self._models.tokens
            await self._account.log_turn(self._shared.request_log, ended.result, tokens)

    async def _to_the_end(self) -> EndedTurn:
        ended = await self._work()
        if ended.result is None:
            ended = await self._writer.close(await self._title(), ended.committed)
        return ended

    async def _work(self) -> EndedTurn:
        """Steps until the turn can end, and stores how: with a reply, a question or a failure."""
        try:
            return await self._steps()
        except (Fenced, HandedOver, ParleyError):
            raise
        except ModelFailed as error:
            # The provider's words may quote what a person wrote, or a key (design D14).
            log.warning("model_failed", kind=error.kind)
            self._account.error = str(error)
            reason = _reason(error)
        except TimeOver:
            reason = Reason.TURN_TIMEOUT
        except TooLarge:
            reason = Reason.TURN_TOO_LARGE
        except Exception as error:
            log.exception("turn_failed")
            self._account.error = f"{type(error).__name__}: {error}"
            reason = Reason.INTERNAL
        return await self._writer.fail(reason, self._live.step_text)

    async def _release(self) -> None:
        """Gives the turn up, for another process to go on with at once."""
        try:
            await stored(lambda: self._shared.leases.release_turn(self._turn))
            log.info("turn_handed_over")
        except Exception as error:  # noqa: BLE001 - the lease runs out then, which does as well
            log.warning("turn_not_handed_over", cause=type(error).__name__)
        self._live.give_up(Unavailable(STOPPING))

    # ------------------------------------------------------------ steps

    async def _steps(self) -> EndedTurn:
        told, model = self._ready.told, self._ready.model
        asks_on = bool(self._shared.options.ask_kinds)
        known, context = await self._so_far()
        chain = ChainSoFar(known)
        self._user_text = chain.user_text
        judge = CallJudge(
            self._turn,
            told.host_tools,
            told.kinds,
            asks_on=asks_on,
            ids=self._shared.ids,
            taken=known.call_ids,
        )
        answers = {ask.id: ask.answer for ask in context.asks if ask.answer is not None}
        answered = last_answered(context.steps, answers)
        executions: defaultdict[int, dict[int, Execution]] = defaultdict(dict)
        for one in context.executions:
            executions[one.step_no][one.call_index] = one
        for step in context.steps:
            done = executions[step.step_no]
            judge.remember(step.calls)
            shown = await self._shown(step, answers, answered)
            if step is context.steps[-1]:
                due = owed_calls(step, done, context.asks, told.host_tools, self.lease.turn_id)
                for lost in given_up(done, due, self.lease.turn_id):
                    await self._writer.lose(lost)
                done |= _by_place(await self._tools.run(due))
                asked = {ask.id for ask in context.asks}
                self._reply.remember(context.steps, asked)
                # With asks off nobody could answer, though the step was accepted with asks on.
                if asks_on and (asks := await self._asker.asks_of(step, asked)):
                    return await self._writer.pause(None, asks, (), await self._reply.beside_ask())
                if never_asked(step.calls, asked):
                    return await self._finish("")
                shown |= self._tools.shown
            chain.add(step, answers, done, model, shown)
        if self._writer.sent is not None:
            # The last model call is over; the reply was to be mended yet (3.6.2).
            return await self._finish("")
        steps_left = told.max_steps - self._turn.steps_made
        for step_no in range(chain.step_no + 1, chain.step_no + 1 + steps_left):
            self._check_size(chain.size)
            spoken = await self._call_model(chain.messages)
            judged = await judge.judge(step_no, spoken.calls)
            if not judged.calls:
                return await self._finish(spoken.text)
            step = self._step(step_no, spoken, judged)
            self._check_size(chain.size + len(step.messages))
            self._reply.remember([step])
            starts = judged.starts(step_no)
            if judged.asks and not starts and not self._reply.may_go_ahead:
                asks = await self._asker.asks_of(step)
                reply = await self._reply.beside_ask()
                ended = await self._writer.pause(step, asks, judged.events, reply)
                return self._remembered(ended, chain, judge, step, {})
            self.stops.check()
            await self._writer.journal(step, judged.events, starts)
            done = _by_place(await self._tools.run(claimed_calls(starts, told.host_tools)))
            if judged.asks:
                asks = await self._asker.asks_of(step)
                ended = await self._writer.pause(None, asks, (), await self._reply.beside_ask())
                return self._remembered(ended, chain, judge, step, done)
            if never_asked(step.calls, ()):
                log.warning("approval_impossible", hint="asks are off, so the tool never runs")
                break
            chain.add(step, {}, done, model, self._tools.shown)
        return await self._finish("")

    async def _finish(self, said: str) -> EndedTurn:
        """Ends the turn's work with a reply, if it has one; `said` is what its last step said."""
        self.stops.check()
        reply = await self._reply.of(said)
        self._said = reply.text
        self._shared.chains.forget(self._turn.chain_id, self._ready.model.provider)
        title_due = bool(reply.text and self._ready.title_model)
        return await self._writer.finish(reply, title_due=title_due)

    # ------------------------------------------------------------ the chain

    async def _so_far(self) -> tuple[KnownChain, ChainContext]:
        """Returns the beginning of the chain, and what has to be built of it yet."""
        model, turn, store = self._ready.model, self._turn, self._shared.store
        if turn.turn_no == 1 and turn.input_kind == "prompt" and not turn.earlier:
            # The whole history is the message that was stored a moment ago.
            said, shown = turn.said, self._ready.shown or ()
            message = model.user_message(said, shown)
            size = len(said) + bytes_shown(shown)
            known = KnownChain(
                0, (message,), frozenset(), said, 0, size, may_fade=self._may_fade(shown)
            )
            return known, ChainContext((), (), ())
        known = self._shared.chains.recall(turn.chain_id, model.provider)
        waiting, resolved = known and known.waiting, turn.resolved
        if known and waiting and resolved and resolved.id == waiting.ask_id and not turn.earlier:
            # This very turn has answered what the chain waited on, so no step has come since.
            answer = ChainAsk(resolved.id, resolved.tool_call_id, resolved.answer)
            return known, ChainContext((), (waiting.step,), (answer,), waiting.executions)
        if known and known.step_no:
            return known, await store.read_chain(turn, known.step_no)
        context = await store.read_chain(turn)
        taken = self._ready.shown if turn.input_kind == "prompt" else None
        shown = await self._files.of_history(context.history, turn.context_max_seq, taken)
        history = tuple(history_messages(context, model, shown))
        size = history_size(context) + sum(map(bytes_shown, shown.values()))
        said = last_user_text(context)
        known = KnownChain(0, history, frozenset(), said, 0, size, may_fade=self._may_fade(shown))
        return known, context

    def _may_fade(self, shown: Collection[object]) -> bool:
        """Tells whether files are shown that a person may delete before the chain goes on."""
        return bool(shown) and self._shared.files is not None

    def _remembered(
        self,
        ended: EndedTurn,
        chain: ChainSoFar,
        judge: CallJudge,
        step: Step,
        done: Mapping[int, Execution],
    ) -> EndedTurn:
        """Keeps, of a turn that has paused, what the answer's turn would have to read."""
        asked = ended.result and ended.result.pending_ask
        if asked:
            asks = sum(call.ask_id is not None for call in step.calls)
            waiting = waiting_step(step, done, asked.id, asks)
            known = chain.known(judge.taken | {asked.tool_call_id}, waiting)
            if known:
                provider = self._ready.model.provider
                self._shared.chains.remember(self._turn.chain_id, provider, known)
        return ended

    def _step(self, step_no: int, spoken: Spoken, judged: JudgedCalls) -> Step:
        model = self._ready.model
        return Step(
            step_no=step_no,
            provider=model.provider,
            model=model.model_id,
            codec=model.codec,
            messages=model.encode([model.assistant_message(spoken.parts)]),
            calls=judged.calls,
            text=storable(spoken.text),
        )

    async def _shown(
        self, step: Step, answers: Mapping[UUID, JsonValue], answered: UUID | None
    ) -> dict[int, tuple[Shown, ...]]:
        """Returns the files of the answer that the chain got last, if this step asked for it."""
        for index, call in enumerate(step.calls):
            envelope = answers.get(call.ask_id) if call.ask_id else None
            if call.ask_id != answered or kind_of_tool(call.tool_name) != "files":
                continue
            if isinstance(envelope, dict):
                brought = self._turn.resolved and self._turn.resolved.id == answered
                taken = self._ready.shown if brought else None
                files = await self._files.of_answer(envelope, taken)
                return {index: files} if files else {}
        return {}

    async def _call_model(self, messages: Sequence[ProviderMessage]) -> Spoken:
        self.stops.check()
        told = self._ready.told
        self._live.begin_step()
        call = ModelCall(
            system=told.system,
            messages=tuple(messages),
            tools=told.tools,
            tool_choice="auto" if told.tools else None,
            temperature=self._shared.options.temperature,
        )
        try:
            return await self._models.call(call)
        finally:
            await self._partial.settle()

    def _check_size(self, size: int) -> None:
        if size > self._shared.options.limits.chain_bytes:
            raise TooLarge

    # ------------------------------------------------------------ the title

    async def _title(self) -> str | None:
        """Returns a title; none where the model is slow or the turn's time is over."""
        model = self._ready.title_model
        assert model, "a title is due only where there is a model for it"
        temperature = self._shared.options.title_temperature
        began = time.monotonic()
        try:
            await self.stops.sure()
            async with self.stops.within():
                made = await write_title(model, temperature, self._user_text, self._said)
        except TimeOver:
            return None
        request_log = self._shared.request_log
        await self._account.log_title(request_log, model.model_id, began, self._user_text, made)
        return made.title


async def _is_still_held(shared: Deployment, lease: Lease) -> bool:
    held = await stored(lambda: shared.leases.renew_leases([lease]))
    return lease.turn_id in held


def _hear(live: LiveTurn, partial_text: PartialText, part: Part) -> None:
    """Shows a part of the running step to those who follow."""
    match part:
        case TextPart(text=text):
            live.say(text)
            partial_text.grown()
        case CallPart():
            live.drop()
        case _:
            pass


def _by_place(executions: Sequence[Execution]) -> dict[int, Execution]:
    return {one.call_index: one for one in executions}


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
