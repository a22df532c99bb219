"""Ratings, changes and pages that are refused: status, reason and field path (spec turns 8)."""

from collections.abc import Iterator

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from grpc import StatusCode

from parley.v1.conversations_pb2 import (
    Conversation,
    CreateConversationRequest,
    ListConversationsRequest,
    ListMessagesRequest,
    RateMessageRequest,
    UpdateConversationRequest,
)
from parley.v1.turns_pb2 import (
    ListPendingAsksRequest,
)
from tests.rpc.refusals import HERE, Bad, Paused, invalid

# ---------------------------------------------------------------- ratings


RATINGS: dict[str, Bad] = {
    "unknown_rating": invalid(
        RateMessageRequest(
            conversation_id=HERE,
            message_id="1",
            rating=7,  # pyright: ignore[reportArgumentType] - what no enum has
        ),
        "INVALID_RATING",
        "rating",
        "INVALID_ENUM",
    ),
    "no_message": Bad(
        RateMessageRequest(conversation_id=HERE, message_id="1000"),
        StatusCode.NOT_FOUND,
        "MESSAGE_NOT_FOUND",
    ),
    "the_largest_message": Bad(
        RateMessageRequest(conversation_id=HERE, message_id=str(2**63 - 1)),
        StatusCode.NOT_FOUND,
        "MESSAGE_NOT_FOUND",
    ),
    "message_nought": Bad(
        RateMessageRequest(conversation_id=HERE, message_id="0"),
        StatusCode.NOT_FOUND,
        "MESSAGE_NOT_FOUND",
    ),
    **{
        f"message_{name}": invalid(
            RateMessageRequest(conversation_id=HERE, message_id=text),
            "INVALID_REQUEST",
            "messageId",
            "INVALID_FORMAT",
        )
        for name, text in {
            "missing": "",
            "negative": "-1",
            "signed": "+1",
            "padded": "01",
            "spaced": " 1",
            "with_newline": "1\n",
            "hexadecimal": "0x1",
            "fraction": "1.0",
            "underscored": "1_0",
            "other_digits": "١",
            "too_large": str(2**63),
            "huge": "9" * 5000,
        }.items()
    },
}


async def test_a_rating_that_can_not_be_is_refused(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in RATINGS.items():
        with subtests.test(name):
            await paused.refuses(bad)


# ---------------------------------------------------------------- changes


def changing(*paths: str, title: str = "", project: str = "") -> UpdateConversationRequest:
    return UpdateConversationRequest(
        conversation=Conversation(conversation_id=HERE, title=title, project=project),
        update_mask=FieldMask(paths=paths),
    )


CHANGES = {
    **{
        f"mask_{path or 'empty_path'}": invalid(
            changing(path), "INVALID_REQUEST", "updateMask", "INVALID_ENUM"
        )
        for path in ("pending_ask", "owner", "conversation_id", "titles", "")
    },
    "mask_with_one_path_too_many": invalid(
        changing("title", "create_time", title="New"),
        "INVALID_REQUEST",
        "updateMask",
        "INVALID_ENUM",
    ),
    "mask_of_all_and_one": invalid(
        changing("*", "title", title="New"), "INVALID_REQUEST", "updateMask", "INVALID_ENUM"
    ),
    "title_too_long": invalid(
        changing("title", title="x" * 201), "INVALID_REQUEST", "title", "TOO_LONG"
    ),
    "title_too_long_without_mask": invalid(
        changing(title="x" * 201), "INVALID_REQUEST", "title", "TOO_LONG"
    ),
    "project_too_long": invalid(
        changing("project", project="x" * 201), "INVALID_REQUEST", "project", "TOO_LONG"
    ),
    "new_title_too_long": invalid(
        CreateConversationRequest(conversation=Conversation(title="x" * 201)),
        "INVALID_REQUEST",
        "title",
        "TOO_LONG",
    ),
    "new_project_too_long": invalid(
        CreateConversationRequest(conversation=Conversation(project="x" * 201)),
        "INVALID_REQUEST",
        "project",
        "TOO_LONG",
    ),
}


async def test_a_change_that_can_not_be_is_refused(
    paused: Paused, subtests: pytest.Subtests
) -> None:
    for name, bad in CHANGES.items():
        with subtests.test(name):
            await paused.refuses(bad)


# ---------------------------------------------------------------- pages


NO_TOKENS = ("nonsense", "WyJhIl0", "WyJhIiwiYiJd", "bnVsbA", "=", "\x00", "é")
"""No base64, lists of one string and of two that name no place, null, and no text at all."""


def bad_pages() -> Iterator[Bad]:
    """Yields every list with a page size and page tokens that can't be."""
    for size, token in ((-1, ""), *((0, token) for token in NO_TOKENS)):
        path, code = ("pageToken", "INVALID_FORMAT") if token else ("pageSize", "RANGE_INVALID")
        for request in (
            ListPendingAsksRequest(page_size=size, page_token=token),
            ListConversationsRequest(page_size=size, page_token=token),
            ListMessagesRequest(conversation_id=HERE, page_size=size, page_token=token),
        ):
            yield invalid(request, "INVALID_REQUEST", path, code)


async def test_a_page_that_can_not_be_is_refused(paused: Paused, subtests: pytest.Subtests) -> None:
    for bad in bad_pages():
        with subtests.test(type(bad.request).__name__, request=str(bad.request)):
            await paused.refuses(bad)
