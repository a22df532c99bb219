"""What is wrong with files."""

from collections.abc import Mapping
from uuid import UUID

from parleyd.contract.errors.error import Malformed, ParleyError
from parleyd.contract.reasons import Reason


class InvalidAttachment(Malformed):
    """An attachment of the wrong type, scheme or encoding, or one that is not the caller's."""

    reason = Reason.INVALID_ATTACHMENT


class FileTypeNotAllowed(Malformed):
    """An upload of a type that is not taken."""

    reason = Reason.FILE_TYPE_NOT_ALLOWED


class FileMismatch(Malformed):
    """An upload whose bytes are not of the type that its header says."""

    reason = Reason.MIME_MISMATCH


class FilesOff(ParleyError):
    """A call that needs a file store, or one that makes URLs."""

    reason = Reason.FILES_DISABLED

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "404"}


class UploadsOff(ParleyError):
    """The deployment takes no uploads and no attachments."""

    reason = Reason.UPLOADS_DISABLED

    def __init__(self) -> None:
        super().__init__("This deployment takes no uploads; send text alone.")


class FileNotFound(ParleyError):
    """No such file of the caller's: it never was, is deleted, or is someone else's."""

    reason = Reason.FILE_NOT_FOUND

    def __init__(self, file_id: UUID) -> None:
        super().__init__(f"There is no file {file_id} of yours.")


class FileTooLarge(ParleyError):
    """A file over the cap of `limit` bytes."""

    reason = Reason.FILE_TOO_LARGE

    def __init__(self, limit: int) -> None:
        super().__init__(f"A file may have at most {limit} bytes; send a smaller one.")
        self.limit = limit

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the cap, and the HTTP status that the gateway sends instead of its own."""
        return {"limit": str(self.limit), "http_status": "413"}


class AttachmentNotStored(ParleyError):
    """A file that came with a message or an answer could not be stored. Nothing was."""

    reason = Reason.ATTACHMENT_UPLOAD_FAILED

    def __init__(self) -> None:
        super().__init__("The files could not be stored. Nothing was; send the request again.")

    @property
    def metadata(self) -> Mapping[str, str]:
        """Returns the HTTP status that the gateway sends instead of its own."""
        return {"http_status": "502"}
