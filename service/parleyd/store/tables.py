"""The tables of conversations and their turns (spec turns 4.1).

Those of files and of the request log have modules of their own. The schema itself changes by
migration only.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from pydantic import JsonValue, TypeAdapter
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from parleyd.contract.cards import SimpleCard
from parleyd.contract.messages import Content
from parleyd.contract.steps import StepCall
from parleyd.contract.turns import TurnResult
from parleyd.store.columns import Json, StorableText, Stored
from parleyd.store.metadata import EMPTY, NEW_ID, NOW, ONE, TIME, ZERO, metadata


class ConversationColumns(TypedColumns):
    """A chat with one owner. Its row is the lock of all that belongs to it."""

    id: Named[UUID] = Column(primary_key=True, server_default=NEW_ID)
    owner: Named[str] = Column(Text, CheckConstraint("owner <> ''", "owner_given"))
    title: Named[str | None] = Column(StorableText)
    project: Named[str | None] = Column(StorableText)
    last_seq: Named[int] = Column(BigInteger, server_default=ZERO)
    last_turn_no: Named[int] = Column(Integer, server_default=ZERO)
    retryable_turn_id: Named[UUID | None] = Column(
        ForeignKey("turns.id", ondelete="SET NULL", use_alter=True)
    )
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    update_time: Named[datetime] = Column(TIME, server_default=NOW)
    delete_time: Named[datetime | None] = Column(TIME)


conversations: Final = Table(
    "conversations",
    metadata,
    ConversationColumns,
    CheckConstraint(
        "title IS NULL OR (title <> '' AND char_length(title) <= 200)", "title_shown_whole"
    ),
    Index(
        "conversations_by_owner",
        "owner",
        text("update_time DESC"),
        "id",
        postgresql_where=text("delete_time IS NULL"),
    ),
)


class TurnColumns(TypedColumns):
    """A run of the agent, with its lease and, once closed, its result."""

    id: Named[UUID] = Column(primary_key=True, server_default=NEW_ID)
    conversation_id: Named[UUID] = Column(ForeignKey("conversations.id", ondelete="CASCADE"))
    turn_no: Named[int] = Column(Integer)
    chain_id: Named[UUID] = Column(ForeignKey("turns.id"))
    retry_of: Named[UUID | None] = Column(ForeignKey("turns.id"), unique=True)
    owner: Named[str] = Column(Text)
    input_kind: Named[str] = Column(Text)
    surface: Named[str] = Column(Text, server_default=text("'full'"))
    model: Named[str | None] = Column(StorableText)
    options: Named[dict[str, JsonValue]] = Column(Json(), server_default=text("'{}'"))
    state: Named[str] = Column(Text, server_default=text("'running'"))
    outcome: Named[str | None] = Column(Text)
    answered_ask_id: Named[UUID | None]
    context_max_seq: Named[int] = Column(BigInteger)
    partial_text: Named[str] = Column(StorableText, server_default=EMPTY)
    error_reason: Named[str | None] = Column(Text)
    error_message: Named[str | None] = Column(StorableText)
    request_id: Named[str | None] = Column(Text)
    request_hash: Named[bytes | None] = Column(LargeBinary)
    result: Named[TurnResult | None] = Column(Stored(TypeAdapter(TurnResult)))
    last_event: Named[int] = Column(Integer, server_default=ZERO)
    attempts: Named[int] = Column(Integer, server_default=ONE)
    lease_holder: Named[str] = Column(Text)
    lease_epoch: Named[int] = Column(Integer, server_default=ONE)
    lease_until: Named[datetime] = Column(TIME)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    close_time: Named[datetime | None] = Column(TIME)


turns: Final = Table(
    "turns",
    metadata,
    TurnColumns,
    UniqueConstraint("conversation_id", "turn_no"),
    CheckConstraint(
        "input_kind IN ('prompt','answer','button','action_token','retry','service','system')",
        "input_kind_known",
    ),
    CheckConstraint("surface IN ('full','compact')", "surface_known"),
    CheckConstraint("state IN ('running','committed','closed')", "state_known"),
    CheckConstraint("outcome IN ('completed','paused','failed')", "outcome_known"),
    CheckConstraint("(state = 'running') = (outcome IS NULL)", "outcome_when_run"),
    CheckConstraint("(state = 'closed') = (close_time IS NOT NULL)", "time_when_closed"),
    CheckConstraint("(input_kind = 'retry') = (retry_of IS NOT NULL)", "retry_of_another"),
    CheckConstraint("(request_id IS NULL) = (request_hash IS NULL)", "request_hashed"),
    Index(
        "turns_request_id",
        "owner",
        "request_id",
        unique=True,
        postgresql_where=text("request_id IS NOT NULL"),
    ),
    Index("turns_by_chain", "chain_id"),
    Index("turns_lease", "lease_until", postgresql_where=text("state <> 'closed'")),
    Index("turns_running_by_owner", "owner", postgresql_where=text("state = 'running'")),
    Index(
        "turns_running_by_conversation",
        "conversation_id",
        postgresql_where=text("state = 'running'"),
    ),
    Index("turns_request_time", "create_time", postgresql_where=text("request_id IS NOT NULL")),
)


class AskColumns(TypedColumns):
    """A question, kept when it is resolved: it says who did."""

    id: Named[UUID] = Column(primary_key=True, server_default=NEW_ID)
    conversation_id: Named[UUID] = Column(ForeignKey("conversations.id", ondelete="CASCADE"))
    chain_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"))
    owner: Named[str] = Column(Text)
    tool_call_id: Named[str] = Column(StorableText)
    provider_call_id: Named[str | None] = Column(StorableText)
    kind: Named[str] = Column(Text)
    origin: Named[str] = Column(Text, server_default=text("'model'"))
    tool_name: Named[str] = Column(StorableText)
    tool_args: Named[JsonValue] = Column(Json(), nullable=True)
    input: Named[dict[str, JsonValue]] = Column(Json())
    simple: Named[SimpleCard] = Column(Stored(TypeAdapter(SimpleCard)))
    status: Named[str] = Column(Text)
    answer: Named[dict[str, JsonValue] | None] = Column(Json())
    created_by_turn: Named[UUID | None] = Column(ForeignKey("turns.id", ondelete="SET NULL"))
    resolved_by_turn: Named[UUID | None] = Column(ForeignKey("turns.id", ondelete="SET NULL"))
    created_by_service: Named[str | None] = Column(Text)
    service_request_id: Named[str | None] = Column(Text)
    service_request_hash: Named[bytes | None] = Column(LargeBinary)
    visible_to_model: Named[bool] = Column(server_default=text("false"))
    expire_time: Named[datetime | None] = Column(TIME)
    revision: Named[int] = Column(BigInteger, server_default=ONE)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)
    resolve_time: Named[datetime | None] = Column(TIME)


asks: Final = Table(
    "asks",
    metadata,
    AskColumns,
    UniqueConstraint("conversation_id", "tool_call_id"),
    CheckConstraint("tool_call_id <> ''", "tool_call_id_given"),
    CheckConstraint("kind IN ('choice','confirm','markdown','form','files')", "kind_known"),
    CheckConstraint("origin IN ('model','approval','service')", "origin_known"),
    CheckConstraint("status IN ('pending','answered','cancelled')", "status_known"),
    CheckConstraint("(status = 'pending') = (answer IS NULL)", "answer_when_resolved"),
    CheckConstraint("(status = 'pending') = (resolve_time IS NULL)", "time_when_resolved"),
    CheckConstraint("origin <> 'approval' OR kind = 'confirm'", "approval_confirms"),
    CheckConstraint("(origin = 'approval') = (tool_args IS NOT NULL)", "approval_of_a_call"),
    CheckConstraint("(origin = 'service') = (created_by_service IS NOT NULL)", "service_named"),
    CheckConstraint(
        "(service_request_id IS NULL) = (service_request_hash IS NULL)", "service_request_hashed"
    ),
    Index(
        "asks_one_pending",
        "conversation_id",
        unique=True,
        postgresql_where=text("status = 'pending'"),
    ),
    Index(
        "asks_pending_by_owner",
        "owner",
        text("create_time DESC"),
        "id",
        postgresql_where=text("status = 'pending'"),
    ),
    Index(
        "asks_expiry",
        "expire_time",
        postgresql_where=text("status = 'pending' AND expire_time IS NOT NULL"),
    ),
    Index(
        "asks_service_request",
        "created_by_service",
        "service_request_id",
        unique=True,
        postgresql_where=text("service_request_id IS NOT NULL"),
    ),
    Index(
        "asks_of_service",
        "created_by_service",
        "owner",
        postgresql_where=text("created_by_service IS NOT NULL"),
    ),
    Index(
        "asks_service_request_time",
        "create_time",
        postgresql_where=text("service_request_id IS NOT NULL"),
    ),
)


class StepColumns(TypedColumns):
    """A model call with the calls it made, written once; it never leaves the server."""

    chain_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True)
    step_no: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    turn_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"))
    provider: Named[str] = Column(Text)
    model: Named[str] = Column(StorableText)
    codec: Named[str] = Column(Text)
    messages: Named[bytes] = Column(LargeBinary)
    calls: Named[tuple[StepCall, ...]] = Column(Stored(TypeAdapter(tuple[StepCall, ...])))
    text: Named[str] = Column(StorableText, server_default=EMPTY)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


turn_steps: Final = Table(
    "turn_steps",
    metadata,
    StepColumns,
    CheckConstraint("step_no > 0", "step_no_counts"),
    CheckConstraint(
        "jsonb_typeof(calls) = 'array' AND jsonb_array_length(calls) > 0", "calls_given"
    ),
)


class MessageColumns(TypedColumns):
    """A line of a conversation, never changed but for its rating."""

    conversation_id: Named[UUID] = Column(
        ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    )
    seq: Named[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    turn_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"))
    turn_no: Named[int] = Column(Integer)
    position: Named[int] = Column(Integer)
    type: Named[str] = Column(Text)
    text: Named[str] = Column(StorableText, server_default=EMPTY)
    content: Named[tuple[Content, ...] | None] = Column(Stored(TypeAdapter(tuple[Content, ...])))
    model: Named[str | None] = Column(StorableText)
    status: Named[str | None] = Column(Text)
    tool_call_id: Named[str | None] = Column(StorableText)
    tool_name: Named[str | None] = Column(StorableText)
    args: Named[JsonValue] = Column(Json(), nullable=True)
    result: Named[JsonValue] = Column(Json(), nullable=True)
    ask_id: Named[UUID | None] = Column(ForeignKey("asks.id"))
    rating: Named[str | None] = Column(Text)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


messages: Final = Table(
    "messages",
    metadata,
    MessageColumns,
    UniqueConstraint("turn_id", "position"),
    CheckConstraint("seq > 0", "seq_counts"),
    CheckConstraint("type IN ('user','assistant','tool_call','tool_result')", "type_known"),
    CheckConstraint("status IN ('complete','error')", "status_known"),
    CheckConstraint("rating IN ('up','down')", "rating_known"),
    CheckConstraint(
        "(type IN ('tool_call','tool_result')) = (tool_call_id IS NOT NULL)", "call_named"
    ),
    CheckConstraint("(tool_call_id IS NULL) = (tool_name IS NULL)", "tool_named"),
    CheckConstraint("type <> 'tool_result' OR result IS NOT NULL", "result_given"),
    CheckConstraint("type = 'assistant' OR status IS NULL", "status_of_a_reply"),
    CheckConstraint("ask_id IS NULL OR type IN ('tool_call','tool_result')", "ask_of_a_call"),
    CheckConstraint("type NOT IN ('user') OR text <> ''", "prompt_given"),
    Index(
        "messages_one_call_per_ask",
        "ask_id",
        unique=True,
        postgresql_where=text("type = 'tool_call' AND ask_id IS NOT NULL"),
    ),
    Index(
        "messages_one_result_per_ask",
        "ask_id",
        unique=True,
        postgresql_where=text("type = 'tool_result' AND ask_id IS NOT NULL"),
    ),
    Index("messages_in_order", "conversation_id", "turn_no", "position"),
)


class ExecutionColumns(TypedColumns):
    """A run of a host tool, claimed before it starts; the place in the chain is the key."""

    chain_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True)
    step_no: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    call_index: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    turn_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"))
    tool_call_id: Named[str] = Column(StorableText)
    tool_name: Named[str] = Column(StorableText)
    approval_ask_id: Named[UUID | None] = Column(ForeignKey("asks.id"), unique=True)
    args: Named[JsonValue] = Column(Json(), nullable=False)
    state: Named[str] = Column(Text)
    result: Named[JsonValue] = Column(Json(), nullable=True)
    runs: Named[int] = Column(Integer, server_default=ONE)
    start_time: Named[datetime] = Column(TIME, server_default=NOW)
    end_time: Named[datetime | None] = Column(TIME)


tool_executions: Final = Table(
    "tool_executions",
    metadata,
    ExecutionColumns,
    CheckConstraint("call_index >= 0", "call_index_counts"),
    CheckConstraint("state IN ('started','finished','failed','unknown')", "state_known"),
    CheckConstraint("(state = 'started') = (end_time IS NULL)", "time_when_ended"),
    CheckConstraint("(state = 'started') = (result IS NULL)", "result_when_ended"),
)


class EventColumns(TypedColumns):
    """What happened in a turn, in order and without gaps."""

    turn_id: Named[UUID] = Column(ForeignKey("turns.id", ondelete="CASCADE"), primary_key=True)
    sequence: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    payload: Named[bytes] = Column(LargeBinary)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


turn_events: Final = Table(
    "turn_events",
    metadata,
    EventColumns,
    CheckConstraint("sequence > 0", "sequence_counts"),
    Index("turn_events_first", "create_time", postgresql_where=text("sequence = 1")),
)


class ConversationRequestColumns(TypedColumns):
    """Which conversation a request id made (spec turns 16.2)."""

    owner: Named[str] = Column(Text, primary_key=True)
    request_id: Named[str] = Column(Text, primary_key=True)
    request_hash: Named[bytes] = Column(LargeBinary)
    conversation_id: Named[UUID] = Column(ForeignKey("conversations.id", ondelete="CASCADE"))
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


conversation_requests: Final = Table(
    "conversation_requests",
    metadata,
    ConversationRequestColumns,
    Index("conversation_requests_time", "create_time"),
)


class ActionTokenColumns(TypedColumns):
    """A button that works once without a session (spec turns 16.7)."""

    token_hash: Named[bytes] = Column(LargeBinary, primary_key=True)
    ask_id: Named[UUID] = Column(ForeignKey("asks.id", ondelete="CASCADE"))
    owner: Named[str] = Column(Text)
    button_ids: Named[Sequence[str]] = Column(ARRAY(Text))
    expire_time: Named[datetime] = Column(TIME)
    used_by_turn: Named[UUID | None] = Column(ForeignKey("turns.id", ondelete="SET NULL"))
    used_button_id: Named[str | None] = Column(Text)
    create_time: Named[datetime] = Column(TIME, server_default=NOW)


action_tokens: Final = Table(
    "action_tokens",
    metadata,
    ActionTokenColumns,
    CheckConstraint("octet_length(token_hash) = 32", "token_hashed"),
    Index("action_tokens_by_ask", "ask_id"),
    Index("action_tokens_end", "expire_time"),
)
