"""Leaves with 0 if the server of this container takes calls, and with 1 if not.

Of one that speaks TLS alone it is asked only whether it takes connections: its certificate is for
the name by which others reach it, and it may want one of theirs.
"""

# ruff: noqa: INP001 - a script of its own

import os
import socket
import sys

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

HOST = "127.0.0.1"
SECONDS = 4


def main() -> int:
    """Asks the server on this machine how it is."""
    port = os.environ.get("PARLEY_PORT", "50051")
    is_well = takes_connections if os.environ.get("PARLEY_TLS_CERT") else takes_calls
    return 0 if is_well(port) else 1


def takes_connections(port: str) -> bool:
    """Tells whether a server listens."""
    try:
        socket.create_connection((HOST, int(port)), SECONDS).close()
    except OSError:
        return False
    return True


def takes_calls(port: str) -> bool:
    """Tells whether a server says that it serves."""
    with grpc.insecure_channel(f"{HOST}:{port}") as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            HealthCheckRequest.SerializeToString,
            HealthCheckResponse.FromString,
        )
        try:
            status = check(HealthCheckRequest(), timeout=SECONDS).status
        except grpc.RpcError:
            return False
    return status == HealthCheckResponse.SERVING


if __name__ == "__main__":
    sys.exit(main())
