"""What can go wrong, as one tree (spec turns 8).

    ParleyError
    ├─ Unauthenticated
    ├─ Malformed                 the request itself; carries field errors
    │  ├─ PromptRequired  OneInputOnly  ToolCallIdRequired  ButtonIdRequired  TurnIdRequired
    │  ├─ ConversationRequired  UnknownSurface  UnknownButton  InvalidRating
    │  ├─ InvalidAnswer  InvalidAsk  InvalidRequest  InvalidAttachment
    │  ├─ FileTypeNotAllowed  FileMismatch  DestructiveButton
    │  └─ AnswerWhileAsksOff
    ├─ AsksOff  FilesOff  UploadsOff  BlocksOff
    ├─ NotOwner
    ├─ ServiceOnly  TokenForbidden  ScopeMissing
    ├─ OptionForbidden
    ├─ ConversationNotFound  TurnNotFound  MessageNotFound  FileNotFound
    ├─ DatasetNotFound  ActionNotFound  ActionTimeout
    ├─ TurnNotRetryable
    ├─ AskNotPending ── AskExpired
    ├─ AskAlreadyPending
    ├─ AskNotFound
    ├─ TokenInvalid  TokenUsed
    ├─ ToolUnavailable
    ├─ FileTooLarge
    ├─ RequestIdReused
    ├─ RateLimited
    ├─ EventsExpired
    ├─ ModelNotConfigured
    ├─ AttachmentNotStored
    ├─ BlockGenerationFailed  BlocksInvalid
    └─ Unavailable

A turn that fails after it started is no error of a call but a `TurnError` with one of the
`TURN_REASONS`.
"""

from parleyd.contract.errors.asks import (
    AnswerWhileAsksOff,
    AskAlreadyPending,
    AskExpired,
    AskNotFound,
    AskNotPending,
    AsksOff,
    ButtonIdRequired,
    InvalidAnswer,
    InvalidAsk,
    Resolution,
    ToolCallIdRequired,
    ToolUnavailable,
    UnknownButton,
)
from parleyd.contract.errors.blocks import (
    ActionNotFound,
    ActionTimeout,
    BlockGenerationFailed,
    BlocksInvalid,
    BlocksOff,
    DatasetNotFound,
)
from parleyd.contract.errors.callers import (
    NotOwner,
    OptionForbidden,
    RateLimited,
    RequestIdReused,
    ScopeMissing,
    ServiceOnly,
    TokenForbidden,
    Unauthenticated,
)
from parleyd.contract.errors.conversations import (
    ConversationNotFound,
    ConversationRequired,
    InvalidRating,
    MessageNotFound,
)
from parleyd.contract.errors.error import InvalidRequest, Malformed, ParleyError, Unavailable
from parleyd.contract.errors.files import (
    AttachmentNotStored,
    FileMismatch,
    FileNotFound,
    FilesOff,
    FileTooLarge,
    FileTypeNotAllowed,
    InvalidAttachment,
    UploadsOff,
)
from parleyd.contract.errors.tokens import DestructiveButton, TokenInvalid, TokenUsed
from parleyd.contract.errors.turns import (
    EventsExpired,
    ModelNotConfigured,
    OneInputOnly,
    PromptRequired,
    TurnIdRequired,
    TurnNotFound,
    TurnNotRetryable,
    UnknownSurface,
)

__all__ = [
    "ActionNotFound",
    "ActionTimeout",
    "AnswerWhileAsksOff",
    "AskAlreadyPending",
    "AskExpired",
    "AskNotFound",
    "AskNotPending",
    "AsksOff",
    "AttachmentNotStored",
    "BlockGenerationFailed",
    "BlocksInvalid",
    "BlocksOff",
    "ButtonIdRequired",
    "ConversationNotFound",
    "ConversationRequired",
    "DatasetNotFound",
    "DestructiveButton",
    "EventsExpired",
    "FileMismatch",
    "FileNotFound",
    "FileTooLarge",
    "FileTypeNotAllowed",
    "FilesOff",
    "InvalidAnswer",
    "InvalidAsk",
    "InvalidAttachment",
    "InvalidRating",
    "InvalidRequest",
    "Malformed",
    "MessageNotFound",
    "ModelNotConfigured",
    "NotOwner",
    "OneInputOnly",
    "OptionForbidden",
    "ParleyError",
    "PromptRequired",
    "RateLimited",
    "RequestIdReused",
    "Resolution",
    "ScopeMissing",
    "ServiceOnly",
    "TokenForbidden",
    "TokenInvalid",
    "TokenUsed",
    "ToolCallIdRequired",
    "ToolUnavailable",
    "TurnIdRequired",
    "TurnNotFound",
    "TurnNotRetryable",
    "Unauthenticated",
    "Unavailable",
    "UnknownButton",
    "UnknownSurface",
    "UploadsOff",
]
