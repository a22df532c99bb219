"""The parts of a demonstration: each begins with a prompt on the phone and ends with a reply."""

from typing import Final

from parley.v1.asks_pb2 import AcceptAnswer, AskAnswer, AskKind, FileRef, FilesAnswer
from parley.v1.cards_pb2 import SimpleCardButton
from parley.v1.turns_pb2 import PendingAsk, TurnResult
from parleyd.app.demo.checks import (
    Asked,
    button_named,
    check,
    check_completed,
    check_paused,
    check_seen,
    check_stored,
    lines_of,
)
from parleyd.app.demo.devices import Phone, Watch
from parleyd.app.demo.transcript import Transcript

FILE_NAME: Final = "shopping.csv"
FILE_TYPE: Final = "text/csv"
FILE_BYTES: Final = b"item,pieces\nMilk,2\nBread,1\nApples,6\n"


class Parts:
    """Plays parts of one conversation. The first one makes it."""

    def __init__(self, phone: Phone, watch: Watch, transcript: Transcript) -> None:
        self._phone = phone
        self._watch = watch
        self._transcript = transcript
        self.conversation_id = ""
        self.lines = 0
        """How many lines the parts so far have left."""

    async def press(
        self, prompt: str, kind: AskKind.ValueType, label: str, *, tool: str = ""
    ) -> None:
        """Plays a part that is answered on the watch, with the button that reads `label`.

        `tool` names the tool that the question guards.

        Raises:
            DemoFault: Something is not as it should be.
            grpc.aio.AioRpcError: A call failed.
        """
        asked = await self._ask(prompt, kind, tool)
        question = check_seen(await self._watch.questions(), asked.ask)
        self._transcript.card("watch", question.simple)
        button = button_named(question, label)
        self._transcript.line("watch", f"presses “{button.label}”")
        result = await self._watch.press(question, button)
        await self._end(asked, button.response, result)
        await self._press_in_vain(question, button, result)

    async def send_file(self, prompt: str) -> None:
        """Plays a part that is answered on the phone, with a file that it uploads.

        Raises:
            DemoFault: Something is not as it should be.
            ParleyError: The file is refused.
            grpc.aio.AioRpcError: A call failed.
        """
        asked = await self._ask(prompt, AskKind.ASK_KIND_FILES, "")
        file = await self._phone.upload(FILE_NAME, FILE_TYPE, FILE_BYTES)
        check(file.size_bytes == len(FILE_BYTES), f"{file.size_bytes} bytes were kept")
        self._transcript.line("phone", f"uploads “{file.filename}”, {file.size_bytes} bytes")
        sent = FileRef(
            filename=file.filename,
            mime_type=file.mime_type,
            size=file.size_bytes,
            file_id=file.file_id,
        )
        answer = AskAnswer(accept=AcceptAnswer(files=FilesAnswer(files=[sent])))
        await self._end(asked, answer, await self._phone.answer(asked.ask, answer))

    async def _ask(self, prompt: str, kind: AskKind.ValueType, tool: str) -> Asked:
        """Prompts on the phone until the turn has paused."""
        self._transcript.line("phone", prompt)
        events = await self._phone.say(prompt, self.conversation_id)
        turn_id, ask = check_paused(events, self.conversation_id, tool)
        check(ask.kind == kind, f"the agent asked {AskKind.Name(ask.kind)}")
        self.conversation_id = ask.conversation_id
        if tool:
            self._transcript.note(f"It wants to run {tool}, which takes an approval.")
        self._transcript.line("agent", f"asks: {ask.input.prompt}")
        for option in ask.input.choice.options:
            self._transcript.note(f"  · {option.label}: {option.description}")
        return Asked(prompt, turn_id, ask, tool)

    async def _end(self, asked: Asked, answer: AskAnswer, result: TurnResult) -> None:
        """Shows the reply, and checks what is left of the part: its lines, and no question."""
        self._transcript.line("agent", result.text)
        check_completed(result, asked)
        self.lines += lines_of(asked)
        stored = await self._phone.messages(self.conversation_id)
        check(len(stored) == self.lines, f"{len(stored)} lines are stored, not {self.lines}")
        check_stored(stored[-lines_of(asked) :], asked, answer, result)
        check(not await self._watch.questions(), "the watch still sees a question")
        check(
            not await self._phone.sees_question(self.conversation_id),
            "the phone still sees a question",
        )

    async def _press_in_vain(
        self, question: PendingAsk, button: SimpleCardButton, result: TurnResult
    ) -> None:
        """Checks that a button acts no second time."""
        refusal = await self._watch.press_in_vain(question, button)
        check(refusal is not None, "a second press acted again")
        assert refusal
        check(refusal.reason == "ASK_NOT_PENDING", f"a second press failed with {refusal}")
        check(
            refusal.metadata.get("resolved_by_turn_id") == result.turn_id,
            "a second press was told of another turn",
        )
