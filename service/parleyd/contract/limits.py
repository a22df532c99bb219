"""Every limit of the contract, in one place (spec asks 13, spec turns 12.5).

Schemas, prompt texts, tests and docs read them from here. Lengths are in UTF-16 code units unless
the name says else.
"""

from typing import Final

PROMPT: Final = 500
TITLE: Final = 80
SUBMIT_LABEL: Final = 24
CANCEL_REASON: Final = 200
ID: Final = 64
OPTION_LABEL: Final = 120
OPTION_DESCRIPTION: Final = 280
OPTIONS_MIN: Final = 2
OPTIONS_MAX: Final = 50
OTHER: Final = 500
CONFIRM_LABEL: Final = 20

FIELDS_MIN: Final = 1
FIELDS_MAX: Final = 8
FIELD_LABEL: Final = 120
HELPER_TEXT: Final = 280
TEXT_VALUE: Final = 2000
"""Of a `text` field, and of every email address, URL and phone number."""
TEXTAREA_VALUE: Final = 10_000
PHONE_DIGITS_MIN: Final = 7
PHONE_DIGITS_MAX: Final = 15
MARKDOWN: Final = 20_000
PLACEHOLDER: Final = 120
FILES_MIN: Final = 1
FILES_MAX: Final = 10
ACCEPT_MAX: Final = 5
FILENAME: Final = 255
MIME_TYPE: Final = 127
FILE_ID: Final = 64
FILE_BYTES: Final = 10 * 1024 * 1024
"""The size of a file at most, unless the deployment sets another."""
SHOWN_FILE_BYTES: Final = 100_000
"""How much of a text-like file the model sees (spec asks FI7)."""

CARD_TITLE: Final = 40
CARD_TEXT: Final = 140
CARD_LABEL: Final = 20
CARD_BUTTONS: Final = 3
CARD_USE_LABEL: Final = 14
"""What is left of a card label for the option's own in `Use ""`."""

COMPACT_OPTIONS_MAX: Final = 3
COMPACT_LABEL: Final = 20
COMPACT_DEFAULT_MAX: Final = 3

QUOTE: Final = 40
"""Values quoted in an error are cut to this (spec asks V1)."""
LISTED: Final = 10
"""An error's text lists this many ids at most."""
UNKNOWN_KEYS_REPORTED: Final = 100
"""Of an object's unknown keys the first of these are reported."""
ITEMS_LOOKED_AT: Final = 1000
"""Of a list that may be of any size the first of these are looked at."""
FAULTS_REPORTED: Final = 3000
"""A check stops after so many faults, more than the known keys of the largest form can have.

These three are ours, not the spec's: they bound the work on hostile input.
"""
FAULTS_TOLD: Final = 100
"""Faults of one ask that the model is told of."""

TURN_PROMPT: Final = 100_000
TURN_STEPS: Final = 5
CALL_LEVELS: Final = 64
"""How deep the arguments of a tool call may be nested; no ask needs more than five levels."""
CONVERSATION_TITLE_CHARACTERS: Final = 200
CONVERSATION_PROJECT_CHARACTERS: Final = 200
TOOL_CALL_ID_CHARACTERS: Final = 128
"""A provider's call id that is longer gets a public id of ours."""

PENDING_ASKS_PAGE: Final = 50
PENDING_ASKS_PAGE_MAX: Final = 200
CONVERSATIONS_PAGE: Final = 50
CONVERSATIONS_PAGE_MAX: Final = 200
MESSAGES_PAGE: Final = 200
MESSAGES_PAGE_MAX: Final = 1000

TITLE_SECONDS: Final = 10
TITLE_REPLY_CHARACTERS: Final = 500
LEASE_SECONDS: Final = 10

RECEIVE_BYTES: Final = 16 * 1024 * 1024
ERROR_DETAIL_BYTES: Final = 6 * 1024
