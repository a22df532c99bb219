"""Leaves with 0 if the server of this container takes calls, and with 1 if not."""

# ruff: noqa: INP001 - a script of its own

import os
import sys

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

SECONDS = 4


def main() -> int:
    """Asks the server on this machine how it is."""
    with grpc.insecure_channel(f"127.0.0.1:{os.environ.get('PARLEY_PORT', '50051')}") as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            HealthCheckRequest.SerializeToString,
            HealthCheckResponse.FromString,
        )
        try:
            status = check(HealthCheckRequest(), timeout=SECONDS).status
        except grpc.RpcError:
            return 1
    return 0 if status == HealthCheckResponse.SERVING else 1


if __name__ == "__main__":
    sys.exit(main())
