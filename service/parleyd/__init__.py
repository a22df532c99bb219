"""Parley: the server."""
