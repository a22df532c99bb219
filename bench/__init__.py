"""What is claimed about speed, as commands."""

import os

# Benchmarks start servers while they are clients themselves; gRPC would remark on every fork.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
