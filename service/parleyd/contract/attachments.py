"""Attachments: images and files that come with a message (spec turns 11.6)."""

from typing import Literal, TypeAlias
from uuid import UUID

from pydantic import ConfigDict

from parleyd.contract.value import Value

AttachmentType: TypeAlias = Literal["image", "file"]


class Attachment(Value):
    """An image or a file of a message, with its bytes or the upload that holds them.

    Exactly one of `file_id` and `data` is set. Of an upload `mime_type` and `filename` may be left
    to it.
    """

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    type: AttachmentType
    file_id: UUID | None = None
    data: bytes | None = None
    mime_type: str | None = None
    filename: str | None = None
