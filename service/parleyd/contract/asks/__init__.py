"""Asks: the kinds of question, their rules, and a stored ask.

Each kind has one file; `kinds.py` lists them.
"""
