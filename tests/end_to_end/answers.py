"""Accepted answers on the wire, of the kinds whose content is more than a line."""

from collections.abc import Mapping

from google.protobuf.struct_pb2 import ListValue, Value

from parley.v1 import asks_pb2


def markdown(text: str | None = None, *, changed: bool | None = None) -> asks_pb2.AskAnswer:
    """Returns an accepted draft."""
    content = asks_pb2.MarkdownAnswer(markdown=text, changed=changed)
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(markdown=content))


def form(values: Mapping[str, str | float | bool | list[str] | None]) -> asks_pb2.AskAnswer:
    """Returns an accepted form; None is a value without a kind."""
    content = asks_pb2.FormAnswer(values={key: _value(value) for key, value in values.items()})
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(form=content))


def files(*answered: asks_pb2.FileRef) -> asks_pb2.AskAnswer:
    """Returns accepted files."""
    content = asks_pb2.FilesAnswer(files=answered)
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(files=content))


def file(filename: str, mime_type: str, data: bytes, size: int | None = None) -> asks_pb2.FileRef:
    """Returns a file with its bytes."""
    return asks_pb2.FileRef(
        filename=filename,
        mime_type=mime_type,
        size=len(data) if size is None else size,
        data=data,
    )


def kept(filename: str, mime_type: str, file_id: str, size: int = 1) -> asks_pb2.FileRef:
    """Returns a file that was uploaded."""
    return asks_pb2.FileRef(filename=filename, mime_type=mime_type, size=size, file_id=file_id)


def picks(*selected: str, other: str | None = None) -> asks_pb2.AskAnswer:
    """Returns accepted picks, with or without one of one's own."""
    content = asks_pb2.ChoiceAnswer(selected=selected, other=other)
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer(choice=content))


def nothing() -> asks_pb2.AskAnswer:
    """Returns an accept without content."""
    return asks_pb2.AskAnswer(accept=asks_pb2.AcceptAnswer())


def _value(value: str | float | bool | list[str] | None) -> Value:  # noqa: FBT001 - any JSON
    match value:
        case None:
            return Value()
        case bool():
            return Value(bool_value=value)
        case str():
            return Value(string_value=value)
        case list():
            return Value(list_value=ListValue(values=[Value(string_value=each) for each in value]))
        case number:
            return Value(number_value=number)
