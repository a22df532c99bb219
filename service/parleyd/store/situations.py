"""Situations: what a request meets, read in one query before anything is locked (3.2, 16.2)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Connection,
    Integer,
    RowMapping,
    Select,
    Text,
    and_,
    case,
    func,
    literal,
    literal_column,
    or_,
    select,
)

from parleyd.contract import limits
from parleyd.contract.steps import StepCall
from parleyd.contract.text import storable
from parleyd.store.asks import ASK_COLUMNS, HAS_LAPSED, HOLDS_SLOT, IS_PENDING, ask_of
from parleyd.store.columns import Stored
from parleyd.store.owners import check_owner
from parleyd.store.statements import given, run
from parleyd.store.tables import asks, conversations, turn_steps, turns
from parleyd.turns.situations import FailedTurn, NamedAsks, RepeatedRequest, Situation, Wanted
from parleyd.turns.state import SeenConversation


def read_situation(connection: Connection, owner: str, wanted: Wanted) -> Situation:
    """Reads what a request of `owner` meets.

    Raises:
        ConversationNotFound: No such conversation, or it is deleted; nothing is repeated.
        NotOwner: It is someone else's; nothing is repeated.
    """
    named = storable(wanted.tool_call_id) if wanted.tool_call_id else None
    result = run(
        connection,
        _SITUATION,
        caller=owner,
        conversation=wanted.conversation_id,
        named=named,
        retried=wanted.retry_turn_id,
        request_id=str(wanted.request.id) if wanted.request else None,
    )
    rows = result.mappings().all()
    row = rows[0]
    if row["repeated_id"]:
        return Situation(_repeated(row))
    if wanted.conversation_id:
        deleted = row["conversation_deleted"]
        check_owner(wanted.conversation_id, owner, row["conversation_owner"], deleted=deleted)
    return Situation(
        conversation=_conversation(row),
        asks=_asks(rows, named),
        failed=_failed(row),
        running_of_owner=row["running_of_owner"],
        running_of_conversation=row["running_of_conversation"],
    )


def read_repeated(connection: Connection, owner: str, request_id: str) -> RepeatedRequest | None:
    """Reads which turn a request id of `owner` has made, in the time in which it counts."""
    rows = run(connection, _MADE, caller=owner, request_id=request_id)
    row = rows.mappings().one_or_none()
    return _repeated(row) if row else None


def _repeated(row: RowMapping) -> RepeatedRequest:
    return RepeatedRequest(
        turn_id=row["repeated_id"],
        conversation_id=row["repeated_conversation"],
        digest=row["repeated_digest"],
    )


def _conversation(row: RowMapping) -> SeenConversation | None:
    if row["conversation_id"] is None:
        return None
    return SeenConversation(
        id=row["conversation_id"],
        owner=row["conversation_owner"],
        title=row["conversation_title"],
        project=row["conversation_project"],
        deleted=row["conversation_deleted"],
        last_seq=row["conversation_last_seq"],
        last_turn_no=row["conversation_last_turn_no"],
        retryable_turn_id=row["conversation_retryable_turn_id"],
        now=row["now"],
    )


def _asks(rows: Sequence[RowMapping], named: str | None) -> NamedAsks:
    found = [(ask, row["chain_start"]) for row in rows if (ask := ask_of(row))]
    pending, start = next((each for each in found if each[0].status == "pending"), (None, 0))
    guarded = next((row["guarded"] for row in rows if row["ask_status"] == "pending"), ())
    return NamedAsks(
        pending=pending,
        chain_start=start,
        guarded=guarded or (),
        named=next((ask for ask, _ in found if ask.tool_call_id == named), None),
        lapsed=any(row["ask_has_lapsed"] for row in rows),
    )


def _failed(row: RowMapping) -> FailedTurn | None:
    if row["failed_id"] is None:
        return None
    return FailedTurn(
        turn_id=row["failed_id"],
        state=row["failed_state"],
        retryable=row["failed_id"] == row["conversation_retryable_turn_id"],
        chain_id=row["failed_chain_id"],
        context_max_seq=row["failed_context_max_seq"],
        surface=row["failed_surface"],
        model=row["failed_model"],
        system_instruction=row["failed_system_instruction"],
        retried_by=row["failed_retried_by"],
    )


# ---------------------------------------------------------------- the query

_CALL: Final = select(literal_column("1", Integer()).label("one")).subquery("call")
"""One row, so that there is one whatever is found."""

_REPEATED: Final = turns.alias("repeated")
_CHAIN: Final = turns.alias("chain")
_FAILED: Final = turns.alias("failed")
_RETRY: Final = turns.alias("retry")

_MADE_BY_REQUEST: Final = and_(
    _REPEATED.c.owner == given("caller"),
    _REPEATED.c.request_id == given("request_id"),
    _REPEATED.c.create_time > func.now() - literal(timedelta(hours=limits.REQUEST_ID_HOURS)),
)
_REPEATED_COLUMNS: Final = [
    _REPEATED.c.id.label("repeated_id"),
    _REPEATED.c.conversation_id.label("repeated_conversation"),
    _REPEATED.c.request_hash.label("repeated_digest"),
]
_MADE: Final = select(*_REPEATED_COLUMNS).where(_MADE_BY_REQUEST)

_RUNNING: Final = turns.alias("running")


def _running(which: ColumnElement[bool]) -> ColumnElement[int]:
    # The state is spelled out: so the partial indexes serve it whatever the plan.
    counted: Select[int] = select(func.count()).where(
        which, _RUNNING.c.state == literal_column("'running'")
    )
    return counted.scalar_subquery()


_TOLD: Final[ColumnElement[str]] = func.jsonb_extract_path_text(
    _FAILED.c.options, literal_column("'system_instruction'"), type_=Text()
)

_GUARDED: Final = (
    select(
        func.jsonb_path_query_array(
            turn_steps.c.calls,
            literal_column("'$[*] ? (@.role == \"approval\")'::jsonpath"),
            type_=Stored(TypeAdapter(tuple[StepCall, ...])),
        )
    )
    .where(turn_steps.c.chain_id == asks.c.chain_id, IS_PENDING)
    .order_by(turn_steps.c.step_no.desc())
    .limit(1)
    .correlate(asks)
    .scalar_subquery()
)
"""The calls that need an approval in the step that a pending ask waits in: its chain's last."""

