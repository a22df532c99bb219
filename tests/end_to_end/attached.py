"""Messages with attachments, in every way that they can be sent."""

from base64 import b64encode
from typing import Final, Literal, TypeAlias

from parley.v1 import turns_pb2
from parleyd.turns.model import MediaShown, Shown, TextShown
from tests.end_to_end.kinds_asked import NOTES, PNG
from tests.end_to_end.person import FULL, Person
from tests.end_to_end.shown import GONE, PDF

Attachment = turns_pb2.Attachment

Way: TypeAlias = Literal["bytes", "url", "upload"]
THREE: Final = (
    ("scan.png", "image/png", PNG),
    ("brief.pdf", "application/pdf", PDF),
    ("notes.txt", "text/plain", NOTES),
)
LABELS: Final = [
    TextShown(f"File {number} of 3: {name} ({mime_type}, {len(data)} bytes)")
    for number, (name, mime_type, data) in enumerate(THREE, start=1)
]
THREE_SHOWN: Final[tuple[Shown, ...]] = (
    *(LABELS[0], MediaShown("image/png", PNG, "scan.png")),
    *(LABELS[1], MediaShown("application/pdf", PDF, "brief.pdf")),
    *(LABELS[2], TextShown(NOTES.decode())),
)
"""What the model is shown of the three."""
THREE_GONE: Final[tuple[Shown, ...]] = tuple(part for label in LABELS for part in (label, GONE))
SEE: Final = "See these"


def attachment(name: str, mime_type: str, data: bytes, way: Way = "bytes") -> Attachment:
    """Returns an attachment with its bytes; images are images, all else are files."""
    kind = Attachment.TYPE_IMAGE if mime_type.startswith("image/") else Attachment.TYPE_FILE
    if way == "url":
        url = f"data:{mime_type};base64,{b64encode(data).decode()}"
        return Attachment(type=kind, filename=name, url=url)
    return Attachment(type=kind, filename=name, mime_type=mime_type, data=data)


async def uploaded(person: Person, name: str, mime_type: str, data: bytes) -> Attachment:
    """Returns an attachment that names an upload, and says nothing else of it."""
    kind = Attachment.TYPE_IMAGE if mime_type.startswith("image/") else Attachment.TYPE_FILE
    file = await person.upload(name, mime_type, data)
    return Attachment(type=kind, file_id=file.file_id)


async def three(person: Person, way: Way) -> list[Attachment]:
    """Returns an image, a PDF and a text as attachments."""
    if way == "upload":
        return [await uploaded(person, *each) for each in THREE]
    return [attachment(*each, way) for each in THREE]


def message(
    *attachments: Attachment, conversation_id: str = "", text: str = SEE, request_id: str = ""
) -> turns_pb2.StreamTurnRequest:
    """Returns the request for a turn on a message with attachments."""
    return turns_pb2.StreamTurnRequest(
        conversation_id=conversation_id,
        prompt=turns_pb2.PromptInput(text=text, attachments=attachments),
        surface=FULL,
        request_id=request_id,
    )


def as_unary(request: turns_pb2.StreamTurnRequest) -> turns_pb2.TurnRequest:
    """Returns the same request for a turn without a stream."""
    return turns_pb2.TurnRequest(
        conversation_id=request.conversation_id,
        prompt=request.prompt,
        surface=request.surface,
        request_id=request.request_id,
    )
