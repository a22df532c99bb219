"""Surfaces on the wire."""

from parley.v1 import turns_pb2 as pb
from parleyd.contract.errors import UnknownSurface
from parleyd.contract.field_errors import Code
from parleyd.contract.surfaces import Surface
from parleyd.rpc import fields


def surface_from_proto(surface: pb.Surface.ValueType) -> Surface | None:
    """Returns a surface, none for an unspecified one.

    proto3 lets any number through, so it is checked here.

    Raises:
        UnknownSurface: A number that is none.
    """
    match surface:
        case pb.SURFACE_UNSPECIFIED:
            return None
        case pb.SURFACE_FULL:
            return "full"
        case pb.SURFACE_COMPACT:
            return "compact"
        case _:
            raise fields.malformed(
                UnknownSurface,
                "surface",
                Code.INVALID_ENUM,
                f"surface is {surface}, which is no surface.",
                "Send SURFACE_FULL or SURFACE_COMPACT, or leave it out.",
            )
