"""The web front: JSON over HTTP, server-sent events and Connect, before the gRPC server."""
