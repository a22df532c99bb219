"""Asks a service how it is, as a supervisor does: without a token."""

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

SECONDS = 10
REFUSALS = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
"""CANCELLED is what a call gets that arrives at the very moment of the stop."""


async def is_healthy(address: str) -> bool:
    """Tells whether a service takes calls on a new connection."""
    async with grpc.aio.insecure_channel(address) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            HealthCheckRequest.SerializeToString,
            HealthCheckResponse.FromString,
        )
        try:
            response = await check(HealthCheckRequest(), timeout=SECONDS)
        except grpc.aio.AioRpcError as error:
            if error.code() not in REFUSALS:
                raise
            return False
    return response.status == HealthCheckResponse.SERVING


async def until_refused(address: str) -> None:
    """Waits until a service takes no more calls. The caller has a deadline."""
    while await is_healthy(address):
        pass
