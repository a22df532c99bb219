"""A person and an agent, played straight at the store."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from pydantic import JsonValue
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from parleyd.contract.answers import accepted
from parleyd.contract.approvals import default_wording
from parleyd.contract.asks.ask import Ask
from parleyd.contract.conversations import Conversation
from parleyd.contract.messages import Message
from parleyd.contract.pages import PageRequest
from parleyd.contract.reasons import Reason
from parleyd.contract.steps import Step, StepCall
from parleyd.contract.turns import TurnError
from parleyd.store.conversations import PostgresConversationStore
from parleyd.store.turns import PostgresTurnStore
from parleyd.turns.ports import (
    AnswerOpening,
    CollectedAsk,
    EndedTurn,
    Ending,
    OpenedTurn,
    Opening,
    PromptOpening,
    RequestSeen,
    RetryOpening,
)
from parleyd.turns.situations import Wanted

OWNER = "ada"
TEAM: dict[str, JsonValue] = accepted({"selected": ["team"]})


def prompt_opening(said: str = "Set me up", conversation_id: UUID | None = None) -> Opening:
    """Returns a message that opens a turn."""
    return Opening(
        turn_id=uuid4(),
        owner=OWNER,
        conversation_id=conversation_id,
        new_conversation_id=uuid4(),
        input=PromptOpening(said),
        surface="full",
        model="scripted-1",
        holder="process-1",
    )


def answer_opening(
    conversation_id: UUID, tool_call_id: str, envelope: dict[str, JsonValue] = TEAM
) -> Opening:
    """Returns an answer that opens a turn."""
    opening = prompt_opening(conversation_id=conversation_id)
    return replace(opening, input=AnswerOpening("answer", tool_call_id, envelope))


def choice(prompt: str = "Which plan?", *options: str) -> dict[str, JsonValue]:
    """Returns the input of a choice ask."""
    offered: list[JsonValue] = [
        {"id": option, "label": option.title()} for option in options or ("starter", "team")
    ]
    return {"prompt": prompt, "select": "one", "options": offered}


def ask(
    call_id: str = "call_plan",
    asked: dict[str, JsonValue] | None = None,
    provider_call_id: str | None = None,
) -> CollectedAsk:
    """Returns a valid ask of a step."""
    key = uuid4()
    ask_input = choice() if asked is None else asked
    call = StepCall(
        tool_call_id=call_id,
        provider_call_id=provider_call_id or call_id,
        tool_name="ask_choice",
        args=ask_input,
        role="ask",
        ask_id=key,
    )
    return CollectedAsk(call, key, "choice", ask_input, call_id, f"call_spare_{key.hex}")


def approval(
    call_id: str = "call_delete", args: JsonValue = None, *, first: bool = True
) -> CollectedAsk:
    """Returns the ask that guards a call; one that is not the first of its step has no ask."""
    key = uuid4()
    call = StepCall(
        tool_call_id=call_id,
        provider_call_id=call_id,
        tool_name="delete",
        args=args,
        role="approval",
        ask_id=key if first else None,
    )
    return CollectedAsk(
        call,
        key,
        "confirm",
        default_wording("delete", "Deletes what is done."),
        f"apr_{call_id}",
        f"apr_spare_{key.hex}",
        origin="approval",
    )


def step(asks: Sequence[CollectedAsk] = (), *, step_no: int = 1, messages: bytes = b"raw") -> Step:
    """Returns a step of asks, or of one invalid call."""
    invalid = StepCall(
        tool_call_id=f"call_bad_{step_no}",
        provider_call_id=None,
        tool_name="ask_choice",
        args={},
        role="invalid",
        error="MISSING_REQUIRED at prompt",
    )
    return Step(
        step_no=step_no,
        provider="scripted",
        model="scripted-1",
        codec="scripted/1",
        messages=messages,
        calls=tuple(each.call for each in asks) or (invalid,),
    )


def retry_opening(conversation_id: UUID, turn_id: UUID) -> Opening:
    """Returns a retry that opens a turn."""
    return replace(prompt_opening(conversation_id=conversation_id), input=RetryOpening(turn_id))


def wanted_of(opening: Opening) -> Wanted:
    """Returns what is looked up before a turn is opened."""
    made = opening.input
    return Wanted(
        conversation_id=opening.conversation_id,
        tool_call_id=made.tool_call_id if isinstance(made, AnswerOpening) else None,
        retry_turn_id=made.turn_id if isinstance(made, RetryOpening) else None,
        request=opening.request,
    )


class Chat:
    """One owner's turns and conversations.

    `looks`: before it opens a turn it reads what there is, as a request does, and ends a turn by
    what opening it left. Otherwise the store has to lock and read for itself.
    """

    def __init__(self, engine: AsyncEngine, *, looks: bool = True) -> None:
        self.engine = engine
        self.looks = looks
        self.turns = PostgresTurnStore(engine)
        self.conversations = PostgresConversationStore(engine)

    async def open(self, opening: Opening) -> OpenedTurn:
        """Opens a turn.

        Raises:
            RequestSeen: Its request id has made one, as looking or opening it finds.
        """
        if self.looks:
            seen = await self.turns.read_situation(opening.owner, wanted_of(opening))
            if seen.repeated:
                raise RequestSeen(seen.repeated)
            opening = replace(opening, seen=seen)
        turn = await self.turns.open_turn(opening)
        return turn if self.looks else replace(turn, outlook=None)

    async def prompt(self, said: str = "Set me up", conversation: UUID | None = None) -> OpenedTurn:
        return await self.open(prompt_opening(said, conversation))

    async def answer(
        self, conversation: UUID, call_id: str, envelope: dict[str, JsonValue] = TEAM
    ) -> OpenedTurn:
        return await self.open(answer_opening(conversation, call_id, envelope))

    async def retry(self, failed: OpenedTurn) -> OpenedTurn:
        """Retries a failed turn."""
        return await self.open(retry_opening(failed.lease.conversation_id, failed.lease.turn_id))

    async def fail(self, turn: OpenedTurn, said: str = "") -> EndedTurn:
        """Lets a turn fail, after it has said something or not."""
        error = TurnError(reason=Reason.MODEL_ERROR, message="The model could not answer.")
        return await self.turns.fail_turn(turn, error, (), said)

    async def failed(self) -> OpenedTurn:
        """Returns a turn that answered an ask and failed."""
        turn = await self.answer(await self.waiting(), "call_plan")
        await self.fail(turn)
        return turn

    async def ask_named(self, conversation: UUID, call_id: str) -> Ask:
        """Returns the ask with a public id, as a request finds it."""
        seen = await self.turns.read_situation(OWNER, Wanted(conversation, call_id))
        assert seen.asks.named
        return seen.asks.named

    async def pause(
        self, turn: OpenedTurn, *asks: CollectedAsk, step_no: int = 1, messages: bytes = b"raw"
    ) -> EndedTurn:
        """Ends a turn on its asks, one without a name if none is given."""
        asks = asks or (ask(),)
        ending = Ending(step=step(asks, step_no=step_no, messages=messages), asks=asks)
        return await self.turns.end_turn(turn, ending)

    async def ask_again(self, turn: OpenedTurn, *asks: CollectedAsk) -> EndedTurn:
        """Ends a turn on asks whose step is journaled."""
        return await self.turns.end_turn(turn, Ending(asks=asks))

    async def reply(self, turn: OpenedTurn, said: str = "Done.", **more: Any) -> EndedTurn:
        return await self.turns.end_turn(turn, Ending(text=said, **more))

    async def waiting(self, call_id: str = "call_plan") -> UUID:
        """Returns a conversation that waits on an ask."""
        turn = await self.prompt()
        await self.pause(turn, ask(call_id))
        return turn.lease.conversation_id

    async def create(
        self, title: str | None = None, project: str | None = None, owner: str = OWNER
    ) -> UUID:
        """Returns an empty conversation."""
        made = await self.conversations.create_conversation(owner, uuid4(), title, project)
        return made.id

    async def see(self, conversation: UUID) -> Conversation:
        return await self.conversations.read_conversation(OWNER, conversation)

    async def pending(self, conversation: UUID) -> Ask | None:
        return (await self.see(conversation)).pending_ask

    async def rows(self, conversation: UUID) -> tuple[Message, ...]:
        page = await self.conversations.list_messages(OWNER, conversation, PageRequest(size=1000))
        assert not page.next_token
        return page.items

    @staticmethod
    def by(owner: str, opening: Opening) -> Opening:
        """Returns an opening as somebody else sends it."""
        return replace(opening, owner=owner)

    @staticmethod
    def within(project: str, opening: Opening) -> Opening:
        """Returns an opening that names a project."""
        return replace(opening, project=project)

    @staticmethod
    def told(instruction: str) -> Opening:
        """Returns an opening with a system instruction."""
        return replace(prompt_opening(), system_instruction=instruction)

    async def query(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        """Returns what lies in the tables, where no port shows it."""
        async with self.engine.connect() as connection:
            return [tuple(row) for row in await connection.execute(text(statement), values)]

    async def step_numbers(self, turn: OpenedTurn) -> list[int]:
        rows = await self.query(
            "SELECT step_no FROM turn_steps WHERE chain_id = :chain ORDER BY 1", chain=turn.chain_id
        )
        return [number for (number,) in rows]
