"""The wire as a client knows it that was built before a kind of question."""

from typing import Any

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from parley.v1 import turns_pb2


def without_choices(name: str) -> Any:
    """Returns the class of a message for which no question is a choice."""
    pool = DescriptorPool()
    _add(pool, turns_pb2.DESCRIPTOR)
    return GetMessageClass(pool.FindMessageTypeByName(f"parley.v1.{name}"))


def _add(pool: DescriptorPool, file: FileDescriptor) -> None:
    for needed in file.dependencies:
        _add(pool, needed)
    older = FileDescriptorProto.FromString(file.serialized_pb)
    for message in older.message_type:
        if message.name in ("AskInput", "AcceptAnswer"):
            kept = [field for field in message.field if field.name != "choice"]
            message.ClearField("field")
            message.field.extend(kept)
    for kinds in older.enum_type:
        values = [value for value in kinds.value if value.name != "ASK_KIND_CHOICE"]
        kinds.ClearField("value")
        kinds.value.extend(values)
    pool.AddSerializedFile(older.SerializeToString())
