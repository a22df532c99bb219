"""Blocks: replies that are one document of charts, tables, buttons and prose (spec blocks)."""
