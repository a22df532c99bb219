"""Asking people through Parley from agents of other frameworks, a module each.

Each framework is an extra of the package: `pip install parley-client[mcp]`.
"""
