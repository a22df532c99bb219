"""How often one address may try action tokens (spec turns 16.7). Each process counts for itself."""

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter

from parleyd.contract import limits
from parleyd.contract.errors import RateLimited
from parleyd.rpc.addresses import FORWARDED_FOR, address_of
from parleyd.rpc.calls import Context


class RedemptionLimit:
    """Counts the attempts of every address, whatever comes of them.

    Two numbers an address are kept, for two minutes at most. With `trust_forwarded_for` proxies
    elsewhere are believed, too, when they say whose call it is.
    """

    def __init__(
        self,
        per_minute: int = limits.REDEMPTIONS_PER_MINUTE,
        *,
        trust_forwarded_for: bool = False,
    ) -> None:
        self._per_minute = per_minute
        self._trusted = trust_forwarded_for
        self._item = RateLimitItemPerMinute(per_minute)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    async def count(self, context: Context) -> None:
        """Counts a call.

        Raises:
            RateLimited: Its address has made too many within a minute; this one does not count.
        """
        forwarded = [
            value
            for key, value in context.invocation_metadata() or ()
            if key == FORWARDED_FOR and isinstance(value, str)
        ]
        address = address_of(context.peer(), forwarded, trusted=self._trusted)
        if not await self._limiter.hit(self._item, address):
            raise RateLimited(
                "attempts to redeem action tokens may come from one address",
                self._per_minute,
                "in a minute; wait a while",
            )
