"""What the webhook says: one JSON object, whose fields `docs/reference/webhooks.md` lists."""

from datetime import datetime
from typing import Final, Literal, TypeAlias
from uuid import UUID

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.alias_generators import to_camel

from parleyd.contract.asks.ask import Ask, AskAction, AskKind, AskOrigin
from parleyd.contract.cards import SimpleCard
from parleyd.contract.value import Value
from parleyd.turns.action_tokens import ActionToken
from parleyd.turns.notices import Notice

NoticeType: TypeAlias = Literal["ask.asked", "ask.resolved"]

_ACTION: Final = TypeAdapter[AskAction](AskAction)


class _Sent(Value):
    """A part of a payload: fields in camel case."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class SentToken(_Sent):
    """What `RedeemActionToken` takes, until `expire_time`, for one of these buttons."""

    token: str = Field(repr=False)
    expire_time: datetime
    button_ids: tuple[str, ...]


class Resolution(_Sent):
    """How an ask ended, without the answer's content. Of a cancelled one `reason` says why."""

    action: AskAction
    reason: str | None


class Payload(_Sent):
    """A notice. `time` is when the ask came to wait, or was resolved."""

    type: NoticeType
    time: datetime
    owner: str
    conversation_id: UUID
    tool_call_id: str
    kind: AskKind
    origin: AskOrigin
    title: str | None
    simple: SimpleCard
    expire_time: datetime | None
    resolution: Resolution | None
    action_token: SentToken | None


def payload_of(notice: Notice, token: ActionToken | None) -> str:
    """Returns a notice as JSON text."""
    ask = notice.ask
    told = Payload(
        type="ask.asked" if notice.kind == "asked" else "ask.resolved",
        time=ask.create_time if notice.kind == "asked" else ask.resolve_time or ask.create_time,
        owner=ask.owner,
        conversation_id=ask.conversation_id,
        tool_call_id=ask.tool_call_id,
        kind=ask.kind,
        origin=ask.origin,
        title=notice.title,
        simple=ask.simple,
        expire_time=ask.expire_time,
        resolution=None if notice.kind == "asked" else _resolution_of(ask),
        action_token=token
        and SentToken(
            token=token.secret, expire_time=token.expire_time, button_ids=token.button_ids
        ),
    )
    return told.model_dump_json(by_alias=True)


def _resolution_of(ask: Ask) -> Resolution:
    answer = ask.answer or {}
    reason = answer.get("reason")
    return Resolution(
        action=_ACTION.validate_python(answer.get("action")),
        reason=reason if isinstance(reason, str) else None,
    )
