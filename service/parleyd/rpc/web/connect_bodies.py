"""What Connect's clients send and get: messages in the protobuf encoding, or as JSON."""

from dataclasses import dataclass
from functools import partial

from connectrpc.codec import Codec
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import MessageToJson
from google.protobuf.message_factory import GetMessageClass

from parleyd.rpc.threads import beside_if_large
from parleyd.rpc.web.json_bodies import json_object
from parleyd.rpc.web.json_checks import read_json


@dataclass(frozen=True)
class Body:
    """A message as its client sent it. Nothing of it is read yet."""

    data: bytes
    is_json: bool

    async def as_binary(self, message: Descriptor) -> bytes:
        """Returns the message in the protobuf encoding, which the gRPC server checks.

        Raises:
            Malformed: It is JSON, and none of this message.
        """
        if not self.is_json:
            return self.data
        return await beside_if_large(len(self.data), partial(_binary_of, self.data, message))

    async def like_it(self, reply: bytes, message: Descriptor) -> bytes:
        """Returns a reply in the encoding of this request."""
        if not self.is_json:
            return reply
        return await beside_if_large(len(reply), partial(_json_of, reply, message))


class Verbatim(Codec[bytes, Body]):
    """Passes on what is sent in one of the two encodings, as it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """Returns what content types call the encoding: `proto` or `json`."""
        return self._name

    def encode(self, message: bytes) -> bytes:
        """Returns a reply, which is encoded already."""
        return message

    def decode(self, data: bytes | bytearray, message_class: type[Body]) -> Body:
        """Returns a request, still encoded."""
        del message_class
        return Body(bytes(data), is_json=self._name == "json")


def _binary_of(data: bytes, message: Descriptor) -> bytes:
    parsed = GetMessageClass(message)()
    read_json(parsed, json_object(data))
    return parsed.SerializeToString()


def _json_of(reply: bytes, message: Descriptor) -> bytes:
    parsed = GetMessageClass(message).FromString(reply)
    return MessageToJson(parsed, indent=None, ensure_ascii=False).encode()
