"""Frozen values and pure rules: what an ask is, what answers it, what the service speaks of."""
