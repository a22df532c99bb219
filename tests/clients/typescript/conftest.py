"""What the tests of the TypeScript client share with others."""

from tests.clients.typescript.scenes import built
from tests.gateway.conftest import start_gateway

__all__ = ["built", "start_gateway"]
