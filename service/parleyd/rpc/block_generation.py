"""Documents for services on the wire (spec blocks 20)."""

import asyncio

from typing_extensions import override

from parley.v1 import block_generation_pb2 as pb
from parley.v1.block_generation_pb2_grpc import BlockGenerationServiceServicer
from parleyd.contract import limits
from parleyd.contract.errors import InvalidRequest, PromptRequired
from parleyd.contract.field_errors import Code
from parleyd.contract.text import storable
from parleyd.rpc import fields
from parleyd.rpc.auth import calling_service
from parleyd.rpc.blocks import document_to_proto, issue_to_proto
from parleyd.rpc.calls import Context
from parleyd.turns.block_generation import BlockWriter, DocumentWish, WrittenDocument


class BlockGenerationServicer(BlockGenerationServiceServicer):
    """Gives services the documents that the model writes for them."""

    def __init__(self, writer: BlockWriter) -> None:
        self._writer = writer

    @override
    async def GenerateBlocks(
        self, request: pb.GenerateBlocksRequest, context: Context
    ) -> pb.GenerateBlocksResponse:
        written = await self._writer.write(wish_from_proto(calling_service().name, request))
        return await asyncio.to_thread(written_to_proto, written)


def wish_from_proto(service: str, request: pb.GenerateBlocksRequest) -> DocumentWish:
    """Returns what a service wants a document of.

    Raises:
        PromptRequired: There is no prompt.
        InvalidRequest: A text that is over its limit.
    """
    if not request.prompt:
        raise fields.malformed(
            PromptRequired,
            "prompt",
            Code.MISSING_REQUIRED,
            "prompt is missing.",
            "Say what the document is to show.",
        )
    instruction = fields.bounded_text(
        "systemInstruction", request.system_instruction, limits.TURN_PROMPT
    )
    if len(request.owner) > limits.OWNER_CHARACTERS:
        raise fields.malformed(
            InvalidRequest,
            "owner",
            Code.TOO_LONG,
            f"owner has {len(request.owner)} characters, more than {limits.OWNER_CHARACTERS}.",
            "Send the subject of the person's tokens.",
        )
    return DocumentWish(
        service=service,
        owner=storable(request.owner) or service,
        prompt=fields.prompt_text(request.prompt),
        system_instruction=instruction or None,
        repair=request.repair if request.HasField("repair") else True,
    )


def written_to_proto(written: WrittenDocument) -> pb.GenerateBlocksResponse:
    """Returns a document with what is doubtful about it."""
    return pb.GenerateBlocksResponse(
        document=document_to_proto(written.document),
        warnings=[issue_to_proto(issue) for issue in written.warnings],
        repaired=written.repaired,
    )
