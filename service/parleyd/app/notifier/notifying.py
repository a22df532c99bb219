"""The notifier at work beside the service, where the deployment has a webhook."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from parleyd.app.notifier.settings import WebhookSettings
from parleyd.app.notifier.webhook import WebhookSender
from parleyd.contract import limits
from parleyd.turns.action_tokens import ActionTokens
from parleyd.turns.notices import NoticeStore
from parleyd.turns.notifier import Notifier
from parleyd.turns.rounds import rounds


@asynccontextmanager
async def notifying(
    settings: WebhookSettings, store: NoticeStore, tokens: ActionTokens
) -> AsyncGenerator[Notifier | None]:
    """Notifies of asks until it is left, then waits a moment for what is being sent.

    Yields who is to be told the news of asks; None where there is no webhook.
    """
    if not (settings.webhook_url and settings.webhook_secret):
        yield None
        return
    async with WebhookSender(settings.webhook_url, settings.webhook_secret) as sender:
        notifier = Notifier(store, tokens, sender)
        work = rounds("notify", limits.POLL_SECONDS, notifier.round, notifier.woken)
        task = asyncio.create_task(work)
        try:
            yield notifier
        finally:
            await notifier.stop()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
