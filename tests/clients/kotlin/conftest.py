"""What the tests of the Kotlin client share with others."""

from tests.clients.kotlin.scenes import built
from tests.gateway.conftest import start_gateway

__all__ = ["built", "start_gateway"]
