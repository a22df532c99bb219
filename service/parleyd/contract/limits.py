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
CHAIN_BYTES: Final = 16 * 1024 * 1024
"""Of the provider messages of one chain, steps and their results together."""
TOOL_NAME_CHARACTERS: Final = 64
TOOL_RESULT_BYTES: Final = 1024 * 1024
"""Of the JSON that one call of a host tool returns; it may be nested as deep as arguments."""
ACTION_SECONDS: Final = 10
"""How long one host action may take."""
ACTION_ID_CHARACTERS: Final = 200
"""What a client says of the block and the element whose action it runs."""
ACTION_PAYLOAD_BYTES: Final = 1024 * 1024
"""Of the payload of one action, as JSON; it may be nested as deep as arguments."""
TOOL_FAILURE: Final = 10_000
"""What a host tool says of its own failure is cut to this."""
CONVERSATION_TITLE_CHARACTERS: Final = 200
CONVERSATION_PROJECT_CHARACTERS: Final = 200
TOOL_CALL_ID_CHARACTERS: Final = 128
"""A provider's call id that is longer gets a public id of ours."""

ATTACHMENTS_MAX: Final = 10
"""Images and files of one message."""
HISTORY_MEDIA_BYTES: Final = 16 * 1024 * 1024
"""Of the files of earlier messages that one turn shows the model, the newest first."""
CHUNK_BYTES: Final = 1024 * 1024
"""Of one chunk of an upload at most."""
DOWNLOAD_CHUNK_BYTES: Final = 256 * 1024
UPLOAD_SILENCE_SECONDS: Final = 60
"""How long an upload may go without a chunk."""
OWNER_TRANSFERS: Final = 16
"""Open uploads and downloads of one owner in one process."""
FILE_URL_SECONDS: Final = 3600
UNUSED_FILE_HOURS: Final = 24
"""How long a file is kept that no message and no answer refers to."""

PENDING_ASKS_PAGE: Final = 50
PENDING_ASKS_PAGE_MAX: Final = 200
CONVERSATIONS_PAGE: Final = 50
CONVERSATIONS_PAGE_MAX: Final = 200
MESSAGES_PAGE: Final = 200
MESSAGES_PAGE_MAX: Final = 1000
PAGE_BYTES: Final = 3 * 1024 * 1024
"""A page of messages ends earlier where it would be larger: gRPC clients take 4 MiB by default."""

DOCUMENTS_BYTES: Final = 768 * 1024
"""Of the documents on a page of messages, beside the texts that they are read from."""

TITLE_SECONDS: Final = 10
TITLE_REPLY_CHARACTERS: Final = 500

TURN_SECONDS: Final = 300
"""A turn's wall time, from its creation, takeovers included."""
MODEL_IDLE_SECONDS: Final = 60
"""How long a model call may go without a part."""
MODEL_REPEAT_WAITS: Final = ((0.5, 1.0), (1.0, 2.0))
"""The random wait before each repeat of a model call that failed before any part, in seconds
(spec turns 3.4.5); there are no more repeats than waits."""
MODEL_WAIT_SECONDS: Final = 10
"""The longest wait that a provider may ask for before a repeat."""
TOOL_SECONDS: Final = 60
HOOK_SECONDS: Final = 10
"""How long the deployment's own functions for tools and system prompt of a turn may take."""
APPROVAL_HOOK_SECONDS: Final = 2
"""How long they may take to say whether a call needs an approval, and in which words."""
STOP_SECONDS: Final = 30
"""How long running tools may go on when the process stops."""
LEASE_SECONDS: Final = 10
HEARTBEAT_SECONDS: Final = 3
REAPER_SECONDS: Final = 3
PROCESSES_PER_TURN: Final = 3
"""A turn with which so many processes died is given up."""
ANY_NUMBER: Final = 2**31 - 1
"""Stands for no limit where a number is needed."""
OWNER_TURNS: Final = 8
CONVERSATION_TURNS: Final = 4
"""Running turns of one owner, and of one conversation."""
OWNER_STREAMS: Final = 16
"""Open watch streams of one owner in one process."""

BLOCKS_PREVIEW_CHARACTERS: Final = 200_000
"""A longer text of a step is no longer shown as blocks while it comes in."""
PREVIEW_SECONDS: Final = 0.05
"""At most one preview in this time and stream."""
PARTIAL_TEXT_SECONDS: Final = 1
"""At most one stored snapshot of the text in this time and turn."""
POLL_SECONDS: Final = 2
"""A follower hears of what a lost notification told after this long."""
QUIET_SECONDS: Final = 15
"""A stream without events gets an empty response this often, for proxies."""
EVENT_HOURS: Final = 24
"""How long events are kept after their turn closed."""
REQUEST_ID_HOURS: Final = 24
"""How long a request id names the turn or conversation it made."""

RECEIVE_BYTES: Final = 16 * 1024 * 1024
ERROR_DETAIL_BYTES: Final = 6 * 1024

OWNER_CHARACTERS: Final = 255
"""How long the name of an owner or a service may be: the subject of its tokens."""

PENDING_LOOK_SECONDS: Final = 60
"""How often what waits on a watcher is read again, notification or not (spec turns 16.6)."""

ASK_SECONDS_MIN: Final = 1
ASK_SECONDS_MAX: Final = 366 * 24 * 60 * 60
"""How long an ask may wait that does not wait for good."""
WAIT_SECONDS: Final = 60
"""How long one call waits for an ask of a service at most."""

ACTION_TOKEN_SECONDS_MIN: Final = 1
ACTION_TOKEN_SECONDS_MAX: Final = 24 * 60 * 60
"""How long an action token can be redeemed; the longest time is meant where none is named."""
ACTION_TOKEN_CHARACTERS: Final = 43
"""Of 32 random bytes, as base64 for URLs spells them."""
USED_TOKEN_HOURS: Final = 24
"""How long after its end an action token still names the turn that it started."""
REDEMPTIONS_PER_MINUTE: Final = 60
"""How often one address may try action tokens in one process, unless the settings say otherwise."""
