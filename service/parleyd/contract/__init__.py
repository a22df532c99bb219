"""Frozen values and pure rules: what an ask is, what answers it, and what the rest of the service speaks of."""