_SITUATION: Final = (
    select(
        *_REPEATED_COLUMNS,
        conversations.c.id.label("conversation_id"),
        conversations.c.owner.label("conversation_owner"),
        conversations.c.title.label("conversation_title"),
        conversations.c.project.label("conversation_project"),
        conversations.c.delete_time.is_not(None).label("conversation_deleted"),
        conversations.c.last_seq.label("conversation_last_seq"),
        conversations.c.last_turn_no.label("conversation_last_turn_no"),
        conversations.c.retryable_turn_id.label("conversation_retryable_turn_id"),
        func.now().label("now"),
        _FAILED.c.id.label("failed_id"),
        case(
            (_FAILED.c.state == literal_column("'closed'"), _FAILED.c.outcome),
            else_=literal_column("'running'", Text()),
        ).label("failed_state"),
        _FAILED.c.chain_id.label("failed_chain_id"),
        _FAILED.c.context_max_seq.label("failed_context_max_seq"),
        _FAILED.c.surface.label("failed_surface"),
        _FAILED.c.model.label("failed_model"),
        _TOLD.label("failed_system_instruction"),
        _RETRY.c.id.label("failed_retried_by"),
        _running(_RUNNING.c.owner == given("caller")).label("running_of_owner"),
        _running(_RUNNING.c.conversation_id == given("conversation")).label(
            "running_of_conversation"
        ),
        _CHAIN.c.context_max_seq.label("chain_start"),
        _GUARDED.label("guarded"),
        HAS_LAPSED.label("ask_has_lapsed"),
        *ASK_COLUMNS,
    )
    .select_from(_CALL)
    .outerjoin(_REPEATED, _MADE_BY_REQUEST)
    .outerjoin(conversations, conversations.c.id == given("conversation"))
    .outerjoin(
        asks,
        or_(
            and_(asks.c.conversation_id == given("conversation"), HOLDS_SLOT),
            and_(
                asks.c.conversation_id == given("conversation"),
                asks.c.tool_call_id == given("named"),
            ),
        ),
    )
    .outerjoin(_CHAIN, _CHAIN.c.id == asks.c.chain_id)
    .outerjoin(
        _FAILED,
        and_(
            _FAILED.c.id == given("retried"),
            _FAILED.c.conversation_id == given("conversation"),
        ),
    )
    .outerjoin(_RETRY, _RETRY.c.retry_of == _FAILED.c.id)
)
"""Two rows where another ask than the pending one is named; all but the ask is the same in both."""
