"""The webhook: notices by a POST each, signed as Standard Webhooks has it."""

import asyncio
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self

import httpx2
from pydantic import SecretStr
from standardwebhooks import Webhook

from parleyd.app.notifier.payload import payload_of
from parleyd.turns.action_tokens import ActionToken
from parleyd.turns.notices import Notice, NotTaken

SEND_SECONDS: Final = 15
"""How long one POST may take in all."""
PHASE_SECONDS: Final = 10
"""How long it may be stuck in connecting, writing, or waiting for the answer."""
PASSING: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""Of the statuses that blame the request, those that say nothing against the same one later."""


class WebhookSender:
    """Sends notices to one address; fulfils `NoticeSender`. Leaving it closes its connections.

    The answer counts by its status alone; its body is not read, and nobody is redirected.
    """

    def __init__(self, url: SecretStr, secret: SecretStr) -> None:
        self._url = url
        self._webhook = Webhook(secret.get_secret_value())
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(PHASE_SECONDS),
            follow_redirects=False,
            headers={"content-type": "application/json", "user-agent": "parleyd"},
        )

    async def __aenter__(self) -> Self:
        """Returns the sender. Nothing connects yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def send(self, notice: Notice, token: ActionToken | None) -> None:
        """See `NoticeSender`. The header `webhook-id` is the notice's id, the same at each try.

        Raises:
            NotTaken: The answer was no 2xx, or there was none in time.
        """
        body = payload_of(notice, token)
        try:
            async with asyncio.timeout(SEND_SECONDS):
                status, retry_after = await self._post(str(notice.id), body)
        except TimeoutError:
            raise NotTaken("Timeout") from None
        except httpx2.HTTPError as error:
            # Its text names the address, which may be as good as a password.
            raise NotTaken(type(error).__name__) from None
        if not HTTPStatus(200) <= status < HTTPStatus(300):
            raise NotTaken(f"HTTP {status}", final=_is_final(status), seconds=retry_after)

    async def _post(self, notice_id: str, body: str) -> tuple[int, float]:
        """Returns the status of the answer, and the pause in seconds that it asks for."""
        now = datetime.now(UTC)
        headers = {
            "webhook-id": notice_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": self._webhook.sign(notice_id, now, body),
        }
        url = self._url.get_secret_value()
        async with self._http.stream("POST", url, content=body, headers=headers) as answer:
            return answer.status_code, _pause_of(answer.headers.get("retry-after"), now)


def _is_final(status: int) -> bool:
    """Tells whether the receiver would say the same of the same request later."""
    return HTTPStatus(400) <= status < HTTPStatus(500) and status not in PASSING


def _pause_of(retry_after: str | None, now: datetime) -> float:
    """Returns the seconds that `Retry-After` names, as a number or a date; 0 of anything else."""
    if retry_after is None:
        return 0
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    try:
        then = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0
    return (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds()
