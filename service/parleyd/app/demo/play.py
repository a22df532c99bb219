"""Plays the main job end to end: an agent asks on the phone, the person answers on the watch.

Everything is real: a PostgreSQL, the service, gRPC on the wire and two clients of it.
"""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import grpc

from parley import connect, error_of
from parley.v1.asks_pb2 import AskKind
from parley.v1.cards_pb2 import SimpleCardButton
from parley.v1.conversations_pb2 import Message, MessageAsk
from parley.v1.turns_pb2 import AskAsked, PendingAsk, Turn, TurnResult
from parleyd.app.demo.devices import Phone, Watch
from parleyd.app.demo.transcript import Transcript
from parleyd.app.faults import CommandFailed
from parleyd.app.identity import development_token
from parleyd.app.settings import DEMO_MODEL, Settings
from parleyd.app.signals import cancelled_by_signals
from parleyd.app.wiring import whole_service

DEADLINE_SECONDS: Final = 60.0


class DemoFault(CommandFailed):
    """Something happened that should not, or did not happen that should."""


def demo(transcript: Transcript) -> None:
    """Plays the main job with the demo agent and writes down what happens.

    Needs nothing but this package, no environment and no network, and leaves nothing behind.

    Raises:
        DemoFault: A step of the job went wrong.
        CommandFailed: The service can't be started.
    """
    with tempfile.TemporaryDirectory(prefix="parley-demo-") as folder:
        Path(folder).chmod(0o711)  # the database server may run as another user
        settings = Settings(
            environment="development", model=DEMO_MODEL, port=0, data_dir=Path(folder)
        )
        try:
            asyncio.run(_demo(settings, transcript))
        except asyncio.CancelledError as error:
            raise DemoFault("Stopped by a signal.") from error
        except TimeoutError as error:
            raise DemoFault(f"It took longer than {DEADLINE_SECONDS:.0f} seconds.") from error
        except grpc.aio.AioRpcError as error:
            raise DemoFault(f"A call failed: {error_of(error)}") from error


async def _demo(settings: Settings, transcript: Transcript) -> None:
    async with AsyncExitStack() as stack:
        stack.enter_context(cancelled_by_signals())
        await stack.enter_async_context(asyncio.timeout(DEADLINE_SECONDS))
        service = await stack.enter_async_context(whole_service(settings))
        token = development_token(settings)
        phone, watch = [
            await stack.enter_async_context(connect(service.address, token)) for _ in range(2)
        ]
        transcript.note(f"A service on {service.address}, a real PostgreSQL, and two clients.")
        await play(Phone(phone), Watch(watch), transcript)


async def play(phone: Phone, watch: Watch, transcript: Transcript) -> None:
    """Plays two turns that pause: a choice that is made and a deletion that is confirmed.

    Raises:
        DemoFault: Something is not as it should be.
        grpc.aio.AioRpcError: A call failed.
    """
    part = _Part(phone, watch, transcript)
    transcript.heading("The agent needs a decision")
    conversation_id = await part.play("Set up my plan", "", AskKind.ASK_KIND_CHOICE, "Team")
    transcript.heading("The agent needs approval")
    await part.play(
        "Delete my completed todos", conversation_id, AskKind.ASK_KIND_CONFIRM, "Delete them"
    )
    stored = len(await phone.messages(conversation_id))
    _check(stored == 2 * _LINES, f"{stored} lines are stored, not {2 * _LINES}")
    transcript.heading("Done")
    transcript.note(f"Two questions, two answers, {stored} stored lines, nothing lost or doubled.")


_LINES: Final = 4
"""A prompt, a question, an answer, a reply."""


