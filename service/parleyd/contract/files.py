"""Files that people upload, as they are kept (spec turns 4.1, 11)."""

from datetime import datetime
from uuid import UUID

from parleyd.contract.value import Value


class FileHeader(Value):
    """What is said of a file before its bytes come; what is said has to be true.

    `request_id` names the upload: a repeat gets the file that the first one made.
    """

    filename: str
    mime_type: str
    size: int | None = None
    sha256: bytes | None = None
    request_id: UUID | None = None


class FileDraft(Value):
    """A file whose bytes are stored under `storage_key` and were found to be of its type."""

    id: UUID
    owner: str
    filename: str
    storage_key: str
    mime_type: str
    size: int
    sha256: bytes


class File(FileDraft):
    """A file that is kept."""

    create_time: datetime
