"""Previews on the wire: what is sent of a step while it streams (spec turns 6.5)."""

from typing import assert_never

from parley.v1 import turns_pb2
from parleyd.contract.previews import Preview, PreviewDiscarded, TextPreview


def preview_to_proto(preview: Preview) -> turns_pb2.TurnEvent:
    """Returns a preview as an event of sequence 0: it is not stored."""
    message = turns_pb2.TurnEvent(turn_id=str(preview.turn_id))
    match preview:
        case TextPreview():
            message.text_preview.CopyFrom(turns_pb2.TextPreview(delta=preview.delta))
        case PreviewDiscarded():
            message.preview_discarded.SetInParent()
        case _:
            assert_never(preview)
    return message