class _Part:
    """A prompt on the phone, a question, a button on the watch, and the reply."""

    def __init__(self, phone: Phone, watch: Watch, transcript: Transcript) -> None:
        self._phone = phone
        self._watch = watch
        self._transcript = transcript

    async def play(
        self, prompt: str, conversation_id: str, kind: AskKind.ValueType, label: str
    ) -> str:
        """Plays the part, pressing the button that reads `label`, and returns the conversation."""
        asking_turn, ask = await self._ask(prompt, conversation_id, kind)
        question = await self._find_on_watch(ask)
        button = _button(question, label)
        self._transcript.line("watch", f"presses “{button.label}”")
        result = await self._watch.press(question, button)
        self._transcript.line("agent", result.text)
        _check_completed(result, question)
        await self._check_stored(prompt, ask, button, [asking_turn, result.turn_id], result.text)
        await self._check_once(question, button, result)
        return ask.conversation_id

    async def _ask(
        self, prompt: str, conversation_id: str, kind: AskKind.ValueType
    ) -> tuple[str, AskAsked]:
        """Prompts on the phone until the turn has paused; returns the turn and its question."""
        self._transcript.line("phone", prompt)
        events = await self._phone.say(prompt, conversation_id)
        names = [event.WhichOneof("event") for event in events]
        _check(names == ["started", "ask", "done"], f"the phone was sent {names}")
        _check(
            [event.sequence for event in events] == [1, 2, 3], "the events are not numbered 1, 2, 3"
        )
        started, ask, done = events[0].started, events[1].ask, events[2].done
        _check(started.conversation_created == (not conversation_id), "a wrong `started`")
        _check(conversation_id in {"", started.conversation_id}, "another conversation was taken")
        _check(ask.kind == kind, f"the agent asked {AskKind.Name(ask.kind)}")
        _check(done.state == Turn.STATE_PAUSED, f"the turn is {Turn.State.Name(done.state)}")
        _check(done.pending_tool_call_id == ask.tool_call_id, "`done` names another question")
        self._transcript.line("agent", f"asks: {ask.input.prompt}")
        for option in ask.input.choice.options:
            self._transcript.note(f"  · {option.label}: {option.description}")
        self._transcript.note("The turn has paused; nothing waits in memory.")
        return events[0].turn_id, ask

    async def _find_on_watch(self, ask: AskAsked) -> PendingAsk:
        questions = await self._watch.questions()
        _check(len(questions) == 1, f"the watch sees {len(questions)} questions")
        question = questions[0]
        _check(
            (question.conversation_id, question.tool_call_id)
            == (ask.conversation_id, ask.tool_call_id),
            "the watch sees another question",
        )
        _check(question.simple == ask.simple, "the watch sees another card than the phone")
        self._transcript.card("watch", question.simple)
        return question

    async def _check_stored(
        self,
        prompt: str,
        ask: AskAsked,
        button: SimpleCardButton,
        turns: list[str],
        reply: str,
    ) -> None:
        """Checks the lines that the part left in the conversation."""
        stored = (await self._phone.messages(ask.conversation_id))[-_LINES:]
        types = [Message.Type.Name(message.type) for message in stored]
        _check(
            types == ["TYPE_USER", "TYPE_TOOL_CALL", "TYPE_TOOL_RESULT", "TYPE_ASSISTANT"],
            f"the stored lines are {types}",
        )
        said, asked, answered, replied = stored
        asking_turn, answering_turn = turns
        _check(
            [message.turn_id for message in stored]
            == [asking_turn, asking_turn, answering_turn, answering_turn],
            "the lines belong to other turns",
        )
        _check(said.text == prompt, "the prompt is stored differently")
        _check(asked.ask.input == ask.input, "the question is stored differently")
        _check(asked.ask.status == MessageAsk.STATUS_ANSWERED, "the question is not answered")
        _check(answered.ask.answer == button.response, "the answer is not the button's")
        _check(replied.text == reply, "the reply is stored differently")
        _check(replied.status == Message.STATUS_COMPLETE, "the reply is not complete")

    async def _check_once(
        self, question: PendingAsk, button: SimpleCardButton, result: TurnResult
    ) -> None:
        """Checks that the question is gone everywhere and that its button acts no second time."""
        _check(not await self._watch.questions(), "the watch still sees a question")
        _check(
            not await self._phone.sees_question(question.conversation_id),
            "the phone still sees a question",
        )
        refusal = await self._watch.press_in_vain(question, button)
        _check(refusal is not None, "a second press acted again")
        assert refusal
        _check(refusal.reason == "ASK_NOT_PENDING", f"a second press failed with {refusal}")
        _check(
            refusal.metadata.get("resolved_by_turn_id") == result.turn_id,
            "a second press was told of another turn",
        )
        self._transcript.note("A second press changes nothing: the question is answered.")


def _button(question: PendingAsk, label: str) -> SimpleCardButton:
    for button in question.simple.buttons:
        if button.label == label:
            return button
    raise DemoFault(f"The card has no button “{label}”.")


def _check_completed(result: TurnResult, question: PendingAsk) -> None:
    _check(
        result.state == Turn.STATE_COMPLETED,
        f"the answered turn is {Turn.State.Name(result.state)}: {result.error.message}",
    )
    _check(result.conversation_id == question.conversation_id, "another conversation went on")
    _check(bool(result.text), "the agent did not reply")
    _check(bool(result.title), "the conversation has no title")
    _check(not result.HasField("pending_ask"), "the agent asks again")


def _check(condition: bool, fault: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not condition:
        raise DemoFault(f"The demo went wrong: {fault}.")
