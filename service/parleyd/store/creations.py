"""Creating an empty conversation, once for each request id (spec turns 16.2)."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, Text, func, literal, not_, select
from sqlalchemy.dialects.postgresql import insert

from parleyd.contract import limits
from parleyd.contract.errors import RequestIdReused
from parleyd.store.columns import StorableText
from parleyd.store.locks import is_free
from parleyd.store.statements import given, run
from parleyd.store.tables import conversation_requests, conversations
from parleyd.turns.requests import RequestKey


@dataclass(frozen=True)
class NewConversation:
    """A conversation as it is to be stored."""

    conversation: UUID
    owner: str
    title: str | None
    project: str | None


def create_conversation(
    connection: Connection, new: NewConversation, request: RequestKey | None
) -> UUID:
    """Stores an empty conversation and returns its id; of a repeat, the id of what is there.

    Of two first requests at once one waits for the other, and is the repeat then.

    Raises:
        RequestIdReused: The request id belongs to another request of this owner.
    """
    if request is None:
        return run(connection, _INSERT, **asdict(new)).scalar_one()
    created = run(connection, _INSERT_ONCE, **asdict(new), **_values(request)).scalar_one_or_none()
    if created:
        return created
    # The conflict has locked the key's row: it is there until this transaction ends.
    row = run(connection, _MADE, owner=new.owner, request_id=str(request.id)).one()
    digest, conversation_id = row
    if digest != request.digest:
        raise RequestIdReused(request.id)
    return conversation_id


def was_created(connection: Connection, new: NewConversation, request: RequestKey | None) -> bool:
    """Tells whether `create_conversation` was committed, once its transaction has ended.

    The transaction has to be rolled back, as that of `is_free`.
    """
    if not is_free(connection, new.conversation, new.owner):
        return True
    if request is None:
        return False
    found = run(connection, _MADE, owner=new.owner, request_id=str(request.id))
    return found.one_or_none() is not None


def _values(request: RequestKey) -> dict[str, object]:
    return {"request_id": str(request.id), "digest": request.digest}


# ---------------------------------------------------------------- statements

_INSERT: Final = (
    insert(conversations)
    .values(
        id=given("conversation"),
        owner=given("owner"),
        title=given("title"),
        project=given("project"),
    )
    .returning(conversations.c.id)
)

_COUNTS: Final = conversation_requests.c.create_time > func.now() - literal(
    timedelta(hours=limits.REQUEST_ID_HOURS)
)
"""Whether a request id still names what it made; later it is as good as free."""

_NEW_KEY: Final = insert(conversation_requests).values(
    owner=given("owner"),
    request_id=given("request_id"),
    request_hash=given("digest"),
    conversation_id=given("conversation"),
)
_KEY: Final = (
    _NEW_KEY.on_conflict_do_update(
        index_elements=[conversation_requests.c.owner, conversation_requests.c.request_id],
        set_={
            "request_hash": _NEW_KEY.excluded.request_hash,
            "conversation_id": _NEW_KEY.excluded.conversation_id,
            "create_time": func.now(),
        },
        where=not_(_COUNTS),
    )
    .returning(conversation_requests.c.conversation_id)
    .cte("new_key")
)
_INSERT_ONCE: Final = (
    insert(conversations)
    .from_select(
        ["id", "owner", "title", "project"],
        select(
            _KEY.c.conversation_id,
            given("owner", Text()),
            given("title", StorableText()),
            given("project", StorableText()),
        ),
    )
    .returning(conversations.c.id)
)
"""Takes the request id first. Foreign keys wait for the statement's end, and the conversation."""

_MADE: Final = select(
    conversation_requests.c.request_hash, conversation_requests.c.conversation_id
).where(
    conversation_requests.c.owner == given("owner"),
    conversation_requests.c.request_id == given("request_id"),
    _COUNTS,
)
