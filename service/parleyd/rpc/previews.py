"""Previews on the wire: what is sent of a step while it streams (spec turns 6.5)."""

from typing import assert_never

from parley.v1 import turns_pb2
from parleyd.contract.previews import BlocksPreview, Preview, PreviewDiscarded, TextPreview
from parleyd.rpc.blocks import document_to_proto


def preview_to_proto(preview: Preview) -> turns_pb2.TurnEvent:
    """Returns a preview as an event of sequence 0: it is not stored."""
    message = turns_pb2.TurnEvent(turn_id=str(preview.turn_id))
    match preview:
        case TextPreview():
            message.text_preview.CopyFrom(turns_pb2.TextPreview(delta=preview.delta))
        case BlocksPreview():
            document = document_to_proto(preview.document)
            message.blocks_preview.CopyFrom(
                turns_pb2.BlocksPreview(document=document, pending=preview.pending)
            )
        case PreviewDiscarded():
            message.preview_discarded.SetInParent()
        case _:
            assert_never(preview)
    return message
