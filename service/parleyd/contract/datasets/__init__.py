"""Stored datasets: what tools register, and how rows of them are read (spec blocks 21)."""
